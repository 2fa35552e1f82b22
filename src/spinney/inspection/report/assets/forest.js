// Trees and rows as the views ask for them: children, hyperplanes, scores, routes and votes.
// Rows take the way that the model itself sent them; scores are computed here from the weights.

class TreeOfReport {
  constructor(treeNumber, arrays) {
    this.number = treeNumber;
    this.arrays = arrays;
    this.nNodes = arrays.isSplit.length;
    this.setTopology();
    this.splits = sparseRows(
      arrays.splitLengths,
      arrays.splitSteps,
      arrays.splitWeights,
      arrays.splitWeightsScales,
    );
    this.isLinear = arrays.leafLengths !== undefined;
    if (this.isLinear) {
      this.leafRows = sparseRows(
        arrays.leafLengths,
        arrays.leafSteps,
        arrays.leafWeights,
        arrays.leafWeightsScales,
      );
    }
    this.setReached();
    this.rules = arrays.rules ? new TextDecoder().decode(arrays.rules).split("\n") : [];
  }

  // Nodes are numbered breadth first: the children of the k-th split are 2k + 1 and 2k + 2.
  setTopology() {
    const n = this.nNodes;
    this.left = new Int32Array(n).fill(-1);
    this.right = new Int32Array(n).fill(-1);
    this.parent = new Int32Array(n).fill(-1);
    this.depth = new Int32Array(n);
    this.place = new Int32Array(n); // among the splits, or among the leaves
    let nSplits = 0;
    for (let node = 0; node < n; node++) {
      if (!this.arrays.isSplit[node]) {
        this.place[node] = node - nSplits;
        continue;
      }
      this.place[node] = nSplits;
      this.left[node] = 2 * nSplits + 1;
      this.right[node] = 2 * nSplits + 2;
      for (const child of [this.left[node], this.right[node]]) {
        this.parent[child] = node;
        this.depth[child] = this.depth[node] + 1;
      }
      nSplits += 1;
    }
  }

  // Rows of all that were given, by node and class (or in all), summed from the leaves up.
  setReached() {
    const { reachedSteps, reachedCounts, reachedSums } = this.arrays;
    if (!reachedSteps) return;
    const nKinds = isClassifier && hasTruth ? nOutputs : 1;
    const ofLeaf = new Map();
    let key = 0;
    reachedSteps.forEach((step, i) => {
      key += step;
      ofLeaf.set(key, reachedCounts[i]);
    });
    this.reached = new Float64Array(this.nNodes * nKinds);
    this.sums = reachedSums ? new Float64Array(this.nNodes * nOutputs) : null;
    for (let node = this.nNodes - 1; node >= 0; node--) {
      if (this.left[node] < 0) {
        for (let k = 0; k < nKinds; k++) {
          this.reached[node * nKinds + k] = ofLeaf.get(this.place[node] * nKinds + k) ?? 0;
        }
        if (this.sums) {
          for (let k = 0; k < nOutputs; k++)
            this.sums[node * nOutputs + k] = reachedSums[this.place[node] * nOutputs + k];
        }
      }
      const parent = this.parent[node];
      if (parent < 0) continue;
      // The leaves below a split have larger numbers, so its sums are complete when it is met.
      for (let k = 0; k < nKinds; k++) this.reached[parent * nKinds + k] += this.reached[node * nKinds + k];
      if (this.sums) {
        for (let k = 0; k < nOutputs; k++) this.sums[parent * nOutputs + k] += this.sums[node * nOutputs + k];
      }
    }
    this.nKinds = nKinds;
  }

  isLeaf(node) {
    return this.left[node] < 0;
  }

  bias(node) {
    return this.arrays.bias[this.place[node]];
  }

  // Rows that reach a node; null if none were given.
  nReached(node) {
    if (!this.reached) return null;
    let sum = 0;
    for (let k = 0; k < this.nKinds; k++) sum += this.reached[node * this.nKinds + k];
    return sum;
  }

