"""A saved model is the model: same bits, same parameters, same way on."""

from __future__ import annotations

import copy
import errno
import functools
import io
import json
import operator
import os
import pickle
import threading

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import spinney
from spinney import DamagedFileError, from_dict, load, save, to_dict
from spinney.export.fitted import check_fitted, fitted_names
from spinney.storage import read_container, write_container
from tests.bits import differences
from tests.compat import models as small_models
from tests.compat.models import ESTIMATORS, MAKERS, answers, classes, rows, small_model

each_family = pytest.mark.parametrize("name", sorted(MAKERS))
each_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def through_file(model, folder, **options):
    save(model, folder / "model.spinney")
    return load(folder / "model.spinney", **options)


def through_json(model, _=None):
    return from_dict(json.loads(json.dumps(to_dict(model), allow_nan=False)))


def assert_same_answers(found, model):
    said = answers(model)
    for method, values in answers(found).items():
        assert values.dtype == said[method].dtype
        np.testing.assert_array_equal(values, said[method])


def test_every_public_estimator_has_a_small_model():
    kinds = {type(small_model(name)).__name__ for name in MAKERS}
    public = {
        name
        for package in (spinney, spinney.images)
        for name in package.__all__
        if isinstance(getattr(package, name), type) and hasattr(getattr(package, name), "fit")
    }
    assert public <= kinds


@each_family
@pytest.mark.parametrize("way", [through_file, through_json])
def test_predictions_keep_their_bits(tmp_path, name, way):
    model = small_model(name)
    assert_same_answers(way(model, tmp_path), model)


@each_family
def test_a_mapped_model_predicts_the_same_bits(tmp_path, name):
    model = small_model(name)
    assert_same_answers(through_file(model, tmp_path, memory_map=True), model)


@each_estimator
@pytest.mark.parametrize("way", [through_file, through_json])
def test_every_attribute_comes_back(tmp_path, name, way):
    model = small_model(name)
    found = way(model, tmp_path)
    assert type(found) is type(model)
    assert vars(found).keys() == vars(model).keys()
    # A pickle of the same values, so that types and bits are compared however deep they lie.
    for attribute in vars(model):
        assert to_text(getattr(found, attribute)) == to_text(getattr(model, attribute)), attribute


def to_text(value):
    """Types and exact values of anything a model holds."""
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, [to_text(item) for item in value.tolist()])
    if isinstance(value, np.random.RandomState):
        return to_text(value.get_state())
    if isinstance(value, list | tuple):
        return (type(value).__name__, [to_text(item) for item in value])
    if isinstance(value, dict):
        return ("dict", [(to_text(key), to_text(item)) for key, item in value.items()])
    if isinstance(value, float):
        return (type(value).__name__, value.hex())
    if hasattr(value, "__dict__"):
        state = value.__getstate__() if hasattr(value, "__getstate__") else vars(value)
        state = {k: v for k, v in state.items() if k != "_sklearn_version"}
        return (type(value).__name__, to_text(state))
    return (type(value).__name__, repr(value))


