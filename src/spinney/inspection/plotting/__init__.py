"""Plots of fitted models, in the manner of scikit-learn's displays.

Each is a class with a constructor such as ``from_estimator``, which draws and returns an object
that holds the numbers behind the picture, `ax_` and `figure_`; its ``plot`` draws them again. All
take an `ax`, none shows a figure or changes a setting of matplotlib, which is imported when
something is drawn and comes with ``pip install 'spinney[plot]'``.

Models are read through what they tell of themselves once they are fitted. Nothing here learns.
"""

from spinney.inspection.plotting.decision_regions import DecisionRegionsDisplay
from spinney.inspection.plotting.error_curve import ErrorCurveDisplay
from spinney.inspection.plotting.gallery import HyperplaneGalleryDisplay
from spinney.inspection.plotting.importance import FeatureImportanceDisplay
from spinney.inspection.plotting.regularization_path import RegularizationPathDisplay
from spinney.inspection.plotting.trace import TraceDisplay
from spinney.inspection.plotting.tree_diagram import TreeDisplay, plot_tree

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
