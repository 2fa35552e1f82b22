"""Time of single rows of a raw table through `predict` and through a compiled model.

    python benchmarks/serving_tables.py     # Adult, writes results/serving_tables.json and .md

As many trees as in `serving.py`, of depth 8, on 14 columns, of which 8 are categories. All times
come from one run, in which the ways take turns. The bits of compiled probabilities are compared
with those of the estimator on all test rows, asked as dicts, as lists and as a frame.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from datasets import Dataset, load
from environment import describe, versions
from markdown_parts import measured_with, table
from serving import N_AT_ONCE, N_ROUNDS, N_TREES, RESULTS, medians

import spinney

BATCH = 200


def fitted(data: Dataset) -> dict[str, Any]:
    """Our forest and the nearest relative in scikit-learn that reads such frames."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    forest = spinney.TAOForestClassifier(
        N_TREES, max_depth=8, max_iter=5, random_state=0, n_jobs=1
    ).fit(data.X_train, data.y_train)
    texts = [name for name in data.X_train if data.X_train[name].dtype.kind not in "fiub"]
    frame = data.X_train.astype(dict.fromkeys(texts, "category"))
    boosted = HistGradientBoostingClassifier(max_iter=N_TREES, categorical_features=texts)
    return {"spinney": forest, "scikit-learn": boosted.fit(frame, data.y_train), "frame": frame}


def times(models: dict[str, Any], data: Dataset) -> dict[str, float]:
    """Median microseconds of one row, by the way it is asked."""
    forest, compiled = models["spinney"], models["spinney"].compile()
    one, many = data.X_test.iloc[:1], data.X_test.iloc[:BATCH]
    row, rows = one.to_dict("records")[0], many.to_dict("records")
    values, relative = list(row.values()), models["frame"].iloc[:1]
    found = medians(
        {
            "predict, frame of one row": lambda: forest.predict(one),
            "compiled, frame of one row": lambda: compiled(one),
            "compiled, dict": lambda: compiled(row),
            "compiled, list": lambda: compiled(values),
            "compiled, dict, probabilities": lambda: compiled.predict_proba(row),
            "histogram gradient boosting, frame of one row": lambda: models["scikit-learn"].predict(
                relative
            ),
        },
        N_ROUNDS,
        N_AT_ONCE,
    )
    batch = f"compiled, {BATCH} dicts"
    return found | {batch: medians({batch: lambda: compiled(rows)}, N_ROUNDS)[batch] / BATCH}


def rows_that_differ(model: Any, data: Dataset) -> dict[str, int]:
    """Test rows of which some bit of the probabilities is another one than the estimator's."""
    predict, wanted = model.compile().predict_proba, model.predict_proba(data.X_test)
    rows = data.X_test.to_dict("records")
    answers = {
        "dicts": np.array([predict(row) for row in rows]),
        "lists": np.array([predict(list(row.values())) for row in rows]),
        "frame": predict(data.X_test),
    }
    return {
        name: int(np.count_nonzero((found != wanted).any(axis=1)))
        for name, found in answers.items()
    }


def measure(data: Dataset) -> dict[str, Any]:
    """All figures of one run."""
    models = fitted(data)
    return {
        "data": data.name,
        "environment": {**versions(), **describe()},
        "n_columns": data.X_test.shape[1],
        "n_coordinates": models["spinney"].encoding_.n_coordinates,
        "rows": len(data.X_test),
        "rows_that_differ": rows_that_differ(models["spinney"], data),
        "one_row_us": times(models, data),
    }


def page(found: dict[str, Any]) -> str:
    """The figures as Markdown."""
    differing = ", ".join(f"{count} as {name}" for name, count in found["rows_that_differ"].items())
    lines = [f"# Single rows of {found['data']}, {found['n_columns']} columns", ""]
    lines += table(
        ["way", "one row, µs"], [[name, f"{us:.1f}"] for name, us in found["one_row_us"].items()]
    )
    lines += ["", f"Of {found['rows']} test rows differ in some bit: {differing}."]
    lines += ["", measured_with(found["environment"])]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="mixed_adult")
    found = measure(load(parser.parse_args().data))
    text = page(found)
    (RESULTS / "serving_tables.json").write_text(json.dumps(found, indent=1) + "\n")
    (RESULTS / "serving_tables.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
