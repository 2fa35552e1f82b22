"""Slow and obvious versions of what the library does fast: the judges of its tests.

Everything here goes row by row and node by node, in plain Python, and shares no code with the
library. Slowness is welcome; cleverness is not.
"""

from __future__ import annotations

from itertools import pairwise, permutations, product

import numpy as np
from scipy.optimize import linprog, minimize

# --- the tree as a function of one row ---------------------------------------------------------


def split_terms(tree, node):
    """(feature, weight) pairs of the hyperplane of a node."""
    start, stop = tree.split_indptr[node], tree.split_indptr[node + 1]
    return [(int(tree.split_indices[k]), tree.split_weights[k]) for k in range(start, stop)]


def score(tree, node, x):
    """Score of a row at a split, every step in float64."""
    total = float(tree.bias[node])
    for feature, weight in split_terms(tree, node):
        total += float(weight) * float(x[feature])
    return total


def score_float32(tree, node, x):
    """Score of a row at a split: products and their sum in float32, the bias last in float64."""
    total = np.float32(0)
    for feature, weight in split_terms(tree, node):
        total = np.float32(total + np.float32(weight * np.float32(x[feature])))
    return float(total) + float(tree.bias[node])


def score_of_products(tree, node, x):
    """Score of a row at a split: products in float32, summed in float64.

    So does the native core with up to 32 features: each has a float32 lane of its own.
    """
    products = [np.float32(w * np.float32(x[feature])) for feature, w in split_terms(tree, node)]
    return sum(float(product) for product in products) + float(tree.bias[node])


def path_of_row(tree, x, score=score):
    """Nodes that a row meets, from the root to its leaf."""
    path = [0]
    while tree.left[path[-1]] >= 0:
        node = path[-1]
        goes_right = score(tree, node, x) >= 0
        path.append(int(tree.right[node] if goes_right else tree.left[node]))
    return path


def leaf_number(tree, node):
    """Which leaf a node is, counting the leaves in node order."""
    return sum(1 for other in range(node) if tree.left[other] < 0)


def answer_of_row(tree, x, score=score):
    """Outputs of a tree for one row, before any softmax."""
    leaf = leaf_number(tree, path_of_row(tree, x, score)[-1])
    answer = [float(value) for value in tree.leaf_values[leaf]]
    for output in range(len(answer)):
        row = leaf * len(answer) + output
        for k in range(tree.leaf_indptr[row], tree.leaf_indptr[row + 1]):
            answer[output] += float(tree.leaf_weights[k]) * float(x[tree.leaf_indices[k]])
    return answer


# --- the tree as a function of many rows -------------------------------------------------------


def apply(tree, X, score=score):
    """Leaf node of each row."""
    return np.array([path_of_row(tree, x, score)[-1] for x in X], dtype=np.int32)


def outputs(tree, X, score=score):
    """Outputs of each row, shape (n_rows, n_outputs)."""
    answers = [answer_of_row(tree, x, score) for x in X]
    return np.array(answers, dtype=np.float64).reshape(len(X), tree.leaf_values.shape[1])


def decision_path(tree, X, score=score):
    """Dense indicator (n_rows, n_nodes): which nodes each row meets."""
    met = np.zeros((len(X), len(tree.left)), dtype=bool)
    for row, x in enumerate(X):
        met[row, path_of_row(tree, x, score)] = True
    return met


def reach(tree, X):
    """Number of rows that meet each node."""
    return decision_path(tree, X).sum(axis=0).astype(np.int64)


def shrunken_answer(tree, X, weights, targets, x, strength):
    """Mean target at the root, and of each step of the row's way a part of the change in mean."""
    paths = [path_of_row(tree, row) for row in X]

    def rows_of(node):
        return [n for n in range(len(X)) if node in paths[n] and weights[n] > 0]

    def mean(node):
        rows = rows_of(node)
        return sum(weights[n] * targets[n] for n in rows) / sum(weights[n] for n in rows)

    path = path_of_row(tree, x)
    answer = mean(path[0])
    for above, below in pairwise(path):
        n_rows = sum(weights[n] for n in rows_of(above))
        answer = answer + (mean(below) - mean(above)) / (1 + strength / n_rows)
    return answer


# --- many trees --------------------------------------------------------------------------------


def forest_labels(answers):
    """Largest output, the first of equals, of each row in each tree.

    `answers` holds one array (n_rows, n_outputs) a tree, here and below.
    """
    labels = [[list(row).index(max(row)) for row in answer] for answer in answers]
    return np.array(labels, dtype=np.int32).reshape(len(answers), len(answers[0])).T


def forest_votes(answers, tree_weights):
    """Weight of the trees for each label of each row, added in the order of the trees."""
    votes = np.zeros(answers[0].shape)
    for row, labels in enumerate(forest_labels(answers)):
        for label, weight in zip(labels, tree_weights, strict=True):
            votes[row, label] += weight
    return votes


def forest_sums(answers, tree_weights):
    """Weighted answers of the trees, added in their order."""
    sums = np.zeros(answers[0].shape)
    for answer, weight in zip(answers, tree_weights, strict=True):
        sums += weight * answer
    return sums


