"""The page in a real browser: what a person sees and does."""

from __future__ import annotations

import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits

import spinney
from tests.column_trees import EVERY_KIND, table, tree_model
from tests.compat.models import FORESTS, classes, numbers, rows, small_model
from tests.contracts.served import fitted, rows_for
from tests.inspection.report.forests import random_forest

#: All that the page knows of its rows, computed in the browser from its own arrays.
ANSWERS = """async () => {
    const { report, treeOf, rowsOf } = spinneyExplorer;
    const rows = await rowsOf();
    const n = report.rows.numbers.length;
    const trees = await Promise.all(report.trees.map((_, number) => treeOf(number)));
    const found = { routed: [], leaves: [], predicted: [], totals: [], sums: [] };
    for (let row = 0; row < n; row++) {
        found.routed.push(trees.map((tree) => rows.routed(tree, row)));
        found.leaves.push(trees.map((tree) => rows.leaf(row, tree.number)));
        found.predicted.push(rows.predicted(row));
        found.totals.push(rows.outputsOf("totals", row));
        const sums = [...report.offsets];
        trees.forEach((tree, t) => {
            if (report.says === "label") sums[rows.labelBy(tree, row)] += report.treeWeights[t];
            else rows.saidBy(tree, row).forEach((said, k) => {
                sums[k] += report.treeWeights[t] * said;
            });
        });
        found.sums.push(sums);
    }
    return found;
}"""

NO_OVERFLOW = "() => document.documentElement.scrollWidth <= window.innerWidth"
HOSTILE = ["<script>alert(1)</script>", "</script><b>", '"quo\'ted"', "🌲 tree", "שלום עולם"]


VIEWS = ("overview", "trees", "rows")


def show(opened: Any, view: str) -> None:
    """Change the view and wait until it is drawn."""
    opened.ask("view => spinneyExplorer.go({ view })", view)
    opened.page.wait_for_timeout(60)


def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


@pytest.fixture(scope="module")
def forest() -> spinney.TAOForestClassifier:
    X, y = digits()
    return spinney.TAOForestClassifier(5, max_depth=4, max_iter=3, random_state=0).fit(
        X[:300], y[:300]
    )


@pytest.fixture(scope="module")
def digits_page(forest, tmp_path_factory) -> Path:
    X, y = digits()
    path = tmp_path_factory.mktemp("digits") / "digits.html"
    return forest.report(path, X[300:], y[300:], image_shape=(8, 8), baselines={"other": 0.25})


def given_rows(model, n_rows=48):
    X = rows()[:n_rows]
    names = getattr(model, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=names)


@pytest.mark.slow
@pytest.mark.parametrize("family", FORESTS)
def test_ways_votes_and_predictions_are_those_of_the_model(family, tmp_path, open_report):
    model = small_model(family)
    X = given_rows(model)
    check_answers(model, X, open_report(model.report(tmp_path / "r.html", X)))


@pytest.mark.parametrize(
    "name",
    [
        "wide tree",
        "wide linear tree",
        "linear tree regressor",
        "hard linear forest",
        "soft linear forest",
        "soft forest",
        "tree of one leaf",
        "fao of log loss",
        "refined extra trees",
    ],
)
def test_other_ways_of_voting_agree_too(name, tmp_path, open_report):
    model, X = fitted(name), rows_for(name)[:50]
    check_answers(model, X, open_report(model.report(tmp_path / "r.html", X)))


def check_answers(model: Any, X: Any, opened: Any) -> None:
    """What the page shows of rows is what the model says, and is explained by its trees."""
    found = opened.ask(ANSWERS)
    if hasattr(model, "apply"):
        np.testing.assert_array_equal(found["leaves"], model.apply(X).reshape(len(X), -1))
    np.testing.assert_array_equal(found["routed"], found["leaves"])
    np.testing.assert_allclose(found["sums"], found["totals"], rtol=1e-5, atol=1e-6)
    predicted = model.predict(X)
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(model.classes_[found["predicted"]], predicted)
    else:
        said = np.array(found["predicted"])
        np.testing.assert_array_equal(said, predicted.reshape(said.shape))


