"""Targets and claims: what a table has to show, and whether the measured cells show it.

A claim is a table of the TOML file with `what` (the sentence) and `kind`:

- ``best``: on each data set, our best mean error is no higher than the best peer's;
- ``lower``: rows `lower` have no more test error than rows `than` (at `trees` trees, if given;
  the latter at `than_trees`, if given; `some = true`: one of them is enough);
- ``ratio``: `measure` of row `over` divided by that of row `under`, `at_least` or `at_most`;
- ``lower_than_best_tree``: forests `rows` have less test error than the best of their own trees;
- ``time_to_error``: rows `ours` reach `error` in less training time than each of `theirs`
  (`theirs_whole = true`: than their whole fit takes);
- ``trees_to_error``: rows `ours` reach `error` with fewer trees than each of `theirs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from bench import mean, ratios, same_run
from cells import Result
from markdown_parts import decimals
from runner import Outcome
from table import Content, Table

Outcomes = Sequence[Outcome]

#: Means of decimal numbers miss the decimal by a rounding error, which is no miss of a target.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """A sentence, what was measured, and whether it holds; None where cells are missing."""

    what: str
    measured: str
    holds: bool | None
    caution: str = ""


def results_of(outcome: Outcome) -> list[Result]:
    """Results of the measured seeds, in order."""
    return [outcome.results[seed] for seed in sorted(outcome.results)]


def error_key(outcome: Outcome) -> str:
    """Main measure of the row's data."""
    results = results_of(outcome)
    return "test_rmse" if results and "test_rmse" in results[0] else "test_error"


def mean_error(outcome: Outcome) -> float:
    """Mean test error over the seeds; not a number before the first."""
    results = results_of(outcome)
    return mean(results, error_key(outcome)) if results else float("nan")


def meets_target(outcome: Outcome) -> tuple[bool | None, str]:
    """Whether a row reached its target, and what is wrong if not."""
    row, results = outcome.row, results_of(outcome)
    if not row.target or not results:
        return None, ""
    wrong = []
    if "error" in row.target and mean_error(outcome) > row.target["error"] + ROUNDING:
        wrong.append("error")
    if "parameters" in row.target:
        found = mean(results, "n_parameters")
        if found > row.target["parameters"]:
            wrong.append("parameters")
    return not wrong, " and ".join(wrong)


def judge(table: Table, outcomes: Outcomes) -> list[Verdict]:
    """Verdicts on all claims of the table."""
    return [v for claim in table.claims for v in KINDS[claim["kind"]](claim, outcomes)]


def select(outcomes: Outcomes, patterns: str | list[str], data: str | None) -> list[Outcome]:
    """Outcomes whose label fits one of the patterns (``*`` stands for anything)."""
    wanted = [patterns] if isinstance(patterns, str) else patterns
    return [
        outcome
        for outcome in outcomes
        if data in (None, outcome.row.data) and any(matches(outcome.row.label, p) for p in wanted)
    ]


def matches(name: str, pattern: str) -> bool:
    """Whether the pattern is this name or stands for it (``*`` stands for anything)."""
    # Brackets are part of labels, not sets of letters.
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))


def _best(claim: Content, outcomes: Outcomes) -> list[Verdict]:
    verdicts = []
    for data in dict.fromkeys(outcome.row.data for outcome in outcomes):
        here = [o for o in outcomes if o.row.data == data and results_of(o)]
        ours = min((o for o in here if o.row.is_ours), key=mean_error, default=None)
        theirs = min((o for o in here if not o.row.is_ours), key=mean_error, default=None)
        what = claim["what"].replace("{data}", data)
        if ours is None or theirs is None:
            verdicts.append(Verdict(what, "not measured", None))
            continue
        measured = f"{_named_error(ours)} against {_named_error(theirs)}"
        verdicts.append(Verdict(what, measured, mean_error(ours) <= mean_error(theirs)))
    return verdicts


def _named_error(outcome: Outcome) -> str:
    unit = " %" if error_key(outcome) == "test_error" else ""
    error = mean_error(outcome)
    return f"{outcome.row.label} {error:.{decimals(error)}f}{unit}"


def _lower(claim: Content, outcomes: Outcomes) -> list[Verdict]:
    data, trees = claim.get("data"), claim.get("trees")
    low = select(outcomes, claim["lower"], data)
    high = select(outcomes, claim["than"], data)
    errors = [_errors_at(low, trees), _errors_at(high, claim.get("than_trees", trees))]
    if any(np.isnan(found).any() or not len(found) for found in errors):
        return [Verdict(claim["what"], "not measured", None)]
    slack = claim.get("slack", 0.0)
    ours = errors[0].min() if claim.get("some") else errors[0].max()
    holds = bool(ours <= errors[1].min() + slack)
    texts = [", ".join(f"{error:.2f} %" for error in np.sort(found)) for found in errors]
    at = f" at {trees} tree{'s' if trees > 1 else ''}" if trees else ""
    return [Verdict(claim["what"], f"{texts[0]} against {texts[1]}{at}", holds)]


