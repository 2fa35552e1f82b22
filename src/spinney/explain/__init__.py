"""Explanations a person can act on: why a row got its answer, and the least that changes it."""

from spinney.explain.change import FeatureChange, NearestChange
from spinney.explain.explanation import (
    Contribution,
    Explanation,
    FeatureSummary,
    LeafAnswer,
    SplitStep,
    TreeExplanation,
)
from spinney.explain.nearest import nearest_change
from spinney.explain.paths import explain

__all__ = [
    "Contribution",
    "Explanation",
    "FeatureChange",
    "FeatureSummary",
    "LeafAnswer",
    "NearestChange",
    "SplitStep",
    "TreeExplanation",
    "explain",
    "nearest_change",
]
