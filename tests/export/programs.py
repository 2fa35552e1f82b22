"""Exported C files, compiled and called."""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import shutil
import subprocess
import sys

import numpy as np
import pytest

STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
# What the pragmas of the file have to keep compilers from using.
FUSED = ["-mfma"] if platform.machine() in ("x86_64", "AMD64") else []


def compilers():
    """Commands of the C compilers that there are."""
    found = {name: [name] for name in ("gcc", "clang") if shutil.which(name)}
    if "clang" not in found and importlib.util.find_spec("ziglang"):
        found["clang"] = [sys.executable, "-m", "ziglang", "cc"]
    return found


needs_compiler = pytest.mark.skipif(not compilers(), reason="no C compiler")


def build(folder, text, command, name="library", flags=()):
    """A compiled library; warnings are errors."""
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text, encoding="ascii")
    done = subprocess.run(
        [*command, *STRICT, *flags, "-o", str(library), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(library))


class Program:
    """A compiled model with the interface of an estimator."""

    def __init__(self, library, name, model):
        self.library, self.name = library, name
        self.n_outputs = model._readout().forest.n_outputs

    def classes(self, X):
        return np.array([self._function("predict")(row) for row in addresses(X)])

    def numbers(self, X, function):
        out = np.empty((len(X), self.n_outputs))
        call = self._function(function, ctypes.c_void_p)
        for row, to in zip(addresses(X), addresses(out), strict=True):
            call(row, to)
        return out

    def label(self, number, kind):
        function = self.library[f"{self.name}_label"]
        function.restype = kind
        return function(number)

    def _function(self, what, *more):
        function = self.library[f"{self.name}_{what}"]
        function.argtypes = [ctypes.c_void_p, *more]
        return function


def addresses(matrix):
    """Where each row begins."""
    assert matrix.flags.c_contiguous
    return (matrix.ctypes.data + np.arange(len(matrix)) * matrix.strides[0]).tolist()
