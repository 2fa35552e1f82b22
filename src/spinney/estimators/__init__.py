"""The scikit-learn face of the library: read, follow a recipe, store."""

from importlib import import_module
from typing import Any

from spinney.ensembles.tree_start import RandomStructure
from spinney.estimators.boost import TAOBoostClassifier
from spinney.estimators.co2 import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
)
from spinney.estimators.fao import FAOForestClassifier, FAOForestRegressor
from spinney.estimators.forest import TAOForestClassifier, TAOForestRegressor
from spinney.estimators.gradient import (
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
)
from spinney.estimators.greedy import GreedyForestClassifier, GreedyForestRegressor
from spinney.estimators.ho import RandomDecisionForestClassifier
from spinney.estimators.refine import (
    RefinedForestClassifier,
    RefinedForestRegressor,
    refine_leaves,
)
from spinney.estimators.tree import TAOTreeClassifier, TAOTreeRegressor

#: What was here in older releases and is one room further on.
IN_SELECTION = (
    "CO2Tuning",
    "FAOTuning",
    "RegularizationPath",
    "regularization_path",
    "tune_co2",
    "tune_fao",
)

__all__ = [
    "CO2ForestClassifier",
    "CO2ForestRegressor",
    "CO2TreeClassifier",
    "CO2TreeRegressor",
    "FAOForestClassifier",
    "FAOForestRegressor",
    "GreedyForestClassifier",
    "GreedyForestRegressor",
    "RandomDecisionForestClassifier",
    "RandomStructure",
    "RefinedForestClassifier",
    "RefinedForestRegressor",
    "TAOBoostClassifier",
    "TAOForestClassifier",
    "TAOForestRegressor",
    "TAOGradientBoostingClassifier",
    "TAOGradientBoostingRegressor",
    "TAOTreeClassifier",
    "TAOTreeRegressor",
    "refine_leaves",
]


def __getattr__(name: str) -> Any:
    if name in IN_SELECTION:
        return getattr(import_module("spinney.selection"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
