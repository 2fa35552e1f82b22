"""How the nodes of a tree diagram are drawn, all sizes in inches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney.data.wording import counted
from spinney.inspection.plotting.canvas import figure_of
from spinney.inspection.plotting.colors import FEW, PALE, QUIET, class_colors, weight_colors
from spinney.inspection.plotting.hyperplane import draw_picture, picture_of
from spinney.inspection.plotting.layout import tidy_heights
from spinney.inspection.plotting.lettering import count, fitted_to, number, plain, width_of
from spinney.inspection.plotting.pen import FONT_SIZE, Pen, scale_in
from spinney.inspection.split_words import SplitWords

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spinney.inspection.plotting.tree_diagram import TreeDisplay

LINE = 0.155
"""Height of a line of text or of a bar with its name."""

PAD = 0.07
STRIP, SCORES = 0.075, 0.17
"""Height of the bar that shows classes or a value, and of the bars of scores."""

SPLIT_WIDTH, PICTURE_WIDTH, LEAF_WIDTH = 2.4, 1.15, 1.9
NAME_SHARE = 0.56
"""Part of a split's width for the names of weights; bars have the rest."""

BETWEEN_COLUMNS, BETWEEN_NODES = 0.6, 0.13
MOST_CLASSES_NAMED = 20

LARGEST = 300.0
"""Width or height of a figure beyond which letters shrink: files have no more pixels."""

LEGEND_SIZE = 8.0
"""Points."""

LEAST_WIDTH = 4.6
"""Width of the words below a small tree."""


