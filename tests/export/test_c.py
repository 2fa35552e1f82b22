"""to_c, compiled and asked: the bits of the library, and names that break nothing."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from spinney import MissingValuesWarning, TAOForestClassifier, TAOTreeClassifier, to_c
from spinney.export.c.literals import escape
from spinney.export.c.tables import quantised
from spinney.export.export_forest import export_forest
from spinney.tree.forest import Forest
from tests.contracts.served import SERVED, fitted, rows_for, with_holes
from tests.export.programs import FUSED, Program, build, compilers, needs_compiler
from tests.export.trees import as_regressor, integer_rows, integer_tree, on_hyperplanes

MODELS = list(SERVED)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """All models in one file, by every compiler there is."""

    @cache
    def built(compiler):
        folder = tmp_path_factory.mktemp(compiler)
        text = "\n".join(to_c(fitted(name), name=f"m{k}").text for k, name in enumerate(MODELS))
        return build(folder, text, compilers()[compiler], flags=FUSED)

    return built


def test_clang_is_among_the_compilers():
    assert "clang" in compilers()


def test_a_source_shows_itself_in_one_short_line():
    source = to_c(fitted("soft forest"))
    n_lines = len(source.text.splitlines())
    wanted = f"CSource({n_lines:,} lines of C, {source.n_table_bytes:,} bytes of tables)"
    assert repr(source) == wanted
    assert str(source) == source.text


@needs_compiler
@pytest.mark.parametrize("name", ["wide linear tree", "samme", "fao regressor", "ho", "axis tree"])
def test_missing_values_are_filled_as_by_the_library(name, libraries):
    model, X = fitted(name), with_holes(rows_for(name))
    program = Program(libraries(next(iter(compilers()))), f"m{MODELS.index(name)}", model)
    is_classifier = hasattr(model, "classes_")
    found = program.numbers(X, "predict_proba" if is_classifier else "predict_values")
    with pytest.warns(MissingValuesWarning):
        wanted = model.predict_proba(X) if is_classifier else model.predict(X)[:, None]
    assert np.array_equal(found, wanted)


@needs_compiler
@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("name", MODELS)
def test_compiled_models_predict_the_same_bits(name, compiler, libraries):
    model, X = fitted(name), rows_for(name)
    if not name.startswith("refined"):  # scikit-learn's own checks of such rows warn
        X = np.concatenate([X, np.sign(X[:200]) * np.float32(3e38)])  # sums overflow
    program = Program(libraries(compiler), f"m{MODELS.index(name)}", model)
    if not hasattr(model, "classes_"):
        wanted = model.predict(X).reshape(len(X), -1)
        assert np.array_equal(program.numbers(X, "predict_values"), wanted)
        return
    names = [*model.classes_, getattr(model._readout(), "reject_label", None)]
    predicted = [names[number] for number in program.classes(X)]
    assert predicted == model.predict(X).tolist()
    assert np.array_equal(program.numbers(X, "predict_proba"), model.predict_proba(X))


@needs_compiler
def test_labels_are_those_of_the_classes(libraries):
    library = libraries(next(iter(compilers())))

    def labels(name, kind):
        program = Program(library, f"m{MODELS.index(name)}", fitted(name))
        return [program.label(number, kind) for number in range(program.n_outputs)]

    assert labels("tree", ctypes.c_char_p) == [b"ant", b"bee", b"cat"]
    assert labels("tree of int labels", ctypes.c_long) == [-2, 7, 40]
    assert labels("tree of bool labels", ctypes.c_long) == [0, 1]
    assert labels("tree of float labels", ctypes.c_double) == [0.0, 1.0, 2.0]
    rejecting = Program(library, f"m{MODELS.index('ho that rejects')}", fitted("ho that rejects"))
    assert rejecting.label(3, ctypes.c_char_p) == b"rejected"


@needs_compiler
@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("n_columns", [3, 16, 150])
def test_rows_on_and_near_hyperplanes_go_where_the_library_sends_them(
    n_columns, compiler, tmp_path
):
    rng = np.random.default_rng(n_columns)
    for kind in ("whole", "real"):
        draw = None if kind == "whole" else rng.normal
        tree = integer_tree(depth=3, n_columns=n_columns, seed=0, weights=draw)
        X = integer_rows(3000, n_columns, 1)
        X = on_hyperplanes(tree, X if kind == "whole" else (X * 0.37).astype(np.float32))
        huge = (X * np.float64(1e36)).clip(-3e38, 3e38).astype(np.float32)
        model = as_regressor(tree)
        # GCC fuses in its own dialect, Clang in any; 428 of the rows of 150 columns would differ.
        flags = ["-std=gnu99", *FUSED]
        library = build(tmp_path, to_c(model).text, compilers()[compiler], kind, flags)
        program = Program(library, "model", model)
        for rows in (X, huge):
            found = program.numbers(rows, "predict_values")[:, 0]
            assert found.tolist() == model.predict(rows).tolist()


@needs_compiler
def test_int8_weights_change_few_rows_and_a_quarter_of_the_size(tmp_path):
    X, y = make_classification(2000, 12, n_informative=8, n_classes=3, random_state=0)
    X = X.astype(np.float32)
    model = TAOForestClassifier(n_estimators=5, max_depth=5, max_iter=3, random_state=0).fit(X, y)
    short, long = to_c(model, weights="int8"), to_c(model)
    program = Program(build(tmp_path, short.text, next(iter(compilers().values()))), "model", model)
    assert np.mean(program.classes(X) != model.predict(X)) < 0.02
    assert short.table_bytes["split_w"] * 3 < long.table_bytes["split_w"]


@needs_compiler
@pytest.mark.parametrize("name", ["linear tree", "soft linear forest", "wide linear tree"])
def test_int8_linear_leaves_stay_near(name, tmp_path):
    model, X = fitted(name), rows_for(name)[:240]
    source = to_c(model, weights="int8")
    program = Program(
        build(tmp_path, source.text, next(iter(compilers().values()))), "model", model
    )
    change = np.abs(program.numbers(X, "predict_proba") - model.predict_proba(X))
    assert np.median(change.max(axis=1)) < 0.05


def test_codes_are_within_half_a_step():
    rows = export_forest(Forest.of(fitted("wide tree").tree_)).weights
    codes, scales = quantised(rows)
    assert abs(codes.data.astype(int)).max() == 127
    error = abs(codes.toarray() * scales[:, None].astype(float) - rows.toarray())
    assert (error <= 0.5001 * scales[:, None]).all()


@needs_compiler
def test_hostile_names_stay_in_strings_and_comments(tmp_path):
    pandas = pytest.importorskip("pandas")
    labels = ["*/ int x; /*", '"; int y; "', "??/", "\\", "NAME FINISH @TABLES@ LABELS", "ü\n%s"]
    X = pandas.DataFrame(np.eye(6, dtype=np.float32))
    X.columns = ["*/ #error", '"', "??/", "a\\", "@HEAD@", "\n#error"]
    model = TAOTreeClassifier(max_depth=3, alpha=0.001, random_state=0).fit(X, labels)
    library = build(tmp_path, to_c(model).text, next(iter(compilers().values())))
    program = Program(library, "model", model)
    found = [program.label(number, ctypes.c_char_p).decode() for number in range(6)]
    assert found == sorted(labels)


@given(st.text())
@settings(max_examples=200)
def test_escaped_text_holds_nothing_that_ends_a_string_or_comment(text):
    escaped = escape(text)
    assert escaped.isascii()
    assert not set(escaped) & set('"?*/\n\r')
    assert all(part[:3].isdigit() for part in escaped.split("\\")[1:])


@needs_compiler
def test_file_can_be_included_as_a_header(tmp_path):
    to_c(fitted("tree"), tmp_path / "model.c")
    main = '#define MODEL_ONLY_DECLARATIONS\n#include "model.c"\n#undef MODEL_ONLY_DECLARATIONS\n'
    text = main + '#include "model.c"\nint twice(const float *x) { return 2 * model_predict(x); }\n'
    text = text.replace("int twice", "int twice(const float *x);\nint twice")
    library = build(tmp_path, text, next(iter(compilers().values())), "main")
    assert library.twice


def test_no_library_function_is_called():
    for name in ("soft linear forest", "fao", "samme", "ho that rejects"):
        text = to_c(fitted(name)).text
        assert "malloc" not in text
        assert not set(_included(text)) - {"float.h", "stddef.h", "stdint.h"}


def _included(text):
    return [line.split("<")[1][:-1] for line in text.splitlines() if line.startswith("#include")]


def test_sizes_are_said():
    source = to_c(fitted("hard forest"))
    assert source.n_table_bytes == sum(source.table_bytes.values())
    assert f"Tables take {source.n_table_bytes} bytes" in str(source)


@pytest.mark.parametrize("name", ["", "2x", "a b", "x;y", "é", "_x", "x" * 40])
def test_names_that_c_refuses_are_refused(name):
    with pytest.raises(ValueError, match="cannot begin names in C"):
        to_c(fitted("tree"), name=name)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="weights="):
        to_c(fitted("tree"), weights="int4")
    with pytest.raises(TypeError, match="name="):
        to_c(fitted("tree"), name=3)
