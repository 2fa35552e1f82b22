"""What each column adds to an answer: Shapley values between the typical row and a row.

One column after the other is changed from its typical value to that of the row, all its coordinates
at once, and the model is asked after each change. What a column adds is the mean change of the
answer at its turn over the orders in which that can be done: over all of them if there are few
columns, else over some drawn orders and their reverses. Every order leads from the one answer to
the other, so the columns always add up to the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from spinney.inspection.explanations.projection import Floats

#: Columns up to which all orders are counted, by all subsets: 4096 rows.
MOST_EXACT = 12

#: Orders that are drawn for more columns, half of them reverses of the others: at most so many, and
#: as few as rows that the model is asked about allow.
MOST_ORDERS, MOST_ASKED = 512, 20_000

#: Numbers of the rows that a model is asked about at once: 16 MB.
MOST_AT_ONCE = 4_000_000

SEED = 0
"""The same orders for the same columns: explanations of a row are equal, bit for bit."""

Ask = Callable[[NDArray[np.float32]], Floats]


@dataclass(frozen=True, eq=False)
class Attribution:
    """What columns add to the answers.

    Attributes
    ----------
    adds : float64 ndarray of shape (n_columns, n_outputs)
        They sum to the answer of the row less that of the typical row; 0 where the model weighs
        nothing of a column that differs.
    errors : float64 ndarray of shape (n_columns, n_outputs)
        Standard errors from the draw of the orders, 0 if all were counted.
    n_orders : int
        Orders that were drawn, 0 if all were counted.
    """

    adds: Floats
    errors: Floats
    n_orders: int


def attribute(
    ask: Ask,
    start: NDArray[np.float32],
    end: NDArray[np.float32],
    columns: NDArray[np.int64],
    is_weighed: NDArray[np.bool_],
    *,
    most_asked: int = MOST_ASKED,
) -> Attribution:
    """Share the difference between two answers among the columns in which two rows differ.

    Parameters
    ----------
    ask : callable
        Answers for rows of coordinates, (n_rows, n_outputs).
    start, end : float32 ndarray of shape (n_coordinates,)
        The typical row, and the row.
    columns : int64 ndarray of shape (n_coordinates,)
        Column of each coordinate.
    is_weighed : bool ndarray of shape (n_coordinates,)
        Coordinates that any hyperplane of the model weighs.
    most_asked : int
        Rows that the model is asked about, at most; an order and its reverse are asked in any case.
    """
    n_columns = int(columns.max(initial=-1)) + 1
    players = np.unique(columns[(start != end) & is_weighed])
    game = _Game(ask, start, end, columns, players)
    n_outputs = game.answers(np.zeros((1, len(players)), dtype=np.bool_)).shape[1]
    adds, errors = np.zeros((n_columns, n_outputs)), np.zeros((n_columns, n_outputs))
    if len(players) <= MOST_EXACT and 2 ** len(players) <= most_asked:
        adds[players] = _over_all_orders(game)
        return Attribution(adds, errors, 0)
    drawn = _over_drawn_orders(game, most_asked)
    adds[players] = drawn.mean(axis=0)
    # An order and its reverse are one draw.
    errors[players] = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn)) if len(drawn) > 1 else np.nan
    return Attribution(adds, errors, 2 * len(drawn))


@dataclass(frozen=True, eq=False)
class _Game:
    """Rows with some columns as in the row and the others typical."""

    ask: Ask
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    columns: NDArray[np.int64]
    players: NDArray[np.int64]

    def answers(self, is_changed: NDArray[np.bool_]) -> Floats:
        """Answers with these columns changed; `is_changed` has one column a player."""
        at_once = max(MOST_AT_ONCE // len(self.start), 1)
        parts = np.array_split(is_changed, -(-len(is_changed) // at_once))
        return np.concatenate([self.ask(self._rows(part)) for part in parts])

    def _rows(self, is_changed: NDArray[np.bool_]) -> NDArray[np.float32]:
        rows = np.repeat(self.start[None, :], len(is_changed), axis=0)
        moved = np.flatnonzero(np.isin(self.columns, self.players) & (self.start != self.end))
        player = np.searchsorted(self.players, self.columns[moved])
        rows[:, moved] = np.where(is_changed[:, player], self.end[moved], self.start[moved])
        return rows


def _over_all_orders(game: _Game) -> Floats:
    """What each player adds, the mean over all orders: a weighted sum over all subsets."""
    n = len(game.players)
    subsets = np.arange(2**n)
    is_in = (subsets[:, None] >> np.arange(n)) % 2 == 1
    answers, sizes = game.answers(is_in), is_in.sum(axis=1)
    # Part of the orders in which exactly the players of a subset of this size came before.
    part = np.array([factorial(k) * factorial(n - 1 - k) / factorial(n) for k in range(n)])
    adds = np.empty((n, answers.shape[1]))
    for player in range(n):
        without = subsets[~is_in[:, player]]
        gains = answers[without | (1 << player)] - answers[without]
        adds[player] = part[sizes[without]] @ gains
    return adds


def _over_drawn_orders(game: _Game, most_asked: int) -> Floats:
    """What each player adds in an order and its reverse, (n_pairs, n_players, n_outputs)."""
    n = len(game.players)
    n_pairs = max(min(MOST_ORDERS, most_asked // (n + 1)) // 2, 1)
    rng = np.random.default_rng(SEED)
    turns = np.stack([rng.permutation(n) for _ in range(n_pairs)])
    turns = np.concatenate([turns, n - 1 - turns])
    # After each number of turns: who has come already.
    is_changed = turns[:, None, :] < np.arange(n + 1)[:, None]
    answers = game.answers(is_changed.reshape(-1, n)).reshape(len(turns), n + 1, -1)
    gains = np.take_along_axis(np.diff(answers, axis=1), turns[:, :, None], axis=1)
    return np.asarray((gains[:n_pairs] + gains[n_pairs:]) / 2)
