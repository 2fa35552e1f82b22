"""Names come out letter by letter, whatever is in them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.inspection.plotting.lettering import count, number, plain, shortened

ODD = ["$a$", "$x_1$ in $", r"\$5", "a_b", "_private", "<script>", "a\nb", "$\\frac$", "%d", "&lt;"]


def drawn(text: str) -> tuple[str, bool]:
    """What matplotlib makes of a text, and whether it takes it for mathematics."""
    figure = plt.figure()
    made = figure.text(0, 0, text)
    found = made._preprocess_math(made.get_text())
    plt.close(figure)
    return found


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_no_mathematics(name: str) -> None:
    text, is_mathematics = drawn(plain(name))
    assert not is_mathematics
    assert text.strip() == " ".join(name.split())


@pytest.mark.parametrize("name", ODD)
def test_odd_names_stay_in_legends(name: str) -> None:
    _, ax = plt.subplots()
    legend = ax.legend([ax.plot([0, 1])[0]], [plain(name)])
    assert len(legend.get_texts()) == 1


@given(st.text(max_size=60), st.integers(3, 40))
def test_shortened_names_keep_both_ends(text: str, longest: int) -> None:
    short = shortened(text, longest)
    assert len(short) <= longest
    if len(text) <= longest:
        assert short == text
    else:
        begin, end = short.split("…", 1) if text.count("…") == 0 else ("", "")
        assert text.startswith(begin)
        assert text.endswith(end)


def test_columns_that_differ_at_the_end_differ_when_shortened() -> None:
    names = [f"a long name of a measured quantity {number}" for number in (1, 2)]
    assert plain(names[0]) != plain(names[1])


def test_numbers_have_a_minus_sign_and_few_digits() -> None:
    assert number(-0.12345) == "−0.123"
    assert number(12.0) == "12"


def test_counts_are_in_groups() -> None:
    assert count(1234567.0) == "1,234,567"
