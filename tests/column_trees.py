"""Trees with chosen splits over a table of every kind of column, and fitted models of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from spinney import TAOForestClassifier, TAOTreeClassifier, Tree
from spinney.tree import Forest, complete_topology

N_ROWS = 600
COLORS = ["blue", "green", "pink", "red"]


def table(n_rows=N_ROWS, seed=0):
    """Numbers, dates and durations with and without holes, few and many levels, rare levels.

    Where holes tell of the target, and in categories, missing values have a coordinate.
    """
    rng = np.random.default_rng(seed)
    age, days = rng.integers(18, 80, n_rows).astype(float), rng.integers(0, 900, n_rows)
    is_hidden = (rng.random(n_rows) < 0.4) & (age > 50)
    color = rng.choice([*COLORS, None], n_rows)
    tool = rng.choice(["saw", "axe", "file"], n_rows).astype(object)
    tool[0] = "adze"  # so rare that it has no coordinate of its own
    return pd.DataFrame(
        {
            "age": np.where(is_hidden, np.nan, age),
            "size": rng.normal(size=n_rows),
            "color": color,
            "tool": tool,
            "code": pd.Categorical(rng.choice([1.5, 2.0, 7.0], n_rows)),
            "city": rng.choice([*(f"city {k:02d}" for k in range(40)), None], n_rows),
            "since": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")).mask(
                is_hidden
            ),
            "wait": pd.Series(pd.to_timedelta(days % 30, unit="D")),
            "nothing": np.full(n_rows, np.nan),
        }
    )


def targets(frame):
    return np.where(frame["age"].isna() | (frame["age"] > 50), "yes", "no")


@cache
def fitted_tree():
    """A fitted tree whose splits are to be replaced; its encoding is that of `table`."""
    frame = table()
    return TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0).fit(frame, targets(frame))


def encoding():
    return fitted_tree().encoding_


def unseen_rows(seed=1):
    """Rows with levels and holes that training did not have at these places."""
    frame = table(seed=seed)
    frame.loc[:40, "color"] = "violet"
    frame.loc[20:60, "tool"] = "plane"
    frame.loc[50:90, "city"] = "nowhere"
    frame["code"] = frame["code"].astype(float)
    frame.loc[30:50, "code"] = 9.0
    frame.loc[::7, "age"] = np.nan
    return frame


def column_tree(splits):
    """A complete tree over the coordinates of `table`.

    `splits` has weights by coordinate name, and a bias, of each node breadth first. Leaves have
    different shares of the first class.
    """
    names = [part.name for part in encoding().coordinates]
    left, right = complete_topology(int(np.log2(len(splits) + 1)))
    rows = [sorted((names.index(name), w) for name, w in weights.items()) for weights, _ in splits]
    n_leaves = len(splits) + 1
    share = np.linspace(0.02, 0.98, n_leaves)
    lengths = [*(len(row) for row in rows), *[0] * n_leaves]
    return Tree(
        n_features=len(names),
        left=left,
        right=right,
        bias=np.array([*(float(bias) for _, bias in splits), *[0.0] * n_leaves]),
        split_indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        split_indices=np.array([k for row in rows for k, _ in row], dtype=np.int32),
        split_weights=np.array([w for row in rows for _, w in row], dtype=np.float32),
        leaf_kind="constant",
        leaf_values=np.column_stack([share, 1 - share]),
        leaf_indptr=np.zeros(2 * n_leaves + 1, dtype=np.int64),
        leaf_indices=np.empty(0, dtype=np.int32),
        leaf_weights=np.empty(0, dtype=np.float32),
    ).check()


def tree_model(*splits):
    """A fitted tree that is `column_tree` of these splits."""
    frame = table()
    model = TAOTreeClassifier(max_depth=1, max_iter=1, split="axis", random_state=0)
    model.fit(frame, targets(frame))
    model.tree_ = column_tree(splits)
    return model


def forest_model(*trees):
    """A fitted forest of these trees."""
    frame = table()
    model = TAOForestClassifier(len(trees), max_depth=1, max_iter=1, split="axis", random_state=0)
    model.fit(frame, targets(frame))
    model.forest_ = Forest(tuple(trees))
    return model


def set_of(*names, sign=1.0):
    """The split that sends rows of these indicators right, or left if `sign` is -1."""
    return dict.fromkeys(names, sign), -0.5 * sign


#: Seven splits of one column each, of every kind.
EVERY_KIND = (
    set_of("color = blue", "color = red"),
    ({"age": 1.0, "age is missing": 100.0}, -45.5),
    set_of("color = pink", "color is missing", sign=-1.0),
    set_of("tool = axe", "tool is another"),
    ({"since": -1.0, "since is missing": -2000.0}, 300.0),
    ({"mean target of city": 1.0}, -0.5),
    set_of("code = 1.5", "code = 7", sign=-1.0),
)
