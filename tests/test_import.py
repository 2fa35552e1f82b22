"""What `import spinney` brings, and what waits until it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import spinney


def test_explanations_are_imported_when_they_are_asked_for() -> None:
    program = (
        "import sys, spinney; name = 'spinney.inspection.explanations'; "
        "assert name not in sys.modules; spinney.explain; assert name in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_all_public_names_are_there_and_no_others() -> None:
    assert set(spinney.__all__) <= set(dir(spinney))
    assert all(hasattr(spinney, name) for name in spinney.__all__)
    with pytest.raises(AttributeError, match="module 'spinney' has no attribute 'nothing'"):
        spinney.nothing  # noqa: B018