@each_estimator
def test_a_loaded_model_saves_to_the_same_file(tmp_path, name):
    save(small_model(name), tmp_path / "first")
    save(load(tmp_path / "first"), tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@each_estimator
def test_a_loaded_model_clones_pickles_and_copies(tmp_path, name):
    model = small_model(name)
    found = through_file(model, tmp_path, memory_map=True)
    assert clone(found).get_params().keys() == model.get_params().keys()
    for way in (lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy):
        assert_same_answers(way(found), model)


CONTINUED = {
    "tao_forest_classifier": {"n_estimators": 5},
    "tao_forest_of_strings_and_names": {"n_estimators": 5},  # goes on from an unpruned tree
    "tao_forest_of_bools": {"n_estimators": 5},  # with a RandomState
    "tao_boost_classifier": {"n_estimators": 5},
    "tao_gradient_boosting_regressor": {"n_estimators": 5},
    "fao_forest_classifier": {"n_forests": 3},
    "co2_forest_classifier": {"n_estimators": 4},
    "random_decision_forest_classifier": {"max_depth": 2},  # has all subspaces there are
    "greedy_forest_regressor": {"n_estimators": 5},
    "tao_tree_classifier": {"max_iter": 2},
}


@pytest.mark.filterwarnings("ignore:.*rows were seen by every tree", "ignore:.*so that nothing is")
@pytest.mark.parametrize("name", sorted(CONTINUED))
def test_a_warm_start_goes_on_as_if_nothing_had_been_saved(tmp_path, name):
    model = copy.deepcopy(small_model(name)).set_params(warm_start=True, **CONTINUED[name])
    found = through_file(model, tmp_path)
    X, y = rows(), classes()
    if name.endswith("names"):
        X, y = pd.DataFrame(X, columns=model.feature_names_in_), np.array(list("xyz"))[y]
    elif name.endswith("bools"):
        y = y > 0
    elif name.endswith("regressor"):
        y = small_models.numbers()
    assert_same_answers(found.fit(X, y), model.fit(X, y))


def test_a_loaded_forest_knows_its_training_rows(tmp_path):
    model = copy.deepcopy(small_model("tao_forest_classifier"))
    found = through_file(model.set_params(warm_start=True, n_estimators=5), tmp_path)
    with pytest.raises(ValueError, match="rows or their order have changed"):
        found.fit(rows()[::-1], classes()[::-1])


def test_a_loaded_boosted_forest_knows_the_rows_set_aside(tmp_path):
    model = spinney.TAOBoostClassifier(
        2, max_depth=2, max_sweeps=2, random_state=0, n_iter_no_change=5, warm_start=True
    )
    found = through_file(model.fit(rows(), classes()).set_params(n_estimators=3), tmp_path)
    with pytest.raises(ValueError, match="not those of the last fit"):
        found.fit(rows()[::-1], classes()[::-1])


def test_an_unfitted_estimator_is_stored_too(tmp_path):
    found = through_file(spinney.TAOTreeClassifier(max_depth=3), tmp_path)
    assert found.max_depth == 3
    assert fitted_names(found) == []


VALUES = [
    None,
    True,
    -3,
    10**30,
    0.1,
    float("nan"),
    float("inf"),
    -0.0,
    "ä\ud800\0",
    np.float32(0.1),
    np.int8(-5),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.float64("nan"),
    np.str_("a"),
    (1, (2.5, "x"), []),
    [1, [None]],
    {1: 2.0, "a": {True: None}, np.int64(3): (1,), None: -1},
    np.arange(6, dtype=np.int16).reshape(2, 3),
    np.array(["a", "bcd"]),
    np.array(["a", 1, None, 2.5], dtype=object),
    np.zeros((0, 3), np.float32),
    spinney.RandomStructure(1, 3, np.float64(7.5)),
    spinney.RandomStructure(1, 3, split_probability=0.5),
    np.random.RandomState(4),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}")
@pytest.mark.parametrize("way", [through_file, through_json])
def test_every_kind_of_parameter_comes_back(tmp_path, value, way):
    found = way(spinney.TAOTreeClassifier(init=value), tmp_path).init
    assert to_text(found) == to_text(value)


@pytest.mark.parametrize(
    "given",
    [
        pd.Index(["a", "c"]),
        range(0, 3, 2),
        pd.Series([True, False, True]),
        ("a", "c"),
        np.array([0, 2]),
        np.array(["a", "c"], dtype=object),
    ],
    ids=lambda given: type(given).__name__,
)
@pytest.mark.parametrize("way", [through_file, through_json])
def test_columns_that_fit_takes_as_categories_come_back(tmp_path, given, way):
    frame = pd.DataFrame(np.round(rows()), columns=["a", "b", "c"])
    model = spinney.TAOTreeClassifier(max_depth=2, categorical_features=given, random_state=0)
    model.fit(frame, classes())
    assert model.encoding_.levels.keys() == {0, 2}
    found = way(model, tmp_path)
    assert np.asarray(found.categorical_features).tolist() == np.asarray(given).tolist()
    again = clone(found).fit(frame, classes())
    assert differences(again, found) == []
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_a_random_state_goes_on_with_the_same_numbers(tmp_path):
    state = np.random.RandomState(7)
    state.normal(size=3)  # keeps a second normal number for the next call
    found = through_file(spinney.TAOTreeClassifier(random_state=state), tmp_path).random_state
    np.testing.assert_array_equal(found.normal(size=1000), state.normal(size=1000))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (print, "holds no code"),
        (lambda: 1, "holds no code"),
        (DecisionTreeClassifier(), "from_sklearn"),
        (object(), "object"),
        (np.random, "module"),
        (np.random.RandomState(np.random.PCG64(1)), "PCG64"),
        ({(1, 2): 3}, "key"),
        (np.zeros(1, complex), "complex"),
        (np.array([[None]]), "dimensions"),
        (np.array([object()]), "entry"),
        ({1, 2}, "set"),
        (pd.Index([pd.Timestamp("2020-01-01")]), "DatetimeIndex"),
        (pd.DataFrame({"a": [1]}), "DataFrame"),
    ],
)
def test_what_cannot_be_stored_is_named(tmp_path, value, message):
    with pytest.raises(TypeError, match=message):
        save(spinney.TAOTreeClassifier(init=value), tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_a_value_that_holds_itself_is_refused(tmp_path):
    value = []
    value.append(value)
    with pytest.raises(ValueError, match="hold itself"):
        save(spinney.TAOTreeClassifier(init=value), tmp_path / "file")


class Subclass(spinney.TAOTreeClassifier):
    pass


@pytest.mark.parametrize(
    "model", [make_pipeline(StandardScaler()), DecisionTreeClassifier(), 3, Subclass()]
)
def test_other_models_are_refused(tmp_path, model):
    with pytest.raises(TypeError, match="estimator of spinney"):
        save(model, tmp_path / "file")


def test_a_refined_forest_of_another_library_is_refused(tmp_path):
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(rows(), classes())
    with pytest.raises(TypeError, match=r"model\.forest is a RandomForestClassifier of sklearn"):
        save(spinney.refine_leaves(forest, rows(), classes()), tmp_path / "file")


def test_an_attribute_that_no_fit_makes_is_refused(tmp_path):
    model = copy.deepcopy(small_model("tao_tree_classifier"))
    model.note = "mine"
    with pytest.raises(ValueError, match="'note'"):
        save(model, tmp_path / "file")


def test_a_broken_tree_is_not_saved(tmp_path):
    model = copy.deepcopy(small_model("tao_tree_classifier"))
    bias = model.tree_.bias.copy()
    bias[0] = np.nan
    object.__setattr__(model.tree_, "bias", bias)
    with pytest.raises(ValueError, match="bias holds nan"):
        save(model, tmp_path / "file")


def test_metadata_requests_are_kept(tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        model = copy.deepcopy(small_model("tao_tree_classifier")).set_fit_request(sample_weight="w")
        for found in (through_file(model, tmp_path), through_json(model)):
            routing = found.get_metadata_routing()
            others = {"checkpoint": None, "callback": None}
            assert routing.fit.requests == {"sample_weight": "w", **others}
            assert routing.score.requests == {"sample_weight": None}


# What is refused at reading.


def header_of(model):
    return to_dict(model)


def changed(dictionary, path, value):
    """A deep copy with one value exchanged."""
    dictionary = copy.deepcopy(dictionary)
    *inner, last = path
    place = dictionary
    for key in inner:
        place = place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return dictionary


FITTED = ("model", "fitted")
PARAMETERS = ("model", "parameters")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("kind",), "checkpoint", "kind 'checkpoint'"),
        (("version",), 2, "newer release"),
        (("version",), True, "newer release"),
        (("library",), "new", "like 1.2.3"),
        (("more",), 1, "keys"),
        (("model",), 3, "instead of a model"),
        (("model", "class"), "Popen", "unknown class"),
        (("model", "class"), "TAOTreeRegressor", "parameter"),
        (("model", "class"), "CO2Tuning", "unknown class"),
        (("model", "type"), "module", "unknown type"),
        ((*PARAMETERS, "max_depth"), ..., "lacks the parameter"),
        ((*PARAMETERS, "depth"), 1, "does not know"),
        ((*PARAMETERS, "n_jobs"), "many", "n_jobs"),
        ((*PARAMETERS, "voting"), 3, "voting"),
        ((*PARAMETERS, "init"), {"type": "tree", "index": 99}, "from 0 to"),
        ((*FITTED, "n_features_in_"), 4, "typical_"),
        ((*FITTED, "n_outputs_"), 2, "n_outputs_"),
        ((*FITTED, "n_classes_"), 2, "forest_"),
        ((*FITTED, "classes_"), {"type": "array", "dtype": "<U1", "values": ["a"]}, "classes_"),
        ((*FITTED, "predict"), 1, "'predict'"),
        ((*FITTED, "max_depth"), 1, "both"),
        ((*FITTED, "_seed"), -1, "_seed"),
        ((*FITTED, "_seed"), ..., "no _seed"),
        ((*FITTED, "_row_digest"), "0" * 39, "_row_digest"),
        ((*FITTED, "flops_"), {"type": "float", "value": "nan"}, "flops_"),
        ((*FITTED, "flops_"), {"type": "float", "value": "1"}, "number"),
        ((*FITTED, "forest_", "trees"), [0, 1, 9], "from 0 to"),
        ((*FITTED, "forest_", "trees"), [], "empty"),
        ((*FITTED, "forest_", "trees"), [0], "traces_"),
        ((*FITTED, "feature_importances_", "array"), "trees.bias", "not there"),
        ((*FITTED, "feature_importances_"), {"type": "array", "array": 1}, "string"),
        (("arrays", "trees.left", "values", 0), 0, "tree 0"),
        (("arrays", "trees.bias", "values", 0), "nan", "bias holds nan"),
        (("arrays", "trees.bias", "values", 0), "x", "not of type float"),
        (("arrays", "trees.left", "values", 0), 2**40, "beyond I32"),
        (("arrays", "trees.left", "values", 0), 1.0, "not of type int"),
        (("arrays", "trees.node_begin", "values", 1), 99, "falls"),
        (("arrays", "trees.node_begin", "values", 1), -5, "falls"),
        (("arrays", "trees.split_begin", "values", 0), 1, "lead from 0"),
        (("arrays", "trees.n_features", "values", 0), 2**40, "beyond 1"),
        (("arrays", "trees.n_outputs", "values", 0), 2, "tree 0"),
        (("arrays", "trees.is_linear", "values", 0), True, "tree 0"),
        (("arrays", "trees.left"), ..., "odd"),
        (("arrays", "trees.more"), {"dtype": "I8", "shape": [0], "values": []}, "odd"),
        (("arrays", "more"), {"dtype": "I8", "shape": [0], "values": []}, "nothing wants"),
        (("arrays", "trees.left", "dtype"), "F64", "trees.left"),
        (("arrays", "trees.left", "dtype"), "F16", "unknown type"),
        (("arrays", "trees.left", "shape"), [3, 5], "do not fill"),
        (("arrays", "traces.begin", "values", 1), 99, "falls"),
        (("arrays", "traces.phase", "values", 0), 77, "phases"),
        (("phases",), [], "phases"),
    ],
)
def test_a_dictionary_with_a_fault_is_refused(path, value, message):
    dictionary = to_dict(small_model("tao_forest_classifier"))
    with pytest.raises(DamagedFileError, match=message):
        from_dict(changed(dictionary, path, value))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"on_tie": 23}, "on_tie"),
        ({"on_tie": "last"}, "on_tie"),
        ({"on_tie": "reject", "reject_label": 1}, "reject_label"),  # a class
    ],
)
def test_parameters_that_predictions_read_are_checked(tmp_path, parameters, message):
    model = copy.deepcopy(small_model("random_decision_forest_classifier"))
    dictionary = to_dict(model)
    dictionary["model"]["parameters"].update(parameters)
    with pytest.raises(DamagedFileError, match=message):
        from_dict(dictionary)
    with pytest.raises((ValueError, TypeError), match=message):
        save(model.set_params(**parameters), tmp_path / "model.spinney")


