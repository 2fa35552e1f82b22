"""A labeler whose fit was interrupted, wherever, ends as one whose fit was not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from spinney import (
    DamagedFileError,
    FAOForestClassifier,
    GreedyForestClassifier,
    TAOTreeClassifier,
)
from spinney.images import PixelLabeler, labelling
from spinney.storage.journal import Journal, Record
from tests.bits import differences
from tests.images.test_labelling import IMAGES, TRUTH
from tests.kills import killed_before

ESTIMATORS = {
    "greedy": GreedyForestClassifier(3, max_depth=4),
    "fao": FAOForestClassifier(2, 2, max_depth=2, max_iter=3),
    "tree": TAOTreeClassifier(max_depth=3, max_iter=3, random_state=5),
}


def labeler(estimator=ESTIMATORS["greedy"], **options):
    options = {"window": (3, 3), "n_windows": 150, "random_state": 0} | options
    return PixelLabeler(estimator, **options)


def fit(path=None, images=IMAGES, labels=TRUTH, **options):
    return labeler(**options).fit(images, labels, checkpoint=path)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.usefixtures("always_due")
def test_a_fit_killed_anywhere_ends_in_the_same_model(name, tmp_path):
    estimator = ESTIMATORS[name]
    wanted = fit(estimator=estimator)
    n_all = killed_before(10_000, lambda: fit(tmp_path / "all", estimator=estimator))
    assert n_all > 2
    for n_writes in range(n_all):
        path, found = tmp_path / str(n_writes), []
        assert killed_before(n_writes, lambda p=path: fit(p, estimator=estimator)) == n_writes
        n_left = killed_before(
            10_000, lambda p=path, to=found: to.append(fit(p, estimator=estimator))
        )
        assert differences(wanted, found[0]) == []
        assert n_left == n_all - n_writes, "what was saved is not done again"


@pytest.mark.usefixtures("always_due")
def test_the_same_call_again_returns_the_finished_model(tmp_path):
    path, found = tmp_path / "fit.checkpoint", []
    wanted = fit(path)
    assert killed_before(0, lambda: found.append(fit(path))) == 0
    assert differences(wanted, found[0]) == []


@pytest.mark.usefixtures("always_due")
def test_drawn_seeds_are_kept(tmp_path):
    """The windows of a fit without a seed are drawn once, and so is the seed of its forest."""
    path = tmp_path / "fit.checkpoint"
    killed_before(2, lambda: fit(path, random_state=None))
    first, again = fit(path, random_state=None), fit(path, random_state=None)
    assert first.estimator_.random_state == again.estimator_.random_state
    assert differences(first, again) == []
    assert differences(first, fit(random_state=None)) != []


@pytest.mark.usefixtures("always_due")
def test_a_generator_may_be_where_it_was_before_or_after_the_first_call(tmp_path):
    path = tmp_path / "fit.checkpoint"
    wanted = fit(random_state=np.random.RandomState(7))
    generator = np.random.RandomState(7)
    killed_before(2, lambda: fit(path, random_state=generator))
    assert differences(wanted, fit(path, random_state=generator)) == []
    anew = np.random.RandomState(7)
    assert differences(wanted, fit(path, random_state=anew)) == []
    assert anew.randint(1 << 30) == generator.randint(1 << 30)
    with pytest.raises(ValueError, match="random_state is a RandomState in another state"):
        fit(path, random_state=np.random.RandomState(8))


def test_more_trees_are_those_of_a_fit_of_so_many(tmp_path):
    path = tmp_path / "fit.checkpoint"
    fit(path)
    more = GreedyForestClassifier(5, max_depth=4)
    assert differences(fit(estimator=more), fit(path, estimator=more)) == []


def test_the_container_of_the_images_does_not_matter(tmp_path):
    path = tmp_path / "fit.checkpoint"
    wanted = fit(path)
    images, labels = [image.tolist() for image in IMAGES], [truth.astype(int) for truth in TRUTH]
    assert differences(wanted, fit(path, images=images, labels=labels)) == []


BRIGHTER = [image.astype(int) + 1 for image in IMAGES]
OTHER_LABELS = [np.where(truth == 7, 8, truth) for truth in TRUTH]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"images": BRIGHTER}, "the images have other values, sizes or another order"),
        ({"images": IMAGES[:2], "labels": TRUTH[:2]}, "there were 3 images, now 2"),
        ({"labels": OTHER_LABELS}, "the label images have other values"),
        ({"window": (5, 3)}, r"window was \[3, 3\], is \[5, 3\]"),
        ({"n_windows": 120}, "n_windows was 150, is 120"),
        ({"batch_size": 50}, "batch_size was 20000, is 50"),
        ({"random_state": 1}, "random_state was 0, is 1"),
        ({"standardize": False}, "standardize was True, is False"),
        (
            {"estimator": ESTIMATORS["fao"]},
            "estimator was a GreedyForestClassifier, is a FAOForestClassifier",
        ),
        (
            {"estimator": GreedyForestClassifier(3, max_depth=4, random_state=3)},
            "estimator was a GreedyForestClassifier, is another",
        ),
        ({"estimator": GreedyForestClassifier(3, max_depth=5)}, "max_depth was 4, is 5"),
    ],
)
def test_another_fit_is_refused_by_what_differs(options, words, tmp_path):
    path = tmp_path / "fit.checkpoint"
    fit(path)
    stored = path.read_bytes()
    with pytest.raises(ValueError, match=f"is of another fit: {words}; give the same"):
        fit(path, **options)
    assert path.read_bytes() == stored


def test_a_forest_and_a_labeler_do_not_take_each_other_for_themselves(tmp_path):
    path = tmp_path / "fit.checkpoint"
    model = fit(path)
    forest = model.estimator_
    X = np.zeros((6, forest.n_features_in_))
    with pytest.raises(ValueError, match="of a PixelLabeler, this is a GreedyForestClassifier"):
        forest.fit(X, [0, 3, 7] * 2, checkpoint=path)
    forest.fit(X, [0, 3, 7] * 2, checkpoint=tmp_path / "forest")
    with pytest.raises(ValueError, match="of a GreedyForestClassifier, this is a PixelLabeler"):
        fit(tmp_path / "forest")


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(),
        FrozenEstimator(GreedyForestClassifier(1).fit([[0.0], [1.0]], [0, 1])),
    ],
)
def test_estimators_that_cannot_be_resumed_are_refused(estimator, tmp_path):
    with pytest.raises(TypeError, match=r"whose fit cannot be resumed; give .* try check"):
        fit(tmp_path / "fit.checkpoint", estimator=estimator)
    assert list(tmp_path.iterdir()) == []


def test_bad_parameters_leave_no_file(tmp_path):
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(ValueError, match="max_depth=0 is too small"):
        fit(path, estimator=GreedyForestClassifier(max_depth=0))
    with pytest.raises(ValueError, match="cannot be used to seed"):
        fit(path, random_state="x")
    assert list(tmp_path.iterdir()) == []


def test_bad_paths_are_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(labelling, "WindowRows", None)  # work would fail in another way
    with pytest.raises(TypeError, match="checkpoint=7 is of type int"):
        fit(7)
    with pytest.raises(FileNotFoundError, match="which does not exist"):
        fit(tmp_path / "missing" / "fit.checkpoint")


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("around", {"seeds": [1]}),
        ("around", {"seeds": [1, -2]}),
        ("around", {"seeds": 3}),
        ("around", {"generator": None}),
        ("around", {"format": 2}),
        ("around", {"identity": {}}),
        ("fit", {"seeds": [1, 2]}),
        ("fit", {"seeds": ["1"]}),
    ],
)
def test_records_that_are_whole_but_wrong_are_refused(key, change, tmp_path):
    path = tmp_path / "fit.checkpoint"
    fit(path)
    journal = Journal.open(path)
    header, _ = journal.read(key)
    journal.write([Record(key, {**header, **change}, {})])
    journal.close()
    with pytest.raises(DamagedFileError):
        fit(path)


@pytest.mark.usefixtures("always_due")
def test_an_interrupted_fit_leaves_the_labeler_as_it_was_and_the_file_closed(tmp_path, monkeypatch):
    path = tmp_path / "fit.checkpoint"
    model = fit()
    before = dict(vars(model))
    for name in ("draw_pixels", "standardize", "sampling_factors"):
        with monkeypatch.context() as patch:
            patch.setattr(labelling, name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                model.set_params(n_windows=120).fit(IMAGES, TRUTH, checkpoint=path)
        assert {**vars(model), "n_windows": 150} == before
        Journal.open(path).close()
    assert differences(fit(n_windows=120), model.fit(IMAGES, TRUTH, checkpoint=path)) == []


def interrupt(*_, **__):
    raise KeyboardInterrupt
