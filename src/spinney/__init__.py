"""Small forests of optimised oblique decision trees."""

from spinney.estimators import (
    FAOForestClassifier,
    FAOForestRegressor,
    FAOTuning,
    RandomStructure,
    RefinedForestClassifier,
    RefinedForestRegressor,
    RegularizationPath,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
    refine_leaves,
    regularization_path,
    tune_fao,
)
from spinney.model import export_text
from spinney.optimize import Trace
from spinney.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "FAOForestClassifier",
    "FAOForestRegressor",
    "FAOTuning",
    "RandomStructure",
    "RefinedForestClassifier",
    "RefinedForestRegressor",
    "RegularizationPath",
    "TAOBoostClassifier",
    "TAOForestClassifier",
    "TAOForestRegressor",
    "TAOGradientBoostingClassifier",
    "TAOGradientBoostingRegressor",
    "TAOTreeClassifier",
    "TAOTreeRegressor",
    "Trace",
    "Tree",
    "__version__",
    "export_text",
    "refine_leaves",
    "regularization_path",
    "tune_fao",
]
