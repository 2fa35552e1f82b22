"""Many trees from one problem: bagging and boosting, free of the scikit-learn API."""

from spinney.ensembles.bagging import BaggingPlan, bag_trees, out_of_bag
from spinney.ensembles.boosting import BoostingRule, boost_trees

__all__ = ["BaggingPlan", "BoostingRule", "bag_trees", "boost_trees", "out_of_bag"]
