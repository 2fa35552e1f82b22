"""The short names of our models, when to take which, and their parameters as words."""

from __future__ import annotations

import ast
import difflib
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import spinney
from spinney.cli.errors import UsageError
from spinney.cli.target import CLASSIFICATION
from spinney.data.wording import listed
from spinney.estimators.renamed import renamed_parameters

#: Parameters that have an option of their own.
OPTIONS = {
    "random_state": "--random-state",
    "n_jobs": "--n-jobs",
    "verbose": "--quiet",
    "categorical_features": "--categorical",
}
DEFAULT = "gradient"


@dataclass(frozen=True)
class Model:
    """One kind of model: its estimators and when to take it."""

    title: str
    classifier: type
    regressor: type | None
    when: str

    def estimator(self, task: str) -> type | None:
        """The class that fits a task; None if there is none."""
        return self.classifier if task == CLASSIFICATION else self.regressor


MODELS = {
    "gradient": Model(
        "TAO gradient boosting",
        spinney.TAOGradientBoostingClassifier,
        spinney.TAOGradientBoostingRegressor,
        "trees that each add what those before leave over. Mixed tables, classes that overlap, "
        "probabilities, numbers to predict. Start here.",
    ),
    "fao": Model(
        "FAO forests",
        spinney.FAOForestClassifier,
        spinney.FAOForestRegressor,
        "trees that add up and are optimised together. The best accuracy for the size: many rows, "
        "clean classes, numbers to predict.",
    ),
    "bagged": Model(
        "TAO forest",
        spinney.TAOForestClassifier,
        spinney.TAOForestRegressor,
        "independent trees that vote. Pixels, spectra, sensors, embeddings; noisy labels.",
    ),
    "boosted": Model(
        "TAO boosting",
        spinney.TAOBoostClassifier,
        None,
        "trees that attend to the errors of those before (AdaBoost). Clean labels, many classes. "
        "Classes only.",
    ),
    "co2": Model(
        "CO2 forest",
        spinney.CO2ForestClassifier,
        spinney.CO2ForestRegressor,
        "a random forest of optimised hyperplanes. Many rows, nothing to choose, large models.",
    ),
    "ho": Model(
        "Ho's random decision forest",
        spinney.RandomDecisionForestClassifier,
        None,
        "random subspaces, no optimisation. A model in seconds. Classes only.",
    ),
    "greedy": Model(
        "greedy forest",
        spinney.GreedyForestClassifier,
        spinney.GreedyForestRegressor,
        "a usual forest, axis-aligned unless --param split=... says otherwise. The baseline.",
    ),
    "tree": Model(
        "TAO tree",
        spinney.TAOTreeClassifier,
        spinney.TAOTreeRegressor,
        "one tree that people can read.",
    ),
}


def build(name: str, task: str, given: Iterable[str], **options: Any) -> Any:
    """Unfitted estimator of a model for a task.

    Parameters
    ----------
    name : str
        A key of `MODELS`.
    task : str
    given : iterable of str
        ``name=value`` as on the command line.
    **options
        Parameters that have options of their own.

    Raises
    ------
    UsageError
        If the model has no such task or parameter.
    """
    kind = MODELS[name].estimator(task)
    if kind is None:
        able = [other for other, model in MODELS.items() if model.estimator(task) is not None]
        raise UsageError(f"--model {name} does no {task}; take one of {listed(able)}")
    known = kind().get_params() | renamed_parameters(kind)
    parameters = dict(_parameter(text, name, known) for text in given)
    return kind(**options, **parameters)


def _parameter(text: str, model: str, known: dict[str, Any]) -> tuple[str, Any]:
    """Name and value from ``name=value``."""
    name, equals, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not name:
        raise UsageError(f"--param {text!r} is not of the form name=value, as max_depth=6")
    if name in OPTIONS:
        raise UsageError(f"--param {name} has an option of its own: {OPTIONS[name]}")
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(
            f"--model {model} has no parameter {name!r}{meant} "
            f"(spinney train --parameters-of {model} lists them)"
        )
    return name, read_value(value)


def read_value(text: str) -> Any:
    """A number, truth value, None, tuple or list as Python writes them; else the text itself."""
    plain = text.strip()
    words = {"true": True, "false": False, "none": None, "null": None}
    if plain.lower() in words:
        return words[plain.lower()]
    try:
        return ast.literal_eval(plain)
    except (ValueError, SyntaxError):
        return plain


def when_to_take() -> str:
    """One paragraph a model, for help texts."""
    width = max(map(len, MODELS))
    return "\n".join(
        textwrap.fill(
            model.when,
            98,
            initial_indent=f"  {name.ljust(width)}  ",
            subsequent_indent=" " * (width + 4),
        )
        for name, model in MODELS.items()
    )


def parameters_of(name: str) -> str:
    """The parameters of a model and their defaults, one a line."""
    model = MODELS[name]
    kinds = [kind for kind in (model.classifier, model.regressor) if kind is not None]
    both = [kind().get_params() for kind in kinds]
    lines = [f"{name}: {model.when}", ""]
    for parameter in {word: None for known in both for word in known}:
        if parameter in OPTIONS:
            continue
        values = {repr(known[parameter]) for known in both if parameter in known}
        only = ""
        if len(kinds) > 1 and not all(parameter in known for known in both):
            only = "  (classes only)" if parameter in both[0] else "  (numbers only)"
        lines.append(f"  {parameter}={' or '.join(sorted(values))}{only}")
    docs = " and ".join(kind.__name__ for kind in kinds)
    return "\n".join(
        [
            *lines,
            "",
            f"What they mean: python -c 'help(\"spinney.{kinds[0].__name__}\")'",
            f"Estimators: {docs}",
        ]
    )
