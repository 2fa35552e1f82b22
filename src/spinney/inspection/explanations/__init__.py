"""Explanations a person can act on: why a row got its answer, and the least that changes it."""

from spinney.inspection.explanations.change import FeatureChange, NearestChange
from spinney.inspection.explanations.explain_row import explain
from spinney.inspection.explanations.explanation import (
    Contribution,
    Explanation,
    FeatureSummary,
    LeafAnswer,
    SplitStep,
    TreeExplanation,
)
from spinney.inspection.explanations.nearest import nearest_change

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
