"""Plots are drawn from outcomes that are made up here."""

import plots
import pytest
import table
from runner import Outcome

figure_module = pytest.importorskip("matplotlib.figure")

CURVE = {"trees": [1, 10], "seconds": [1.0, 2.0], "test_error": [9.0, 4.0], "train_error": [5.0, 0]}


@pytest.fixture
def figures(monkeypatch):
    """Figures in the order they were saved; axes and legends can be asked for."""
    saved = []
    monkeypatch.setattr(
        figure_module.Figure, "savefig", lambda figure, path, **_: saved.append((path.name, figure))
    )
    return saved


def forest(label, **params):
    return {"label": label, "estimator": "TAOForestClassifier", "params": params}


def drawn(folder, rows, measured=None, **content):
    """Draw a table of which all rows are measured, or only the `measured`."""
    found = table.parse("t", {"title": "T", "data": ["digits"], "row": rows, **content})
    outcomes = []
    for number, row in enumerate(found.rows):
        result = {"n_parameters": 10.0 + number, "wall_seconds": 1.0, "test_error": 4.0}
        is_there = measured is None or row.label in measured
        outcomes.append(Outcome(row, results={0: result | {"curve": CURVE}} if is_there else {}))
    return plots.draw_all(folder, found, outcomes)


def words(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_table_without_plots_gets_size_and_time_of_every_data_set(tmp_path, figures):
    rows = [forest("TAO"), {"label": "RF", "estimator": "rf", "params": {}}]
    paths = drawn(tmp_path, rows, data=["digits", "usps"])
    assert [path.name for path in paths] == ["t-parameters.png", "t-fit_seconds.png"]
    for _, figure in figures:
        assert [axes.get_title() for axes in figure.axes] == ["digits", "usps"]
        assert words(figure) == ["TAO", "RF"]


def test_nothing_is_drawn_of_a_table_without_cells(tmp_path):
    assert drawn(tmp_path, [forest("TAO")], measured=[]) == []


def test_twenty_models_have_twenty_marks():
    styles = plots.Styles()
    marks = {
        (style["color"], style["marker"])
        for number in range(20)
        for style in [styles.mark(str(number), is_ours=number < 9)]
    }
    assert len(marks) == 20


def test_a_model_looks_the_same_in_all_panels(tmp_path, figures):
    rows = [forest("A") | {"data": ["digits"]}, forest("B") | {"data": ["digits", "usps"]}]
    drawn(tmp_path, rows, data=["digits", "usps"])
    first, second = figures[0][1].axes
    assert first.lines[1].get_label() == second.lines[0].get_label() == "B"
    assert first.lines[1].get_color() == second.lines[0].get_color()


def test_numbers_of_trees_are_panels_with_ticks_at_the_values(tmp_path, figures):
    rows = [
        forest("d{max_depth} i{max_iter}") | {"vary": {"max_depth": [4, 8], "max_iter": [2, 5]}}
    ]
    plot = {"name": "p", "x": "max_iter", "trees": [1, 10], "panels": "trees", "log_x": True}
    drawn(tmp_path, rows, plot=[plot | {"train": True}])
    ((_, figure),) = figures
    assert [axes.get_title() for axes in figure.axes] == ["T=1", "T=10"]
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["2", "5"]
    assert words(figure) == ["Δ=4", "Δ=8", "train error"]
    assert list(figure.axes[1].lines[0].get_ydata()) == [4.0, 4.0]


def test_rows_across_are_dotted_lines_in_their_panel(tmp_path, figures):
    rows = [
        forest("samples {max_samples} {start}")
        | {"vary": {"max_samples": [0.5, 1.0], "start": ["own", "same"]}},
        forest("bootstrap {start}", bootstrap=True) | {"vary": {"start": ["own", "same"]}},
    ]
    plot = {"name": "p", "x": "max_samples", "rows": "samples *", "panels": "start", "trees": [10]}
    drawn(tmp_path, rows, plot=[plot | {"across": "bootstrap *", "across_label": "bootstrap"}])
    ((_, figure),) = figures
    assert [axes.get_title() for axes in figure.axes] == ["start own", "start same"]
    assert [[line.get_linestyle() for line in axes.lines] for axes in figure.axes] == [
        ["-", ":"]
    ] * 2
    assert words(figure) == ["T=10", "bootstrap"]


def test_a_chosen_row_that_is_not_measured_is_named_and_keeps_its_colour(tmp_path, figures):
    rows = [forest("A"), forest("B"), forest("C")]
    plot = {"name": "p", "x": "trees", "rows": ["A", "B", "C"]}
    drawn(tmp_path, rows, measured=["A", "C"], plot=[plot])
    drawn(tmp_path, rows, plot=[plot])
    (_, partial), (_, whole) = figures
    assert words(partial) == ["A", "B (not measured)", "C"]
    assert partial.axes[0].lines[2].get_color() == whole.axes[0].lines[2].get_color()


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.5"), (20.0, "20"), (5e4, "50k"), (2e6, "2M")])
def test_ticks_are_short(value, text):
    assert plots.short(value) == text
