"""The functions of an exported program, as text with NAME in place of its name."""

from __future__ import annotations

from spinney.tree.readout import Readout
from spinney.tree.ties import TIE_MARGIN

GUARDS = """\
#if defined(__FAST_MATH__)
#error "compile without -ffast-math: sums must be formed in the order that is written"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "float must be computed as float; on x86 compile with -msse2 -mfpmath=sse"
#endif
/* No fused multiply-add: it would round once where the library rounds twice. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
"""

FOLD = """\
/* Sum of the lanes, folded in halves: the order in which the library adds. */
static float NAME_fold(float *lanes)
{
    int half, i;
    for (half = NAME_LANES / 2; half > 0; half /= 2)
        for (i = 0; i < half; ++i)
            lanes[i] += lanes[i + half];
    return lanes[0];
}
"""

FULL_DOT = """\
/* w . x of hyperplane `row`. */
static float NAME_WHAT_dot(const float *x, int32_t row)
{
    float lanes[NAME_LANES] = {0};
    const TYPE *w = NAME_WHAT_w + (size_t)row * NAME_N_FEATURES;
    int j;
    for (j = 0; j < NAME_N_FEATURES; ++j)
        lanes[j % NAME_LANES] += (float)w[j] * x[j];
    return NAME_fold(lanes);
}
"""

SPARSE_DOT = """\
/* w . x of hyperplane `row`. */
static float NAME_WHAT_dot(const float *x, int32_t row)
{
    float lanes[NAME_LANES] = {0};
    size_t k;
    for (k = NAME_WHAT_begin[row]; k < NAME_WHAT_begin[row + 1]; ++k)
        lanes[NAME_WHAT_column[k] % NAME_LANES] += (float)NAME_WHAT_w[k] * x[NAME_WHAT_column[k]];
    return NAME_fold(lanes);
}
"""

FULL_EXACT = """\
/* The same in double, for sums that overflow float. */
static double NAME_WHAT_exact(const float *x, int32_t row)
{
    double sum = 0.0;
    const TYPE *w = NAME_WHAT_w + (size_t)row * NAME_N_FEATURES;
    int j;
    for (j = 0; j < NAME_N_FEATURES; ++j)
        sum += (double)x[j] * (double)w[j];
    return sum;
}
"""

SPARSE_EXACT = """\
/* The same in double, for sums that overflow float. */
static double NAME_WHAT_exact(const float *x, int32_t row)
{
    double sum = 0.0;
    size_t k;
    for (k = NAME_WHAT_begin[row]; k < NAME_WHAT_begin[row + 1]; ++k)
        sum += (double)NAME_WHAT_w[k] * (double)x[NAME_WHAT_column[k]];
    return sum;
}
"""

LEAF = """\
/* Leaf that a row reaches below `at`; a negative number n is leaf -1 - n. */
static int32_t NAME_leaf(const float *x, int32_t at)
{
    while (at >= 0)
        at = NAME_child[2 * at + (SCORE >= NAME_limit[at])];
    return -1 - at;
}
"""

NO_SPLITS = """\
/* No tree has a split. */
static int32_t NAME_leaf(const float *x, int32_t at)
{
    (void)x;
    return -1 - at;
}
"""

SCORES = """\
/* Scores of a linear leaf. */
static void NAME_scores(const float *x, int32_t leaf, double *out)
{
    int k;
    for (k = 0; k < NAME_N_OUTPUTS; ++k) {
        const int32_t row = leaf * NAME_N_OUTPUTS + k;
        double sum = (double)NAME_linear_dot(x, row);
        if (!(sum >= -FLT_MAX && sum <= FLT_MAX))
            sum = NAME_linear_exact(x, row);
        out[k] = sumSCALE + (double)NAME_value[row];
    }
}
"""

CONSTANTS = """\
static void NAME_scores(const float *x, int32_t leaf, double *out)
{
    int k;
    (void)x;
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        out[k] = (double)NAME_value[leaf * NAME_N_OUTPUTS + k];
}
"""

LARGEST = """\
/* Place of the largest number, the first of equals. */
static int NAME_largest(const double *values)
{
    int best = 0, k;
    for (k = 1; k < NAME_N_OUTPUTS; ++k)
        if (values[k] > values[best])
            best = k;
    return best;
}
"""