def _errors_at(outcomes: Outcomes, trees: int | None) -> np.ndarray:
    if trees is None:
        return np.array([mean_error(outcome) for outcome in outcomes])
    return np.array([error_at(outcome, trees) for outcome in outcomes])


def error_at(outcome: Outcome, trees: int, key: str = "test_error") -> float:
    """Mean over the seeds of the error of the first `trees` trees; NaN without a curve.

    Long curves have gaps: the nearest point with no more trees counts.
    """
    found = []
    for result in results_of(outcome):
        curve = result.get("curve")
        if not curve or trees < curve["trees"][0]:
            return float("nan")
        found.append(curve[key][int(np.searchsorted(curve["trees"], trees, side="right")) - 1])
    return float(np.mean(found)) if found else float("nan")


def _ratio(claim: Content, outcomes: Outcomes) -> list[Verdict]:
    pair = [select(outcomes, claim[side], claim.get("data")) for side in ("over", "under")]
    groups = [results_of(found[0]) if found else [] for found in pair]
    n_common = min(len(group) for group in groups)
    if n_common == 0:
        return [Verdict(claim["what"], "not measured", None)]
    over, under = (group[:n_common] for group in groups)
    found = ratios(over, under, claim["measure"])
    low, high = claim.get("at_least", -np.inf), claim.get("at_most", np.inf)
    measured = f"{found.mean():.3g}x (from {found.min():.3g}x to {found.max():.3g}x)"
    holds = bool(low <= found.mean() <= high)
    return [Verdict(claim["what"], measured, holds, _run_caution(over, under))]


def _time_to_error(claim: Content, outcomes: Outcomes) -> list[Verdict]:
    data, wanted = claim.get("data"), claim["error"]
    ours = select(outcomes, claim["ours"], data)
    theirs = select(outcomes, claim["theirs"], data)
    groups = [results_of(outcome) for outcome in (*ours, *theirs)]
    if not ours or not theirs or not all(groups):
        return [Verdict(claim["what"], "not measured", None)]
    seconds = [spent_until(outcome, wanted) for outcome in ours]
    whole = claim.get("theirs_whole", False)
    limits = [
        mean(results_of(outcome), "wall_seconds") if whole else spent_until(outcome, wanted)
        for outcome in theirs
    ]
    parts = zip((*ours, *theirs), (*seconds, *limits), strict=True)
    measured = "; ".join(f"{outcome.row.label} {_seconds(s)}" for outcome, s in parts)
    holds = bool(min(seconds) < min(limits))
    return [Verdict(claim["what"], measured, holds, _run_caution(*groups))]


def spent_until(outcome: Outcome, error: float, measure: str = "seconds") -> float:
    """Mean training seconds until the test error is first at most `error`; infinite if never.

    With ``measure="trees"`` the number of trees instead.
    """
    spent = []
    for result in results_of(outcome):
        curve = result.get("curve") or {measure: [], "test_error": []}
        steps = zip(curve[measure], curve["test_error"], strict=True)
        spent.append(next((value for value, found in steps if found <= error + ROUNDING), np.inf))
    return float(np.mean(spent))


def _trees_to_error(claim: Content, outcomes: Outcomes) -> list[Verdict]:
    groups = [select(outcomes, claim[side], claim.get("data")) for side in ("ours", "theirs")]
    if not all(groups) or not all(results_of(o) for group in groups for o in group):
        return [Verdict(claim["what"], "not measured", None)]
    trees = [[spent_until(o, claim["error"], "trees") for o in group] for group in groups]
    parts = zip((*groups[0], *groups[1]), (*trees[0], *trees[1]), strict=True)
    measured = "; ".join(
        f"{o.row.label} {f'{t:.4g} trees' if np.isfinite(t) else 'never'}" for o, t in parts
    )
    return [Verdict(claim["what"], measured, bool(min(trees[0]) < min(trees[1])))]


def _lower_than_best_tree(claim: Content, outcomes: Outcomes) -> list[Verdict]:
    forests = select(outcomes, claim["rows"], claim.get("data"))
    curves = [r.get("curve") or {} for o in forests for r in results_of(o)]
    if not curves or not all("tree_error" in curve for curve in curves):
        return [Verdict(claim["what"], "not measured", None)]
    pairs = [(curve["test_error"][-1], min(curve["tree_error"])) for curve in curves]
    measured = ", ".join(f"{forest:.2f} % against {tree:.2f} %" for forest, tree in pairs)
    return [Verdict(claim["what"], measured, all(forest < tree for forest, tree in pairs))]


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if np.isfinite(value) else "never"


def _run_caution(*groups: list[Result]) -> str:
    return "" if same_run(*groups) else "CAUTION: the seconds come from different runs"


KINDS: dict[str, Callable[[Content, Outcomes], list[Verdict]]] = {
    "best": _best,
    "lower": _lower,
    "ratio": _ratio,
    "lower_than_best_tree": _lower_than_best_tree,
    "time_to_error": _time_to_error,
    "trees_to_error": _trees_to_error,
}
