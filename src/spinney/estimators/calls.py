"""Wrong arguments: named by the user's class, with what it takes and what to try.

Python names the class that a method was written in, which may be one that users never see, and
says nothing of what is accepted. Words of other libraries get the word that means the same here.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any

#: What other libraries call rows to judge by, waiting for progress, numbers of trees, and
#: predictions that rise or fall with a column.
ROWS = {"eval_set", "eval_data", "evals", "valid_sets", "validation_data", "validation_set"}
STOPPING = {
    *("early_stopping_rounds", "early_stopping_round", "stopping_rounds", "od_wait"),
    *("early_stopping", "n_iter_no_change", "validation_fraction"),  # not all estimators know them
}
TREES = {"num_boost_round", "num_iterations", "num_trees", "num_rounds", "iterations", "n_rounds"}
WEIGHTS = {"weights", "weight", "sample_weights", "case_weights"}
SIZES = {
    *("min_samples_leaf", "min_child_samples", "min_child_weight", "min_data_in_leaf"),
    *("max_leaf_nodes", "num_leaves", "max_leaves", "min_impurity_decrease", "ccp_alpha"),
}
RISING = {"monotonic_cst", "monotone_constraints", "monotone", "monotonic"}


def explained(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that says whose it is where its arguments are wrong; else it is unchanged."""

    @functools.wraps(method)
    def call(self: Any, *values: Any, **named: Any) -> Any:
        try:
            return method(self, *values, **named)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # the method has been entered, so its arguments fit
            text = _what_is_wrong(type(self), method, named, str(error))
        raise TypeError(text)

    return call


def _what_is_wrong(
    owner: type[Any], method: Callable[..., Any], named: Collection[str], text: str
) -> str:
    """Three parts: what was given, what is accepted, what to try."""
    is_constructor = method.__name__ == "__init__"
    who = owner.__name__ if is_constructor else f"{owner.__name__}.{method.__name__}"
    accepted = list(inspect.signature(method).parameters)[1:]
    takes = f"it takes {', '.join(accepted) or 'nothing'}"
    unknown = next((name for name in named if name not in accepted), None)
    if unknown is None:
        return f"{text.replace(method.__qualname__, who)}; {takes}."
    advice = _advice(owner, unknown, accepted, is_constructor) or f"help({who})"
    # What to try comes before the list, which is long.
    return f"{who}() got {unknown}, which it does not know; try {advice}; {takes}."


def _advice(owner: type[Any], word: str, accepted: list[str], is_constructor: bool) -> str | None:
    """What to write in place of a word; None if nothing is like it."""
    parameters = owner._get_param_names()
    of_fit = list(inspect.signature(owner.fit).parameters)
    near = difflib.get_close_matches(word, accepted, n=1, cutoff=0.8)
    if word in RISING:
        return "leaving it out: no estimator of spinney constrains how predictions rise or fall"
    if word in ROWS | STOPPING:
        return _advice_on_stopping("X_val" in of_fit, "n_iter_no_change" in parameters)
    if word in TREES and "n_estimators" in parameters:
        return "n_estimators in the constructor"
    if word in TREES | {"n_estimator", "n_estimators"} and "n_trees" in parameters:
        return "n_forests and n_trees in the constructor"
    if word in WEIGHTS and "sample_weight" in accepted:
        return "sample_weight"
    if word in SIZES:
        sizes = [name for name in ("max_depth", "min_samples_split", "alpha") if name in parameters]
        return f"{' or '.join(sizes)} in the constructor, which limit trees here" if sizes else None
    if is_constructor and word in of_fit:
        return f"it in fit, as in fit(X, y, {word}=...)"
    if not is_constructor and word in parameters:
        return f"it in the constructor, as in {owner.__name__}({word}=...)"
    return near[0] if near else None


def _advice_on_stopping(is_judged: bool, can_wait: bool) -> str:
    if not is_judged:
        return "cross_val_score, as it is not judged while it is fitted and does not stop early"
    waiting = " and n_iter_no_change=10" if can_wait else ""
    return f"early_stopping=True{waiting} in the constructor, and fit(X, y, X_val=..., y_val=...)"
