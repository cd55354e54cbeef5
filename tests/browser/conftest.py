"""A real server and a real browser.

Every page that a test opens through `new_page` or `page` is watched: a console error, a page error,
an answer of 400 or above, or a request to any other machine fails the test.
"""

import functools
import os
import re
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

import pytest

from tests.browser.dashboard import PATIENCE, running_server

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Streamlit asks for these two under the address of a deep link before it finds its own root.
EXPECTED_404 = re.compile(r"/[^/]+/_stcore/(health|host-config)$")
TRAINING = {"test_class", "test_home", "test_live_run", "test_server"}
REPORT = pytest.StashKey[pytest.TestReport]()


def pytest_collection_modifyitems(items):
    """Everything here needs a browser; what trains fills a core, so these files take turns."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            turn = "training" if item.path.stem in TRAINING else item.path.stem
            item.add_marker(pytest.mark.xdist_group(turn))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        item.stash[REPORT] = report
    return report


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The server that all browser tests share."""
    with running_server(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.fixture
def start_server(tmp_path):
    """Return a context manager that starts one more server; same folders at every start."""
    return lambda *options, **more: running_server(
        tmp_path, *options, environment={**os.environ, **more}
    )


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium or Chrome; without one, skip, but fail in CI."""
    playwright_api = pytest.importorskip("playwright.sync_api")
    finder = [sys.executable, str(Path(__file__).with_name("find_browser.py"))]
    path = subprocess.run(finder, capture_output=True, text=True, check=False).stdout.strip()
    if not path:
        reason = (
            "no Chromium or Chrome on this machine: install one, or set B2G_BROWSER to its path"
        )
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    is_root = getattr(os, "geteuid", lambda: 1)() == 0
    with playwright_api.sync_playwright() as playwright:
        flags = FLAGS + (["--no-sandbox"] if is_root else [])
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=flags)
        yield browser
        browser.close()


class Watch:
    """Notes what a page must not do."""

    def __init__(self, page, url):
        self.problems = []
        self.own = (url, url.replace("http", "ws", 1), "data:", "blob:", "about:", "chrome-error:")
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("console", self.on_console)
        page.on("response", self.on_response)
        page.on("request", self.on_request)

    def on_console(self, message):
        source = (message.location or {}).get("url", "")
        if message.type == "error" and not EXPECTED_404.search(source):
            self.problems.append(f"console: {message.text} ({source})")

    def on_response(self, response):
        path = urllib.parse.urlsplit(response.url).path
        if response.status >= 400 and not EXPECTED_404.search(path):
            self.problems.append(f"answer {response.status}: {response.url}")

    def on_request(self, request):
        if not request.url.startswith(self.own):
            self.problems.append(f"foreign request: {request.url}")


def wait_until_true(page, expression, timeout=1000 * PATIENCE):
    """Ask the page again and again until a JavaScript expression holds.

    Playwright's own wait_for_function compiles text inside the page, which the content security
    policy of the server forbids.
    """
    deadline = time.monotonic() + timeout / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, f"never true within {timeout} ms: {expression}"
        page.wait_for_timeout(50)


@pytest.fixture
def new_page(browser, server, request):
    """Return new_page(width, height, lang, theme, url): a watched page in its own context.

    `page.watch.problems` is emptied by a test that means to cause one (a server that is stopped).
    """
    contexts = []

    def make(width=1366, height=768, lang="en", theme="light", url=None):
        context = browser.new_context(
            base_url=url or server.url,
            viewport={"width": width, "height": height},
            locale={"en": "en-US", "zh": "zh-CN"}[lang],
            color_scheme=theme,
            reduced_motion="reduce",
            accept_downloads=True,
        )
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        page.lang = lang
        page.until = functools.partial(wait_until_true, page)
        page.watch = Watch(page, url or server.url)
        contexts.append((context, page))
        return page

    yield make
    failed = getattr(request.node.stash.get(REPORT, None), "failed", False)
    problems = []
    for number, (context, page) in enumerate(contexts):
        if failed and not page.is_closed():
            save_screenshot(page, f"failed-{request.node.name}-{number}")
        problems += page.watch.problems
        context.close()
    assert problems == []


@pytest.fixture
def page(new_page):
    """One English page of 1366x768, light."""
    return new_page()


def wait_until_ready(page):
    """Wait until the script has run to its end without an exception on the page."""
    selector = '[data-testid="stApp"][data-test-script-state="notRunning"]'
    page.wait_for_selector(selector)
    assert page.get_by_test_id("stException").count() == 0, "the page shows an exception"


@pytest.fixture
def ready():
    """Return ready(page): wait until the script has run to its end."""
    return wait_until_ready


@pytest.fixture
def visit():
    """Return visit(page, path, **query): open an address and wait until it is ready."""

    def go(page, path="/", **query):
        query = {**({"lang": "zh"} if page.lang == "zh" else {}), **query}
        page.goto(f"{path}?{urllib.parse.urlencode(query)}" if query else path)
        wait_until_ready(page)
        return page

    return go


def save_screenshot(page, name, **options):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    path = SCREENSHOTS / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)}.png"
    page.screenshot(path=path, **options)
    return path


@pytest.fixture
def screenshot():
    """Return screenshot(page, name): keep a picture in build/screenshots."""
    return save_screenshot


@pytest.fixture
def fresh(start_server):
    """A server of its own, on which nothing was ever trained."""
    with start_server() as server:
        yield server
