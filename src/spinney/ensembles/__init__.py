"""Many trees from one problem: bagging, boosting, averaging; free of the scikit-learn API."""

from spinney.ensembles.averaging import AveragedForests, AveragingPlan
from spinney.ensembles.bagging import BaggingPlan, bag_trees
from spinney.ensembles.boosting import BoostingRule, boost_trees
from spinney.ensembles.plan import SamplePlan, out_of_bag

__all__ = [
    "AveragedForests",
    "AveragingPlan",
    "BaggingPlan",
    "BoostingRule",
    "SamplePlan",
    "bag_trees",
    "boost_trees",
    "out_of_bag",
]