  classMix(node) {
    return Array.from(this.reached.subarray(node * nOutputs, (node + 1) * nOutputs));
  }

  meanTargets(node) {
    const n = this.nReached(node);
    return Array.from(this.sums.subarray(node * nOutputs, (node + 1) * nOutputs), (sum) => sum / n);
  }

  // Coordinates and weights of the hyperplane of a split.
  hyperplane(node) {
    return this.splits.row(this.place[node]);
  }

  // When a row goes right at a split of one column of a table, in words; empty for other splits.
  rule(node) {
    return this.rules[this.place[node]] ?? "";
  }

  leafValues(node) {
    const leaf = this.place[node];
    const scale = this.arrays.leafValuesScales ? this.arrays.leafValuesScales[0] : 1;
    return Array.from(
      this.arrays.leafValues.subarray(leaf * nOutputs, (leaf + 1) * nOutputs),
      (value) => value * scale,
    );
  }

  leafHyperplane(node, output) {
    return this.leafRows.row(this.place[node] * nOutputs + output);
  }

  path(node) {
    const nodes = [];
    for (let at = node; at >= 0; at = this.parent[at]) nodes.push(at);
    return nodes.reverse();
  }

  // The output that a constant leaf is largest in.
  label(node) {
    return largestOf(this.leafValues(node));
  }
}

function sparseRows(lengths, steps, weights, scales) {
  const begin = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, i) => {
    begin[i + 1] = begin[i] + length;
  });
  const indices = new Uint32Array(steps.length);
  const values = new Float64Array(weights.length);
  for (let row = 0; row < lengths.length; row++) {
    let index = 0;
    for (let k = begin[row]; k < begin[row + 1]; k++) {
      index += steps[k];
      indices[k] = index;
      values[k] = weights[k] * (scales ? scales[row] : 1);
    }
  }
  return {
    row: (i) => ({
      indices: indices.subarray(begin[i], begin[i + 1]),
      weights: values.subarray(begin[i], begin[i + 1]),
    }),
  };
}

function largestOf(values) {
  return values.reduce((best, value, i) => (value > values[best] ? i : best), 0);
}

const treesRead = new Map();

function treeOf(treeNumber) {
  if (!treesRead.has(treeNumber)) {
    treesRead.set(
      treeNumber,
      readBlock(`tree-${treeNumber}`).then((arrays) => new TreeOfReport(treeNumber, arrays)),
    );
  }
  return treesRead.get(treeNumber);
}

// The rows that the page carries. A row is spoken of by its place among them.
class RowsOfReport {
  constructor(arrays) {
    this.arrays = arrays;
    this.isSparse = arrays.xBegin !== undefined;
  }

  vector(row) {
    const { x, xBegin, xIndices } = this.arrays;
    if (!this.isSparse) return x.subarray(row * nCoordinates, (row + 1) * nCoordinates);
    const values = new Float32Array(nCoordinates);
    for (let k = xBegin[row]; k < xBegin[row + 1]; k++) values[xIndices[k]] = x[k];
    return values;
  }

  // w . x + bias of some rows, with the bits of the core: see the rule of the boundary in
  // docs/guide/export.md. Zeros of x change no bit.
  scores(plane, bias, places) {
    const { x, xBegin, xIndices } = this.arrays;
    const { indices, weights } = plane;
    if (!this.isSparse) {
      return places.map((row) => {
        const lanes = new Float32Array(CORE_LANES);
        for (let k = 0; k < indices.length; k++) {
          lanes[indices[k] % CORE_LANES] += Math.fround(weights[k] * x[row * nCoordinates + indices[k]]);
        }
        return folded(lanes) + bias;
      });
    }
    const dense = new Float64Array(nCoordinates);
    indices.forEach((index, k) => {
      dense[index] = weights[k];
    });
    return places.map((row) => {
      const lanes = new Float32Array(CORE_LANES);
      for (let k = xBegin[row]; k < xBegin[row + 1]; k++) {
        lanes[xIndices[k] % CORE_LANES] += Math.fround(dense[xIndices[k]] * x[k]);
      }
      return folded(lanes) + bias;
    });
  }