@pytest.mark.parametrize("name", ["tao_forest_of_strings_and_names", "neighbor_features"])
def test_no_two_columns_have_the_same_name(name):
    dictionary = to_dict(small_model(name))
    first, second = ((*FITTED, "feature_names_in_", "values", column) for column in (0, 1))
    with pytest.raises(DamagedFileError, match=r"feature_names_in_ .* distinct"):
        from_dict(changed(dictionary, second, value_at(dictionary, first)))


def value_at(dictionary, path):
    return functools.reduce(operator.getitem, path, dictionary)


def test_boosted_weights_must_be_finite_and_as_many_as_trees():
    dictionary = to_dict(small_model("tao_boost_classifier"))
    place = ("arrays", "model.estimator_weights_")
    entry = dictionary["arrays"]["model.estimator_weights_"]
    for value in ("inf", "nan", -1.0):
        with pytest.raises(DamagedFileError, match="estimator_weights_"):
            from_dict(changed(dictionary, (*place, "values", 0), value))
    short = {"dtype": "F64", "shape": [2], "values": entry["values"][:2]}
    with pytest.raises(DamagedFileError, match="estimator_weights_"):
        from_dict(changed(dictionary, place, short))


def test_an_unusable_random_state_is_refused():
    dictionary = to_dict(spinney.TAOTreeClassifier(random_state=np.random.RandomState(1)))
    place = (*PARAMETERS, "random_state")
    for key, value in (("pos", 625), ("pos", -1), ("has_gauss", 2), ("gauss", "x")):
        with pytest.raises(DamagedFileError, match=key):
            from_dict(changed(dictionary, (*place, key), value))


