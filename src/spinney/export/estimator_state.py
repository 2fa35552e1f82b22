"""Estimators, and the other objects that parameters and fitted attributes may hold.

An estimator is its class by name, its constructor's parameters and its fitted attributes. Classes
come from a list: a file cannot name any other. A fitted estimator is checked as a whole by
:mod:`spinney.export.fitted` before anyone sees it.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import get_routing_for_object

import spinney.estimators as estimators
import spinney.images as images
from spinney.data.checks import plain_value
from spinney.estimators import RandomStructure
from spinney.estimators.renamed import current_names, older_values
from spinney.export.fitted import check_fitted, fitted_names
from spinney.export.refusal import checked_index, checked_list, checked_object, checked_text, refuse
from spinney.export.values import Reader, ValueType, Writer, register
from spinney.images.scaling import new_scaler
from spinney.selection import RegularizationPath
from spinney.tree.forest import Forest

CLASSES: dict[str, Any] = {
    name: found
    for package in (estimators, images)
    for name in package.__all__
    if isinstance(found := getattr(package, name), type) and issubclass(found, BaseEstimator)
}
"""Estimators that a file may name."""

MT19937_WORDS = 624
"""Length of the state of numpy's RandomState."""


def _estimator_state(value: Any, writer: Writer, where: str) -> dict[str, Any]:
    parameters = {
        name: writer.state_of(_storable(given), f"{where}.{name}")
        for name, given in value.get_params(deep=False).items()
    }
    check_fitted(value)
    state = {
        "class": type(value).__name__,
        "parameters": parameters,
        "fitted": {
            name: writer.state_of(getattr(value, name), f"{where}.{name}")
            for name in fitted_names(value)
        },
    }
    if hasattr(value, "_metadata_request"):
        state["requests"] = _requests_of(value)
    if hasattr(value, "_sklearn_output_config"):
        state["output"] = value._sklearn_output_config["transform"]
    return state


def _storable(parameter: Any) -> Any:
    """What stands for a parameter in a file: array-likes are lists, but arrays keep their type."""
    return parameter if isinstance(parameter, np.ndarray) else plain_value(parameter)


def _estimator_of(given: dict[str, Any], reader: Reader, where: str) -> Any:
    wanted = {"class", "parameters", "fitted"}
    checked_object(given, where, wanted | (given.keys() & {"requests", "output"}))
    name = checked_text(given["class"], f"{where}.class")
    if name not in CLASSES:
        refuse(f"{where} is of the unknown class {name[:60]!r}")
    model = CLASSES[name](**_parameters_of(given["parameters"], CLASSES[name], reader, where))
    fitted = checked_object(given["fitted"], f"{where}.fitted")
    found = {key: reader.value_of(state, f"{where}.{key}") for key, state in fitted.items()}
    if odd := found.keys() & model.get_params(deep=False).keys():
        refuse(f"{where} has {sorted(odd)} both as parameter and as fitted attribute")
    model.__dict__.update(found)
    try:
        check_fitted(model)
    except (ValueError, TypeError) as error:
        refuse(f"{where}: {error}", error)
    if "requests" in given:
        _set_requests(model, given["requests"], where)
    if "output" in given:
        _set_output(model, checked_text(given["output"], f"{where}.output"), where)
    return model


def _parameters_of(given: Any, kind: Any, reader: Reader, where: str) -> dict[str, Any]:
    """Values of the constructor's parameters, of all of them and of no others.

    A file of an older release may lack those that have been added since; they keep their
    defaults, or are what the release did.
    """
    states = checked_object(given, f"{where}.parameters")
    if reader.is_older:
        states = _by_current_names(kind, states, where)
    names = set(kind._get_param_names())
    if odd := sorted(states.keys() - names):
        refuse(f"{where} has the parameter {odd[0][:60]!r}, which {kind.__name__} does not know")
    missing = sorted(names - states.keys())
    if missing and not reader.is_older:
        refuse(f"{where} lacks the parameter {missing[0]!r} of {kind.__name__}")
    found = {name: reader.value_of(state, f"{where}.{name}") for name, state in states.items()}
    return older_values(kind) | found


