"""How numbers are written as text, and what turns them into numbers.

Signs, currencies, units, digits in groups and decimal commas. What is advised for a column has to
be right for all of its cells: where two readings are possible, both are told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

#: A word behind numbers is their unit if so many of them differ; else "12 kg" may be a size.
LEAST_WITH_UNIT = 20

_SPACE = "[ \t\u00a0\u2007\u2009\u202f]"
_MINUS = "\u2212"
_SYMBOL = "[%\u2030$\u20ac\u00a3\u00a5]"
_CURRENCY = (
    "(?:usd|eur|gbp|chf|jpy|cny|inr|aud|cad|nzd|sek|nok|dkk|pln|czk|huf|rub|brl|mxn|zar|krw|try|"
    "sgd|hkd)"
)
_WORD = r"(?:[^\W\d_]|[\u00b0\u00b2\u00b3/])+\.?"
_ORDINALS = ("st", "nd", "rd", "th")
_DIGITS = (
    rf"(?:[0-9]{{1,3}}(?:(?:[,.'\u2019]|{_SPACE})[0-9]{{3}})+(?:[.,][0-9]+)?|"
    r"[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:e[+-]?[0-9]+)?"
)
_NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[+{_MINUS}-])?{_SPACE}?(?P<before>{_SYMBOL}|{_CURRENCY})?{_SPACE}?"
    rf"(?P<inner>[+{_MINUS}-])?(?P<digits>{_DIGITS}){_SPACE}?(?P<after>{_SYMBOL}|{_WORD})?"
    rf"(?P<trailing>[{_MINUS}-])?(?P<close>\))?",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_PLAIN_WITH_COMMA = re.compile(r"[+-]?(\d+,?\d*|,\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_ONE_SYMBOL = re.compile(_SYMBOL)

GROUPS, POINT, UNCLEAR = "groups", "point", "unclear"


@dataclass(frozen=True)
class Written:
    """One number as it is written.

    Attributes
    ----------
    digits : str
        With the marks between them, without exponent.
    unit : str
        What stands before or behind; empty if nothing does.
    is_negative_by : {"", "sign", "long", "trailing", "brackets"}
    """

    digits: str
    unit: str
    is_negative_by: str = ""

    @property
    def has_word(self) -> bool:
        """Whether the unit is a word, not a symbol as %."""
        return bool(self.unit) and not _ONE_SYMBOL.fullmatch(self.unit)

    def is_in(self, unit: str) -> bool:
        """Whether it is a number without a word, or with the word that is known to be a unit."""
        return not self.has_word or self.unit == unit


def is_plain(text: str, decimal: str = ".") -> bool:
    """Whether a text is a number as programs write it."""
    pattern = _PLAIN_WITH_COMMA if decimal == "," else _PLAIN
    return pattern.fullmatch(text.strip(" \t")) is not None


def read_number(text: str) -> Written | None:
    """A text as a number, whatever its unit; None if it is none."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    if found["before"] and found["after"]:
        return None
    signs = [found[part] for part in ("sign", "inner", "trailing", "open") if found[part]]
    digits = re.sub(r"e[+-]?\d+$", "", found["digits"], flags=re.IGNORECASE)
    # "2-" is a grade; "12.6-" is how some ledgers write a number below 0.
    if len(signs) > 1 or (found["trailing"] and digits.isdigit()):
        return None
    kind = "brackets" if found["open"] else "trailing" if found["trailing"] else ""
    if not kind and signs:
        kind = "long" if signs[0] == _MINUS else "sign"
    return Written(digits, found["before"] or found["after"] or "", kind)


def read_numbers(texts: Iterable[str]) -> dict[str, Written]:
    """Those of the texts that are numbers, whatever their units."""
    return {text: written for text in texts if (written := read_number(text)) is not None}


def common_unit(numbers: Mapping[str, Written], counts: Mapping[str, int]) -> str:
    """The word that is the unit of most cells, in a column of many numbers; empty if none is.

    Parameters
    ----------
    numbers : mapping from str to Written
        Those of the texts that are numbers.
    counts : mapping from str to int
        How often each text comes, also those that are no numbers.
    """
    n_cells, n_texts = Counter[str](), Counter[str]()
    for text, written in numbers.items():
        if written.has_word:
            n_cells[written.unit] += counts[text]
            n_texts[written.unit] += 1
    for unit, n in n_cells.most_common(1):
        is_many = n_texts[unit] > LEAST_WITH_UNIT
        if is_many and 2 * n > sum(counts.values()) and unit.lower() not in _ORDINALS:
            return unit
    return ""


