"""From the columns of a table to the coordinates that trees read, as C.

A program gets one double a column. Texts become numbers by a search among the levels that the file
lists; NaN is missing.
"""

from __future__ import annotations

import numpy as np

from spinney.data.tables import Levels, TableEncoding
from spinney.export.c.literals import escape, string
from spinney.export.c.tables import Tables

DECLARATIONS = """\
#define NAME_N_COLUMNS COUNT

/* Coordinates x, NAME_N_FEATURES of them, of a row of NAME_N_COLUMNS numbers. NaN is missing. Dates
 * are days since 1970-01-01 UTC, durations days, texts what NAME_level says of them. */
void NAME_encode(const double *columns, float *x);
/* Number of a text in a column of texts; -1 if it was not in training. */
int NAME_level(int column, const char *text);
"""

LEVEL = """\
static int NAME_is_same(const char *one, const char *other)
{
    for (; *one == *other; ++one, ++other)
        if (*one == 0)
            return 1;
    return 0;
}

int NAME_level(int column, const char *text)
{
    const char *const *known = NULL;
    int n_known = 0, place;
    switch (column) {
CASES\
    default: break;
    }
    for (place = 0; place < n_known; ++place)
        if (NAME_is_same(known[place], text))
            return place;
    return -1;
}
"""

NO_LEVEL = """\
int NAME_level(int column, const char *text)
{
    (void)column;
    (void)text;
    return -1;
}
"""

CASE = "    case COLUMN: known = NAME_text_COLUMN; n_known = COUNT; break;\n"

PLACE = """\
/* Place of a number among levels, -1 if it is none. */
static int NAME_place(const double *levels, int n_levels, double value)
{
    int place;
    for (place = 0; place < n_levels; ++place)
        if (levels[place] == value)
            return place;
    return -1;
}
"""

NUMBER = """\
    x[FIRST] = columns[COLUMN] == columns[COLUMN] ? (float)(columns[COLUMN] - ORIGIN) : FILL;
"""

FLAG = """\
    x[FIRST] = columns[COLUMN] == columns[COLUMN] ? 0.0f : 1.0f;
"""

LEVELS = """\
    {
        const double value = columns[COLUMN];
        const int is_missing = value != value;
        const int place = is_missing ? -1 : PLACE_OF;
        const int own = place >= 0 && place < COUNT ? (int)NAME_own_COLUMN[place] : -1;
        int k;
        for (k = 0; k < WIDTH; ++k)
            x[FIRST + k] = 0.0f;
        if (own >= 0)
            x[FIRST + own] = 1.0f;
REST\
MEANS\
    }
"""

REST = """\
        if (own < 0 && !is_missing)
            x[FIRST + N_OWN] = 1.0f;
"""

MEANS = """\
        for (k = 0; k < N_MEANS; ++k) {
            const int is_known = place >= 0 && place < COUNT;
            const int row = is_missing ? COUNT : is_known ? place : COUNT + 1;
            x[FIRST + N_ONES + k] = NAME_mean_COLUMN[N_MEANS * row + k];
        }
"""


def encode_functions(tables: Tables, encoding: TableEncoding) -> str:
    """Functions that turn columns into coordinates; adds the tables that they read."""
    body = "".join(_column(tables, column, encoding) for column in range(encoding.n_columns))
    encode = f"void NAME_encode(const double *columns, float *x)\n{{\n{body}}}\n"
    texts = [j for j in encoding.levels if encoding.kind(j) == "text_levels"]
    cases = "".join(
        CASE.replace("COLUMN", str(j)).replace("COUNT", str(len(_listed(encoding.levels[j]))))
        for j in texts
    )
    parts = [LEVEL.replace("CASES", cases) if texts else NO_LEVEL]
    if "NAME_place(" in body:
        parts.append(PLACE)
    return "\n".join([*parts, encode])


def text_tables(prefix: str, encoding: TableEncoding) -> str:
    """The texts of all levels, as arrays of strings."""
    arrays = []
    for column, levels in encoding.levels.items():
        if encoding.kind(column) != "text_levels":
            continue
        texts = [str(level) for level in _listed(levels)]
        _check_texts(texts, encoding, column)
        lines = "\n".join(f"    {string(text)}," for text in texts)
        name = f"{prefix}_text_{column}"
        arrays.append(f"static const char *const {name}[{len(texts)}] = {{\n{lines}\n}};")
    return "\n".join(arrays)


def described(encoding: TableEncoding) -> list[str]:
    """A line a column, for the comment at the top."""
    names = encoding.names or tuple(f"x{j}" for j in range(encoding.n_columns))
    return [
        f"  columns[{j}] {escape(name)}: {encoding.kind(j).replace('_', ' ')}"
        for j, name in enumerate(names)
    ]


def _column(tables: Tables, column: int, encoding: TableEncoding) -> str:
    """Statements that write the coordinates of one column."""
    first, kind = int(encoding.first[column]), encoding.kind(column)
    text = ""
    if column in encoding.levels:
        text = _of_levels(tables, column, encoding)
    elif kind != "empty":
        fill = np.array([encoding.fill[column]], dtype=np.float32)
        text = NUMBER.replace("ORIGIN", _literal(encoding.origin[column]))
        text = text.replace("FILL", f"{_literal(float(fill[0]), 9)}f")
    text = text.replace("FIRST", str(first))
    if encoding.has_missing[column]:
        last = first + int(encoding.widths[column]) - 1
        text += FLAG.replace("FIRST", str(last))
    return text.replace("COLUMN", str(column))


def _of_levels(tables: Tables, column: int, encoding: TableEncoding) -> str:
    levels = encoding.levels[column]
    listed = _listed(levels)
    own_place = {level: place for place, level in enumerate(levels.own)}
    own = np.array([own_place.get(level, -1) for level in listed])
    tables.add_counts(f"own_{column}", own, is_signed=True)
    place = f"NAME_place(NAME_number_{column}, {len(listed)}, value)"
    if encoding.kind(column) == "text_levels":
        place = "(int)value"
    else:
        tables.add(f"number_{column}", np.array(listed, dtype=np.float64))
    n_ones = len(levels.own) + levels.has_rest
    means = ""
    if levels.n_outputs:
        tables.add(f"mean_{column}", levels.means.astype(np.float32))
        means = MEANS.replace("N_ONES", str(n_ones)).replace("N_MEANS", str(levels.n_outputs))
    rest = REST.replace("N_OWN", str(len(levels.own))) if levels.has_rest else ""
    text = LEVELS.replace("REST", rest).replace("MEANS", means)
    text = text.replace("PLACE_OF", place).replace("WIDTH", str(levels.width))
    return text.replace("COUNT", str(len(listed)))


def _listed(levels: Levels) -> tuple[str | float, ...]:
    """Levels that a program tells apart."""
    return levels.known or levels.own or (0.0,)  # an array in C is never empty


def _literal(value: float, digits: int = 17) -> str:
    text = f"{value:.{digits}g}"
    return text if "." in text or "e" in text else f"{text}.0"


def _check_texts(texts: list[str], encoding: TableEncoding, column: int) -> None:
    """Raise if a text cannot be a string in C."""
    for text in texts:
        if "\0" in text:
            name = f"x{column}" if encoding.names is None else encoding.names[column]
            raise ValueError(
                f"column {name!r} has the level {text!r}, but a string ends at a zero in C; give "
                "texts without zeros; try replacing them before fit."
            )