def _by_current_names(kind: Any, states: dict[str, Any], where: str) -> dict[str, Any]:
    """The parameters of an older file, some of which may have been renamed since."""
    try:
        return current_names(kind, states)
    except TypeError as error:
        refuse(f"{where}.parameters: {error}", error)


# What the estimator asks of metadata routing, which clones and pickles keep too.

METHODS = ("fit", "predict", "predict_proba", "score")


def _requests_of(model: Any) -> dict[str, dict[str, Any]]:
    routing = get_routing_for_object(model)
    methods = {name: getattr(routing, name, None) for name in METHODS}
    return {name: dict(of.requests) for name, of in methods.items() if of is not None}


def _set_requests(model: Any, given: Any, where: str) -> None:
    routing = get_routing_for_object(model)
    for name, requests in checked_object(given, f"{where}.requests").items():
        if name not in METHODS:
            refuse(f"{where} has requests for the unknown method {name[:40]!r}")
        for parameter, alias in checked_object(requests, f"{where}.requests").items():
            if parameter not in getattr(routing, name).requests:
                refuse(f"{where} requests {parameter[:40]!r}, which {name} does not take")
            try:
                getattr(routing, name).add_request(param=parameter, alias=alias)
            except (ValueError, TypeError) as error:
                refuse(f"{where} requests {parameter!r} as {str(alias)[:40]!r}", error)
    model._metadata_request = routing


# What a transformer answers with, which clones and pickles keep too.

OUTPUTS = ("default", "pandas", "polars")


def _set_output(model: Any, word: str, where: str) -> None:
    if not hasattr(model, "set_output") or word not in OUTPUTS:
        refuse(f"{where} is a {type(model).__name__} that answers with {word[:40]!r}")
    model.set_output(transform=word)


def _frozen_state(value: Any, writer: Writer, where: str) -> dict[str, Any]:
    return {"estimator": writer.state_of(value.estimator, where)}


def _frozen_of(given: dict[str, Any], reader: Reader, where: str) -> Any:
    inner = reader.value_of(checked_object(given, where, ["estimator"])["estimator"], where)
    if not isinstance(inner, BaseEstimator):
        refuse(f"{where} is a frozen {type(inner).__name__} instead of an estimator")
    return FrozenEstimator(inner)


def _forest_state(value: Forest, writer: Writer, where: str) -> dict[str, Any]:
    del where
    return {"trees": [writer.index_of(tree) for tree in value.trees]}


def _forest_of(given: dict[str, Any], reader: Reader, where: str) -> Forest:
    numbers = checked_list(checked_object(given, where, ["trees"])["trees"], where)
    n_trees = len(reader.trees)
    trees = [reader.trees[checked_index(number, where, n_trees)] for number in numbers]
    try:
        return Forest(tuple(trees))
    except ValueError as error:
        refuse(f"{where}: {error}", error)


def _structure_state(value: RandomStructure, writer: Writer, where: str) -> dict[str, Any]:
    return {
        name: writer.state_of(given, f"{where}.{name}")
        for name, given in vars(value).items()
        if given is not None
    }


def _structure_of(given: dict[str, Any], reader: Reader, where: str) -> RandomStructure:
    names = {"min_depth", "max_depth", *(given.keys() & {"expected_nodes", "split_probability"})}
    checked_object(given, where, names)
    return RandomStructure(**{name: reader.value_of(given[name], where) for name in names})


def _random_state(value: np.random.RandomState, writer: Writer, where: str) -> dict[str, Any]:
    state = value.get_state(legacy=False)
    assert isinstance(state, dict), "legacy=False promises it"
    if state["bit_generator"] != "MT19937":
        raise TypeError(
            f"{where} is a RandomState on {state['bit_generator']}; one on MT19937, numpy's own, "
            "can be stored; try an integer."
        )
    return {
        "key": writer.state_of(state["state"]["key"], f"{where}.key"),
        "pos": int(state["state"]["pos"]),
        "has_gauss": int(state["has_gauss"]),
        "gauss": writer.state_of(float(state["gauss"]), f"{where}.gauss"),
    }


