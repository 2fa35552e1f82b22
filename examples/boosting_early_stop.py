"""How many boosted trees? Let validation rows decide, and see what patience is worth.

A patient run costs more trees that are thrown away; an impatient one may stop at a chance plateau,
because a few validation rows cannot tell small differences.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from spinney import TAOBoostClassifier


def main() -> None:
    """Boost shallow trees on the digits with several patiences, then with given rows."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    print(f"{'':<34}{'grown':>7}{'kept':>6}{'test error':>12}")
    for patience in (3, 10, 30):
        model = stopping(n_iter_no_change=patience).fit(X_train, y_train)
        report(f"10 % of the rows, patience {patience}", model, X_test, y_test)

    # Rows of your own: nothing is taken from the training rows.
    parts = train_test_split(X_train, y_train, test_size=0.3, stratify=y_train, random_state=0)
    X_fit, X_val, y_fit, y_val = parts
    model = stopping(n_iter_no_change=10).fit(X_fit, y_fit, X_val=X_val, y_val=y_val)
    report("30 % of the rows, patience 10", model, X_test, y_test)

    # The number is known now: use all rows.
    final = boosting(n_estimators=len(model)).fit(X_train, y_train)
    report("that many trees, all rows", final, X_test, y_test)
    after = [f"{1 - score:.1%}" for score in final.staged_score(X_test, y_test)]
    shown = {number: after[number - 1] for number in (1, 5, 10, 20) if number <= len(after)}
    print(f"its test error after so many trees: {shown}")


def boosting(**options: int) -> TAOBoostClassifier:
    """Trees of eight leaves, too small to be right by themselves."""
    settings = {"n_estimators": 60, **options}
    return TAOBoostClassifier(max_depth=3, learning_rate=1.0, random_state=0, **settings)


def stopping(n_iter_no_change: int) -> TAOBoostClassifier:
    """The same, until so many trees in a row have not helped on validation rows."""
    return boosting().set_params(early_stopping=True, n_iter_no_change=n_iter_no_change)


def report(name: str, model: TAOBoostClassifier, X: np.ndarray, y: np.ndarray) -> None:
    """Print how many trees were grown and kept, and how good they are."""
    n_grown = len(getattr(model, "validation_errors_", model.trees_))
    print(f"{name:<34}{n_grown:>7}{len(model):>6}{1 - model.score(X, y):>12.2%}")


if __name__ == "__main__":
    main()
