"""Small forests of optimised oblique decision trees."""

from spinney._moved import find_moved_modules
from spinney._version import __version__
from spinney.algorithms import Trace
from spinney.data.tables import MissingValuesWarning
from spinney.estimators import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
    FAOForestClassifier,
    FAOForestRegressor,
    GreedyForestClassifier,
    GreedyForestRegressor,
    RandomDecisionForestClassifier,
    RandomStructure,
    RefinedForestClassifier,
    RefinedForestRegressor,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
    refine_leaves,
)
from spinney.export import (
    CSource,
    export_text,
    from_dict,
    load,
    save,
    to_c,
    to_dict,
    to_onnx,
    to_sklearn,
)
from spinney.fitting.progress import FitEvent
from spinney.inspection.explanations import Explanation, NearestChange, explain, nearest_change
from spinney.selection import (
    CO2Tuning,
    FAOTuning,
    RegularizationPath,
    regularization_path,
    tune_co2,
    tune_fao,
)
from spinney.storage import DamagedFileError
from spinney.tree import Tree

find_moved_modules()

__all__ = [
    "CO2ForestClassifier",
    "CO2ForestRegressor",
    "CO2TreeClassifier",
    "CO2TreeRegressor",
    "CO2Tuning",
    "CSource",
    "DamagedFileError",
    "Explanation",
    "FAOForestClassifier",
    "FAOForestRegressor",
    "FAOTuning",
    "FitEvent",
    "GreedyForestClassifier",
    "GreedyForestRegressor",
    "MissingValuesWarning",
    "NearestChange",
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
    "Trace",
    "Tree",
    "__version__",
    "explain",
    "export_text",
    "from_dict",
    "load",
    "nearest_change",
    "refine_leaves",
    "regularization_path",
    "save",
    "to_c",
    "to_dict",
    "to_onnx",
    "to_sklearn",
    "tune_co2",
    "tune_fao",
]
