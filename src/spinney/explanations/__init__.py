"""Explanations a person can act on: why a row got its answer, and the least that changes it."""

from spinney.explanations.change import FeatureChange, NearestChange
from spinney.explanations.explanation import (
    Contribution,
    Explanation,
    FeatureSummary,
    LeafAnswer,
    SplitStep,
    TreeExplanation,
)
from spinney.explanations.nearest import nearest_change
from spinney.explanations.paths import explain

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