def test_sparse_rows_take_the_same_way_as_dense_ones(forest, tmp_path, open_report):
    X, y = digits()
    dense = open_report(forest.report(tmp_path / "d.html", X[300:360], y[300:360])).ask(ANSWERS)
    sparse = forest.report(tmp_path / "s.html", sp.csr_matrix(X[300:360]), y[300:360])
    assert open_report(sparse).ask(ANSWERS) == dense


def test_rejected_rows_are_shown_as_such(tmp_path, open_report):
    X, y = rows(), np.array(["a", "b", "c"])[classes()]
    model = spinney.RandomDecisionForestClassifier(
        2, max_features=2, on_tie="reject", random_state=0
    ).fit(X[:24], y[:24])
    said = model.predict(X)
    assert "rejected" in said
    opened = open_report(model.report(tmp_path / "r.html", X, y), "rows")
    for line in opened.page.locator("tr[data-row]").all():
        number = int(line.locator("button").inner_text())
        assert line.locator("td").nth(2).inner_text() == said[number]


def test_overview_tells_the_error_and_the_comparison(forest, digits_page, open_report):
    X, y = digits()
    opened = open_report(digits_page)
    error = 100 * (1 - forest.score(X[300:], y[300:]))
    assert opened.texts(".tile.first dd") == [f"{error:.2f}\u202f%"]
    [compared] = [text for text in opened.texts(".card") if text.startswith("Compared")]
    assert "other" in compared
    assert "25.00" in compared
    for title in ("Confusion", "Importance of columns", "Calibration", "Training", "Parameters"):
        assert any(text.startswith(title) for text in opened.texts(".card"))


def test_confusion_cells_lead_to_their_rows(digits_page, open_report):
    opened = open_report(digits_page)
    cell = opened.page.locator(".cell").first
    wanted = int(cell.inner_text())
    cell.click()
    opened.page.wait_for_selector("tr[data-row]")
    assert opened.page.locator("tr[data-row]").count() == wanted
    opened.page.locator(".chip").click()
    assert opened.page.locator("tr[data-row]").count() == 300


def test_a_tree_is_walked_by_clicking(forest, digits_page, open_report):
    opened = open_report(digits_page, "trees")
    tree = forest.trees_[0]
    assert opened.page.locator("[role=treeitem]").count() == tree.n_nodes
    child = int(tree.right[0])
    opened.page.locator(f"g[data-node='{child}']").click()
    heading = opened.page.locator("#node-heading")
    assert heading.inner_text().startswith(("Split", "Leaf")[int(tree.left[child] < 0)])
    assert str(child) in heading.inner_text()
    opened.page.get_by_label("Next tree").click()
    opened.page.wait_for_function(
        "n => document.querySelectorAll('[role=treeitem]').length === n",
        arg=forest.trees_[1].n_nodes,
    )


def test_a_node_shows_hyperplane_scores_classes_and_rows(forest, digits_page, open_report):
    opened = open_report(digits_page, "trees&tree=1&node=0")
    detail = opened.page.locator("#node-detail")
    X, y = digits()
    tree = forest.trees_[1]
    path = forest.decision_path(X[300:])[0].toarray()[:, forest.trees_[0].n_nodes :]
    n_left, n_right = path[:, tree.left[0]].sum(), path[:, tree.right[0]].sum()
    assert f"300 rows of 300 reach it: {n_left} go left, {n_right} right." in detail.inner_text()
    used = slice(*tree.split_indptr[:2])
    assert f"{len(tree.split_indices[used])} weights of 64" in detail.inner_text()
    assert detail.locator("canvas.picture").first.is_visible()
    assert detail.locator("svg.chart rect").count() > 5
    most = np.bincount(y[300:]).max()
    [mix] = [text for text in opened.texts("#node-detail section") if text.startswith("Classes")]
    assert f"{most} ·" in mix
    assert detail.locator(".thumbs button").count() == 40


def test_trees_are_counted_from_0_as_everywhere(digits_page, open_report):
    opened = open_report(digits_page, "trees")
    number = opened.page.locator("#tree-number")
    assert number.input_value() == "0"
    opened.page.get_by_label("Next tree").click()
    opened.page.wait_for_selector("#node-heading:has-text('tree 1,')")
    assert number.input_value() == "1"
    assert "tree=1&" in opened.ask("() => location.hash")
    for typed, kept in (("4", "4"), ("5", "4"), ("", "4"), ("0", "0")):  # there are five
        number.fill(typed)
        number.press("Enter")
        opened.page.wait_for_timeout(60)
        assert number.input_value() == kept
    show(opened, "rows")
    opened.page.wait_for_selector("tr[data-tree='4']")
    assert opened.texts("tr[data-tree] button") == ["0", "1", "2", "3", "4"]
    assert opened.page.locator("#way h3").inner_text().startswith("Way through tree 0")


