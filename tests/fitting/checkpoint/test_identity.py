"""A fit that is another one is told from the first, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spinney.fitting.checkpoint.identity import FACTS, Identity
from spinney.storage import DamagedFileError

FIT = Identity(
    "0.1.0",
    "TAOForestClassifier",
    {"alpha": 0.1, "init": {"shown": "a Tree of 7 nodes", "digest": "ab"}, "loss": "zero_one"},
    {name: f"digest of {name}" for name in FACTS} | {"shape": [10, 3]},
)


def test_a_fit_is_itself():
    assert FIT.differences(Identity.from_json(FIT.as_json())) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"parameters": {**FIT.parameters, "alpha": 0.2}}, ["alpha was 0.1, is 0.2"]),
        ({"parameters": {**FIT.parameters, "loss": "a"}}, ["loss was 'zero_one', is 'a'"]),
        (
            {"parameters": {**FIT.parameters, "init": {"shown": "a Tree of 7 nodes"}}},
            ["init was a Tree of 7 nodes, is another"],
        ),
        ({"parameters": {**FIT.parameters, "new": 1}}, ["new was None, is 1"]),
        (
            {"parameters": {**FIT.parameters, "new": [False] * 999}},
            ["new was None, is [False, False, False, False, False, False, False, ...]"],
        ),
        ({"facts": {**FIT.facts, "rows": "x"}}, ["X has other values (or row order)"]),
        ({"facts": {**FIT.facts, "targets": "x"}}, ["y has other values"]),
        ({"facts": {**FIT.facts, "weights": "x"}}, ["sample_weight has other values"]),
        (
            {"facts": {**FIT.facts, "shape": [9, 3], "rows": "x", "targets": "x"}},
            ["X had shape [10, 3], has [9, 3]"],
        ),
        (
            {"facts": {**FIT.facts, "kept": "x", "rows": "x", "targets": "x", "weights": "x"}},
            ["sample_weight or class_weight leaves out other rows"],
        ),
        (
            {
                "parameters": {**FIT.parameters, "class_weight": "balanced"},
                "facts": {**FIT.facts, "kept": "x", "rows": "x", "targets": "x", "weights": "x"},
            },
            ["class_weight was None, is 'balanced'"],
        ),
        (
            {"facts": {**FIT.facts, "rows": "x", "targets": "x"}},
            ["X has other values (or row order)", "y has other values"],
        ),
        (
            {"estimator": "CO2ForestClassifier"},
            ["it is of a TAOForestClassifier, this is a CO2ForestClassifier"],
        ),
        ({"library": "9.0"}, ["it was written by spinney 0.1.0, this is 9.0"]),
    ],
)
def test_what_differs_is_said(change, words):
    assert FIT.differences(replace(FIT, **change)) == words


@pytest.mark.parametrize("stored", [None, {}, [], {**FIT.as_json(), "facts": 3}])
def test_what_is_no_identity_is_refused(stored):
    with pytest.raises(DamagedFileError):
        Identity.from_json(stored)


@pytest.mark.parametrize("name", ["targets", "weights"])
def test_rows_that_were_encoded_by_other_targets_or_weights_are_not_blamed(name):
    facts = {**FIT.facts, "is_encoded": True}
    was, now = replace(FIT, facts=facts), replace(FIT, facts={**facts, "rows": "x", name: "x"})
    assert was.differences(now) == [FACTS[name]]
