"""Settings for the whole suite."""

import signal

import pytest
from hypothesis import settings

from spinney import Tree

# A busy machine must not fail a test, so examples have no time limit.
settings.register_profile("spinney", deadline=None, print_blob=True)
settings.load_profile("spinney")

# A shell that starts the tests in the background has them ignore Ctrl-C, and a test that sends it
# would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the test fail if `fit` makes a tree before it has checked what it is given."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a tree was made")

    monkeypatch.setattr(Tree, "__init__", refuse)
