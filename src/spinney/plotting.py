"""Plots of fitted models; :mod:`spinney.inspection.plotting` by its public name."""

from spinney.inspection.plotting import (
    DecisionRegionsDisplay,
    ErrorCurveDisplay,
    FeatureImportanceDisplay,
    HyperplaneGalleryDisplay,
    RegularizationPathDisplay,
    TraceDisplay,
    TreeDisplay,
    plot_tree,
)

__all__ = [
    "DecisionRegionsDisplay",
    "ErrorCurveDisplay",
    "FeatureImportanceDisplay",
    "HyperplaneGalleryDisplay",
    "RegularizationPathDisplay",
    "TraceDisplay",
    "TreeDisplay",
    "plot_tree",
]
