"""What a callback gets: one small value for each part of a fit that is done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FitEvent:
    """One part of a fit is done: a tree, a round of boosting, an iteration or a sweep.

    Attributes
    ----------
    estimator : str
        Name of the estimator's class.
    part : {"tree", "round", "iteration", "sweep"}
        What is done: a tree of a forest; a tree of boosting; an iteration over all trees of an
        FAO forest, or over the leaves that are refined; a sweep over a single tree.
    number : int
        Which one, from 1. A warm start counts on from the trees there are; iterations are counted
        anew in each FAO forest.
    total : int or None
        Most of them that there can be. Fits may end before.
    seconds : float
        Since the fit began to work, on the clock.
    objective, loss : float or None
        Of the tree or forest that is worked on: weighted loss plus penalties, and the loss alone,
        both summed over its training rows. None for trees that are grown greedily.
    validation : float or None
        Error or mean loss on the validation rows of the model that there would be if the fit ended
        here; None without validation rows.
    n_active : int or None
        Splits that have weights.
    n_nodes, depth : int or None
        Of the finished tree; None for iterations and sweeps.
    n_sweeps : int or None
        Sweeps that the finished tree took.
    phase : {"explore", "settle"} or None
        What kind of sweep it was; None for other parts.
    forest, n_forests : int or None
        Which FAO forest the iteration was of, from 1, and of how many.
    restored : bool
        Whether the part came from a checkpoint.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = TAOForestClassifier(10, max_depth=2, random_state=0)
    >>> forest = forest.fit(X, y, callback=lambda event: event.number == 3)
    >>> len(forest), forest.stopped_by_callback_
    (3, True)
    """

    estimator: str
    part: str
    number: int
    total: int | None
    seconds: float
    objective: float | None = None
    loss: float | None = None
    validation: float | None = None
    n_active: int | None = None
    n_nodes: int | None = None
    depth: int | None = None
    n_sweeps: int | None = None
    phase: str | None = None
    forest: int | None = None
    n_forests: int | None = None
    restored: bool = False
