"""Docstrings: their examples run, and they tell of every parameter."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import pkgutil

import pytest
from numpydoc.validate import validate

import spinney

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(spinney.__path__, "spinney.")
    if not module.name.endswith("._core")
)
PUBLIC = [name for name in spinney.__all__ if callable(getattr(spinney, name))]
# No docstring; parameters that are missing, unknown or in another order; no type.
WRONG = {"GL08", "PR01", "PR02", "PR03", "PR04"}
# What its callers never make is told by its attributes.
RESULTS = {
    "CO2Tuning",
    "Explanation",
    "FAOTuning",
    "FitEvent",
    "NearestChange",
    "RegularizationPath",
    "Trace",
}


@pytest.mark.parametrize("name", ["spinney", *MODULES])
def test_docstring_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in RESULTS])
def test_every_parameter_of_a_public_name_is_documented(name: str) -> None:
    assert problems(f"spinney.{name}") == []


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_every_field_of_a_result_is_documented(name: str) -> None:
    kind = getattr(spinney, name)
    text = inspect.getdoc(kind) or ""
    fields = [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    assert [field for field in fields if field not in text] == []


@pytest.mark.parametrize(
    "name", [name for name in PUBLIC if hasattr(getattr(spinney, name), "fit")]
)
def test_every_method_of_an_estimator_is_documented(name: str) -> None:
    kind = getattr(spinney, name)
    methods = [method for method in dir(kind) if is_own_method(kind, method)]
    assert [problem for method in methods for problem in problems(f"spinney.{name}.{method}")] == []


def problems(name: str) -> list[tuple[str, str, str]]:
    found = validate(name)["errors"]
    return [(name, code, text) for code, text in found if code in WRONG]


def is_own_method(kind: type, name: str) -> bool:
    owner = next(base for base in kind.__mro__ if name in vars(base)) if name in dir(kind) else kind
    is_routing = name.startswith("set_") and name.endswith("_request")
    is_ours = owner.__module__.startswith("spinney") and not name.startswith("_")
    return is_ours and not is_routing and inspect.isfunction(getattr(kind, name, None))
