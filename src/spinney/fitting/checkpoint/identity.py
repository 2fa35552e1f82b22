"""What a fit is of, in a form that can be stored and compared, and words for what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from spinney.storage import DamagedFileError

#: What to say if the fact of that name differs; the shape comes with its values.
FACTS = {
    "call": "it is of a {was}, this is a {now}",
    "shape": "X had shape {was}, has {now}",
    "names": "X has other column names",
    "kept": "sample_weight or class_weight leaves out other rows",
    "rows": "X has other values (or row order)",
    "targets": "y has other values",
    "classes": "y has other classes",
    "weights": "sample_weight has other values",
    "validation": "the validation rows are others",
    "start": "the trees that warm_start or refit goes on from are others",
    "n_images": "there were {was} images, now {now}",
    "images": "the images have other values, sizes or another order",
    "labels": "the label images have other values",
}

MOST_SHOWN = 7
"""Items of a list that a message shows."""


@dataclass(frozen=True)
class Identity:
    """What decides the outcome of a fit.

    Attributes
    ----------
    library : str
        Version of the library; another one may compute other bits.
    estimator : str
        Name of its class.
    parameters : mapping of str to JSON values
        Constructor's values, but for those that may change.
    facts : mapping of str to JSON values
        Digests of the data and of what a warm start goes on from, by the names in `FACTS`, and
        whether X `is_encoded`: whether its values depend on targets and weights.
    """

    library: str
    estimator: str
    parameters: Mapping[str, Any]
    facts: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: object) -> Identity:
        """What `as_json` gave; raises DamagedFileError for anything else."""
        kinds = {"library": str, "estimator": str, "parameters": dict, "facts": dict}
        if not isinstance(stored, dict) or stored.keys() != kinds.keys():
            raise DamagedFileError("the file does not say which fit it is of.")
        for name, kind in kinds.items():
            if not isinstance(stored[name], kind):
                raise DamagedFileError(f"{name} of the fit is a {type(stored[name]).__name__}.")
        return cls(**stored)

    def differences(self, now: Identity) -> list[str]:
        """What is different now, in words; empty if nothing is."""
        if self.library != now.library:
            return [f"it was written by spinney {self.library}, this is {now.library}"]
        if self.estimator != now.estimator:
            return [f"it is of a {self.estimator}, this is a {now.estimator}"]
        return [
            *_different_parameters(self.parameters, now.parameters),
            *_different_facts(self.facts, now.facts, self._said_by(now)),
        ]

    def _said_by(self, now: Identity) -> set[str]:
        """Facts that differ because of something that is named anyway."""
        differ = {name for name in FACTS if self.facts.get(name) != now.facts.get(name)}
        if "shape" in differ:
            return {"kept", "rows", "targets", "weights"}
        if "n_images" in differ:
            return {"images", "labels"}
        said = set()
        if self.parameters.get("class_weight") != now.parameters.get("class_weight"):
            said |= {"kept", "weights"}
        if "kept" in differ:
            said |= {"rows", "targets", "weights"}
        if now.facts.get("is_encoded") and differ & {"targets", "weights"}:
            said |= {"rows"}  # fills and means of levels are learned from targets and weights
        return said


def _different_parameters(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*was, *now}):
        if was.get(name) == now.get(name):
            continue
        before, after = _shown(was.get(name)), _shown(now.get(name))
        yield f"{name} was {before}, is {'another' if before == after else after}"


def _shown(value: Any) -> str:
    """A parameter as a person would write it; digests are not shown."""
    if isinstance(value, dict) and "shown" in value:
        return str(value["shown"])
    if isinstance(value, list) and len(value) > MOST_SHOWN:
        return f"[{', '.join(map(_shown, value[:MOST_SHOWN]))}, ...]"
    return repr(value)


def _different_facts(
    was: Mapping[str, Any], now: Mapping[str, Any], left_out: set[str]
) -> Iterator[str]:
    for name, words in FACTS.items():
        if was.get(name) != now.get(name) and name not in left_out:
            yield words.format(was=was.get(name), now=now.get(name))
