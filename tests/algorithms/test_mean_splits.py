"""Hyperplanes averaged over the last iterations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_classification

from spinney import FAOForestClassifier
from spinney.algorithms.fao import FAOOptions, optimize_forest
from spinney.algorithms.losses import forest_loss
from spinney.algorithms.mean_splits import MeanSplits
from spinney.algorithms.tao import TAOOptions
from spinney.data import classification_problem
from spinney.tree import complete_topology


class Noted:
    """A native tree that only has splits, and remembers which ones it is given."""

    def __init__(self, bias, weights):
        self.bias, self.weights = np.asarray(bias, dtype=np.float64), np.float32(weights)

    def splits(self):
        rows = [np.flatnonzero(row) for row in self.weights]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        indices = np.concatenate(rows).astype(np.int32)
        return self.bias, (indptr, indices, self.weights[self.weights != 0])

    def set_tree(self, bias, indptr, indices, weights, leaf_values, leaf_weights):
        self.bias = bias
        self.weights = np.zeros_like(self.weights)
        nodes = np.repeat(np.arange(len(bias)), np.diff(indptr))
        self.weights[nodes, indices] = weights
        assert leaf_values.size == leaf_weights.size == 0


def slow_mean(biases, weights, problem, max_weights):
    """What `MeanSplits` computes, weight by weight."""
    bias, mean = np.mean(biases, axis=0), np.mean(np.float64(weights), axis=0)
    for node in range(len(bias)):
        ranked = []
        for column in range(mean.shape[1]):
            n_present = sum(of[node, column] != 0 for of in weights)
            if n_present and n_present >= len(weights) / 2:
                ranked.append((-abs(mean[node, column]) * problem.deviation[column], column))
        kept = [column for _, column in sorted(ranked)[: max_weights or None]]
        for column in set(range(mean.shape[1])) - set(kept):
            bias[node] += mean[node, column] * problem.mean[column]
            mean[node, column] = 0.0
    return bias, mean


def class_problem(n_rows=150, n_features=5):
    X, y = make_classification(
        n_rows, n_features, n_informative=4, n_redundant=0, n_classes=3, random_state=0
    )
    X = X.astype(np.float32) * np.arange(1, n_features + 1, dtype=np.float32) + 3
    return classification_problem(X, y.astype(np.int32), 3, np.ones(n_rows))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_noted=st.integers(1, 5), max_weights=st.sampled_from([0, 2]))
def test_means_are_those_of_a_slow_count(seed, n_noted, max_weights):
    rng = np.random.default_rng(seed)
    problem = class_problem()
    mean, biases, weights = MeanSplits(n_noted), [], []
    for _ in range(n_noted + 2):  # the first two are forgotten
        bias = rng.normal(size=3)
        of = np.float32(rng.normal(size=(3, 5)) * (rng.uniform(size=(3, 5)) < 0.6))
        mean.note(Noted(bias, of))
        biases.append(bias)
        weights.append(of)
    tree = Noted(np.zeros(3), np.zeros((3, 5)))
    mean.put_into(tree, problem, max_weights)
    bias, expected = slow_mean(biases[-n_noted:], weights[-n_noted:], problem, max_weights)
    np.testing.assert_allclose(tree.weights, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(tree.bias, bias, rtol=1e-9, atol=1e-9)


def forest(average_last, max_iter=6, **tao):
    options = FAOOptions(
        TAOOptions(alpha=0.05, **tao),
        forest_loss("squared_hinge"),
        max_iter=max_iter,
        tol=0.0,
        average_last=average_last,
        keeps_iterations=True,
    )
    starts = [complete_topology(2)] * 3
    return optimize_forest(class_problem(), starts, [1, 2, 3], options)


def test_iterations_before_the_last_are_those_of_a_run_that_does_not_average():
    plain, averaged = forest(1), forest(3)
    for one, two in zip(plain.iterations[:-1], averaged.iterations[:-1], strict=True):
        assert all(a.same_as(b) for a, b in zip(one, two, strict=True))
    assert averaged.iterations[-1][0].same_as(averaged.trees[0])
    assert not plain.trees[0].same_as(averaged.trees[0])
    assert averaged.trace.phase[-1] == "average"


def test_means_have_no_more_weights_than_allowed():
    found = forest(4, max_weights=2)
    assert max(np.diff(tree.split_indptr).max() for tree in found.trees) <= 2


def test_axis_splits_are_not_averaged():
    one, two = forest(1, split="axis"), forest(4, split="axis")
    for a, b in zip(one.trees, two.trees, strict=True):
        assert np.array_equal(a.split_indices, b.split_indices)
        assert np.array_equal(a.bias, b.bias)


def test_a_run_without_iterations_has_nothing_to_average():
    assert forest(3, max_iter=0).trace.phase == ["start"]


@pytest.mark.slow
def test_averaged_digits_are_told_apart_as_well():
    """On images of more columns averages are better (docs/algorithms/fao.md); here they tie."""
    X, y = load_digits(return_X_y=True)
    settings = {"n_trees": 5, "max_depth": 4, "max_iter": 15, "alpha": 0.1, "tol": 0.0}

    def error(average_last):
        wrong = 0
        for seed in range(3):
            model = FAOForestClassifier(
                1, **settings, average_last=average_last, random_state=seed
            ).fit(X[:900], y[:900])
            wrong += np.count_nonzero(model.predict(X[900:]) != y[900:])
        return wrong

    assert error(5) < 1.1 * error(1)


def test_jobs_change_nothing():
    X, y = load_digits(return_X_y=True)
    models = [
        FAOForestClassifier(
            2, 3, max_depth=3, max_iter=4, average_last=2, random_state=0, n_jobs=n_jobs
        ).fit(X[:400], y[:400])
        for n_jobs in (1, 2)
    ]
    pairs = zip(models[0].trees_, models[1].trees_, strict=True)
    assert all(one.same_as(two) for one, two in pairs)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"average_last": 0}, ValueError, "average_last=0 is too small; give an integer >= 1"),
        ({"average_last": 1.5}, TypeError, "average_last=1.5 is of type float"),
        (
            {"average_last": 3, "strict_descent": True},
            ValueError,
            "average_last=3 with strict_descent=True",
        ),
    ],
)
def test_values_of_no_use_are_refused_before_any_work(values, error, message):
    with pytest.raises(error, match=message):
        FAOForestClassifier(**values).fit([[0.0], [1.0]], [0, 1])