#: How far each pixel of the first picture of a node is from the colour of zero.
STRENGTHS = """() => {
    const canvas = document.querySelector("#node-detail canvas.picture");
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    const style = getComputedStyle(document.documentElement).getPropertyValue("--picture").trim();
    const paper = [1, 3, 5].map((at) => parseInt(style.slice(at, at + 2), 16));
    const distance = (i) => Math.hypot(...[0, 1, 2].map((c) => data[4 * i + c] - paper[c]));
    return Array.from({ length: width * height }, (_, i) => distance(i));
}"""


@pytest.mark.parametrize("has_rows", [True, False])
def test_a_picture_shows_what_the_bars_beside_it_show(has_rows, forest, tmp_path, open_report):
    X, y = digits()
    given = (X[300:], y[300:]) if has_rows else ()
    path = forest.report(tmp_path / "r.html", *given, image_shape=(8, 8))
    opened = open_report(path, "trees&tree=0&node=0")
    tree = forest.trees_[0]
    used = slice(*tree.split_indptr[:2])
    columns = tree.split_indices[used]
    effects = np.zeros(64)
    effects[columns] = np.abs(tree.split_weights[used])
    if has_rows:
        effects *= X[300:].std(axis=0)
    strengths = np.array(opened.ask(STRENGTHS))
    assert set(np.flatnonzero(strengths)) <= set(columns)
    best_first = np.argsort(-effects)[:5]
    assert opened.texts("#node-detail .bars th")[:5] == [f"x{column}" for column in best_first]
    assert strengths[best_first[0]] == strengths.max()
    # Two hues, each of which grows with the effect.
    for sign in (-1, 1):
        of_sign = columns[sign * tree.split_weights[used] > 0]
        ordered = of_sign[np.argsort(effects[of_sign])]
        assert (np.diff(strengths[ordered]) > -1.5).all()  # colours are whole numbers
    said = opened.page.locator("#node-detail").inner_text()
    assert ("Picture and bars: weight × deviation of the column" in said) == has_rows


def test_a_link_to_a_tree_takes_the_arrow_keys_at_once(forest, digits_page, open_report):
    opened = open_report(digits_page, "trees&tree=1&node=0")
    opened.page.keyboard.press("ArrowDown")
    opened.page.wait_for_timeout(60)
    tree = forest.trees_[1]
    node = opened.ask("() => spinneyExplorer.state.node")
    assert node in (tree.left[0], tree.right[0])


def test_keys_walk_the_tree(forest, digits_page, open_report):
    opened = open_report(digits_page, "trees")
    tree = forest.trees_[0]
    opened.page.locator("g[data-node='0']").focus()
    at = "() => Number(document.activeElement.dataset.node)"
    for key, wanted in (
        ("ArrowDown", tree.left[0]),
        ("ArrowRight", tree.right[0]),
        ("ArrowLeft", tree.left[0]),
        ("ArrowUp", 0),
    ):
        opened.page.keyboard.press(key)
        opened.page.wait_for_timeout(30)
        found = opened.ask(at)
        assert found in ((tree.left[0], tree.right[0]) if key == "ArrowDown" else (wanted,))
        if key == "ArrowDown" and found == tree.right[0]:
            opened.page.keyboard.press("ArrowLeft")
            opened.page.wait_for_timeout(30)
    outline = "() => getComputedStyle(document.activeElement.querySelector('.halo')).strokeWidth"
    assert opened.ask(outline) == "4px"


def test_tab_reaches_everything_and_arrows_change_the_view(digits_page, open_report):
    opened = open_report(digits_page)
    seen = []
    for _ in range(4):
        opened.page.keyboard.press("Tab")
        seen.append(
            opened.ask("() => document.activeElement.id || document.activeElement.className")
        )
    assert seen[:3] == ["skip", "theme", "tab-overview"]
    opened.page.locator("#tab-overview").focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.wait_for_selector("[role=treeitem]")
    assert opened.ask("() => document.activeElement.id") == "tab-trees"


