"""Size of reports and how long a browser takes to open them.

Two forests of the paper tables: Letter, boosted, 100 trees of depth 11, and MNIST, FAO, 2 x 30
trees of depth 6; and one of the size of the largest, 300 random trees of depth 8 with 64 weights a
split on 784 columns. By default the fits are short, 2 sweeps, on MNIST with 10000 rows, so their
errors are not those of the tables, and their sizes only near them; `--full` fits as the tables do.

    python benchmarks/report_size.py [--full] [--keep FOLDER]

The browser is Debian's chromium through playwright. The time is from the start of the navigation
until the first view is drawn, the median of five, and again for the view of a tree.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import datasets
import numpy as np

import spinney

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.inspection.report.forests import random_forest

REPEATS = 5


def letter(is_full: bool) -> tuple[Any, Any, Any, None]:
    data = datasets.load("letter")
    model = spinney.TAOBoostClassifier(
        100,
        max_depth=11,
        max_sweeps=20 if is_full else 2,
        learning_rate=0.1,
        alpha=0.1,
        init="random",
        random_state=0,
    ).fit(data.X_train, data.y_train)
    return model, data.X_test, data.y_test, None


def mnist(is_full: bool) -> tuple[Any, Any, Any, tuple[int, int]]:
    data = datasets.load("mnist")
    rows = slice(None) if is_full else slice(10_000)
    model = spinney.FAOForestClassifier(
        n_forests=2,
        n_trees=30,
        max_depth=6,
        alpha=8.0 if is_full else 8.0 / 6,  # the loss is a sum over rows
        leaf_alpha=5.0,
        ridge=0.05,
        max_iter=20 if is_full else 2,
        random_state=0,
    ).fit(data.X_train[rows], data.y_train[rows])
    return model, data.X_test, data.y_test, (28, 28)


def largest(is_full: bool) -> tuple[Any, Any, Any, tuple[int, int]]:
    del is_full
    rng = np.random.default_rng(1)
    X = rng.integers(0, 256, (2000, 784)) * (rng.random((2000, 784)) < 0.2)
    return random_forest(300, 8, 784, 64), X, np.arange(2000) % 10, (28, 28)


FORESTS = {
    "Letter, boosted TAO, 100 trees": letter,
    "MNIST, FAO, 2 x 30 trees": mnist,
    "300 random trees, depth 8": largest,
}


def open_milliseconds(browser: Any, path: Path, view: str) -> float:
    found = []
    for _ in range(REPEATS):
        page = browser.new_page()
        page.goto(f"{path.as_uri()}#{view}")
        page.wait_for_selector("html[data-ready]")
        found.append(int(page.evaluate("document.documentElement.dataset.ready")))
        page.close()
    return statistics.median(found)


def measure(name: str, is_full: bool, folder: Path, browser: Any) -> dict[str, Any]:
    model, X, y, shape = FORESTS[name](is_full)
    start = time.perf_counter()
    path = model.report(folder / f"{FORESTS[name].__name__}.html", X, y, image_shape=shape)
    written = time.perf_counter() - start
    text = path.read_text(encoding="utf-8")
    document = json.loads(text.split('id="document">')[1].split("</script>")[0])
    return {
        "forest": name,
        "parameters": int(model.forest_.n_parameters),
        "trees": f"{document['nTreesShown']} of {len(document['trees'])}",
        "weights": document["precision"],
        "rows": len(document["rows"]["numbers"]),
        "MB": round(path.stat().st_size / 1e6, 2),
        "written s": round(written, 1),
        "open ms": open_milliseconds(browser, path, "overview"),
        "open at a tree ms": open_milliseconds(browser, path, "trees&tree=2&node=0"),
    }


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--full", action="store_true", help="fit as the tables do, which takes long"
    )
    parser.add_argument("--keep", type=Path, help="folder that the reports are left in")
    parser.add_argument("--browser", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=arguments.browser, args=["--no-sandbox", "--disable-gpu"]
        )
        for name in FORESTS:
            found = measure(name, arguments.full, arguments.keep or Path(scratch), browser)
            print(" | ".join(f"{key} {value}" for key, value in found.items()), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