def test_many_wide_strings_are_refused_before_they_take_memory():
    dictionary = to_dict(small_model("tao_forest_classifier"))
    labels = {"type": "array", "dtype": "<U99999999", "values": ["a", "b", "c"]}
    with pytest.raises(DamagedFileError, match="bytes"):
        from_dict(changed(dictionary, (*FITTED, "classes_"), labels))


def test_deep_values_are_refused():
    deep = 1
    for _ in range(100):
        deep = [deep]
    dictionary = to_dict(spinney.TAOTreeClassifier())
    with pytest.raises(DamagedFileError, match="deep"):
        from_dict(changed(dictionary, (*PARAMETERS, "init"), deep))


def test_an_older_release_may_lack_parameters_that_came_later():
    dictionary = to_dict(small_model("tao_tree_classifier"))
    older = changed(changed(dictionary, (*PARAMETERS, "ridge"), ...), ("library",), "0.0.1")
    assert from_dict(older).ridge == spinney.TAOTreeClassifier().ridge


def test_a_container_of_another_kind_is_refused_by_path(tmp_path):
    write_container(tmp_path / "other", {"kind": "checkpoint"}, {})
    with pytest.raises(DamagedFileError, match=r"other: .*kind 'checkpoint'"):
        load(tmp_path / "other")


