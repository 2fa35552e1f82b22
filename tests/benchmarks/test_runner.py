import json
from types import SimpleNamespace

import pytest
import runner
import table
import table_page
import verdicts
from cells import CellStore

CONTENT = {
    "title": "A table",
    "data": ["digits"],
    "seeds": [0, 1],
    "search_rows": 500,
    "row": [
        {
            "label": "CART",
            "estimator": "cart",
            "grid": {"max_depth": [2, 4, 8]},
            "paper": {"error": 5.0, "parameters": 100},
            "target": {"error": 5.0},
        },
        {"label": "RF", "estimator": "rf", "params": {"n_estimators": 3}, "curve": True},
        {"label": "quoted", "paper": {"error": 3.0}},
    ],
    "claim": [
        {
            "kind": "lower",
            "what": "RF is better",
            "lower": "RF",
            "than": "CART",
        },
        {
            "kind": "ratio",
            "what": "RF is slower",
            "measure": "wall_seconds",
            "over": "RF",
            "under": "CART",
            "at_least": 2,
        },
    ],
}


class Machine:
    """Stands in for the processes: deeper trees are better and larger."""

    def __init__(self, answer=None):
        self.asked = []
        self.answer = answer

    def __call__(self, question, _time_limit=None):
        self.asked.append(question)
        if self.answer is not None:
            return self.answer
        depth = question["settings"]["params"].get("max_depth", 20)
        result = {"test_error": 10.0 - depth / 4, "n_parameters": 20 * depth}
        curve = {"trees": [1, 2, 3], "seconds": [1.0, 2.0, 3.0], "test_error": [9.0, 5.0, 4.0]}
        return result | {"wall_seconds": float(depth), "curve": curve}


def run(monkeypatch, folder, machine, *, measure=True, content=CONTENT):
    monkeypatch.setattr(runner, "run_cell", machine)
    found = table.parse("a_table", content)
    store = CellStore(folder / "a_table.jsonl")
    return found, runner.run_table(found, found.rows, store, measure=measure)


def test_a_second_run_measures_nothing(monkeypatch, tmp_path):
    first, second = Machine(), Machine()
    run(monkeypatch, tmp_path, first)
    assert len(first.asked) == 3 + 2 + 2  # searches, seeds of CART, seeds of RF
    _, outcomes = run(monkeypatch, tmp_path, second)
    assert second.asked == []
    assert [len(outcome.results) for outcome in outcomes] == [2, 2, 0]


def test_a_stopped_run_goes_on(monkeypatch, tmp_path):
    class Stopped(Machine):
        def __call__(self, question, _time_limit=None):
            if len(self.asked) == 4:
                raise KeyboardInterrupt
            return super().__call__(question)

    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, tmp_path, Stopped())
    rest = Machine()
    run(monkeypatch, tmp_path, rest)
    assert len(rest.asked) == 7 - 4


def test_the_best_configuration_within_the_limit_is_refitted_on_all_rows(monkeypatch, tmp_path):
    machine = Machine()
    _, outcomes = run(monkeypatch, tmp_path, machine)
    # depth 8 has 160 parameters, the paper's 100 allow 150
    assert outcomes[0].searches["digits"].configuration == {"max_depth": 4}
    fits = [q for q in machine.asked if q["search"] is None and q["settings"]["kind"] == "cart"]
    assert [q["settings"]["params"]["max_depth"] for q in fits] == [4, 4]
    assert {q["search"] for q in machine.asked} == {None, 500}


def test_a_time_limit_is_tried_again_only_if_raised(monkeypatch, tmp_path):
    late = {"failed": "took more than 3600 s", "time_limit": 3600.0}
    run(monkeypatch, tmp_path, Machine(late))
    again = Machine(late)
    _, outcomes = run(monkeypatch, tmp_path, again)
    assert again.asked == []
    assert "3600 s" in outcomes[1].failures[0]
    longer = Machine()
    run(monkeypatch, tmp_path, longer, content={**CONTENT, "time_limit": 7200})
    assert len(longer.asked) == 7


def test_results_of_a_package_that_is_gone_are_still_shown(monkeypatch, tmp_path):
    run(monkeypatch, tmp_path, Machine())
    is_forest = {"kind": "rf"}.items()
    monkeypatch.setattr(
        runner, "missing", lambda settings: "rf" if is_forest <= settings.items() else None
    )
    machine = Machine()
    _, outcomes = run(monkeypatch, tmp_path, machine)
    assert machine.asked == []
    assert len(outcomes[1].results) == 2


def test_a_crash_is_tried_again(monkeypatch, tmp_path):
    run(monkeypatch, tmp_path, Machine({"failed": "ValueError: no"}))
    again = Machine()
    run(monkeypatch, tmp_path, again)
    assert len(again.asked) == 7


