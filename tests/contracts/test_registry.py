"""No public estimator is missing among those that the contracts are tested on."""

from __future__ import annotations

import pytest

from tests.contracts.cases import kind_of
from tests.contracts.registry import GROUPS, REFINED, public_estimators
from tests.contracts.ways import EACH


@pytest.mark.parametrize("group", GROUPS)
def test_every_public_estimator_is_in_every_group(group: str) -> None:
    found = {kind_of(case) for case in GROUPS[group].values()}
    # Leaves are refined in one step, which has nothing to resume and is listened to on its own.
    wanted = public_estimators().keys() - (REFINED if group in ("listened", "resumed") else set())
    assert found >= wanted


def test_the_plain_way_of_an_estimator_comes_first() -> None:
    assert EACH.keys() == public_estimators().keys()
    for case in EACH.values():
        assert not {"split", "leaf", "init", "loss"} & set(non_defaults(case.estimator))


def non_defaults(estimator: object) -> list[str]:
    if type(estimator).__name__ in REFINED:
        return []
    values, defaults = estimator.get_params(deep=False), type(estimator)().get_params(deep=False)
    return [name for name, value in values.items() if value != defaults[name]]