# Files and folders that do not do as they should.


def test_an_unwritable_folder_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError, match="missing"):
        save(small_model("tao_tree_classifier"), tmp_path / "missing" / "model.spinney")
    if os.geteuid() != 0:  # root may write anywhere
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(PermissionError):
            save(small_model("tao_tree_classifier"), tmp_path / "locked" / "model.spinney")


def test_a_full_disk_keeps_the_old_model(tmp_path, monkeypatch):
    path = tmp_path / "model.spinney"
    save(small_model("tao_tree_classifier"), path)
    before = path.read_bytes()

    def fail(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        save(small_model("tao_forest_classifier"), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.spinney"]


def test_a_model_is_overwritten_while_another_maps_it(tmp_path):
    path = tmp_path / "model.spinney"
    save(small_model("tao_tree_classifier"), path)
    mapped = load(str(path), memory_map=True)
    save(small_model("tao_forest_classifier"), path)
    assert_same_answers(mapped, small_model("tao_tree_classifier"))
    assert_same_answers(load(path), small_model("tao_forest_classifier"))


def test_models_saved_at_once_leave_one_of_them(tmp_path):
    path = tmp_path / "model.spinney"
    models = [small_model(name) for name in ("tao_tree_classifier", "tao_forest_classifier")] * 4
    threads = [threading.Thread(target=save, args=(model, path)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = load(path)
    assert_same_answers(found, next(m for m in models if type(m) is type(found)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.spinney"]


def test_arrays_of_a_forest_are_few_and_independent_of_the_number_of_trees(tmp_path):
    for n_trees, name in ((2, "a"), (9, "b")):
        model = small_models.bagged(n_estimators=n_trees).fit(rows(), classes())
        save(model, tmp_path / name)
    arrays = [read_container(tmp_path / name)[1].keys() for name in "ab"]
    assert arrays[0] == arrays[1]


# The ways that other libraries store models.


@each_estimator
def test_pickle_joblib_cloudpickle_and_deepcopy_keep_the_bits(tmp_path, name):
    model = small_model(name)
    joblib.dump(model, tmp_path / "joblib")
    for found in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "joblib"),
        cloudpickle.loads(cloudpickle.dumps(model)),
        copy.deepcopy(model),
    ):
        assert_same_answers(found, model)
        check_fitted(found)


#: As docs/model_format/index.md tells users.
TRUSTED = [
    "spinney.algorithms.trace.Trace",
    "spinney.tree.forest.Forest",
    "spinney.tree.structure.Tree",
    "spinney.ensembles.tree_start.RandomStructure",
    "sklearn.frozen._frozen.FrozenEstimator",
    "spinney.data.tables.encoding.TableEncoding",
    "spinney.data.tables.levels.Levels",
    "spinney.data.tables.typical.TypicalRow",
]


@each_estimator
def test_skops_keeps_the_bits_with_the_types_that_the_docs_list(name):
    skops = pytest.importorskip("skops.io")
    model = small_model(name)
    stored = skops.dumps(model)
    unknown = skops.get_untrusted_types(data=stored)
    own = {f"{type(m).__module__}.{type(m).__name__}" for m in map(small_model, ESTIMATORS)}
    assert set(unknown) <= {*TRUSTED, *own}
    assert_same_answers(skops.load(io.BytesIO(stored), trusted=unknown), model)
