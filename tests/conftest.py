"""Settings for the whole suite."""

import signal

import pytest
from hypothesis import settings

from spinney import Tree
from spinney.fitting.checkpoint import checkpoint

# A busy machine must not fail a test, so examples have no time limit.
settings.register_profile("spinney", deadline=None, print_blob=True)
settings.load_profile("spinney")

# A shell that starts the tests in the background has them ignore Ctrl-C, and a test that sends it
# would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Remember how many slow tests were left out, for `make test` to say."""
    n_slow = sum(item.get_closest_marker("slow") is not None for item in items)
    if n_slow and hasattr(items[0].config, "cache"):
        items[0].config.cache.set("spinney/n_slow_left_out", n_slow)


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the test fail if `fit` makes a tree before it has checked what it is given."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a tree was made")

    monkeypatch.setattr(Tree, "__init__", refuse)


@pytest.fixture
def always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint writes every state and every part at once, whatever it costs."""
    monkeypatch.setattr(checkpoint, "WRITING_SHARE", 1.0)
