"""Constructors from groups of parameters.

A group is a dataclass in which name, type and default of a parameter stand once. An estimator
inherits its groups, adds what it has alone, and gives another default by naming the parameter
again; ``field(default=..., init=False)`` takes one away and fixes its value. The constructor then
stores its arguments untouched, as scikit-learn wants it.

`estimator` makes the constructor of our estimators. A subclass that writes its own constructor gets
the same treatment of old names and wrong arguments by ``Model.__init_subclass__``.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, dataclass_transform

from spinney.estimators.calls import explained
from spinney.estimators.renamed import accept_old_names
from spinney.fitting.fitted_record import fitted

Kind = TypeVar("Kind", bound=type[Any])


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field, fitted))
def parameters(kind: Kind) -> Kind:
    """Make the annotated names of a class parameters of all estimators that inherit it.

    Its public methods explain wrong arguments.
    """
    return _with_fields(kind, init=False)  # what estimators alone need takes half of the time


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field, fitted))
def estimator(kind: Kind) -> Kind:
    """Give an estimator its constructor: parameters in the order of its docstring."""
    if "__init__" in vars(kind):
        return _with_fields(kind, init=False)
    made = _with_fields(kind, init=True)
    made.__init__.__signature__ = _in_documented_order(made)
    made.__init__.__qualname__ = f"{kind.__qualname__}.__init__"
    finish_constructor(made)
    return made


def _with_fields(kind: Kind, *, init: bool) -> Kind:
    for name, member in list(vars(kind).items()):
        if inspect.isfunction(member) and name[0] != "_":
            setattr(kind, name, explained(member))
    as_fields = dataclass(init=init, eq=False, repr=False, match_args=False, kw_only=True)
    return cast(Kind, as_fields(kind))


def finish_constructor(kind: type[Any]) -> None:
    """Let a constructor take old names of parameters with a warning, and explain wrong ones."""
    kind.__init__ = explained(kind.__init__)
    kind.__init__ = accept_old_names(kind)


def _in_documented_order(kind: type[Any]) -> inspect.Signature:
    """The constructor's signature; a test notices a parameter that the docstring leaves out."""
    signature = inspect.signature(kind.__init__)
    lines = (kind.__doc__ or "").splitlines()
    places: dict[str, int] = {}
    for place, line in enumerate(lines):
        for name in line.strip().split(" :")[0].split(", ") if " : " in line else ():
            places.setdefault(name, place)
    last = len(lines)  # without docstrings, or of a parameter that is not told of: as inherited

    def order(parameter: inspect.Parameter) -> tuple[bool, int]:
        is_bare = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        is_self = parameter.name == "self"
        return is_bare, -1 if is_self else places.get(parameter.name, last)

    return signature.replace(parameters=sorted(signature.parameters.values(), key=order))
