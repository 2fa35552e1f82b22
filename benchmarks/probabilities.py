"""Log loss of every forest's defaults on everyday tables, beside random forests and LightGBM.

    python benchmarks/probabilities.py               measure what is missing, then write the page
    python benchmarks/probabilities.py --report-only only the page and the plot
    python benchmarks/probabilities.py --seeds 0     some of the seeds

Tables are cut into 70 % training and 30 % test rows, classes in proportion, with at most 8000
training rows. Peers have their defaults, too. Each forest is read with its map to probabilities and
without. Finished cells are kept in ``results/probabilities.json``, so that a run that was stopped
goes on where it stopped. The page is ``results/probabilities.md``, the plot beside it.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from datasets import find_file
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import spinney

RESULTS = Path(__file__).resolve().parent / "results"
MOST_ROWS, SEEDS, N_BINS = 8000, (0, 1, 2), 10

TABLES = (
    "wa_churn",
    "hpc_jobs",
    "attrition",
    "taxi_tip",
    "police_search",
    "caravan",
    "income9",
    "phoneme",
    "segment",
    "electricity",
    "magic",
)
PEERS = ("random forest", "LightGBM")
FORESTS = {
    "TAOForest": spinney.TAOForestClassifier,
    "TAOBoost": spinney.TAOBoostClassifier,
    "TAOGradientBoosting": spinney.TAOGradientBoostingClassifier,
    "FAOForest": spinney.FAOForestClassifier,
    "CO2Forest": spinney.CO2ForestClassifier,
    "RandomDecisionForest": spinney.RandomDecisionForestClassifier,
    "GreedyForest": spinney.GreedyForestClassifier,
}

Floats = NDArray[np.float64]
Cell = dict[str, Any]


def split_table(name: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, Any, Any]:
    """Training and test rows of a table, and their classes as numbers."""
    path = find_file(f"tables/{name}.parquet")
    assert path is not None, f"no table {name}"
    table = pd.read_parquet(path)
    codes = np.unique(table.pop("target").astype(str), return_inverse=True)[1]
    texts = [name for name in table if not pd.api.types.is_numeric_dtype(table[name].dtype)]
    table = table.astype(dict.fromkeys(texts, "category"))
    X, X_test, y, y_test = train_test_split(
        table, codes, test_size=0.3, random_state=seed, stratify=codes
    )
    if len(X) > MOST_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, random_state=seed, stratify=y)
    return X.reset_index(drop=True), X_test.reset_index(drop=True), y, y_test


def peer(name: str, X: pd.DataFrame, seed: int) -> BaseEstimator:
    """A peer with its defaults, on one thread."""
    if name == "LightGBM":
        return lightgbm.LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
    levels = [column for column in X if X[column].dtype == "category"]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    forest = RandomForestClassifier(random_state=seed)
    return make_pipeline(
        make_column_transformer((encoder, levels), remainder="passthrough"), forest
    )


def measured(model: BaseEstimator, X: pd.DataFrame, y: NDArray[np.int64]) -> Cell:
    """Error, log loss and reliability of a fitted model."""
    shares = model.predict_proba(X)
    is_zero = shares[np.arange(len(y)), y] == 0
    return {
        "error": 100 * float((model.predict(X) != y).mean()),
        "log loss": float(log_loss(y, shares, labels=np.arange(shares.shape[1]))),
        "true class at 0": 100 * float(is_zero.mean()),
        "reliability": reliability(shares, y),
    }


def reliability(shares: Floats, y: NDArray[np.int64]) -> list[list[float]]:
    """Mean probability of the predicted class, share of right answers, and rows, in ten bins."""
    best = shares.max(axis=1)
    is_right = shares.argmax(axis=1) == y
    parts = np.array_split(np.argsort(best, kind="stable"), N_BINS)
    return [[float(best[rows].mean()), float(is_right[rows].mean()), len(rows)] for rows in parts]


def run_cell(name: str, table: str, seed: int) -> dict[str, Cell]:
    """One model on one table; our forests also without their map."""
    X, X_test, y, y_test = split_table(table, seed)
    if name in PEERS:
        X, X_test = (frame.rename(columns=_plain) for frame in (X, X_test))
        model = peer(name, X, seed)
    else:
        model = FORESTS[name](random_state=seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    seconds = time.process_time() - began
    found = {name: measured(model, X_test, y_test) | {"seconds": seconds}}
    if hasattr(model, "probability_slope_"):
        raw = model.set_params(calibrate=False)
        found[f"{name}, no map"] = measured(raw, X_test, y_test)
    return found


def _plain(name: object) -> str:
    """A name that LightGBM takes."""
    return "".join(letter if letter.isalnum() else "_" for letter in str(name))


def measure(path: Path, seeds: tuple[int, ...], tables: tuple[str, ...]) -> dict[str, Cell]:
    """All cells, measured now or before."""
    cells: dict[str, Cell] = json.loads(path.read_text()) if path.exists() else {}
    for seed in seeds:
        for table in tables:
            for name in (*PEERS, *FORESTS):
                if f"{table}|{name}|{seed}" in cells:
                    continue
                for model, cell in run_cell(name, table, seed).items():
                    cells[f"{table}|{model}|{seed}"] = cell
                    print(
                        table,
                        seed,
                        model,
                        f"{cell['error']:.2f} {cell['log loss']:.4f}",
                        flush=True,
                    )
                path.write_text(json.dumps(cells, indent=0))
    return cells


def mean_of(cells: dict[str, Cell], table: str, model: str, what: str) -> float:
    """Mean over the seeds that are there; nan if none is."""
    found = [cells[key][what] for seed in SEEDS if (key := f"{table}|{model}|{seed}") in cells]
    return float(np.mean(found)) if found else float("nan")


def write_page(cells: dict[str, Cell], path: Path) -> None:
    """A table of log losses as ratios to the better peer, and how many are within 10 %."""
    lines = ["# Probabilities of default forests", "", "`python benchmarks/probabilities.py`", ""]
    lines += ["Log loss on test rows over that of the better of random forest and LightGBM.", ""]
    lines.append("| model | " + " | ".join(TABLES) + " | within 10 % |")
    lines.append("|---" * (len(TABLES) + 2) + "|")
    best = {
        table: min(mean_of(cells, table, peer, "log loss") for peer in PEERS) for table in TABLES
    }
    models = [*PEERS, *(shown for name in FORESTS for shown in (name, f"{name}, no map"))]
    for model in models:
        ratios = [mean_of(cells, table, model, "log loss") / best[table] for table in TABLES]
        if np.isnan(ratios).all():
            continue
        n_near = sum(ratio <= 1.1 for ratio in ratios)
        shown = " | ".join("–" if np.isnan(ratio) else f"{ratio:.2f}" for ratio in ratios)
        lines.append(f"| {model} | {shown} | {n_near} of {len(TABLES)} |")
    for title, what in (("Test error in %", "error"), ("CPU seconds of a fit", "seconds")):
        lines += ["", f"{title}.", "", "| model | " + " | ".join(TABLES) + " |"]
        lines.append("|---" * (len(TABLES) + 1) + "|")
        for model in (*PEERS, *FORESTS):
            values = [mean_of(cells, table, model, what) for table in TABLES]
            lines.append(f"| {model} | " + " | ".join(f"{value:.2f}" for value in values) + " |")
    n_cells = {seed: sum(key.endswith(f"|{seed}") for key in cells) for seed in SEEDS}
    lines += ["", f"Cells by seed: {n_cells}. Means over the seeds that are there.", ""]
    path.write_text("\n".join(lines))
    print("\n".join(lines))


def draw(cells: dict[str, Cell], path: Path) -> None:
    """Reliability of the predicted class, all tables and seeds of a model together."""
    figure = Figure(figsize=(11, 6), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True).ravel()
    shown = ["random forest", *FORESTS]
    for panel, name in zip(panels, shown, strict=True):
        panel.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for model, color in ((name, "C0"), (f"{name}, no map", "C1")):
            bins = [
                row
                for key, cell in cells.items()
                if key.split("|")[1] == model
                for row in cell["reliability"]
            ]
            if bins:
                said, right = _pooled(np.array(bins))
                label = "no map" if "no map" in model else "default"
                panel.plot(said, right, "o-", color=color, markersize=3, label=label)
        panel.set_title(name, fontsize=10)
        panel.legend(fontsize=8)
    figure.supxlabel("mean probability of the predicted class")
    figure.supylabel("share of right answers")
    figure.savefig(path, dpi=110)


def _pooled(bins: Floats) -> tuple[Floats, Floats]:
    """Bins of all tables, put together by their mean probability."""
    parts = np.array_split(bins[np.argsort(bins[:, 0])], N_BINS)
    said = [np.average(part[:, 0], weights=part[:, 2]) for part in parts]
    right = [np.average(part[:, 1], weights=part[:, 2]) for part in parts]
    return np.array(said), np.array(right)


def main() -> None:
    """Measure, then write the page and the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    arguments = parser.parse_args()
    path = RESULTS / "probabilities.json"
    if arguments.report_only:
        cells = json.loads(path.read_text())
    else:
        cells = measure(path, tuple(arguments.seeds), tuple(arguments.tables))
    write_page(cells, RESULTS / "probabilities.md")
    draw(cells, RESULTS / "probabilities.png")


if __name__ == "__main__":
    main()