  // What each coordinate adds to the score of the typical row, the largest first; those that are
  // typical are left out.
  contributions(plane, row) {
    const values = this.vector(row);
    const terms = [];
    plane.indices.forEach((coordinate, k) => {
      const [value, weight] = [values[coordinate], plane.weights[k]];
      const difference = value - typical[coordinate];
      if (difference !== 0) terms.push({ coordinate, value, weight, product: weight * difference });
    });
    return terms.sort((a, b) => Math.abs(b.product) - Math.abs(a.product));
  }

  // The score of the typical row, from which contributions lead to that of a row.
  typicalScore(plane, bias) {
    return plane.indices.reduce((sum, at, k) => sum + plane.weights[k] * typical[at], bias);
  }

  leaf(row, tree) {
    return this.arrays.leaves[row * nTrees + tree];
  }

  // Rows that reach a node, by the ways that the model sent them.
  reaching(tree, node) {
    const isBelow = new Uint8Array(tree.nNodes);
    isBelow[node] = 1;
    for (let at = node + 1; at < tree.nNodes; at++) isBelow[at] = isBelow[tree.parent[at]] ? 1 : 0;
    const found = [];
    for (let row = 0; row < nShown; row++) if (isBelow[this.leaf(row, tree.number)]) found.push(row);
    return found;
  }

  truth(row) {
    if (!hasTruth) return null;
    return isClassifier ? this.arrays.truth[row] : this.outputsOf("truth", row);
  }

  predicted(row) {
    return isClassifier ? this.arrays.predicted[row] : this.outputsOf("predicted", row);
  }

  pushes(row) {
    const n = report.columns.length;
    return this.arrays.pushes.subarray(row * n, (row + 1) * n);
  }

  outputsOf(key, row) {
    return Array.from(this.arrays[key].subarray(row * nOutputs, (row + 1) * nOutputs));
  }

  isWrong(row) {
    return hasTruth && isClassifier && this.truth(row) !== this.predicted(row);
  }

  // How far off a row is: what its class lacks to certainty, or the length of the residual.
  badness(row) {
    if (!hasTruth) return 0;
    if (isClassifier)
      return 1 - this.arrays.probabilities[row * nOutputs + this.truth(row)] + (this.isWrong(row) ? 1 : 0);
    const [truth, said] = [this.truth(row), this.predicted(row)];
    return Math.hypot(...truth.map((value, k) => value - said[k]));
  }

  // What a tree says of a row: outputs, or probabilities of a linear leaf.
  saidBy(tree, row) {
    const leaf = this.leaf(row, tree.number);
    const outputs = tree.leafValues(leaf);
    if (!tree.isLinear) return outputs;
    const scores = outputs.map((value, k) => this.scores(tree.leafHyperplane(leaf, k), value, [row])[0]);
    return report.says === "probabilities" ? softmax(scores) : scores;
  }

  // The class that a tree votes for.
  labelBy(tree, row) {
    return this.arrays.labels
      ? this.arrays.labels[row * nTrees + tree.number]
      : largestOf(this.saidBy(tree, row));
  }

  // The leaf that the weights of the page send a row to.
  routed(tree, row) {
    let node = 0;
    while (!tree.isLeaf(node)) {
      const [score] = this.scores(tree.hyperplane(node), tree.bias(node), [row]);
      node = score >= 0 ? tree.right[node] : tree.left[node];
    }
    return node;
  }
}

const CORE_LANES = 32;
const NEVER = -1e100; // scores below are those of classes that no training row of a leaf had

// The sum over the lanes, in halves, each addition rounded to float32.
function folded(lanes) {
  for (let half = CORE_LANES / 2; half >= 1; half /= 2) {
    for (let i = 0; i < half; i++) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

let rowsRead = null;

function rowsOf() {
  rowsRead ??= readBlock("rows").then((arrays) => new RowsOfReport(arrays));
  return rowsRead;
}