def test_search_finds_columns_classes_and_numbers(forest, digits_page, open_report):
    opened = open_report(digits_page, "trees")
    tree = forest.trees_[0]
    wanted = {
        int(node)
        for node in tree.split_nodes
        if 36 in tree.split_indices[slice(*tree.split_indptr[node : node + 2])]
    }
    opened.page.fill("#tree-search", "x36")
    marked = (
        "() => [...document.querySelectorAll('.node.match')].map((n) => Number(n.dataset.node))"
    )
    assert set(opened.ask(marked)) == wanted
    opened.page.fill("#tree-search", "3")
    of_class = {
        int(n) for n, v in zip(tree.leaf_nodes, tree.leaf_values, strict=True) if v.argmax() == 3
    }
    assert of_class | {3} <= set(opened.ask(marked))
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_timeout(30)
    assert opened.ask("() => spinneyExplorer.state.node") in opened.ask(marked)


@pytest.mark.slow
def test_a_large_tree_is_walked_in_a_window(tmp_path, open_report):
    model = random_forest(1, depth=9, n_features=20, n_weights=5)
    opened = open_report(model.report(tmp_path / "deep.html"), "trees", width=1440)
    items = opened.page.locator("[role=treeitem]")
    assert items.count() == 63
    opened.page.locator("g[data-node='0']").focus()
    for _ in range(9):
        opened.page.keyboard.press("ArrowDown")
        opened.page.wait_for_timeout(40)
    leaf = opened.ask("() => Number(document.activeElement.dataset.node)")
    assert model.trees_[0].depth[leaf] == 9
    assert opened.page.locator("g[data-node='0']").count() == 0
    for _ in range(9):
        opened.page.keyboard.press("ArrowUp")
        opened.page.wait_for_timeout(40)
    assert opened.ask("() => document.activeElement.dataset.node") == "0"
    opened.page.get_by_role("button", name="Whole tree").click()
    assert items.count() == 1023
    opened.page.get_by_role("button", name="Whole tree").click()
    opened.page.fill("#tree-search", str(leaf))
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_selector(f"g[data-node='{leaf}'].match")


def test_zoom_and_drag_move_the_drawing(digits_page, open_report):
    opened = open_report(digits_page, "trees")
    box = "() => document.querySelector('svg.tree').getAttribute('viewBox').split(' ').map(Number)"
    before = opened.ask(box)
    opened.page.get_by_label("Zoom in").click()
    closer = opened.ask(box)
    assert closer[2] < before[2]
    place = opened.page.locator("svg.tree").bounding_box()
    opened.page.mouse.move(place["x"] + 20, place["y"] + 300)
    opened.page.mouse.down()
    opened.page.mouse.move(place["x"] + 120, place["y"] + 300)
    opened.page.mouse.up()
    assert opened.ask(box)[0] < closer[0]
    opened.page.get_by_label("Fit the drawing into view").click()
    assert opened.ask(box) == before


def test_a_row_is_followed_through_every_tree(forest, digits_page, open_report):
    X, _ = digits()
    row = 17
    opened = open_report(digits_page, f"rows&tree=2&node=0&row={row}")
    opened.page.wait_for_selector(".trees-table tbody tr:nth-child(5)")
    x = X[300 + row : 301 + row]
    said = opened.page.locator("[data-predicted]").get_attribute("data-predicted")
    assert said == str(forest.predict(x)[0])
    lines = opened.page.locator("tr[data-tree]").all()
    assert [int(line.get_attribute("data-leaf")) for line in lines] == forest.apply(x)[0].tolist()
    said_by_trees = [line.get_attribute("data-says").split() for line in lines]
    fractions = np.array(said_by_trees, dtype=float).mean(axis=0)
    plain = copy.copy(forest).set_params(calibrate=False)
    np.testing.assert_allclose(fractions, plain.predict_proba(x)[0], rtol=1e-5)
    assert [
        int(opened.page.locator(".way-letters").nth(t).inner_text().count("R")) for t in range(5)
    ] == [
        int((t.right[list(path[:-1])] == path[1:]).sum())
        for t, path in zip(forest.trees_, paths_of(forest, x), strict=True)
    ]
    steps = opened.page.locator(".steps li[data-node]").all()
    tree = forest.trees_[2]
    assert len(steps) == tree.depth[forest.apply(x)[0, 2]]
    for step in steps:
        node = int(step.get_attribute("data-node"))
        used = slice(*tree.split_indptr[node : node + 2])
        weights = tree.split_weights[used].astype(float)
        score = weights @ x[0, tree.split_indices[used]] + tree.bias[node]
        # The core and the page round each product and sum to float32; the terms are exact.
        assert float(step.get_attribute("data-score")) == pytest.approx(score, rel=1e-5)
        assert float(step.get_attribute("data-sum")) == pytest.approx(score, rel=1e-6)
        typical = forest.typical_.coordinates[tree.split_indices[used]].astype(float)
        start = weights @ typical + tree.bias[node]
        assert float(step.get_attribute("data-base")) == pytest.approx(start, rel=1e-6)


