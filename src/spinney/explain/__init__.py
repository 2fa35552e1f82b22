"""Explanations a person can act on: why a row got its answer, and the least that changes it."""

from spinney.explain.explanation import (
    Contribution,
    Explanation,
    FeatureSummary,
    LeafAnswer,
    SplitStep,
    TreeExplanation,
)
from spinney.explain.paths import explain

__all__ = [
    "Contribution",
    "Explanation",
    "FeatureSummary",
    "LeafAnswer",
    "SplitStep",
    "TreeExplanation",
    "explain",
]
