"""Small forests of optimised oblique decision trees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from spinney.inspection.explanations import (
        Explanation,
        NearestChange,
        explain,
        nearest_change,
    )

find_moved_modules()

#: Imported when they are first asked for: they would take a tenth of the import.
_EXPLANATIONS = ("Explanation", "NearestChange", "explain", "nearest_change")

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


def __getattr__(name: str) -> Any:
    if name not in _EXPLANATIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module("spinney.inspection.explanations"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPLANATIONS})
