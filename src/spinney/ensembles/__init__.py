"""Many trees from one problem: bagging, boosting, averaging; free of the scikit-learn API."""

from spinney.ensembles.averaging import AveragingPlan, average_forests
from spinney.ensembles.bagging import BaggingPlan, bag_trees, out_of_bag
from spinney.ensembles.boosting import BoostingRule, boost_trees

__all__ = [
    "AveragingPlan",
    "BaggingPlan",
    "BoostingRule",
    "average_forests",
    "bag_trees",
    "boost_trees",
    "out_of_bag",
]
