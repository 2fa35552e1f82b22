"""What all estimators are: a forest that is fitted in a session and read by one readout.

A family adds its recipe (which trees), its readout (how they become an answer), and what else it
stores. How X and y are read is told by :mod:`spinney.estimators.tasks`. No algorithm lives here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from spinney import _core
from spinney.data import Columns, Matrix, Problem, as_rows
from spinney.data.checks import check_boolean, check_choice, check_integer, check_n_jobs
from spinney.data.encoded import check_same_categories, encoded_rows, learn_encoding, learn_typical
from spinney.data.row_reader import RULES, row_reader
from spinney.data.tables import (
    Table,
    TableEncoding,
    TypicalRow,
    check_categorical_features,
    one_warning,
)
from spinney.data.tables.table import label_of
from spinney.data.validation import check_rows
from spinney.data.warn_caller import warn_caller
from spinney.estimators.construction import finish_constructor, parameters
from spinney.estimators.parameter_checks import IMPORTANCE_TYPES
from spinney.estimators.renamed import older_state, with_current_names
from spinney.fitting.checkpoint import Checkpoint
from spinney.fitting.fitted_record import (
    are_names,
    fitted,
    is_bool,
    is_encoding,
    is_number,
    is_typical,
    numbers_of,
    whole,
)
from spinney.fitting.session import Callback, CheckpointPath, Session, run_fit
from spinney.fitting.sklearn_callbacks import CallbackSupportMixin
from spinney.inspection.compiled import ClassPredictor, NumberPredictor, compiled
from spinney.tree.forest import Forest
from spinney.tree.gains import GainImportances, GainRule, SameForAll
from spinney.tree.importance import WeightImportances
from spinney.tree.readout import Readout
from spinney.tree.route import apply
from spinney.tree.size import count_flops, count_parameters
from spinney.tree.structure import Tree

#: Rows that the core gives to one thread in any case.
FEW_ROWS = 64


@parameters
class Model(CallbackSupportMixin, BaseEstimator):
    """Parameters of all estimators, the transaction of ``fit``, and what a fitted forest answers.

    Parameters
    ----------
    warm_start : bool, default=False
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
    verbose : int, default=0
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Columns that are categories: those that the frame or their text says; none; or names or
        numbers of columns, or one truth value a column.
    missing : {"fill", "error"}, default="fill"
        Of values to predict that are missing in columns that had none missing in training: fill
        them by the rule of the column, with a :class:`MissingValuesWarning`, or raise an error.
    importance_type : {"gain", "weight"}, default="gain"
        What `feature_importances_` sums: how much the splits on a column lower the loss of the
        training rows beyond chance, or its share in the weights of the splits.
    """

    warm_start: bool = False
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int = 0
    categorical_features: object = "from_dtype"
    missing: str = "fill"
    importance_type: str = "gain"

    n_features_in_: int = fitted("an integer >= 1", whole(1))
    feature_names_in_: NDArray[np.object_] = fitted(
        "a distinct string a column", are_names, is_required=False
    )
    n_outputs_: int = fitted("an integer >= 1", whole(1))
    encoding_: TableEncoding | None = fitted("None or an encoding of these columns", is_encoding)
    # Models of older releases have none.
    typical_: TypicalRow = fitted("a typical row of these columns", is_typical, is_required=False)
    n_parameters_: int = fitted("an integer >= 0", whole(0))
    flops_: float = fitted("a finite number", is_number)
    feature_importances_: NDArray[np.float64] = fitted(
        "a finite number a column", numbers_of(lambda model: model.n_features_in_)
    )
    stopped_by_callback_: bool = fitted("true or false", is_bool, is_required=False, default=False)
    _not_stored: ClassVar[tuple[str, ...]] = ()

    #: The attribute that is there once there are trees.
    _trees_in: ClassVar[str] = "forest_"
    #: The parameter that says how many parts a forest is fitted in.
    _counted_by: ClassVar[str] = "n_estimators"

    def __init_subclass__(cls, **values: Any) -> None:
        super().__init_subclass__(**values)
        if "__init__" in vars(cls):  # else it is made from the groups of parameters
            finish_constructor(cls)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: CheckpointPath | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the model to training rows.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)
            Training rows. Numbers are read as float32; categories, text, dates and missing
            values become numbers as `encoding_` tells afterwards.
        y : array-like of shape (n_rows,), for regression also (n_rows, n_outputs)
            Classes or numbers to predict.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight k counts a row k times in each tree that sees it, weight 0 leaves it out. None
            counts each row once.
        checkpoint : str, path or None, default=None
            File that the fit is saved to as it goes on. The same call after a crash, a kill or
            Ctrl-C goes on from there and ends in the same model, bit for bit. A file of other
            data or parameters is refused. See `docs/guide/checkpoints.md`.
        callback : callable or None, default=None
            Called with a :class:`spinney.FitEvent` after each tree, round, iteration or sweep, in
            order, in the thread that called ``fit``. If it returns True the fit ends there, with
            what is done, and `stopped_by_callback_` is True. See `docs/guide/progress.md`.

        Returns
        -------
        self
            An error or an interrupt leaves the estimator exactly as it was.
        """
        data = X, y, sample_weight
        # Unbound, as it is run on the copy.
        return self._transact(data, type(self)._fit, checkpoint=checkpoint, callback=callback)

    def _transact(
        self,
        data: tuple[Any, ...],
        fit: Callable[..., None],
        *,
        call: str = "fit",
        checkpoint: CheckpointPath | Checkpoint | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Run ``fit(copy, session, *data)``, and take the state of the copy over if all went well.

        A Checkpoint comes from another fit that this one is a part of.
        """
        done = run_fit(
            self,
            lambda model, session: fit(model, session, *data),
            data,
            call=call,
            goes_on=call != "fit" or self._goes_on(),
            checkpoint=checkpoint,
            callback=callback,
        )
        # One assignment, so that Ctrl-C finds either the old state or the new one.
        self.__dict__ = done.__dict__
        return self

    def _fit(self, session: Session, *data: Any) -> None:
        """Read the data, grow the trees and store them, on a copy that may be thrown away."""
        raise NotImplementedError

    def _goes_on(self) -> bool:
        """Whether ``fit`` goes on from what the last fit has stored."""
        return bool(self.warm_start) and hasattr(self, self._trees_in)

    def _forget(self) -> None:
        """Drop what an earlier fit stored; a new one need not store all of it."""
        given = self.get_params(deep=False)  # of a subclass, a parameter may end so
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            if name not in given:
                del self.__dict__[name]

    def _check_parameters(self) -> None:
        """Raise if a constructor value is of no use."""
        self._ask_each("_check_own")

    def _check_goes_on(self, session: Session) -> None:
        """Raise unless the fit can go on from what the last one has stored."""

    def _ask_each(self, name: str, *arguments: Any) -> None:
        """Call a method of each class, from the last base on: each adds what is its own."""
        for kind in reversed(type(self).__mro__):
            if name in vars(kind):
                vars(kind)[name](self, *arguments)

    def _check_own(self) -> None:
        check_boolean("warm_start", self.warm_start)
        check_n_jobs(self.n_jobs)
        if not isinstance(self.verbose, (bool, np.bool_)):
            check_integer("verbose", self.verbose, minimum=0, example="1 for a live bar")
        check_choice("importance_type", self.importance_type, IMPORTANCE_TYPES)

    def _read(
        self, session: Session, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Problem:
        """Check the parameters and the data, store what they tell, and build the problem."""
        raise NotImplementedError

    def _encoded(
        self,
        rows: Matrix | Table,
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
        *,
        goes_on: bool,
    ) -> Matrix:
        """Weighted training rows as numbers; learns how, unless an earlier fit has."""
        check_categorical_features(self.categorical_features)
        check_choice("missing", self.missing, RULES)
        if goes_on:
            check_same_categories(self, rows)
            row_reader(self).check(rows)
        else:
            self.encoding_ = learn_encoding(self, rows, targets, weights)
        return encoded_rows(row_reader(self), rows, targets, weights)

    def _read_columns(self) -> Columns:
        """What an axis-aligned split may read; None is one column a coordinate."""
        return None if self.encoding_ is None else self.encoding_.read_columns

    def _note(self, problem: Problem, rows: Matrix | Table, session: Session) -> None:
        """Let each class check the problem, and store what is typical unless that is known."""
        self._ask_each("_check_own_task", problem)
        if not (session.goes_on and hasattr(self, "typical_")):
            self.typical_ = learn_typical(self.encoding_, rows, problem, self._n_threads())

    def _begin(self, session: Session, problem: Problem, validation: Sequence[Any] = ()) -> int:
        """Open the checkpoint, if there is one, and return the seed of the fit."""
        return session.begin(
            self,
            problem,
            lambda: self._own_seed(session),
            known_trees=self.trees_ if session.goes_on else (),
            may_change=self._resumable_parameters(),
            validation=validation,
        )

    def _own_seed(self, session: Session) -> int:
        """That of the forest that the fit goes on from, or a new one."""
        if session.goes_on and hasattr(self, "_seed"):
            return int(self._seed)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _resumable_parameters(self) -> tuple[str, ...]:
        """Parameters that a resumed fit may change: they say only how many parts there are."""
        return (self._counted_by,)

    def _warn_if_complete(self, n_parts: int) -> None:
        """Warn of a warm start that has all it was asked for."""
        name = self._counted_by
        if n_parts and n_parts == getattr(self, name):
            warn_caller(
                f"{name}={n_parts} with warm_start=True, and as many are fitted already, so that "
                f"nothing is; give more; try {name}={n_parts + 10}, or warm_start=False.",
            )

    def _describe(
        self, trees: Sequence[Tree], problem: Problem, shares: NDArray[np.float64]
    ) -> None:
        """Store size and importances of the trees; `shares` weight their importances."""
        importances = self._importances(problem)
        flops = 0.0
        for number, tree in enumerate(trees):
            # One tree after the other: leaves of all rows in all trees may be gigabytes.
            leaf_nodes = apply(tree, problem.rows, self._n_threads())
            leaves = tree.leaf_index[leaf_nodes]
            leaf_rows = np.bincount(leaves, problem.sample_weight, minlength=tree.n_leaves)
            flops += count_flops(tree, leaf_rows.astype(np.float64, copy=False))
            importances.add(tree, leaf_nodes, float(shares[number]))
        self.n_parameters_ = sum(count_parameters(tree) for tree in trees)
        self.flops_ = flops
        self.feature_importances_ = self._of_columns(importances.shares())

    def _importances(self, problem: Problem) -> GainImportances | WeightImportances:
        """What sums the importances of the coordinates over the trees."""
        if self.importance_type == "weight":
            return WeightImportances(problem.sample_weight, problem.scale)
        rule = self._gain_rule(problem)
        return GainImportances(problem.rows, problem.n_features, rule, self._n_threads())

    def _gain_rule(self, problem: Problem) -> GainRule:
        """What the splits of each tree are judged by."""
        return SameForAll(problem)

    @property
    def _coordinate_columns(self) -> NDArray[np.int64] | None:
        """Column of the table that each coordinate comes from; None if they are the same."""
        return None if self.encoding_ is None else self.encoding_.columns

    def _of_columns(self, importances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Importances of the given columns, from those of their coordinates."""
        if self.encoding_ is None:
            return importances
        columns = self.encoding_.columns
        sums = np.bincount(columns, importances, minlength=self.encoding_.n_columns)
        return sums.astype(np.float64, copy=False)

    def _label_of_coordinate(self, coordinate: int) -> str:
        """How messages speak of what a hyperplane weighs: a column, or a part of one."""
        if self.encoding_ is None:
            return label_of(coordinate, getattr(self, "feature_names_in_", None))
        found = self.encoding_.coordinates[coordinate]
        return f"column {found.column} of X ({found.name})"

    def _n_threads(self) -> int:
        """Threads for the native core; None means one, unless joblib's context says otherwise."""
        return int(effective_n_jobs(self.n_jobs))

    def _n_threads_for(self, rows: _core.Rows) -> int:
        """Threads to predict these rows: asking joblib takes longer than a few of them."""
        return self._n_threads() if rows.n_rows > FEW_ROWS else 1

    def _forest(self) -> Forest:
        """The fitted trees together."""
        raise NotImplementedError

    def _readout(self) -> Readout:
        """How the trees become an answer."""
        raise NotImplementedError

    def _readout_key(self) -> object:
        """Parameters that may be changed after ``fit`` and that the readout depends on."""
        return None

    def _kept_readout(self) -> Readout:
        """The readout, made once: that takes as long as a row does."""
        # In the forest's own dict, as its packed copy: pickles leave both behind.
        memory, changeable = self._forest().__dict__, self._readout_key()
        kept: tuple[object, Readout] | None = memory.get("_readout")
        if kept is None or kept[0] != changeable:
            kept = memory["_readout"] = (changeable, self._readout())
        return kept[1]

    def _answers(self, X: ArrayLike) -> NDArray[Any]:
        """Labels or numbers of rows."""
        rows = as_rows(self._checked_rows(X))
        return self._kept_readout().predict(rows, self._n_threads_for(rows))

    def _totals(self, X: ArrayLike) -> NDArray[np.float64]:
        """What the trees give each row together, (n_rows, n_outputs)."""
        rows = as_rows(self._checked_rows(X))
        return self._kept_readout().totals(rows, self._n_threads_for(rows))

    def _stages(self, X: ArrayLike) -> Iterator[tuple[Readout, NDArray[np.float64]]]:
        """Readout and totals of the first tree, the first two, and so on."""
        rows = as_rows(self._checked_rows(X))
        return self._readout().stages(rows, self._n_threads())

    def _checked_rows(self, X: Any) -> Matrix:
        """Rows as the trees read them: one column a coordinate."""
        if not hasattr(self, "n_features_in_"):  # a look that takes a tenth of the check
            check_is_fitted(self)
        return check_rows(self, X)

    @property
    def trees_(self) -> tuple[Tree, ...]:
        """The trees, in the order they were grown."""
        check_is_fitted(self)
        return self._forest().trees

    def __len__(self) -> int:
        """Number of trees; 0 before ``fit``."""
        return self._forest().n_trees if hasattr(self, self._trees_in) else 0

    def __bool__(self) -> bool:
        """True, also while there are no trees."""
        return True

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Node number of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        int32 ndarray of shape (n_rows, n_trees)
        """
        rows = self._checked_rows(X)
        return self._forest().apply(as_rows(rows), n_threads=self._n_threads())

    def decision_path(self, X: ArrayLike) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes in all trees, as a sparse 0/1 matrix.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        indicator : CSR matrix of shape (n_rows, n_nodes of all trees)
        n_nodes_ptr : int64 ndarray of shape (n_trees + 1,)
            Columns ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]`` belong to tree t.
        """
        rows = self._checked_rows(X)
        return self._forest().decision_path(as_rows(rows), n_threads=self._n_threads())

    def get_coordinate_names(self) -> NDArray[np.object_]:
        """Names of the coordinates that the trees' hyperplanes are over.

        Returns
        -------
        ndarray of str of shape (n_coordinates,)
            Names of the columns (``x0``, ``x1``, ... if they have none), or, where `encoding_` is
            not None, such as ``age``, ``age is missing`` and ``workclass = Private``.
        """
        check_is_fitted(self)
        if self.encoding_ is not None:
            names = [coordinate.name for coordinate in self.encoding_.coordinates]
        else:
            unnamed = [f"x{column}" for column in range(self.n_features_in_)]
            names = list(getattr(self, "feature_names_in_", unnamed))
        return np.array(names, dtype=object)

    def compile(self) -> ClassPredictor | NumberPredictor:
        """A callable that predicts single rows and small batches with little overhead.

        Returns
        -------
        Predictor
            Takes a dict by the names of the columns, a list in their order, an array or a frame,
            and answers with the bits of ``predict``. Values are read by the rules of the estimator;
            a missing one is None or NaN, and a key that is left out is refused.
        """
        return compiled(self, self._n_threads())

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        image_shape: Sequence[int] | None = None,
        baselines: Mapping[str, Any] | None = None,
        max_rows: int = 500,
    ) -> Path:
        """Write the explorer of the model: one HTML file that needs no network.

        It shows the summary of the model, its trees with their hyperplanes, and the way of rows
        through every tree. See `docs/guide/explorer.md`.

        Parameters
        ----------
        path : str or path
            File to write. One that is there is replaced when the new one is complete.
        X : frame, array-like or sparse matrix of shape (n_rows, n_features), default=None
            Rows to show the model with, best such that it was not fitted to.
        y : array-like of shape (n_rows,), for regression also (n_rows, n_outputs), default=None
            Their classes or numbers.
        image_shape : (height, width) or None, default=None
            Shape of rows that are pictures: hyperplanes and rows are then drawn as such.
        baselines : dict or None, default=None
            What to compare with, by name: fitted estimators, which are asked to predict X, or
            errors on it as numbers (share of wrong rows; root mean squared error).
        max_rows : int, default=500
            Most rows that the file carries. Of more, wrong ones are taken first, up to half, and
            the others at random. Errors and counts are of all rows in any case.

        Returns
        -------
        Path
            The file, below 15 MB: large forests are rounded, as the page then says.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_iris
        >>> from spinney import TAOTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     tree.report(Path(folder) / "iris.html", X, y).name
        'iris.html'
        """
        from spinney.inspection.report import write_report

        with one_warning():
            return write_report(
                path,
                self,
                X,
                y,
                image_shape=image_shape,
                baselines=baselines,
                max_rows=max_rows,
            )

    @property
    def _repr_html_(self) -> Callable[[], str]:
        of_sklearn = super()._repr_html_  # raises AttributeError where it is switched off
        return lambda: of_sklearn() + self._compact_summary()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._compact_summary()
        return bundle

    def _compact_summary(self) -> str:
        """A few lines on a fitted model; nothing on others."""
        from spinney.inspection.report import compact_summary

        return compact_summary(self)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, as the constructor does; see :class:`sklearn.base.BaseEstimator`.

        Parameters
        ----------
        **parameters
            Values by the names of the parameters.

        Returns
        -------
        self
        """
        super().set_params(**with_current_names(type(self), parameters))
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(older_state(type(self), state))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