def test_the_page_says_what_is_there_and_what_is_missing(monkeypatch, tmp_path):
    run(monkeypatch, tmp_path, Machine())
    found, outcomes = run(
        monkeypatch, tmp_path, Machine(), measure=False, content={**CONTENT, "seeds": [0, 1, 2]}
    )
    table_page.save(tmp_path, found, outcomes, plots=[], cautions=["stale"], environment={"a": 1})
    page = (tmp_path / "a_table.md").read_text()
    assert "| CART | 5.00 | 9.00 ± 0.00 | <= 5.00 | **no** (error) |" in page
    assert "RF on digits: seeds 2 not measured" in page
    assert "| RF is better | 5.00 % against 9.00 % | yes |" in page
    assert "**max_depth=4: 9.00**" in page
    assert "- stale" in page
    content = json.loads((tmp_path / "a_table.json").read_text())
    assert content["rows"][0]["met"] is False


def test_time_to_an_error_is_read_off_the_curve(monkeypatch, tmp_path):
    _, outcomes = run(monkeypatch, tmp_path, Machine())
    assert verdicts.spent_until(outcomes[1], 5.0) == 2.0
    assert verdicts.spent_until(outcomes[1], 1.0) == float("inf")
    assert verdicts.spent_until(outcomes[1], 5.0, "trees") == 2
    assert verdicts.error_at(outcomes[1], 2) == 5.0


@pytest.mark.parametrize(("some", "holds"), [(False, False), (True, True)])
def test_a_claim_is_about_all_rows_or_about_some(monkeypatch, tmp_path, some, holds):
    claim = {"kind": "lower", "what": "", "lower": ["RF", "CART"], "than": "RF", "some": some}
    _, outcomes = run(monkeypatch, tmp_path, Machine())
    claimed = table.parse("a_table", {**CONTENT, "claim": [claim]})
    assert [verdict.holds for verdict in verdicts.judge(claimed, outcomes)] == [holds]


@pytest.mark.parametrize(("error", "holds"), [(4.5, True), (1.0, False)])
def test_fewer_trees_to_an_error(monkeypatch, tmp_path, error, holds):
    _, outcomes = run(monkeypatch, tmp_path, Machine())
    outcomes[0].results[0]["curve"]["test_error"] = [9.0, 9.0, 4.6]
    claim = {"kind": "trees_to_error", "what": "", "error": error, "ours": "RF", "theirs": "CART"}
    claimed = table.parse("a_table", {**CONTENT, "claim": [claim]})
    (verdict,) = verdicts.judge(claimed, outcomes)
    assert verdict.holds is holds
    assert verdict.measured.endswith("CART never")


@pytest.mark.parametrize(("trees", "holds"), [([6.0, 4.5], True), ([6.0, 3.5], False)])
def test_a_forest_is_judged_against_its_best_tree(monkeypatch, tmp_path, trees, holds):
    _, outcomes = run(monkeypatch, tmp_path, Machine())
    for result in outcomes[1].results.values():
        result["curve"]["tree_error"] = trees
    claim = {"kind": "lower_than_best_tree", "what": "", "rows": "RF"}
    claimed = table.parse("a_table", {**CONTENT, "claim": [claim]})
    assert [verdict.holds for verdict in verdicts.judge(claimed, outcomes)] == [holds]


def test_the_page_shows_first_trees_single_trees_and_builds(monkeypatch, tmp_path):
    content = {**CONTENT, "first_trees": 2, "row": [*CONTENT["row"]]}
    content["row"][1] = content["row"][1] | {"estimator": "TAOForestClassifier"}
    content["row"][1] |= {"paper": {"error_of_first": 4.5}}
    found, outcomes = run(monkeypatch, tmp_path, Machine(), content=content)
    for result in outcomes[1].results.values():
        result["curve"]["tree_error"] = [9.0, 7.0]
        result |= {"build": "abc", "versions": {"spinney": "0.1.0"}}
    table_page.save(tmp_path, found, outcomes, plots=[], cautions=[], environment={"build": "def"})
    page = (tmp_path / "a_table.md").read_text()
    assert "| mean tree % | best tree % | first 2 trees % |" in page
    assert "| 8.00 | 7.00 | 5.00 (paper 4.50) |" in page
    assert "that measured its models: abc (0.1.0; 2 cells)." in page
    assert page.endswith("Page written with build def.\n")


@pytest.mark.parametrize(
    ("errors", "is_met"), [([1.9, 1.98, 1.92, 1.87, 1.98], True), ([1.9301], False)]
)
def test_a_mean_equal_to_the_target_meets_it(errors, is_met):
    results = {seed: {"test_error": error} for seed, error in enumerate(errors)}
    outcome = SimpleNamespace(row=SimpleNamespace(target={"error": 1.93}), results=results)
    assert verdicts.meets_target(outcome)[0] is is_met