SOFTMAX = """\
/* exp(x) for -700 <= x <= 0 by the series of the library: the same bits everywhere. */
static double NAME_exp(double x)
{
    static const double factorials[11] = {3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0,
                                          24.0, 6.0, 2.0, 1.0, 1.0};
    const double shift = 6755399441055744.0; /* adding it rounds to a whole number */
    union { double value; uint64_t bits; } shifted, power;
    double k, r, series = 1.0 / 39916800.0;
    int i;
    shifted.value = x * 1.4426950408889634 + shift;
    k = shifted.value - shift;
    r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    for (i = 0; i < 11; ++i)
        series = series * r + 1.0 / factorials[i];
    power.bits = (shifted.bits + 1023U) << 52;
    return series * power.value;
}

/* Scores to probabilities. */
static void NAME_softmax(double *values)
{
    double largest = values[0], total = 0.0;
    int k;
    for (k = 1; k < NAME_N_OUTPUTS; ++k)
        if (values[k] > largest)
            largest = values[k];
    for (k = 0; k < NAME_N_OUTPUTS; ++k) {
        const double below = values[k] - largest;
        values[k] = below < -700.0 ? 0.0 : NAME_exp(below);
    }
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        total += values[k];
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        values[k] /= total;
}
"""

POWERS = """\
/* log(x) for a positive, normal x by the series of the library. */
static double NAME_log(double x)
{
    union { double value; uint64_t bits; } part;
    double exponent, s, series = 0.0;
    int k;
    part.value = x;
    exponent = (double)(part.bits >> 52) - 1023.0;
    part.bits = (part.bits & 0xFFFFFFFFFFFFFU) | 0x3FF0000000000000U;
    if (part.value > 1.41421356237309504880) {
        part.value *= 0.5;
        exponent += 1.0;
    }
    s = (part.value - 1.0) / (part.value + 1.0);
    for (k = 21; k >= 1; k -= 2)
        series = series * (s * s) + 1.0 / k;
    return exponent * 0.693147180369123816490
        + (exponent * 1.90821492927058770002e-10 + 2.0 * s * series);
}

/* Votes to powers of them, as shares of their sum. */
static void NAME_powers(double *values, double shift, double slope)
{
    int k;
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        values[k] = slope * NAME_log(values[k] + shift);
    NAME_softmax(values);
}
"""

SHARES = """\
/* Numbers to shares of their sum. */
static void NAME_shares(double *values)
{
    double total = 0.0;
    int k;
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        total += values[k];
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        values[k] /= total;
}
"""

NEAREST = """\
/* Scores to the nearest probabilities: some constant less, and at least zero. */
static void NAME_nearest(double *values)
{
    double ordered[NAME_N_OUTPUTS], largest = values[0], sum = 0.0, threshold = 0.0;
    int k, i, n_positive = 0;
    for (k = 1; k < NAME_N_OUTPUTS; ++k)
        if (values[k] > largest)
            largest = values[k];
    for (k = 0; k < NAME_N_OUTPUTS; ++k) {
        values[k] -= largest;
        for (i = k; i > 0 && ordered[i - 1] < values[k]; --i)
            ordered[i] = ordered[i - 1];
        ordered[i] = values[k];
    }
    for (k = 0; k < NAME_N_OUTPUTS; ++k) {
        sum += ordered[k];
        n_positive += ordered[k] * (k + 1) > sum - 1.0;
    }
    sum = 0.0;
    for (k = 0; k < n_positive; ++k)
        sum += ordered[k];
    threshold = (sum - 1.0) / n_positive;
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        values[k] = values[k] - threshold > 0.0 ? values[k] - threshold : 0.0;
    NAME_shares(values);
}
"""

VOTES = """\
/* Weight of the trees that vote for each class. */
static void NAME_totals(const float *x, double *out)
{
    int k, t;
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        out[k] = 0.0;
    for (t = 0; t < NAME_N_TREES; ++t)
        out[NAME_label_of[NAME_leaf(x, NAME_root[t])]] += WEIGHT;
}
"""

LINEAR_VOTES = """\
/* Weight of the trees that vote for each class. */
static void NAME_totals(const float *x, double *out)
{
    double said[NAME_N_OUTPUTS];
    int k, t;
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        out[k] = 0.0;
    for (t = 0; t < NAME_N_TREES; ++t) {
        NAME_scores(x, NAME_leaf(x, NAME_root[t]), said);
        out[NAME_largest(said)] += WEIGHT;
    }
}
"""

