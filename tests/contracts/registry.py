"""Every public estimator with small settings and data, so that a promise is tested once for all.

There are four groups of cases, by what they vary. A new estimator gets a line in each, a new
parameter that changes the fit gets one in `WAYS`; `test_registry.py` sees to the first.
"""

from __future__ import annotations

import spinney
from tests.contracts.cases import Case
from tests.contracts.listened import LISTENED
from tests.contracts.resumed import RESUMED
from tests.contracts.served import SERVED
from tests.contracts.ways import WAYS

GROUPS: dict[str, dict[str, Case]] = {
    "ways": WAYS,
    "listened": LISTENED,
    "resumed": RESUMED,
    "served": SERVED,
}


def public_estimators() -> dict[str, type]:
    """What `spinney.__all__` offers to fit, by name."""
    exported = {name: getattr(spinney, name) for name in spinney.__all__}
    return {name: kind for name, kind in exported.items() if hasattr(kind, "fit")}


#: Estimators that refit the leaves of a forest that is there.
REFINED = {"RefinedForestClassifier", "RefinedForestRegressor"}
