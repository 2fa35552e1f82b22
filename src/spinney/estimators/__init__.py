"""The scikit-learn face of the library: validate, call, store."""

from spinney.ensembles.tree_start import RandomStructure
from spinney.estimators.boost import TAOBoostClassifier
from spinney.estimators.co2 import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
)
from spinney.estimators.co2_tuning import CO2Tuning, tune_co2
from spinney.estimators.fao import FAOForestClassifier, FAOForestRegressor
from spinney.estimators.fao_tuning import FAOTuning, tune_fao
from spinney.estimators.forest import TAOForestClassifier, TAOForestRegressor
from spinney.estimators.gradient import (
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
)
from spinney.estimators.greedy import GreedyForestClassifier, GreedyForestRegressor
from spinney.estimators.ho import RandomDecisionForestClassifier
from spinney.estimators.path import RegularizationPath, regularization_path
from spinney.estimators.refine import (
    RefinedForestClassifier,
    RefinedForestRegressor,
    refine_leaves,
)
from spinney.estimators.tree import TAOTreeClassifier, TAOTreeRegressor

__all__ = [
    "CO2ForestClassifier",
    "CO2ForestRegressor",
    "CO2TreeClassifier",
    "CO2TreeRegressor",
    "CO2Tuning",
    "FAOForestClassifier",
    "FAOForestRegressor",
    "FAOTuning",
    "GreedyForestClassifier",
    "GreedyForestRegressor",
    "RandomDecisionForestClassifier",
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
    "tune_co2",
    "tune_fao",
]
