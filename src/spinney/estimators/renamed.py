"""Parameters that were called something else, and what their old names still do.

Constructors, `set_params`, searches, attributes, model files and pickles all take the old names of
`RENAMED`; signatures, `get_params`, clones and new files know the new ones alone. Whoever writes an
old name is warned; whoever loads an old model is not.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from spinney.data.warn_caller import warn_caller


@dataclass(frozen=True)
class Renamed:
    """A parameter of every estimator that takes `new` and does not mean something else by `old`.

    Attributes
    ----------
    old, new : str
    hint : str
        What the old name makes people think of, and what they find here.
    is_attribute : bool
        Whether the old name can still be read as an attribute. Not where others ask by
        ``hasattr`` what an estimator is.
    """

    old: str
    new: str
    hint: str
    is_attribute: bool = True

    def warn(self, owner: type) -> None:
        """Say that the old name was used."""
        warn_caller(
            f"{owner.__name__}: the parameter {self.old} is called {self.new} since 0.2, and its "
            f"old name will be gone in 0.4; give {self.new}; {self.hint}.",
            FutureWarning,
        )


RENAMED = (
    Renamed(
        "monotone",
        "strict_descent",
        "it is about the objective, which then never rises, and not about predictions that rise "
        "with a column (monotonic_cst elsewhere)",
    ),
    # An estimator that has max_iter has n_iter_, say scikit-learn's conventions, and boosting
    # counts trees by both.
    Renamed(
        "max_iter",
        "max_sweeps",
        "it counts sweeps over each tree, where an iteration of boosting is a tree elsewhere "
        "(n_estimators)",
        is_attribute=False,
    ),
    Renamed(
        "max_iter",
        "max_epochs",
        "it counts passes over the rows of each node, not iterations of the fit",
        is_attribute=False,
    ),
)


OF_OLDER_MODELS = {"importance_type": "weight"}
"""What parameters that have been added since are of older models, if not their defaults."""


class _OldName:
    """The attribute of an old name: the value under the new one."""

    def __init__(self, renamed: Renamed) -> None:
        self._renamed = renamed
        self.__doc__ = f"Old name of `{renamed.new}`."

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        if not self._renamed.is_attribute:
            raise AttributeError(
                f"{owner.__name__} has no {self._renamed.old}; it is called {self._renamed.new}; "
                f"{self._renamed.hint}."
            )
        self._renamed.warn(owner)
        return getattr(instance, self._renamed.new)

    def __set__(self, instance: Any, value: object) -> None:
        self._renamed.warn(type(instance))
        setattr(instance, self._renamed.new, value)


def accept_old_names(kind: type[Any]) -> Callable[..., None]:
    """Let a class take old names of its parameters; returns the constructor that takes them.

    The signature, as all look at it, is unchanged.
    """
    init = kind.__init__
    names = set(kind._get_param_names())
    kind._renamed = {of.old: of for of in RENAMED if of.new in names and of.old not in names}
    for renamed in kind._renamed.values():
        setattr(kind, renamed.old, _OldName(renamed))

    @functools.wraps(init)
    def construct(self: Any, *values: Any, **named: Any) -> None:
        # Of the class whose constructor this is: a subclass may have another one.
        init(self, *values, **with_current_names(kind, named, type(self)))

    return construct


def older_state(kind: type[Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """State of a pickle, with parameters that have been added or renamed since it was written."""
    return _defaults(kind) | older_values(kind) | current_names(kind, state)


def renamed_parameters(kind: type[Any]) -> dict[str, Renamed]:
    """Old names that a class of estimators takes, with what became of them."""
    return getattr(kind, "_renamed", {})


def older_values(kind: type[Any]) -> dict[str, Any]:
    """Parameters that mean something else in models of older releases than by default."""
    names = set(kind._get_param_names())
    return {name: value for name, value in OF_OLDER_MODELS.items() if name in names}


def current_names(kind: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The same values by the names that the parameters have now.

    Parameters
    ----------
    kind : class of estimators
    given : mapping of str to values
        Of parameters, and possibly others.

    Raises
    ------
    TypeError
        If a parameter is there under both of its names.
    """
    renamed = renamed_parameters(kind)
    for old in given.keys() & renamed.keys():
        if (new := renamed[old].new) in given:
            raise TypeError(
                f"{kind.__name__} got {old}={given[old]!r} and {new}={given[new]!r}, which are one "
                f"parameter; give it once; try {new} alone."
            )
    return {renamed[name].new if name in renamed else name: given[name] for name in given}


def with_current_names(
    kind: type[Any], given: dict[str, Any], owner: type[Any] | None = None
) -> dict[str, Any]:
    """As `current_names`; warns of old names in the name of `owner`, if there are any."""
    current = current_names(kind, given)
    for old, renamed in renamed_parameters(kind).items():
        if old in given:
            renamed.warn(owner or kind)
    return current


def _defaults(kind: type[Any]) -> dict[str, Any]:
    """Defaults of the parameters, in the order in which the constructor stores them."""
    known = inspect.signature(kind).parameters
    stored = dict.fromkeys([of.name for of in fields(kind) if of.name in known] + list(known))
    return {
        name: known[name].default
        for name in stored
        if known[name].default is not inspect.Parameter.empty
    }