SUMS = """\
/* What the trees say, summed in their order. */
static void NAME_totals(const float *x, double *out)
{
    double said[NAME_N_OUTPUTS];
    int k, t;
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        out[k] = 0.0;
    for (t = 0; t < NAME_N_TREES; ++t) {
        NAME_scores(x, NAME_leaf(x, NAME_root[t]), said);
PROBABILITIES\
        for (k = 0; k < NAME_N_OUTPUTS; ++k)
            out[k] += WEIGHT * said[k];
    }
OFFSETS\
}
"""

FILLED_TOTALS = """\
/* The same of a row with NaN, which counts as what is typical of its column. */
static void NAME_totals(const float *x, double *out)
{
    float filled[NAME_N_FEATURES];
    int j, n_missing = 0;
    for (j = 0; j < NAME_N_FEATURES; ++j)
        n_missing += x[j] != x[j];
    if (n_missing > 0) {
        for (j = 0; j < NAME_N_FEATURES; ++j)
            filled[j] = x[j] == x[j] ? x[j] : NAME_typical[j];
        x = filled;
    }
    NAME_sums(x, out);
}
"""

ADD_OFFSETS = """\
    for (k = 0; k < NAME_N_OUTPUTS; ++k)
        out[k] += NAME_offset[k];
"""

PREDICT_CLASS = """\
int NAME_predict(const float *x)
{
    double totals[NAME_N_OUTPUTS];
    NAME_totals(x, totals);
REJECT\
    return NAME_largest(totals);
}

void NAME_predict_proba(const float *x, double *out)
{
    NAME_totals(x, out);
FINISH\
}

LABEL_TYPENAME_label(int number)
{
    static LABEL_ARRAY labels[LABEL_COUNT] = {
@LABELS@
    };
    return labels[number];
}
"""

PREDICT_NUMBERS = """\
void NAME_predict_values(const float *x, double *out)
{
    NAME_totals(x, out);
FINISH\
}
"""

REJECT = f"""\
    {{
        const double most = totals[NAME_largest(totals)];
        int n_best = 0, k;
        for (k = 0; k < NAME_N_OUTPUTS; ++k)
            n_best += totals[k] >= {1 - TIE_MARGIN:.17g} * most;
        if (n_best > 1)
            return NAME_N_OUTPUTS;
    }}
"""

MEAN = """\
    {
        int k;
        for (k = 0; k < NAME_N_OUTPUTS; ++k)
            out[k] /= NAME_N_TREES;
    }
"""

SCALED = """\
    {
        int k;
        for (k = 0; k < NAME_N_OUTPUTS; ++k)
            out[k] *= SLOPE;
    }
"""

FINISHES = {
    "identity": "",
    "mean": MEAN,
    "shares": "    NAME_shares(out);\n",
    "powers": "    NAME_powers(out, SHIFT, SLOPE);\n",
    "softmax": "    NAME_softmax(out);\n",
    "nearest": "    NAME_nearest(out);\n",
}


def finish_of(readout: Readout) -> str:
    """Lines that turn totals into probabilities or the numbers to predict."""
    lines = FINISHES[readout.finish]
    if readout.finish == "softmax" and readout.slope != 1:
        lines = SCALED + lines
    return lines.replace("SHIFT", f"{readout.shift:.17g}").replace("SLOPE", f"{readout.slope:.17g}")


def dot_functions(what: str, kind: str, *, is_sparse: bool, is_exact: bool) -> str:
    """Functions that multiply a row with the hyperplanes called `what`."""
    parts = [SPARSE_DOT if is_sparse else FULL_DOT]
    if is_exact:
        parts.append(SPARSE_EXACT if is_sparse else FULL_EXACT)
    return "\n".join(parts).replace("WHAT", what).replace("TYPE", kind)


def total_function(readout: Readout, *, is_linear: bool) -> str:
    """The function that adds up what the trees say."""
    weight = "NAME_tree_weight[t]" if (readout.tree_weights != 1).any() else "1.0"
    if readout.says == "label":
        return (LINEAR_VOTES if is_linear else VOTES).replace("WEIGHT", weight)
    text = SUMS.replace("1.0 * ", "") if weight == "1.0" else SUMS
    is_softmax = readout.says == "probabilities" and is_linear
    text = text.replace("PROBABILITIES", "        NAME_softmax(said);\n" if is_softmax else "")
    text = text.replace("OFFSETS", ADD_OFFSETS if readout.offsets.any() else "")
    return text.replace("WEIGHT * ", "" if weight == "1.0" else f"{weight} * ")