def is_number(text: str, unit: str = "") -> bool:
    """Whether a text is a number, with a symbol, or with a word that is known to be its unit."""
    written = read_number(text)
    return written is not None and written.is_in(unit)


def how_to_read(texts: Collection[str]) -> str:
    """Code that makes numbers of the texts of a column, all of them numbers; or what to do first.

    Where two codes are given, the text says when each is right.
    """
    given = list(read_numbers(texts).items())
    marks = [written.digits for _, written in given]
    role, dots = _role_of_comma(marks), _roles(marks, ".")
    first = _steps_before_digits(given)
    if role == "":
        alone = [_take_out(".")] if GROUPS in dots and POINT not in dots else []
        code = _code([*first, *alone])
    elif role == GROUPS:
        code = _code([*first, _take_out(",")])
    elif role == POINT:
        points = [] if not dots or POINT in dots else [_take_out(".")]
        code = _code([*first, *points, '.str.replace(",", ".")'])
        code += ' (or read_csv(..., decimal=","%s))' % (', thousands="."' if points else "")
    elif role == UNCLEAR:
        code = (
            f"{_code([*first, _take_out(',')])} if the comma groups digits, "
            f"""{_code([*first, '.str.replace(",", ".")'])} if it is a decimal point"""
        )
    else:
        code = (
            "writing all numbers alike first, as the comma groups digits in some cells and is a "
            f"decimal point in others, then {_code([])}"
        )
    return _with_one_unit(given, code)


def may_be_decimal_comma(texts: Iterable[str]) -> bool:
    """Whether commas in the numbers of a column are, or may be, decimal points."""
    digits = [written.digits for written in read_numbers(texts).values()]
    return _role_of_comma(digits) in (POINT, UNCLEAR)


def _code(steps: Iterable[str]) -> str:
    return f'pd.to_numeric(column{"".join(steps)}, errors="coerce")'


def _take_out(mark: str) -> str:
    return f'.str.replace("{mark}", "")'


def _steps_before_digits(given: list[tuple[str, Written]]) -> list[str]:
    """What has to be done before the marks between digits are looked at, in this order."""
    signs = {written.is_negative_by for _, written in given}
    inside = "".join(text if not is_plain(text) else "" for text, _ in given)
    steps = []
    if re.search(r"\s", inside):
        steps.append(r'.str.replace(r"\s", "", regex=True)')
    if _MINUS in inside:
        steps.append(r'.str.replace("\u2212", "-")')
    if "brackets" in signs:
        steps.append(r'.str.replace(r"^\((.*)\)$", r"-\1", regex=True)')
    if "trailing" in signs:
        steps.append(r'.str.replace(r"^(.+)-$", r"-\1", regex=True)')
    units = sorted({written.unit for _, written in given if written.unit}, key=_longest_first)
    steps += [_take_out(unit) for unit in units]
    steps += [_take_out(mark) for mark in "'\u2019" if mark in inside]
    return steps


def _longest_first(unit: str) -> tuple[int, str]:
    return -len(unit), unit


def _with_one_unit(given: list[tuple[str, Written]], code: str) -> str:
    """The advice, with a word of warning if cells differ in their unit: 12% may be 0.12."""
    examples: dict[str, str] = {}
    for text, written in given:
        examples.setdefault(written.unit, text)
    if len(examples) < 2:
        return code
    one, other = [examples[unit] for unit in sorted(examples)][:2]
    return f"bringing {one!r} and {other!r} to one unit, or, if they have one, {code}"


def _role_of_comma(digits: Collection[str]) -> str:
    """What commas are for: nothing, "groups", "point", "unclear", or "both" by turns."""
    commas, dots = _roles(digits, ","), _roles(digits, ".")
    if not commas:
        return ""
    if {GROUPS, POINT} <= commas:
        return "both"
    if GROUPS in commas or POINT in commas:
        return GROUPS if GROUPS in commas else POINT
    if {GROUPS, POINT} & dots:
        return GROUPS if POINT in dots else POINT
    return UNCLEAR


def _roles(digits: Collection[str], mark: str) -> set[str]:
    """For what a mark stands in digits, as far as these show: 1,234 alone shows nothing."""
    here, there = re.escape(mark), re.escape("," if mark == "." else ".")
    groups = re.compile(rf"\d{{1,3}}({here}\d{{3}}){{2,}}.*|\d{{1,3}}({here}\d{{3}})+{there}\d*")
    unclear = re.compile(rf"[1-9]\d{{0,2}}{here}\d{{3}}")
    found = set[str]()
    for text in digits:
        if mark in text:
            is_groups, is_unclear = groups.fullmatch(text), unclear.fullmatch(text)
            found.add(GROUPS if is_groups else UNCLEAR if is_unclear else POINT)
    return found
