"""The frame of the page: nothing from data is markup, and nothing is fetched."""

import base64
import hashlib
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spinney
from spinney.inspection.report.page import SCRIPTS, asset, escaped_json, page_parts
from tests.compat.models import classes, rows


def page(document=None):
    return b"".join(page_parts(document or {}, {})).decode()


@given(st.recursive(st.text() | st.integers() | st.booleans() | st.none(), st.lists, max_leaves=5))
def test_json_in_a_page_says_the_same_without_markup(value):
    text = escaped_json(value)
    assert json.loads(text) == value
    assert not re.search("[<>&\u2028\u2029]", text)


def test_numbers_that_json_lacks_become_null():
    value = {"a": float("nan"), "b": [float("inf"), 1.5]}
    assert json.loads(escaped_json(value)) == {"a": None, "b": [None, 1.5]}


@pytest.mark.parametrize(
    "word",
    [
        *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "srcdoc"),
        *("eval", "Function(", "fetch(", "XMLHttpRequest", "import(", "http:", "https:"),
    ],
)
def test_the_program_has_no_way_to_markup_or_network(word):
    program = "".join(asset(name) for name in SCRIPTS)
    program = program.replace('const SVG = "http://www.w3.org/2000/svg"', "")  # a name, not a place
    assert word not in program
    assert word not in asset("explorer.css")


def test_the_policy_allows_this_program_and_style_alone():
    text = page()
    policy = re.search('Content-Security-Policy" content="([^"]+)"', text)[1]
    [style] = re.findall("<style>(.*?)</style>", text, flags=re.DOTALL)
    [program] = re.findall("<script>(.*?)</script>", text, flags=re.DOTALL)
    for kind, part in (("script", program), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_every_asset_of_the_program_is_in_the_page():
    text = page()
    for name in SCRIPTS:
        assert asset(name) in text


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "</script>", "<!--", "\u2028", "&lt;"]
)
def test_names_add_no_markup_to_the_file(name, tmp_path):
    def report(label):
        X = pd.DataFrame(rows(), columns=["a", label, "c"])
        y = np.array(["x", label, "z"])[classes()]
        model = spinney.TAOTreeClassifier(max_depth=2, max_iter=2, random_state=0).fit(X, y)
        path = model.report(tmp_path / "r.html", X, y, baselines={label: 0.5})
        return path.read_text(encoding="utf-8")

    tags = "<[a-zA-Z/!][^ >]*"
    assert re.findall(tags, report(name)) == re.findall(tags, report("b"))