def test_all_contributions_of_a_split_can_be_seen(forest, digits_page, open_report):
    opened = open_report(digits_page, "rows&tree=2&node=0&row=17")
    step = opened.page.locator(".steps li[data-node='0']")
    bars, more = step.locator(".bars tr"), step.get_by_role("button", name="Show all")
    tree = forest.trees_[2]
    n_terms = tree.split_indptr[1]
    seen = numbers_of(step.locator(".bars .figure"))
    assert len(seen) < n_terms
    assert "other terms" in bars.last.inner_text()
    score = float(step.get_attribute("data-score"))
    assert sum(seen) == pytest.approx(score, abs=0.002 * len(seen))
    more.click()
    x = digits()[0][317]
    columns = tree.split_indices[:n_terms]
    differences = x[columns] - forest.typical_.coordinates[columns]
    products = tree.split_weights[:n_terms].astype(float) * differences
    assert bars.count() == 1 + np.count_nonzero(products)
    assert more.count() == 0
    label = bars.nth(7).locator("th").inner_text()
    [shown] = numbers_of(bars.nth(7).locator(".figure"))
    assert shown == pytest.approx(products[columns == int(label[1:])][0], abs=0.002)


def test_a_row_starts_from_the_typical_row_and_not_from_zero(tmp_path, open_report):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 2)), rng.normal(1000, 1, 300)])
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    model = spinney.TAOTreeClassifier(max_depth=1, alpha=0.01, random_state=0).fit(X, y)
    opened = open_report(model.report(tmp_path / "r.html", X[:20]), "rows&row=3")
    labels = opened.texts(".steps .bars th")
    shown = dict(zip(labels, numbers_of(opened.page.locator(".steps .bars .figure")), strict=True))
    plane = dict(zip(model.tree_.split_indices, model.tree_.split_weights, strict=True))
    typical = model.typical_.coordinates
    start = model.tree_.bias[0] + sum(w * typical[column] for column, w in plane.items())
    assert labels[0] == "typical row"
    assert shown["typical row"] == pytest.approx(start, rel=1e-3, abs=0.002)
    for column, weight in plane.items():
        added = weight * (X[3, column] - typical[column])
        assert shown[f"x{column}"] == pytest.approx(added, rel=1e-3, abs=0.002)
    assert "weight × (value − typical value)" in opened.page.locator("#way").inner_text()


@pytest.mark.parametrize("family", ["fao_forest_classifier", "tao_tree_regressor"])
def test_what_columns_add_is_what_explain_says(family, tmp_path, open_report):
    model = small_model(family)
    opened = open_report(model.report(tmp_path / "r.html", rows()), "rows&row=5")
    why = spinney.explain(model, rows()[5])
    labels = opened.texts("#pushes .bars th")
    figures = numbers_of(opened.page.locator("#pushes .bars .figure"))
    added = {column.column: column.push for column in why.features if column.push}
    assert labels == ["typical row", *added]
    wanted = [why.typical_answer[why.output], *added.values()]
    np.testing.assert_allclose(figures, wanted, rtol=1e-3, atol=6e-4)
    np.testing.assert_allclose(sum(figures), why.answer[why.output], rtol=1e-3, atol=3e-3)
    assert "Orange argues for it" in opened.page.locator("#pushes").inner_text()


def test_models_without_a_typical_row_start_from_the_bias(tmp_path, open_report):
    model = copy.copy(small_model("tao_tree_classifier"))
    del model.typical_
    opened = open_report(model.report(tmp_path / "r.html", rows()), "rows&row=3")
    assert opened.texts(".steps li[data-node='0'] th")[0] == "bias"
    assert opened.page.locator("#pushes").count() == 0
    assert "knows no typical row" in opened.page.locator("#way").inner_text()