def _random_of(given: dict[str, Any], reader: Reader, where: str) -> np.random.RandomState:
    checked_object(given, where, ["key", "pos", "has_gauss", "gauss"])
    key = reader.value_of(given["key"], where)
    if not isinstance(key, np.ndarray) or key.dtype != np.uint32 or key.shape != (MT19937_WORDS,):
        refuse(f"{where}.key is not {MT19937_WORDS} numbers of uint32")
    # numpy trusts the position, and would read beyond the key.
    position = checked_index(given["pos"], f"{where}.pos", MT19937_WORDS + 1)
    has_gauss = checked_index(given["has_gauss"], f"{where}.has_gauss", 2)
    gauss = given["gauss"]
    if type(gauss) is not float or not math.isfinite(gauss):
        refuse(f"{where}.gauss is no finite number")
    found = np.random.RandomState()
    found.set_state(
        {
            "bit_generator": "MT19937",
            "state": {"key": key, "pos": position},
            "has_gauss": has_gauss,
            "gauss": gauss,
        }
    )
    return found


def _path_state(value: RegularizationPath, writer: Writer, where: str) -> dict[str, Any]:
    return {
        field.name: writer.state_of(getattr(value, field.name), f"{where}.{field.name}")
        for field in fields(value)
    }


def _path_of(given: dict[str, Any], reader: Reader, where: str) -> RegularizationPath:
    names = [field.name for field in fields(RegularizationPath)]
    checked_object(given, where, names)
    path = RegularizationPath(
        **{name: reader.value_of(given[name], f"{where}.{name}") for name in names}
    )
    try:
        check_fitted(path)
    except ValueError as error:
        refuse(f"{where}: {error}", error)
    return path


SCALED = ("n_samples_seen_", "mean_", "var_", "scale_")
"""What a scaler of windows has learned; `check_fitted` of its labeler looks at the last three."""


def _scaler_state(value: StandardScaler, writer: Writer, where: str) -> dict[str, Any]:
    if value.get_params() != new_scaler().get_params():
        raise TypeError(
            f"{where} is {value}; a scaler of windows, {new_scaler()}, can be stored; try pickle."
        )
    return {name: writer.state_of(getattr(value, name), f"{where}.{name}") for name in SCALED}


def _scaler_of(given: dict[str, Any], reader: Reader, where: str) -> StandardScaler:
    checked_object(given, where, SCALED)
    scaler = new_scaler()
    found = {name: reader.value_of(given[name], f"{where}.{name}") for name in SCALED}
    n_seen, mean = found["n_samples_seen_"], found["mean_"]
    if not isinstance(n_seen, np.integer | np.floating) or not 1 <= n_seen < np.inf:
        refuse(f"{where}.n_samples_seen_ is {str(n_seen)[:40]} instead of a number of rows")
    if not isinstance(mean, np.ndarray) or mean.ndim != 1:
        refuse(f"{where}.mean_ is no row of numbers")
    scaler.__dict__.update(n_features_in_=len(mean), **found)
    return scaler


for _entry in (
    ValueType("estimator", tuple(CLASSES.values()), _estimator_state, _estimator_of),
    ValueType("frozen", (FrozenEstimator,), _frozen_state, _frozen_of),
    ValueType("forest", (Forest,), _forest_state, _forest_of),
    ValueType("random_structure", (RandomStructure,), _structure_state, _structure_of),
    ValueType("random_state", (np.random.RandomState,), _random_state, _random_of),
    ValueType("standard_scaler", (StandardScaler,), _scaler_state, _scaler_of),
    ValueType("regularization_path", (RegularizationPath,), _path_state, _path_of),
):
    register(_entry)
