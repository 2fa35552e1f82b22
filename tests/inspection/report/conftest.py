"""One browser for all tests of the page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Opened:
    """A page in the browser, and what it did that it should not do."""

    page: Any
    complaints: list[str] = field(default_factory=list)

    def ask(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def texts(self, selector: str) -> list[str]:
        return self.page.locator(selector).all_inner_texts()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; try apt install chromium")
    playwright_api = pytest.importorskip("playwright.sync_api")
    home = tmp_path_factory.mktemp("browser")
    with playwright_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, env={"HOME": str(home)}
        )
        yield started
        started.close()


@pytest.fixture
def open_report(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open a file, by itself and without a network; complaints fail the test at its end."""
    opened: list[Opened] = []

    def open_page(path: Path, view: str = "overview", width: int = 1200, **options: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        found = Opened(context.new_page())
        opened.append(found)
        found.page.set_default_timeout(20_000)
        complain = found.complaints.append
        found.page.on("console", lambda message: complain(f"console: {message.text}"))
        found.page.on("pageerror", lambda error: complain(f"error: {error}"))
        found.page.on("dialog", lambda dialog: (complain("dialog"), dialog.dismiss()))

        def judge(route: Any) -> None:
            if route.request.url.split("#")[0] == path.as_uri():
                route.continue_()
            else:
                complain(f"request: {route.request.url[:100]}")
                route.abort()

        context.route("**/*", judge)
        found.page.goto(f"{path.as_uri()}#{view}")
        found.page.wait_for_selector("html[data-ready]")
        return found

    yield open_page
    for found in opened:
        found.page.context.close()
    assert [complaint for found in opened for complaint in found.complaints] == []