def test_leaves_that_add_up_are_shown_as_scores(tmp_path, open_report):
    model = small_model("fao_forest_classifier")
    opened = open_report(model.report(tmp_path / "r.html", rows()), "rows&row=3")
    opened.page.wait_for_selector("tr[data-tree='0']")
    leaf = model.apply(rows()[3:4])[0, 0]
    tree = model.trees_[0]
    largest = tree.leaf_values[tree.leaf_index[leaf]].max()
    said = opened.page.locator("tr[data-tree='0'] td").nth(3).inner_text()
    assert f"score {'+' if largest >= 0 else ''}" in said
    [shown] = numbers_of(opened.page.locator("tr[data-tree='0'] td:nth-child(4) .quiet"))
    assert shown == pytest.approx(largest, abs=0.002)
    opened.ask("node => spinneyExplorer.go({ view: 'trees', tree: 0, node })", int(leaf))
    opened.page.wait_for_selector("#node-detail h3:has-text('Scores that it adds')")
    assert "+" in "".join(opened.texts("#node-detail .bars .figure"))


def numbers_of(cells: Any) -> list[float]:
    """Figures as the page writes them."""
    return [
        float(text.replace("score", "").replace("\u202f", "").replace("\u2212", "-"))
        for text in cells.all_inner_texts()
    ]


def paths_of(forest: Any, x: np.ndarray) -> list[np.ndarray]:
    """Nodes that a row passes in each tree, root first."""
    passed, begin = forest.decision_path(x)
    nodes = passed.indices
    return [
        np.sort(nodes[(nodes >= first) & (nodes < end)]) - first for first, end in pairwise(begin)
    ]


def test_the_way_of_a_row_is_drawn_in_its_tree(forest, digits_page, open_report):
    opened = open_report(digits_page, "rows&tree=1&node=0&row=17")
    opened.page.get_by_role("button", name="show in the tree").click()
    opened.page.wait_for_selector(".edge.way")
    X, _ = digits()
    leaf = forest.apply(X[317:318])[0, 1]
    assert opened.page.locator("#node-heading").inner_text().startswith(f"Leaf {leaf}")
    n_steps = opened.page.locator(".edge.way").get_attribute("d").count("C")
    assert n_steps == forest.trees_[1].depth[leaf]
    opened.page.get_by_role("button", name="way of row 17").click()
    opened.page.wait_for_timeout(50)
    assert opened.ask("() => spinneyExplorer.state.row") == -1


def test_rows_are_sorted_and_filtered(forest, digits_page, open_report):
    X, y = digits()
    is_wrong = forest.predict(X[300:]) != y[300:]
    opened = open_report(digits_page, "rows")
    lines = opened.page.locator("tr[data-row]")
    first = [line.get_attribute("class") or "" for line in lines.all()[: is_wrong.sum() + 1]]
    assert ["wrong" in kind for kind in first] == [True] * is_wrong.sum() + [False]
    opened.page.check("#only-wrong")
    assert lines.count() == is_wrong.sum()
    opened.page.locator("[data-key=number]").click()
    numbers_shown = [int(text) for text in opened.texts("tr[data-row] button")]
    assert numbers_shown == np.flatnonzero(is_wrong).tolist()
    opened.page.locator("[data-key=number]").click()
    assert [int(text) for text in opened.texts("tr[data-row] button")] == numbers_shown[::-1]


def test_largest_residuals_come_first(tmp_path, open_report):
    X, y = rows(), numbers()
    model = spinney.TAOTreeRegressor(max_depth=2, max_iter=3, random_state=0).fit(X[:20], y[:20])
    opened = open_report(model.report(tmp_path / "r.html", X, y), "rows")
    lengths = np.linalg.norm(model.predict(X) - y, axis=1)
    shown = [int(text) for text in opened.texts("tr[data-row] button")]
    np.testing.assert_allclose(lengths[shown], np.sort(lengths)[::-1])


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_no_width_scrolls_sideways(width, digits_page, open_report):
    opened = open_report(digits_page, width=width)
    for view in VIEWS:
        show(opened, view)
        assert opened.ask(NO_OVERFLOW), view


