"""Random numbers of a tree depend on the seed, the tree and the purpose, and on nothing else."""

from __future__ import annotations

import itertools

import numpy as np

from spinney.ensembles.seeds import COLUMNS, ROWS, TREE, stream, tree_seed
from spinney.fitting.validation_curve import VALIDATION

PURPOSES = (ROWS, COLUMNS, TREE, VALIDATION)


def test_same_place_gives_the_same_numbers():
    np.random.default_rng(0).random(5)  # other generators do not matter
    first = stream(7, 3, ROWS).random(4)
    stream(7, 4, ROWS).random(4)
    assert np.array_equal(stream(7, 3, ROWS).random(4), first)


def test_seeds_trees_and_purposes_have_streams_of_their_own():
    assert len(set(PURPOSES)) == len(PURPOSES)
    places = itertools.product((0, 1, 2**31 - 2), (0, 1, 2), PURPOSES)
    numbers = [stream(*place).random() for place in places]
    assert len(set(numbers)) == len(numbers)


def test_seeds_of_trees_differ_and_fit_the_optimiser():
    seeds = [tree_seed(seed, tree) for seed in (0, 1) for tree in range(200)]
    assert len(set(seeds)) == len(seeds)
    assert all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds)