class NodeWriter:
    """Knows where each node of a display is and what is written into it."""

    def __init__(self, display: TreeDisplay) -> None:
        self.display = display
        self.tree = display.tree
        self.is_split = np.zeros(self.tree.n_nodes, dtype=bool)
        self.is_split[list(display.hyperplanes)] = True
        self.is_clipped = np.zeros(self.tree.n_nodes, dtype=bool)
        self.is_clipped[display.clipped] = True
        names = display.class_names
        self.colors = [] if names is None else class_colors(len(names))

    @property
    def split_width(self) -> float:
        """Width of a split."""
        return SPLIT_WIDTH if self.display.image_shape is None else PICTURE_WIDTH

    @property
    def figure_size(self) -> tuple[float, float]:
        """Width and height of a figure for the diagram, with room for words below."""
        width, height = max(self.size[0], LEAST_WIDTH) + 0.2, self.size[1] + 0.45
        if self.display.title:
            height += 0.3
        if self.has_legend:
            n_columns = self._legend_columns(self.size[0], LEGEND_SIZE)
            height += 0.15 + 0.023 * LEGEND_SIZE * -(-len(self.colors) // n_columns)
        return min(width, LARGEST), min(height, LARGEST)

    @property
    def has_legend(self) -> bool:
        """Whether the colours of the classes are told; nobody reads the names of very many."""
        return 0 < len(self.colors) <= MOST_CLASSES_NAMED

    @cached_property
    def size(self) -> tuple[float, float]:
        """Width and height of the diagram."""
        nodes = self.display.nodes
        right = self.x[nodes] + np.where(self.is_split[nodes], self.split_width, LEAF_WIDTH)
        return float(right.max()), float((self.y[nodes] + 0.5 * self.heights[nodes]).max())

    @cached_property
    def heights(self) -> NDArray[np.float64]:
        """Height of each node."""
        heights = np.full(self.tree.n_nodes, 2 * PAD + LINE)
        for node in self.display.nodes.tolist():
            if self.is_split[node]:
                heights[node] += self._plane_height(node)
            if self._has_strip(node):
                heights[node] += PAD / 2 + self._strip_height
        return heights

    @cached_property
    def x(self) -> NDArray[np.float64]:
        """Left end of each node."""
        return self.tree.depth.astype(np.float64) * (self.split_width + BETWEEN_COLUMNS)

    @cached_property
    def y(self) -> NDArray[np.float64]:
        """Middle of each node, from above."""
        left = np.where(self.is_split, self.tree.left, -1).astype(np.int32)
        right = np.where(self.is_split, self.tree.right, -1).astype(np.int32)
        return tidy_heights(left, right, self.heights, BETWEEN_NODES)

    def draw(self, ax: Axes) -> None:
        """Draw all of it, as large as the axes are."""
        self._draw(Pen.on(ax, scale_in(ax, *self.size)))

    def draw_in_new(self, ax: Axes) -> None:
        """Draw all of it in the axes of a figure of `figure_size`.

        These are laid out only when the figure is drawn, and do not know their size before.
        """
        scale = min(1.0, (LARGEST - 2) / self.size[0], (LARGEST - 2) / self.size[1])
        self._draw(Pen.on(ax, scale))

    def _draw(self, pen: Pen) -> None:
        ax = pen.ax
        for node in self.display.nodes.tolist():
            if node > 0:
                self._draw_edge(pen, node)
            if self.is_split[node]:
                self._draw_split(pen, node)
            else:
                self._draw_end(pen, node)
        pen.frame(*self.size)
        ax.set_title(plain(self.display.title, 60), fontsize=10)
        ax.set_xlabel(self._note(), fontsize=LEGEND_SIZE, color=QUIET, loc="left")
        self._draw_legend(pen)

    def _draw_edge(self, pen: Pen, node: int) -> None:
        parent = int(self.tree.parent[node])
        start = float(self.x[parent] + self.split_width), float(self.y[parent])
        end = float(self.x[node]), float(self.y[node])
        rows = self.display.n_rows
        share = 0.2 if rows is None else float(rows[node] / max(rows[0], 1))
        pen.edge(start, end, 0.7 + 3.5 * share)
        # The edge to the left child comes from below, that to the right child from above.
        is_right = bool(node == self.tree.right[parent])
        word, height = ("yes", end[1] + 0.09) if is_right else ("no", end[1] - 0.08)
        pen.text(end[0] - 0.05, height, word, color=QUIET, ha="right", fontsize=7)

    def _draw_split(self, pen: Pen, node: int) -> None:
        """A frame with the rule, the hyperplane and the rows."""
        left, top = float(self.x[node]), float(self.y[node] - 0.5 * self.heights[node])
        pen.box(left, top, self.split_width, float(self.heights[node]))
        first = top + PAD + 0.5 * LINE
        told = self._rows_told(node)
        if self.display.image_shape is None:
            for line, words in enumerate(self._rule_lines(node)):
                pen.text(left + PAD, first + LINE * line, words)
            pen.text(left + self.split_width - PAD, first, told, color=QUIET, ha="right")
            self._draw_weights(pen, node, left, first)
        else:
            pen.text(left + 0.5 * self.split_width, first, told, color=QUIET, ha="center")
            self._draw_picture(pen, node, left, top + PAD + LINE)
        if self._has_strip(node):
            self._draw_strip(pen, node, left, self.split_width)

    def _draw_weights(self, pen: Pen, node: int, left: float, first: float) -> None:
        """Names and bars, and how many more there are."""
        plane, n_shown = self.display.hyperplanes[node], self._n_bars(node)
        middle = left + PAD + self.split_width * NAME_SHARE
        half = 0.5 * (self.split_width * (1 - NAME_SHARE) - 2 * PAD)
        heights = first + LINE * np.arange(1.0, n_shown + 1)
        if n_shown:
            lengths = half * plane.shown[:n_shown] / (np.abs(plane.shown).max() or 1.0)
            colors = weight_colors(plane.shown[:n_shown])
            pen.bars(middle + half, heights, lengths, colors, 0.6 * LINE, f"weight {node}")
            pen.upright(middle + half, heights[0] - LINE / 2, heights[-1] + LINE / 2)
        for name, height in zip(plane.names, heights.tolist(), strict=False):
            words = fitted_to(name, middle - left - 2 * PAD, FONT_SIZE)
            pen.text(middle - PAD, height, words, ha="right")
        n_more = len(plane.names) - n_shown
        if n_shown and n_more:
            words = f"and {count(n_more)} more"
            pen.text(middle - PAD, heights[-1] + LINE, words, ha="right", color=QUIET)

    def _draw_picture(self, pen: Pen, node: int, left: float, top: float) -> None:
        """All weights in their places."""
        shape = self.display.image_shape
        assert shape is not None
        height, width = self._picture_height(), self._picture_height() * shape[1] / shape[0]
        start = left + 0.5 * (self.split_width - width)
        draw_picture(
            pen.ax,
            picture_of(self.display.hyperplanes[node], shape),
            extent=(start, start + width, top + height, top),
            zorder=2,
        )

    def _draw_end(self, pen: Pen, node: int) -> None:
        """A leaf, or a node below which nothing is drawn."""
        left, top = float(self.x[node]), float(self.y[node] - 0.5 * self.heights[node])
        is_clipped = bool(self.is_clipped[node])
        style = "dashed" if is_clipped else "solid"
        fill = "white" if is_clipped else "#F5F5F5"
        pen.box(left, top, LEAF_WIDTH, float(self.heights[node]), linestyle=style, facecolor=fill)
        told, first = self._rows_told(node), top + PAD + 0.5 * LINE
        room = self._room(told, LEAF_WIDTH)
        words = self._told_below(node) if is_clipped else self._said(node, room)
        pen.text(left + PAD, first, words)
        pen.text(left + LEAF_WIDTH - PAD, first, told, color=QUIET, ha="right")
        if self._has_strip(node):
            self._draw_strip(pen, node, left, LEAF_WIDTH)

    def _draw_strip(self, pen: Pen, node: int, left: float, width: float) -> None:
        """The classes or the value of a node in one thin bar."""
        height = self._strip_height
        strip = _Strip(left + PAD, self._bottom(node) - PAD - height, width - 2 * PAD, height)
        counts, value = self.display.class_counts, self._value(node)
        values, leaf = self.tree.leaf_values, int(self.tree.leaf_index[node])
        gid = f"strip {node}"
        if counts is not None:
            strip.shares(pen, counts[node].astype(np.float64), self.colors, gid)
        elif value is not None:
            strip.place(pen, *self._value_range(), value, gid)
        elif not self.display.has_scores:
            strip.shares(pen, values[leaf], self.colors, gid)
        else:
            largest = float(np.abs(values).max()) or 1.0
            strip.scores(pen, values[leaf] / largest, self.colors, gid)

    def _draw_legend(self, pen: Pen) -> None:
        """Colours of the classes, below the tree and the line under it."""
        from matplotlib.patches import Patch
        from matplotlib.transforms import ScaledTranslation

        if not self.has_legend:
            return
        size = LEGEND_SIZE * max(pen.scale, 0.7)
        pen.ax.legend(
            [Patch(color=color) for color in self.colors],
            self._legend_labels(),
            loc="upper left",
            bbox_to_anchor=(0, 0),
            bbox_transform=pen.ax.transAxes
            + ScaledTranslation(0, -0.22, figure_of(pen.ax).dpi_scale_trans),
            ncols=self._legend_columns(self.size[0] * pen.scale, size),
            fontsize=size,
            frameon=False,
            borderaxespad=0,
            handlelength=1,
        )

    def _legend_labels(self) -> list[str]:
        return [plain(name, 22) for name in self.display.class_names or ()]

    def _legend_columns(self, room: float, points: float) -> int:
        """Columns of the legend that fit into so many inches, with their patches and gaps."""
        width = max(width_of(label, points) for label in self._legend_labels()) + 0.065 * points
        return max(1, min(len(self.colors), int(room / width)))

    def _note(self) -> str:
        """What bars, pixels and marks mean."""
        parts = [self._note_of_planes()] if self.display.hyperplanes else []
        if self.display.class_names is None and self.tree.n_outputs == 1:
            if self.display.means is not None:
                parts.append("mark: mean of y")
            elif not self.tree.is_linear:
                parts.append("mark: value")
        elif self._says_scores:
            parts.append("leaves: the largest score")
        return "; ".join(parts)

    @property
    def _says_scores(self) -> bool:
        """Whether leaves are written as a class and its score."""
        display = self.display
        return display.class_names is not None and display.has_scores and not self.tree.is_linear

    def _note_of_planes(self) -> str:
        scaled_by = self.display.scaled_by
        drawn = "weights" if scaled_by is None else f"weights × {scaled_by}"
        if self.display.image_shape is None:
            return f"bars: {drawn}, to the right: yes"
        return f"pixels: {drawn}, red: bright means yes, blue: no"

    def _n_bars(self, node: int) -> int:
        """Bars of a split; a split of one column is told by its rule alone."""
        plane = self.display.hyperplanes[node]
        return 0 if plane.is_told_by_rule else min(len(plane.weights), self.display.max_weights)

    def _rule_lines(self, node: int) -> list[str]:
        """The rule of a split: in two lines if it is too long to stand beside the rows."""
        plane = self.display.hyperplanes[node]
        room = self._room(self._rows_told(node), self.split_width)
        name, end = plane.rule()
        if plane.words is None or width_of(name + end, FONT_SIZE) <= room:
            return [_joined(name, end, room)]
        subject = fitted_to(plane.words.subject, room, FONT_SIZE)
        if not plane.words.relation:
            return [subject]
        return [subject, _fitted_end(plane.words, self.split_width - 2 * PAD)]

    def _plane_height(self, node: int) -> float:
        """Height of the bars or the picture of a split."""
        if self.display.image_shape is not None:
            return self._picture_height()
        n_bars = self._n_bars(node)
        has_more = n_bars > 0 and len(self.display.hyperplanes[node].weights) > n_bars
        return LINE * (n_bars + has_more + len(self._rule_lines(node)) - 1)

    def _picture_height(self) -> float:
        shape = self.display.image_shape
        assert shape is not None
        return (PICTURE_WIDTH - 2 * PAD) * min(1.0, shape[0] / shape[1])

    @cached_property
    def _strip_height(self) -> float:
        """Height of all strips: scores of classes, which go up and down, need more."""
        display = self.display
        has_shares = display.class_names is None or not display.has_scores
        return STRIP if has_shares or display.class_counts is not None else SCORES

    def _has_strip(self, node: int) -> bool:
        """Whether there is anything to show of a node's classes or its value."""
        if self.display.class_counts is not None or self._value(node) is not None:
            return True
        is_leaf = bool(self.tree.left[node] < 0)
        return is_leaf and self.display.class_names is not None and not self.tree.is_linear

    def _bottom(self, node: int) -> float:
        return float(self.y[node] + 0.5 * self.heights[node])

    def _rows_told(self, node: int) -> str:
        rows = self.display.n_rows
        return f"#{node}" if rows is None else f"#{node}  n = {count(float(rows[node]))}"

    def _told_below(self, node: int) -> str:
        return f"… {counted(_leaves_below(self.tree.left, self.tree.right, node), 'leaf')}"

    def _room(self, told: str, width: float) -> float:
        """Inches that are left in a line beside the number of rows."""
        return width - 2 * PAD - width_of(told, FONT_SIZE) - PAD

    def _said(self, node: int, room: float) -> str:
        """What a leaf says, in so many inches; names may be cut, numbers are not."""
        names, tree = self.display.class_names, self.tree
        leaf = int(tree.leaf_index[node])
        if tree.is_linear:
            n_weights = tree.leaf_indptr[[leaf * tree.n_outputs, (leaf + 1) * tree.n_outputs]]
            return f"linear, {counted(int(n_weights[1] - n_weights[0]), 'weight')}"
        values = tree.leaf_values[leaf]
        if names is None:
            return _numbers(values, room)
        best = int(values.argmax())
        sign = "+" if values[best] >= 0 else ""
        end = f" {sign}{number(float(values[best]), 2)}"
        if not self.display.has_scores:
            end = f" {100 * values[best]:.0f} %"
        return _joined(names[best], end, room)

    def _value(self, node: int) -> float | None:
        """The number of a node of a regression of one output; None if there is none."""
        if self.display.class_names is not None or self.tree.n_outputs > 1:
            return None
        if self.display.means is not None:
            mean = float(self.display.means[node, 0])
            return None if np.isnan(mean) else mean
        leaf = int(self.tree.leaf_index[node])
        return None if leaf < 0 or self.tree.is_linear else float(self.tree.leaf_values[leaf, 0])

    def _value_range(self) -> tuple[float, float]:
        means, values = self.display.means, self.tree.leaf_values[:, 0]
        shown = values if means is None else means[~np.isnan(means[:, 0]), 0]
        return float(shown.min()), float(shown.max())


@dataclass(frozen=True)
class _Strip:
    """A thin bar with its upper left end at (x, y)."""

    x: float
    y: float
    width: float
    height: float

    def shares(self, pen: Pen, shares: NDArray[np.float64], colors: list[str], gid: str) -> None:
        """Parts of a whole."""
        pen.stack(self.x, self.y, self.width, self.height, shares, colors, gid)

    def scores(self, pen: Pen, scores: NDArray[np.float64], colors: list[str], gid: str) -> None:
        """One upright bar a class, up for positive scores."""
        step, middle = self.width / len(scores), self.y + 0.5 * self.height
        pen.rectangle(self.x, middle - 0.003, self.width, 0.006, PALE)
        for place, (score, color) in enumerate(zip(scores.tolist(), colors, strict=True)):
            left = self.x + (place + 0.1) * step
            pen.rectangle(left, middle, 0.8 * step, -0.5 * self.height * score, color, gid)

    def place(self, pen: Pen, low: float, high: float, value: float, gid: str) -> None:
        """A mark between the ends of a range."""
        share = 0.5 if high <= low else (value - low) / (high - low)
        pen.rectangle(self.x, self.y + 0.4 * self.height, self.width, 0.2 * self.height, PALE)
        at = self.x + share * (self.width - 0.06)
        pen.rectangle(at, self.y, 0.06, self.height, FEW[0], gid)


def _joined(name: str, end: str, room: float) -> str:
    """A name and what follows it, in so many inches; only the name may be cut."""
    return fitted_to(name, room - width_of(end, FONT_SIZE), FONT_SIZE) + end


def _fitted_end(words: SplitWords, room: float) -> str:
    """What a split asks of its subject, with as many levels of a set as there is room for."""
    for n_levels in range(len(words.levels), 0, -1):
        end = words.end(n_levels).strip()
        if width_of(end, FONT_SIZE) <= room:
            return end
    return fitted_to(words.end(1).strip(), room, FONT_SIZE)


def _numbers(values: NDArray[np.float64], room: float) -> str:
    """As many of the numbers as there is room for, at least the first."""
    if len(values) == 1:
        return number(float(values[0]))
    told = [number(float(value), 2) for value in values]
    for n_told in range(len(told), 1, -1):
        words = ", ".join(told[:n_told] + ["…"] * (n_told < len(told)))
        if width_of(words, FONT_SIZE) <= room:
            return words
    return f"{told[0]}, …"


def _leaves_below(left: NDArray[np.int32], right: NDArray[np.int32], node: int) -> int:
    waiting, n_leaves = [node], 0
    while waiting:
        at = waiting.pop()
        if left[at] < 0:
            n_leaves += 1
        else:
            waiting += [int(left[at]), int(right[at])]
    return n_leaves