def test_dark_and_light_follow_the_system_and_the_button(digits_page, open_report):
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = open_report(digits_page, color_scheme="light").ask(paper)
    opened = open_report(digits_page, color_scheme="dark")
    assert opened.ask(paper) != light
    opened.page.click("#theme")
    assert opened.ask(paper) == light


@pytest.mark.parametrize("width", [360, 1440])
def test_hostile_names_are_shown_literally(width, tmp_path, open_report):
    X = pd.DataFrame(rows(), columns=HOSTILE[:3])
    X[HOSTILE[3]] = np.array(HOSTILE)[np.arange(len(X)) % 5]
    y = np.array(HOSTILE)[np.arange(len(X)) % 5]
    model = spinney.TAOForestClassifier(2, max_depth=3, max_iter=2, random_state=0).fit(X, y)
    path = model.report(tmp_path / "h.html", X, y, baselines={HOSTILE[0] * 5: 0.5})
    opened = open_report(path, width=width)
    for view in VIEWS:
        show(opened, view)
        assert opened.ask(NO_OVERFLOW), view
        assert opened.ask("() => document.querySelectorAll('main script, main b').length") == 0
    names = set(opened.texts("tr[data-row] td:nth-child(2) bdi"))
    assert names == set(HOSTILE)
    given = opened.texts("#row-detail details[open] th")
    assert given == [*HOSTILE[:3], HOSTILE[3]]


def test_a_model_without_rows_can_be_explored(forest, tmp_path, open_report):
    opened = open_report(forest.report(tmp_path / "bare.html"), "trees")
    assert opened.page.locator("#tab-rows").count() == 0
    assert "Hyperplane" in opened.page.locator("#node-detail").inner_text()


def test_splits_of_one_column_are_told_in_words(tmp_path, open_report):
    path = tree_model(*EVERY_KIND).report(tmp_path / "w.html", table().iloc[:40])
    opened = open_report(path, "trees&node=0")
    detail = opened.page.locator("#node-detail")
    assert "Right if color in {blue, red}" in detail.inner_text()
    assert not detail.locator(".bars tr").first.is_visible()
    detail.locator("summary").click()
    assert detail.locator(".bars tr").first.is_visible()
    opened = open_report(path, "rows&tree=0&row=0")
    steps = opened.texts(".steps li[data-node]")
    assert steps[0] == "Split 0 color in {blue, red}: no → left"
    assert steps[1] == "Split 1 age ≥ 45.5 or missing: yes → right"


def test_raw_values_stand_beside_coordinates(tmp_path, open_report):
    data = load_breast_cancer(as_frame=True)
    X = data.data.iloc[:80, :3].copy()
    X["kind"] = pd.Categorical(np.array(["red", "blue"])[np.arange(80) % 2])
    X["day"] = pd.date_range("2020-01-01", periods=80)
    X.iloc[0, 0] = np.nan
    model = spinney.TAOTreeClassifier(max_depth=2, max_iter=2, random_state=0)
    model.fit(X, data.target[:80])
    opened = open_report(model.report(tmp_path / "t.html", X, data.target[:80]), "rows&row=0")
    [given, coordinates] = opened.page.locator("#row-detail details").all()
    assert "missing" in given.inner_text()
    assert "blue" not in given.inner_text()
    assert "2020-01-01" in given.inner_text()
    coordinates.locator("summary").click()
    shown = coordinates.locator("th").all_inner_texts()
    assert shown == model.get_coordinate_names().tolist()


@pytest.mark.slow
def test_300_trees_of_depth_8_open_in_2_seconds_from_15_megabytes(tmp_path, open_report):
    model = random_forest(300, depth=8, n_features=784, n_weights=64)
    rng = np.random.default_rng(1)
    X = rng.integers(0, 256, (500, 784)) * (rng.random((500, 784)) < 0.2)
    path = model.report(tmp_path / "big.html", X, np.arange(500) % 10, image_shape=(28, 28))
    assert path.stat().st_size < 15_000_000
    opened = [open_report(path, "trees&tree=299&node=0", width=1440) for _ in range(3)]
    assert opened[0].page.locator("[role=treeitem]").count() == 63  # five levels below the root
    # From the start of the navigation until the tree is drawn; other work may disturb one of them.
    assert (
        min(int(one.ask("() => document.documentElement.dataset.ready")) for one in opened) < 2000
    )
