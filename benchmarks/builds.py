"""Several builds of the library, each in a process of its own, asked the same in turns.

A script that compares builds starts itself once more for each of them with ``--serve``; the
process answers one question a line, given and answered as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_spec = importlib.util.find_spec("spinney")
assert _spec is not None
assert _spec.origin is not None
#: The library that this process would import.
HERE = Path(_spec.origin).parents[1]


class Build:
    """A process with one build of the library; `source` is the folder with the package."""

    def __init__(self, script: str, source: Path) -> None:
        # Idle threads of BLAS would be counted as processor time of this process.
        alone = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(source.resolve())}
        self._process = subprocess.Popen(
            [sys.executable, script, "--serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | alone,
        )  # fmt: skip

    def ask(self, *question: Any) -> Any:
        """Its answer to a question."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process, and give back its memory."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve(answer: Callable[..., Any]) -> None:
    """Answers questions until there are no more."""
    for line in sys.stdin:
        print(json.dumps(answer(*json.loads(line))), flush=True)


def seconds_of(run: Callable[[], object], least: float = 0.05) -> float:
    """Processor time of one run, the mean over as many as take a while."""
    count, began = 0, time.process_time()  # other people's work is not counted
    while count == 0 or time.process_time() - began < least:
        run()
        count += 1
    return (time.process_time() - began) / count
