"""An ONNX graph under construction: operators as calls, names invented here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ONNX_OPSET = 18
ML_OPSET = 5
IR_VERSION = 10

INNER = "spinney/"
"""Begin of all names inside the graph; no input begins so."""


class Graph:
    """Nodes and constants; every value is known by its name.

    Parameters
    ----------
    onnx : module
        The onnx package, an optional need.
    """

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._uses_ml = False

    def constant(self, values: Any, dtype: Any = None) -> str:
        """Name of an array that is part of the model; equal small ones are kept once."""
        array = np.asarray(values, dtype=dtype)
        key = (array.dtype.str, array.shape, array.tobytes() if array.size <= 64 else b"")
        if array.size <= 64 and array.dtype.kind != "O" and key in self._known:
            return self._known[key]
        name = f"{INNER}c{len(self._constants)}"
        self._constants.append(self._tensor(array, name))
        self._known[key] = name
        return name

    def tensor(self, values: NDArray[Any]) -> Any:
        """An array as an attribute of a node."""
        return self._tensor(np.asarray(values), "")

    def _tensor(self, array: NDArray[Any], name: str) -> Any:
        if array.dtype.kind in "UO":
            text = [str(value).encode() for value in array.ravel()]
            string = self._onnx.TensorProto.STRING
            return self._onnx.helper.make_tensor(name, string, array.shape, text)
        return self._onnx.numpy_helper.from_array(np.require(array, requirements="C"), name)

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Name of the result of an operator of ai.onnx."""
        return self.ops(kind, 1, *inputs, **attributes)[0]

    def ops(self, kind: str, n_outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """Names of the results of an operator of several outputs."""
        names = [f"{INNER}v{len(self._nodes)}_{k}" for k in range(n_outputs)]
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, names, **attributes))
        return names

    def ml(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Name of the result of an operator of ai.onnx.ml."""
        self._uses_ml = True
        return self.op(kind, *inputs, domain="ai.onnx.ml", **attributes)

    def cast(self, value: str, dtype: Any) -> str:
        """`value` as another type."""
        return self.op("Cast", value, to=self.type_of(dtype))

    def type_of(self, dtype: Any) -> int:
        """ONNX's number of a numpy type; strings and objects are strings."""
        dtype = np.dtype(dtype)
        if dtype.kind in "UO":
            return int(self._onnx.TensorProto.STRING)
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(dtype))

    def axes(self, *numbers: int) -> str:
        """Whole numbers as a constant."""
        return self.constant(np.array(numbers, dtype=np.int64))

    def reshape(self, value: str, *shape: int) -> str:
        """`value` in another shape; 0 keeps an axis, -1 is what is left."""
        return self.op("Reshape", value, self.axes(*shape))

    def last_of_cumsum(self, value: str, axis: int) -> str:
        """Sum over an axis in its order: that of ReduceSum is left to the runtime."""
        sums = self.op("CumSum", value, self.constant(np.int64(axis)))
        return self.op("Gather", sums, self.constant(np.int64(-1)), axis=axis)

    def model(self, inputs: list[Any], outputs: list[tuple[str, str, Any]], about: str) -> Any:
        """The finished model; outputs are given as name, value and description."""
        for name, value, _ in outputs:
            self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "spinney", inputs, [info for _, _, info in outputs], self._constants
        )
        opsets = [helper.make_opsetid("", ONNX_OPSET)]
        if self._uses_ml:
            opsets.append(helper.make_opsetid("ai.onnx.ml", ML_OPSET))
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="spinney"
        )
        model.doc_string = about
        return model
