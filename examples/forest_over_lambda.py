"""A forest over a range of penalties, for those who do not want to choose one.

Each tree gets an ``alpha`` of its own, evenly spaced in logarithms between two ends ("forest over
λ" of the bagging paper). The forest lies between those of the ends, in size and mostly in error.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from spinney import TAOForestClassifier
from spinney.tree import count_parameters

LOW, HIGH = 0.01, 10.0


def main() -> None:
    """Compare forests of one penalty with forests of many, then show the trees of one."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    choices = {
        f"alpha {LOW:g}": forest(alpha=LOW),
        f"alpha {HIGH:g}": forest(alpha=HIGH),
        "their geometric mean": forest(alpha=float(np.sqrt(LOW * HIGH))),
        "a path, own starts": forest(alpha=(LOW, HIGH)),
        "a path, each from the one before": forest(alpha=(LOW, HIGH), start="previous"),
    }
    print(f"{'':<34}{'parameters':>12}{'test error':>12}")
    for name, model in choices.items():
        model.fit(X_train, y_train)
        print(f"{name:<34}{model.n_parameters_:>12,}{1 - model.score(X_test, y_test):>12.2%}")

    sizes = [count_parameters(tree) for tree in choices["a path, own starts"].trees_]
    print(f"\nparameters of the trees along the path: {sizes}")


def forest(**options: object) -> TAOForestClassifier:
    """A forest that differs from the others in its penalties only."""
    return TAOForestClassifier(n_estimators=20, max_depth=6, random_state=0, **options)


if __name__ == "__main__":
    main()
