"""Choose among fitted estimators: regularisation paths and searches on validation rows."""

from spinney.selection.co2_tuning import CO2Tuning, tune_co2
from spinney.selection.fao_tuning import FAOTuning, tune_fao
from spinney.selection.regularization_path import RegularizationPath, regularization_path

__all__ = [
    "CO2Tuning",
    "FAOTuning",
    "RegularizationPath",
    "regularization_path",
    "tune_co2",
    "tune_fao",
]
