"""Tables as they are: columns of any kind become the float32 coordinates that trees read."""

from spinney.data.tables.cells import CellReader, cell_readers
from spinney.data.tables.columns import Column, object_column
from spinney.data.tables.direct import has_names, plain_numbers
from spinney.data.tables.encoding import (
    KINDS,
    NO_FLAG,
    Coordinate,
    Matrix,
    ReadColumn,
    TableEncoding,
    encoding_of_numbers,
)
from spinney.data.tables.holes import (
    Holes,
    MissingValuesWarning,
    is_news,
    new_holes,
    one_warning,
    warned_once,
    with_typical,
)
from spinney.data.tables.learn import encode_training, learn_matrix, learn_table
from spinney.data.tables.levels import Levels
from spinney.data.tables.roles import (
    category_mask,
    check_categorical_features,
    declared_mask,
    names_columns,
)
from spinney.data.tables.table import (
    Table,
    check_is_table,
    frame_names,
    holds_numbers,
    label_of,
    read_table,
    unbatched,
)
from spinney.data.tables.texts import check_texts, look_at
from spinney.data.tables.typical import TypicalRow, typical_of_numbers, typical_of_table

__all__ = [
    "KINDS",
    "NO_FLAG",
    "CellReader",
    "Column",
    "Coordinate",
    "Holes",
    "Levels",
    "Matrix",
    "MissingValuesWarning",
    "ReadColumn",
    "Table",
    "TableEncoding",
    "TypicalRow",
    "category_mask",
    "cell_readers",
    "check_categorical_features",
    "check_is_table",
    "check_texts",
    "declared_mask",
    "encode_training",
    "encoding_of_numbers",
    "frame_names",
    "has_names",
    "holds_numbers",
    "is_news",
    "label_of",
    "learn_matrix",
    "learn_table",
    "look_at",
    "names_columns",
    "new_holes",
    "object_column",
    "one_warning",
    "plain_numbers",
    "read_table",
    "typical_of_numbers",
    "typical_of_table",
    "unbatched",
    "warned_once",
    "with_typical",
]