def softmax(answer):
    """Scores of each row as probabilities."""
    odds = np.exp(answer - answer.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


# --- sizes -------------------------------------------------------------------------------------


def node_parameters(tree, node):
    """Parameters of one node; a constant leaf counts 1."""
    if tree.left[node] >= 0:
        return len(split_terms(tree, node)) + 1
    if tree.leaf_kind == "constant":
        return 1
    n_outputs = tree.leaf_values.shape[1]
    first = leaf_number(tree, node) * n_outputs
    return int(tree.leaf_indptr[first + n_outputs] - tree.leaf_indptr[first]) + n_outputs


def count_parameters(tree):
    """Parameters of the whole tree."""
    return sum(node_parameters(tree, node) for node in range(len(tree.left)))


def row_parameters(tree, x):
    """Parameters that the prediction of one row reads."""
    return sum(node_parameters(tree, node) for node in path_of_row(tree, x))


# --- random shapes -----------------------------------------------------------------------------


def draw_size(delta1, delta2, p, rng, depth=0):
    """Number of nodes of one random shape: complete to `delta1`, by chance to `delta2`."""
    if depth >= delta2 or (depth >= delta1 and rng.random() >= p):
        return 1
    return 1 + sum(draw_size(delta1, delta2, p, rng, depth + 1) for _ in range(2))


# --- node solvers ------------------------------------------------------------------------------


def logistic_objective(X, labels, weights, alpha, scale, w, bias):
    """Weighted logistic loss plus alpha |w|_1, the weights measured in units of `scale`."""
    margins = labels * (np.asarray(X, dtype=np.float64) @ w.astype(np.float64) + bias)
    penalty = sum(abs(float(weight)) * s for weight, s in zip(w, scale, strict=True))
    return float(np.sum(weights * np.logaddexp(0, -margins)) + alpha * penalty)


def axis_cost(goes_right, labels, weights):
    """Weight of the rows that go to the wrong side."""
    return float(
        sum(c for r, y, c in zip(goes_right, labels, weights, strict=True) if r != (y > 0))
    )


def best_axis_cost(X, labels, weights, alpha):
    """Least cost of all thresholds of all features, both ways, and of no feature at all."""
    everywhere = np.ones(len(X), dtype=bool)
    costs = [axis_cost(everywhere, labels, weights), axis_cost(~everywhere, labels, weights)]
    for feature in range(X.shape[1]):
        for threshold in X[:, feature]:
            goes_right = X[:, feature] >= threshold
            costs.append(alpha + axis_cost(goes_right, labels, weights))
            costs.append(alpha + axis_cost(~goes_right, labels, weights))
    return min(costs)


def best_column_cost(X, columns, labels, weights, alpha):
    """The same over columns of a table: (first coordinate, number of levels or 0, flag or -1).

    Rows of one level, of none, and missing ones each go to either side.
    """
    everywhere = np.ones(len(X), dtype=bool)
    costs = [axis_cost(everywhere, labels, weights), axis_cost(~everywhere, labels, weights)]
    for first, n_levels, flag in columns:
        is_missing = X[:, flag] != 0 if flag >= 0 else ~everywhere
        if n_levels:
            level = X[:, first : first + n_levels].argmax(axis=1)
            level[~X[:, first : first + n_levels].any(axis=1)] = n_levels
            ways = [np.array(sides)[level] for sides in product([False, True], repeat=n_levels + 1)]
        else:
            values = X[:, first]
            ways = [everywhere, *(values >= threshold for threshold in values)]
        for way in ways:
            for goes_right in (way, ~way):
                for side in (False, True):
                    goes = np.where(is_missing, side, goes_right)
                    costs.append(alpha + axis_cost(goes, labels, weights))
    return min(costs)


# --- the objective of a tree -------------------------------------------------------------------


def row_loss(loss, answer, target, is_linear, huber_delta=1.0):
    """Loss of one row from what the tree answers; `target` is a class code or a list of values."""
    if loss in ("zero_one", "log_loss"):
        if loss == "zero_one":
            return float(np.argmax(answer) != target)
        chances = np.array(answer)
        if is_linear:
            odds = np.exp(chances - chances.max())
            chances = odds / odds.sum()
        return float(-np.log(max(chances[target], 1e-3)))
    residuals = np.abs(np.array(target) - np.array(answer))
    if loss == "squared_error":
        return float(np.sum(residuals**2))
    if loss == "absolute_error":
        return float(np.sum(residuals))
    near = 0.5 * residuals**2
    far = huber_delta * (residuals - 0.5 * huber_delta)
    return float(np.sum(np.where(residuals <= huber_delta, near, far)))


def penalty(tree, alpha, scale, split, leaf_penalty="l1", leaf_alpha=None, centre=0.0):
    """Penalties of all splits and leaves; weights are measured in units of `scale`.

    Constant leaves have one if there is a `leaf_alpha`, on their distance from `centre`.
    """
    total = 0.0
    for j, w in _terms(tree, "leaf"):
        size = abs(float(w)) * scale[j]
        of_leaves = alpha if leaf_alpha is None else leaf_alpha
        total += of_leaves * (size if leaf_penalty == "l1" else size**2 / 2)
    if tree.leaf_kind == "constant" and leaf_alpha is not None:
        for value in (tree.leaf_values - centre).ravel():
            total += leaf_alpha * (abs(value) if leaf_penalty == "l1" else value**2)
    if split == "oblique":
        return total + sum(alpha * abs(float(w)) * scale[j] for j, w in _terms(tree, "split"))
    return total + alpha * sum(1 for node in range(len(tree.left)) if split_terms(tree, node))


def _terms(tree, part):
    return zip(getattr(tree, f"{part}_indices"), getattr(tree, f"{part}_weights"), strict=True)


def objective(
    tree, X, targets, weights, *, loss, split, alpha, scale, huber_delta=1.0, **of_leaves
):
    """Weighted loss of all rows plus the penalties; `of_leaves` are those of `penalty`."""
    total = penalty(tree, alpha, scale, split, **of_leaves)
    for x, target, weight in zip(X, targets, weights, strict=True):
        answer = answer_of_row(tree, x, score_of_products)
        is_linear = tree.leaf_kind == "linear"
        total += weight * row_loss(loss, answer, target, is_linear, huber_delta)
    return total


def subtree_leaf(tree, node, x):
    """Leaf that a row reaches from `node`."""
    while tree.left[node] >= 0:
        goes_right = score_of_products(tree, node, x) >= 0
        node = int(tree.right[node] if goes_right else tree.left[node])
    return node


def care_points(tree, node, X, targets, weights, loss, huber_delta=1.0):
    """(row, label, weight) of the rows at `node` whose loss depends on the side they take."""
    found = []
    for row, x in enumerate(X):
        if node not in path_of_row(tree, x, score_of_products):
            continue
        left, right = (
            row_loss(
                loss, tree.leaf_values[leaf_number(tree, leaf)], targets[row], False, huber_delta
            )
            for leaf in (
                subtree_leaf(tree, tree.left[node], x),
                subtree_leaf(tree, tree.right[node], x),
            )
        )
        if abs(left - right) > 1e-12 * max(left, right) + 1e-24:  # less is rounding
            found.append((row, 1 if right < left else -1, weights[row] * abs(left - right)))
    return found


# --- votes and samples of forests --------------------------------------------------------------


def votes(labels_of_trees, n_classes, tree_weights=None):
    """Weight of the trees that vote for each class, (n_rows, n_classes); by default each counts 1.

    `labels_of_trees` has one list of class codes a tree.
    """
    found = np.zeros((len(labels_of_trees[0]), n_classes))
    for number, labels in enumerate(labels_of_trees):
        weight = 1.0 if tree_weights is None else float(tree_weights[number])
        for row, label in enumerate(labels):
            found[row, label] += weight
    return found


def winners(vote_counts):
    """Class of the most votes in each row; the first if several tie."""
    return [list(row).index(max(row)) for row in vote_counts]


def out_of_bag(answers_of_trees, counts_of_trees):
    """Mean answer of the trees that did not see a row, nan where there is none.

    `answers_of_trees` has an array (n_rows, n_outputs) a tree, `counts_of_trees` how often each
    row was drawn for it.
    """
    n_rows, n_outputs = answers_of_trees[0].shape
    means = np.full((n_rows, n_outputs), np.nan)
    for row in range(n_rows):
        unseen = [
            answers[row]
            for answers, counts in zip(answers_of_trees, counts_of_trees, strict=True)
            if counts[row] == 0
        ]
        if unseen:
            means[row] = sum(unseen) / len(unseen)
    return means


# --- boosting ----------------------------------------------------------------------------------


def boosting_weight(error, algorithm, n_classes, eta, n_rows):
    """α of algorithm 1 of boosted TAO; no errors count as half a row, one more than `n_rows`."""
    if error == 0:
        error = 0.5 / (n_rows + 1)
    weight = np.log((1 - error) / error)
    if algorithm == "samme":
        weight += np.log(n_classes - 1)
    return eta * weight


def boosting_limit(algorithm, n_classes):
    """Weighted error at which boosting stops."""
    return 1 / 2 if algorithm == "m1" else 1 - 1 / n_classes


def boosting(labels_of_trees, codes, sample_weight, algorithm, n_classes, eta):
    """Algorithm 1 for trees that are given by their labels.

    Returns the error and the weight of each tree, and the row weights that follow the last.
    """
    total = float(np.sum(sample_weight))
    weights = [float(weight) / total for weight in sample_weight]
    n_rows = total
    errors, tree_weights = [], []
    for labels in labels_of_trees:
        is_wrong = [label != code for label, code in zip(labels, codes, strict=True)]
        errors.append(sum(w for w, wrong in zip(weights, is_wrong, strict=True) if wrong))
        alpha = boosting_weight(errors[-1], algorithm, n_classes, eta, n_rows)
        tree_weights.append(alpha)
        weights = [
            w * (np.exp(alpha) if wrong else 1.0)
            for w, wrong in zip(weights, is_wrong, strict=True)
        ]
        weights = [w / sum(weights) for w in weights]
    return errors, tree_weights, weights


# --- starts ------------------------------------------------------------------------------------


def bisector(X, is_right, inverse_scale):
    """Hyperplane halfway between the means of two groups of rows: raw weights and bias.

    It stands across the line that joins the means where every column is standardised.
    """
    left = np.zeros(X.shape[1])
    right = np.zeros(X.shape[1])
    for x, goes_right in zip(X.astype(float), is_right, strict=True):
        if goes_right:
            right += x / np.count_nonzero(is_right)
        else:
            left += x / np.count_nonzero(~is_right)
    weights = (right - left) * inverse_scale * inverse_scale
    return weights, -float(weights @ (left + right)) / 2


def axis_bisector(X, is_right, inverse_scale):
    """Column in which the means of two groups are farthest apart, and the middle between them."""
    left, right = (X[side].astype(float).mean(axis=0) for side in (~is_right, is_right))
    column = int(np.argmax(np.abs(right - left) * inverse_scale))
    return column, (left[column] + right[column]) / 2


def softmax_objective(scores, labels, row_weights, weights=0.0, ridge=0.0):
    """Weighted cross-entropy of class scores, plus ridge/2 times the squared weights."""
    top = scores.max(axis=1)
    log_sums = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    losses = log_sums - scores[np.arange(len(labels)), labels]
    return float(row_weights @ losses + 0.5 * ridge * np.sum(np.square(weights)))


def relaxed_softmax_objective(Z, labels, row_weights, support, ridge):
    """Least `softmax_objective` of linear scores whose weights are zero off `support`."""
    n_classes = len(support)

    def objective(theta):
        weights = np.zeros(support.shape)
        weights[support] = theta[:-n_classes]
        scores = Z @ weights.T + theta[-n_classes:]
        return softmax_objective(scores, labels, row_weights, weights, ridge)

    start = np.zeros(support.sum() + n_classes)
    return float(minimize(objective, start, method="BFGS", options={"gtol": 1e-6}).fun)


# --- forests whose trees add up ----------------------------------------------------------------


def forest_row_loss(loss, scores, target, huber_delta=1.0):
    """Loss of one row from the scores that all trees give; `target` is a class code or values."""
    if loss == "log_loss":
        return float(np.log(sum(np.exp(score) for score in scores)) - scores[target])
    if loss == "squared_hinge":
        total = 0.0
        for k, score in enumerate(scores):
            total += max(1.0 - score, 0.0) ** 2 if k == target else max(score, 0.0) ** 2
        return total
    if np.ndim(target) == 0:
        target = np.eye(len(scores))[target]
    return row_loss(loss, scores, target, False, huber_delta)


def forest_objective(trees, X, targets, weights, *, loss, alpha, scale, l1=0.0, l2=0.0):
    """Weighted loss of the summed trees plus the penalties of splits and leaves (fao eq. 2)."""
    total = 0.0
    for tree in trees:
        total += penalty(tree, alpha, scale, "oblique")
        total += l1 * np.abs(tree.leaf_values).sum() + l2 * (tree.leaf_values**2).sum()
    for x, target, weight in zip(X, targets, weights, strict=True):
        scores = sum(np.array(answer_of_row(tree, x, score_of_products)) for tree in trees)
        total += weight * forest_row_loss(loss, scores, target)
    return total


def ridge_leaves(leaves, weights, targets, n_leaves, l2):
    """Leaf values by the normal equations of the written-out design."""
    design = np.zeros((len(targets), n_leaves))
    for of_tree in leaves:
        design[np.arange(len(targets)), of_tree] += 1.0
    gram = design.T @ (weights[:, None] * design) + l2 * np.eye(n_leaves)
    return np.linalg.solve(gram, design.T @ (weights[:, None] * targets))


def lasso_leaves(leaves, weights, targets, n_leaves, l1, n_sweeps=5000):
    """Leaf values by coordinate descent on the written-out design, one number after the other."""
    design = np.zeros((len(targets), n_leaves))
    for of_tree in leaves:
        design[np.arange(len(targets)), of_tree] += 1.0
    gram = design.T @ (weights[:, None] * design)
    values, rest = np.zeros((n_leaves, targets.shape[1])), design.T @ (weights[:, None] * targets)
    for _ in range(n_sweeps):
        before = values.copy()
        for leaf in np.flatnonzero(gram.diagonal()):
            pull = rest[leaf] + gram[leaf, leaf] * values[leaf]
            new = np.sign(pull) * np.maximum(np.abs(pull) - l1 / 2, 0.0) / gram[leaf, leaf]
            rest -= np.outer(gram[leaf], new - values[leaf])
            values[leaf] = new
        if np.abs(values - before).max() <= 1e-12 * (1 + np.abs(values).max()):
            break
    return values


def least_lasso(leaves, weights, targets, values, l1):
    """Bound from below on the least sum of one output, from a dual point made of the residual."""
    rest = weights * (targets - sum(values[of_tree] for of_tree in leaves))
    slopes = [2.0 * rest[of_tree == leaf].sum() for of_tree in leaves for leaf in set(of_tree)]
    if not rest.any():
        return 0.0
    used = weights > 0
    own = (rest[used] ** 2 / weights[used]).sum()
    scale = min((rest @ targets) / own, l1 / max(np.abs(slopes)))
    return 2.0 * scale * (rest @ targets) - scale**2 * own


def nearest_shares(scores):
    """Nearest point of the simplex by bisection on the constant that is taken off."""
    low, high = min(scores) - 1.0, max(scores)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if np.maximum(scores - middle, 0.0).sum() > 1.0:
            low = middle
        else:
            high = middle
    return np.maximum(scores - low, 0.0)


# --- images ------------------------------------------------------------------------------------


def neighbor_formulas(image):
    """H', V', N' and S' as functions of (i, j); IndexError where they read a pixel outside."""

    def I(i, j):  # noqa: E743, N802
        if not (0 <= i < len(image) and 0 <= j < len(image[0])):
            raise IndexError
        return int(image[i][j])

    def H(i, j):  # noqa: N802
        return I(i, j) & I(i, j + 2)

    def V(i, j):  # noqa: N802
        return I(i, j) & I(i + 2, j)

    def N(i, j):  # noqa: N802
        return I(i, j) & I(i + 2, j + 2)

    def S(i, j):  # noqa: N802
        return I(i, j) & I(i + 2, j - 2)

    return {
        "h": lambda i, j: H(i, j) | H(i + 1, j) | H(i + 2, j) | H(i + 3, j),
        "v": lambda i, j: V(i, j) | V(i, j + 1) | V(i, j + 2) | V(i, j + 3),
        "n": lambda i, j: N(i, j) | N(i + 1, j - 1) | N(i + 2, j - 2) | N(i + 3, j - 3),
        "s": lambda i, j: S(i, j) | S(i + 1, j + 1) | S(i + 2, j + 2) | S(i + 3, j + 3),
    }


def neighbor_features(image, step=2):
    """Ho's f2 of one binary image, as a dictionary from names to 0 or 1 in the paper's order.

    Every formula is tried at every (i, j). Of the rows i where it is well defined, H' keeps every
    `step`-th, V' of the columns j, N' and S' of both.
    """
    height, width = len(image), len(image[0])
    places = [(i, j) for i in range(height) for j in range(width)]
    features = {f"pixel_{i}_{j}": int(image[i][j]) for i, j in places}
    for name, formula in neighbor_formulas(image).items():
        values = {}
        for i, j in places:
            try:
                values[i, j] = formula(i, j)
            except IndexError:
                continue
        rows = sorted({i for i, _ in values})[:: 1 if name == "v" else step]
        columns = sorted({j for _, j in values})[:: 1 if name == "h" else step]
        features |= {f"{name}_{i}_{j}": values[i, j] for i in rows for j in columns}
    return features


def window_row(image, row, column, window, border):
    """Values of the window around one pixel, by slicing the padded image."""
    down, along = window[0] // 2, window[1] // 2
    if border != "skip":
        widths = [(down, down), (along, along)] + [(0, 0)] * (image.ndim - 2)
        image = np.pad(image, widths, mode=border)
        row, column = row + down, column + along
    part = image[row - down : row + down + 1, column - along : column + along + 1]
    return part.ravel().astype(np.float32)


# --- greedily grown trees ------------------------------------------------------------------------


def impurity(targets, weights, criterion):
    """Weighted impurity of a node: entropy or gini of class codes, squared error of numbers."""
    if criterion == "squared_error":
        rows = list(zip(targets, weights, strict=True))
        mean = sum(w * t for t, w in rows) / sum(weights)
        return sum(w * float(np.sum((t - mean) ** 2)) for t, w in rows)
    total = sum(weights)
    cost = 0.0
    for label in set(targets):
        own = sum(w for t, w in zip(targets, weights, strict=True) if t == label)
        cost += -own * np.log(own / total) if criterion == "entropy" else own * (1 - own / total)
    return cost


def split_cost(goes_right, targets, weights, criterion):
    """Impurity of the two sides of a split together."""
    return sum(
        impurity(targets[side], weights[side], criterion)
        for side in (goes_right, ~goes_right)
        if side.any()
    )


def best_cut(scores, targets, weights, criterion):
    """(cost, lowest score that goes right) of the best cut, or None if all scores are equal."""
    best = None
    for threshold in sorted(set(scores.tolist()))[1:]:
        cost = split_cost(scores >= threshold, targets, weights, criterion)
        if best is None or cost < best[0] - 1e-9:
            best = cost, threshold
    return best


def best_column_cut(X, targets, weights, criterion):
    """(cost, column, lowest value that goes right) of the best cut of any column, or None."""
    best = None
    for column in range(X.shape[1]):
        cut = best_cut(X[:, column], targets, weights, criterion)
        if cut is not None and (best is None or cut[0] < best[0] - 1e-9):
            best = cut[0], column, cut[1]
    return best


def grow_axis_tree(X, targets, weights, criterion, min_rows=2, rows=None):
    """Rows of each leaf of a CART, as a set of tuples of their numbers."""
    rows = np.arange(len(X)) if rows is None else rows
    is_end = len(rows) < min_rows or (targets[rows] == targets[rows[0]]).all()
    cut = None if is_end else best_column_cut(X[rows], targets[rows], weights[rows], criterion)
    if cut is None:
        return {tuple(rows.tolist())}
    goes_right = X[rows, cut[1]] >= cut[2]
    sides = [
        grow_axis_tree(X, targets, weights, criterion, min_rows, rows[side])
        for side in (~goes_right, goes_right)
    ]
    return sides[0] | sides[1]


def farthest_means(Z, codes, weights):
    """Means of the classes that are present, and the two whose means lie farthest apart."""
    means = {
        label: np.average(Z[codes == label], axis=0, weights=weights[codes == label])
        for label in sorted(set(codes.tolist()))
    }
    pairs = [(a, b) for a in means for b in means if a < b]
    return means, max(pairs, key=lambda pair: np.sum((means[pair[0]] - means[pair[1]]) ** 2))


def central_axis_split(Z, codes, weights, n_steps):
    """Direction and stop of Ho's central axis projection, in the space of Z.

    The error of a stop is, summed over the classes, the weight that is not where most of its class
    is. Of stops of equal error that nearest to the middle is taken, the lower one of two.
    """
    means, (first, second) = farthest_means(Z, codes, weights)
    axis = (means[second] - means[first]) / np.sum((means[second] - means[first]) ** 2)
    start = axis @ means[first]
    errors = []
    for step in range(1, n_steps):
        goes_right = Z @ axis >= start + step / n_steps
        error = 0.0
        for label in means:
            right = weights[goes_right & (codes == label)].sum()
            error += min(right, weights[codes == label].sum() - right)
        errors.append((round(error, 9), abs(2 * step - n_steps), step))
    return axis, start + min(errors)[2] / n_steps


def perceptron_sets(Z, codes, weights):
    """Side of each class, -1 or 1: the farthest two are anchors, the others join the nearer one."""
    means, (first, second) = farthest_means(Z, codes, weights)
    return {
        label: 1 if np.sum((mean - means[second]) ** 2) < np.sum((mean - means[first]) ** 2) else -1
        for label, mean in means.items()
    }


def log_losses(shares, codes):
    """-log of the share that a leaf gives to the class of each row."""
    return np.array([-np.log(max(shares[code], 1e-12)) for code in codes])


def judged_leaf_loss(y, weights, is_here, judges, n_classes):
    """Loss of the judges in one leaf: half a mean row of the node is added to its rows.

    The node holds a tenth of a mean row of each class before its rows are counted. `n_classes` is 0
    for the squared error of numbers.
    """
    unit = weights.sum() / np.count_nonzero(weights)
    mine = np.where(is_here, weights, 0.0)
    if not n_classes:
        mean = (weights @ y) / weights.sum()
        guess = mean + mine @ (y - mean) / (mine.sum() + 0.5 * unit)
        return float(judges @ (y - guess) ** 2)
    of_node = np.array([weights[y == k].sum() + 0.1 * unit for k in range(n_classes)])
    of_leaf = np.array([mine[y == k].sum() for k in range(n_classes)])
    shares = (of_leaf + 0.5 * unit * of_node / of_node.sum()) / (mine.sum() + 0.5 * unit)
    return float(judges @ log_losses(shares, y))


def co2_bound(scores, left_losses, right_losses):
    """Upper bound on the loss of a stump, summed over the rows (co2-forest, eq. (10))."""
    return sum(
        max(left - score, right + score) - abs(score)
        for score, left, right in zip(scores, left_losses, right_losses, strict=True)
    )


def encode_value(encoding, coordinate, value):
    """What a coordinate says of a number or text of its column; None is missing.

    Only what `Coordinate` and `Levels` tell is used, as another program would that serves a model.
    """
    levels = encoding.levels.get(coordinate.column)
    if coordinate.kind == "is_missing":
        return float(value is None)
    if coordinate.kind == "is_level":
        return float(value == coordinate.level)
    if coordinate.kind == "is_rest":
        return float(value is not None and value not in levels.own)
    if coordinate.kind == "target_mean":
        if value is None:
            row = len(levels.known)
        else:
            row = levels.known.index(value) if value in levels.known else len(levels.known) + 1
        return float(levels.means[row, coordinate.output])
    if value is None:
        return coordinate.fill
    return float(np.float32(value - coordinate.origin))


def level_means(values, targets, weights, smoothing):
    """Mean target at each level, as if `smoothing` mean rows of the overall mean were there."""
    overall = np.average(targets, weights=weights)
    added = smoothing * np.mean(weights)
    means = {}
    for level in set(values):
        is_here = np.array([value == level for value in values])
        total = float((weights * targets)[is_here].sum()) + added * overall
        means[level] = total / (float(weights[is_here].sum()) + added)
    return means, overall


# --- the least change that leads to a wanted answer ----------------------------------------------


def half_spaces(tree, leaf, margin=0.0):
    """Pairs (w, b) of the way to a leaf, which is where w . x + b >= margin for all of them.

    Left sides are open, so that a leaf is a little less than where the sums are at least 0.
    """
    found = []
    node = leaf
    while node != 0:
        above = int(tree.parent[node])
        weights = np.zeros(tree.n_features)
        for feature, weight in split_terms(tree, above):
            weights[feature] = weight
        sign = 1.0 if node == tree.right[above] else -1.0
        found.append((sign * weights, sign * float(tree.bias[above]) - margin))
        node = above
    return found


def distance_to(x, pairs, lower=-np.inf, upper=np.inf):
    """Euclidean distance of x from the points with w . z + b >= 0 for all pairs, within bounds."""
    lows, highs = np.broadcast_to(lower, len(x)), np.broadcast_to(upper, len(x))
    bounds = list(zip(lows, highs, strict=True))
    normals = np.array([w for w, _ in pairs]).reshape(-1, len(x))
    offsets = np.array([b for _, b in pairs])
    feasible = linprog(np.zeros(len(x)), A_ub=-normals, b_ub=offsets, bounds=bounds)
    if feasible.status != 0:
        return np.inf
    found = minimize(
        lambda z: ((z - x) ** 2).sum(),
        feasible.x,
        jac=lambda z: 2 * (z - x),
        bounds=bounds,
        constraints=[
            {"type": "ineq", "fun": lambda z: normals @ z + offsets, "jac": lambda _: normals}
        ],
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    return float(np.sqrt(found.fun))


def least_change(trees, is_wanted, x, lower=-np.inf, upper=np.inf, margin=0.0):
    """Euclidean length of the least change of x into leaves that are wanted, of all trees at once.

    `is_wanted` gets the leaf node of each tree. Every combination of leaves is tried.
    """
    least = np.inf
    for leaves in product(*(tree.leaf_nodes.tolist() for tree in trees)):
        if is_wanted(leaves):
            ways = zip(trees, leaves, strict=True)
            pairs = [pair for tree, leaf in ways for pair in half_spaces(tree, leaf, margin)]
            least = min(least, distance_to(x, pairs, lower, upper))
    return least


# --- explanations ------------------------------------------------------------------------------


def shapley_values(answer, start, end, columns):
    """What each column adds to an answer on the way from one row to another, over all orders."""
    n_columns = max(columns) + 1
    orders = list(permutations(range(n_columns)))
    adds = [0.0] * n_columns
    for order in orders:
        row = list(start)
        before = answer(row)
        for column in order:
            row = [end[k] if of_column == column else row[k] for k, of_column in enumerate(columns)]
            after = answer(row)
            adds[column] += (after - before) / len(orders)
            before = after
    return adds


# --- probabilities -----------------------------------------------------------------------------


def power_shares(votes, shift, slope):
    """Powers of shifted votes, as shares of their sum."""
    powers = [(vote + shift) ** slope for vote in votes]
    return [power / sum(powers) for power in powers]


def vote_loss(votes, codes, slope, shared, deviation):
    """What a map of votes is to make small: cross-entropy, and a normal belief about log(slope)."""
    n_rows, n_classes = votes.shape
    of_any = 1 / (n_rows + 1)
    loss = 0.5 * (np.log(slope) / deviation) ** 2
    for row, code in zip(votes, codes, strict=True):
        shares = power_shares(row, shared / n_classes, slope)
        for k in range(n_classes):
            wanted = of_any / n_classes + (1 - of_any) * (k == code)
            loss -= wanted * np.log(shares[k])
    return loss


def column_gains(tree, X, targets, weights, counts, n_columns):
    """Decrease of the squared loss that each column brings, beyond chance and in all.

    `targets` are 0/1 of the classes, or numbers, one column an output.
    """
    beyond, in_all = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    path = decision_path(tree, X, score_of_products) > 0
    for node in range(tree.n_nodes):
        here = path[:, node] & (weights > 0)
        w, Y, Z = weights[here], targets[here], X[here]
        if tree.left[node] < 0:
            if tree.is_linear and here.any():
                for k, part in enumerate(leaf_hyperplanes(tree, tree.leaf_index[node])):
                    gain = gain_of_score(Z @ part, Y[:, k], w)
                    add_gain(gain, part, Z, Y[:, k], w, counts[here], n_columns, beyond, in_all)
            continue
        goes_right = path[here, tree.right[node]]
        if not goes_right.any() or goes_right.all():
            continue
        right = np.average(Y[goes_right], axis=0, weights=w[goes_right])
        left = np.average(Y[~goes_right], axis=0, weights=w[~goes_right])
        gain = scatter(Y, w) - scatter(Y[goes_right], w[goes_right])
        gain -= scatter(Y[~goes_right], w[~goes_right])
        if not gain > 1e-12 * scatter(Y, w):
            continue
        part = np.zeros(X.shape[1])
        for j, value in split_terms(tree, node):
            part[j] = value
        indices = np.flatnonzero(part)
        if len(indices) == 1:
            n = w.sum() ** 2 / (w**2 / counts[here]).sum()
            chance = 2 * np.log(n_columns) + 2 * np.log(max(np.log(n), 1))
            evidence = (n - 1) * min(gain / scatter(Y, w), 1)
            in_all[indices] += gain
            beyond[indices] += gain * max(1 - chance / evidence, 0)
            continue
        u = (right - left) / np.linalg.norm(right - left)
        add_gain(gain, part, Z, Y @ u, w, counts[here], n_columns, beyond, in_all)
    return beyond, in_all


def leaf_hyperplanes(tree, leaf):
    """Weights of a linear leaf, one row an output."""
    rows = np.zeros((tree.n_outputs, tree.n_features))
    for k in range(tree.n_outputs):
        begin, end = tree.leaf_indptr[leaf * tree.n_outputs + k : leaf * tree.n_outputs + k + 2]
        rows[k, tree.leaf_indices[begin:end]] = tree.leaf_weights[begin:end]
    return rows


def scatter(Y, w):
    """Squared loss of rows that are answered by their mean."""
    return float((w @ (Y - np.average(Y, axis=0, weights=w)) ** 2).sum())


def covariance(a, b, w):
    """Of two columns of weighted rows."""
    return float(
        np.average((a - np.average(a, weights=w)) * (b - np.average(b, weights=w)), weights=w)
    )


def gain_of_score(score, z, w):
    """Decrease of the squared loss by the best line through a score that goes the right way."""
    c, v = covariance(score, z, w), covariance(score, score, w)
    return w.sum() * c * c / v if c > 1e-12 and v > 1e-12 else 0.0


def add_gain(gain, part, Z, z, w, counts, n_columns, beyond, in_all):
    """Share a gain by what the columns of a hyperplane explain of z."""
    if gain <= 0:
        return
    columns = np.flatnonzero(part)
    c = np.array([covariance(Z[:, j], z, w) for j in columns])
    v = np.array([covariance(Z[:, j], Z[:, j], w) for j in columns])
    shares = np.maximum(part[columns] * c, 0.0)
    if shares.sum() <= 0:
        shares = part[columns] ** 2 * v
        if shares.sum() > 0:
            in_all[columns] += gain * shares / shares.sum()
        return
    n = w.sum() ** 2 / (w**2 / counts).sum()
    for j, share, cov, var in zip(columns, shares / shares.sum(), c, v, strict=True):
        in_all[j] += gain * share
        if share > 0:
            evidence = (n - 1) * cov**2 / (var * covariance(z, z, w))
            beyond[j] += gain * share * max(1 - 2 * np.log(n_columns) / evidence, 0)


# --- codes and histograms ----------------------------------------------------------------------


def code_of(x, thresholds):
    """Bin of a value: the first one whose threshold is not below it; 255 for a missing value."""
    if np.isnan(x):
        return 255
    for k, threshold in enumerate(thresholds):
        if x <= threshold:
            return k
    return len(thresholds)


def rank_of(x, values, weights):
    """Weight of the values up to x, missing ones left out."""
    return sum(float(w) for v, w in zip(values, weights, strict=True) if v <= x)


def histogram(codes, begin, amounts, rows):
    """Sums of the amounts of some rows in each bin, row by row; missing values come last."""
    out = np.zeros((begin[-1], amounts.shape[1]))
    for row in rows:
        for column, code in enumerate(codes[row]):
            k = begin[column + 1] - 1 if code == 255 else begin[column] + code
            out[k] += amounts[row]
    return out


def best_code_cut(bins, counts, l2, min_hessian, min_rows):
    """(gain, bin, whether missing values go left) of the best of all cuts of a column.

    Of equal cuts the first one is taken, missing values to the right before missing values to
    the left. Without missing values they go where more rows are.
    """
    best = (0.0, 0, False)
    last = len(counts) - 1
    for k in range(last):
        if counts[k] == 0:
            continue
        for is_missing_left in (False, True) if counts[last] else (False,):
            goes_left = [b <= k if b < last else is_missing_left for b in range(last + 1)]
            left, right = np.array(goes_left), ~np.array(goes_left)
            sides = [(bins[s].sum(axis=0), counts[s].sum()) for s in (left, right)]
            if any(n < max(min_rows, 1) or h < min_hessian or h <= 0 for (_, h), n in sides):
                continue
            gain = sum(g * g / (h + l2) for (g, h), _ in sides)
            total = bins.sum(axis=0)
            gain -= total[0] ** 2 / (total[1] + l2)
            is_heavier = 2 * sides[0][1] >= counts.sum()
            if gain > best[0]:
                best = (gain, k, is_missing_left if counts[last] else bool(is_heavier))
    return best


def best_table_cut(columns, X, targets, weights, criterion):
    """Least cost of a split by one column of a table, or None; columns are (first, n_levels, flag).

    Levels, rows of no level and missing values are sets that go left or right in any combination;
    of numbers the missing go either way.
    """
    costs = []
    for first, n_levels, flag in columns:
        is_missing = X[:, flag] != 0 if flag >= 0 else np.zeros(len(X), bool)
        if n_levels:
            indicators = X[:, first : first + n_levels]
            level = np.where(is_missing, -1, indicators @ np.arange(1, n_levels + 1))
            present = np.unique(level)
            sides = [np.isin(level, present[bits]) for bits in _subsets(len(present))]
        else:
            x = X[:, first]
            thresholds = np.append(np.unique(x[~is_missing]), np.inf)
            sides = [
                np.where(is_missing, side, x >= threshold)
                for threshold in thresholds
                for side in (False, True)
            ]
        costs += [
            split_cost(goes_right, targets, weights, criterion)
            for goes_right in sides
            if goes_right.any() and not goes_right.all()
        ]
    return min(costs, default=None)


def _subsets(size):
    """All masks of so many flags."""
    return (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(bool)
