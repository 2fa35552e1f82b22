"""Copies, clones, pickles and files of a model are the model, bit for bit."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import joblib
import pytest
from sklearn.base import clone

import spinney
from spinney import RandomStructure
from tests.bits import differences, same
from tests.contracts.cases import Case, named, says_the_same
from tests.contracts.registry import REFINED, public_estimators
from tests.contracts.resumed import RESUMED
from tests.contracts.ways import EACH, WAYS

KINDS = [kind for name, kind in public_estimators().items() if name not in REFINED]
each_kind = pytest.mark.parametrize("kind", KINDS)


@named(WAYS)
def test_copies_are_the_model(case: Case, tmp_path: Path) -> None:
    model, X = case.fit(), case.data[0]
    joblib.dump(model, tmp_path / "model.joblib")
    copies = [
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        copy.copy(model),
        joblib.load(tmp_path / "model.joblib"),
        joblib.load(tmp_path / "model.joblib", mmap_mode="r"),
    ]
    for other in copies:
        assert differences(model, other) == []
        assert says_the_same(model, other, X)
        if hasattr(model, "staged_predict"):
            assert same(list(other.staged_predict(X)), list(model.staged_predict(X)))


@named(WAYS)
def test_a_file_is_the_model(case: Case, tmp_path: Path) -> None:
    model, X = case.fit(), case.data[0]
    spinney.save(model, tmp_path / "model")
    for memory_map in (False, True):
        loaded = spinney.load(tmp_path / "model", memory_map=memory_map)
        assert differences(model, loaded) == []
        assert says_the_same(model, loaded, X)
    told = spinney.from_dict(spinney.to_dict(model))
    assert differences(model, told) == []
    spinney.save(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.filterwarnings("ignore:.*rows were seen by every tree")
@named({name: case for name, case in RESUMED.items() if "frame" in name})
def test_a_file_keeps_how_a_table_is_read(case: Case, tmp_path: Path) -> None:
    model = case.fit()
    spinney.save(model, tmp_path / "model")
    loaded = spinney.load(tmp_path / "model")
    assert differences(model, loaded) == []
    assert says_the_same(model, loaded, case.data[0])


@named(WAYS)
def test_a_clone_forgets_the_fit_and_keeps_the_values(case: Case) -> None:
    model = case.fit()
    cloned = clone(model)
    assert not [name for name in vars(cloned) if name.endswith("_") or name.startswith("_")]
    assert cloned.get_params(deep=False) == model.get_params(deep=False)
    assert differences(model, cloned.fit(*case.data)) == []


@each_kind
def test_the_constructor_stores_its_arguments_untouched(kind: Any) -> None:
    values = {name: object() for name in kind().get_params(deep=False)}
    assert vars(kind(**values)) == values
    assert kind(**values).get_params(deep=False) == values


@each_kind
def test_only_the_number_of_trees_may_be_given_by_place(kind: Any) -> None:
    words = [word for word in ("n_forests", "n_trees", "n_estimators") if word in dir(kind())]
    places = list(range(7, 7 + len(words)))
    model = kind(*places)
    assert [getattr(model, word) for word in words] == places
    with pytest.raises(TypeError, match="positional argument"):
        kind(*places, 8)


@named({name: case for name, case in EACH.items() if hasattr(case.estimator, "init")})
def test_a_structure_as_a_start_is_cloned(case: Case) -> None:
    start = RandomStructure(1, 3, 9)
    model = case.fit(init=start)
    assert clone(model).init == start
    assert differences(model, clone(model).fit(*case.data)) == []
