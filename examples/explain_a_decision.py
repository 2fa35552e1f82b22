"""A loan is refused: why, and what the least is that the applicant could change.

A made-up table with numbers, whole numbers, categories and holes. One tree and a small forest tell
how they decided, and which change would have led to the other answer: any change, only what a
person can act on, and as few columns as possible.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from spinney import FAOForestClassifier, TAOTreeClassifier, explain, nearest_change


def main() -> None:
    """Fit, explain one refusal, and ask for changes."""
    table, answers = applications()
    tree = TAOTreeClassifier(max_depth=3, random_state=0).fit(table, answers)
    forest = FAOForestClassifier(1, 8, max_depth=3, random_state=0).fit(table, answers)
    refused = np.flatnonzero((tree.predict(table) == "refused") & (answers == "refused"))
    applicant = table.iloc[[refused[0]]]
    print(applicant.to_string(index=False), end="\n\n")

    print("--- why, by the tree; the applicant is compared with the typical one")
    print(explain(tree, applicant), end="\n\n")

    for name, model in (("the tree", tree), ("a forest of 8 trees", forest)):
        print(f"--- what would change the answer of {name}?")
        print("Whatever can be:", nearest_change(model, applicant, data=table))
        # Nobody grows younger, or gets another past. Wishes must stay among what others have.
        wishes = {
            "features": ["income", "loan", "years", "job"],
            "directions": {"loan": "down", "income": "up"},
            "bounds": "data",
        }
        change = nearest_change(model, applicant, data=table, **wishes)
        print("By what the applicant can do:", change)
        print(
            "By one thing alone:",
            nearest_change(model, applicant, data=table, max_changes=1, **wishes),
        )
        if change.is_found:
            print("Asked again:", model.predict(change.changed)[0])
        print()


def applications(n_rows: int = 800, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Applicants, and what was decided by a rule of six columns and some chance."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 75, n_rows),
            "income": np.round(rng.lognormal(3.5, 0.4, n_rows), 1),
            "loan": np.round(rng.uniform(5, 120, n_rows), 1),
            "years": rng.integers(1, 31, n_rows),
            "job": rng.choice(["employed", "self-employed", "none"], n_rows, p=[0.6, 0.25, 0.15]),
            "arrears": np.where(rng.random(n_rows) < 0.2, np.nan, rng.poisson(0.7, n_rows)),
        }
    )
    score = (
        table["income"] / 10
        - 0.6 * table["loan"] / table["years"].clip(3)
        - 1.2 * table["arrears"].fillna(1)
        + 1.5 * (table["job"] == "employed")
        - 2.0 * (table["job"] == "none")
        + 0.02 * table["age"]
        + rng.normal(scale=0.5, size=n_rows)
    )
    return table, np.where(score > 1.0, "granted", "refused")


if __name__ == "__main__":
    main()
