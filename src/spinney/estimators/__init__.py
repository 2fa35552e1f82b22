"""The scikit-learn face of the library: validate, call, store."""

from spinney.estimators.boost import TAOBoostClassifier
from spinney.estimators.fao import FAOForestClassifier, FAOForestRegressor
from spinney.estimators.fao_tuning import FAOTuning, tune_fao
from spinney.estimators.forest import TAOForestClassifier, TAOForestRegressor
from spinney.estimators.gradient import (
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
)
from spinney.estimators.path import RegularizationPath, regularization_path
from spinney.estimators.refine import (
    RefinedForestClassifier,
    RefinedForestRegressor,
    refine_leaves,
)
from spinney.estimators.start import RandomStructure
from spinney.estimators.tree import TAOTreeClassifier, TAOTreeRegressor

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
    "refine_leaves",
    "regularization_path",
    "tune_fao",
]
