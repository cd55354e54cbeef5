"""Every page as a reader sees it: two languages, two themes, a laptop and a projector."""

import re

import pytest

from pages.shared.navigation import PAGES
from tests.browser import seen

PATHS = {row.key: "/" if row is PAGES[0] else f"/{row.address}" for row in PAGES}
SIZES = [(1366, 768), (1024, 768)]
WORD = r"[A-Za-z][a-z'’-]+"
ENGLISH_SENTENCE = re.compile(rf"{WORD}(?:[ ,;:]+{WORD}){{3,}}")
VISIBLE_TEXT = """() => {
  const lines = [];
  for (const part of document.querySelectorAll("header, [data-testid=stMain]")) {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (parent.closest("code, pre, script, style, noscript, textarea, [lang=en]")) continue;
      if (parent.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
        lines.push(walker.currentNode.textContent.trim());
    }
  }
  return lines.filter(Boolean);
}"""
TEXT_SIZES = """() => [...document.querySelectorAll("[data-testid=stMain] p")]
  .filter((p) => p.checkVisibility() && p.textContent.trim())
  .map((p) => [parseFloat(getComputedStyle(p).fontSize), p.textContent])"""
# How bright the background is: 0 black, 255 white.
LUMINANCE = """(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue)(
  getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor.match(/\\d+/g))"""
# Every chart is drawn, and on the background of the page.
IN_THEME = """[...document.querySelectorAll(".js-plotly-plot")].every((chart) => {
  const drawing = chart.querySelector(".main-svg");
  return drawing && getComputedStyle(drawing).backgroundColor ===
    getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor;
})"""
# The tab of which each page's own test is that its picture stands on the first screen: on a laptop
# and on a projector.
FIRST_SCREENS = {
    "budget/model_sizes": ({"sizes_tab": "model"}, {"sizes_tab": "table"}),
    "budget/training_memory": ({}, {}),
    "budget/flops_and_time": ({"flops_tab": "rule"}, {"flops_tab": "ladder"}),
    "budget/serving": ({"serving_tab": "speed"}, {"serving_tab": "memory"}),
    "budget/parallelism": ({}, {}),
    "budget/what_fits": ({}, {}),
    "dtypes/quantization": ({}, {}),
}


def settle(page):
    """Wait until the pictures of a page have been drawn: no skeleton, no spinner."""
    for name in ("stSkeleton", "stSpinner"):
        page.until(
            f"document.querySelectorAll('[data-testid={name}]').length === 0", timeout=60_000
        )


@pytest.fixture
def drawn(new_page, visit):
    """Return drawn(key, width, height, lang, theme, **query): a page whose pictures are there."""

    def open_page(key, *screen, **query):
        page = visit(new_page(*screen), PATHS[key], **query)
        settle(page)
        return page

    return open_page


@pytest.mark.parametrize("key", FIRST_SCREENS)
@pytest.mark.parametrize("large", [False, True], ids=["laptop", "projector"])
def test_the_picture_is_on_the_first_screen(drawn, screenshot, key, large):
    query = FIRST_SCREENS[key][large] | ({"present": "1"} if large else {})
    width, theme = (1024, "dark") if large else (1366, "light")
    page = drawn(key, width, 768, "en", theme, **query)
    box = seen.drawn(page).bounding_box()
    assert box["y"] + box["height"] <= 768
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    screenshot(page, f"{key.replace('/', '-')}-{theme}-{width}")


def fits_every_screen(page):
    """Check that nothing is wider than a laptop or a projector; yield each width, drawn."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.until(f"document.documentElement.clientWidth <= {width}")
        page.wait_for_timeout(500)  # pictures follow the width with a delay of their own
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        yield width


def press(page, key):
    """Press a key of the frame once the part that listens to it has come."""
    page.locator(".st-key-frame_reader button:not([hidden])").wait_for(state="attached")
    page.keyboard.press(key)


def check_language(page, lang):
    """Check that a page is in its language, to the last visible sentence."""
    page.until(f"document.documentElement.lang.startsWith('{lang}')")
    if lang == "zh":
        texts = page.evaluate(VISIBLE_TEXT)
        assert texts
        assert [text for text in texts if ENGLISH_SENTENCE.search(text)] == []


def check_projector(page):
    """Check that all text is large and nothing is wider than a projector."""
    page.locator(".stAppHeader").wait_for(state="hidden")
    settle(page)
    sizes = page.evaluate(TEXT_SIZES)
    assert sizes
    assert [(size, text) for size, text in sizes if size < 22] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024


# Each language, each theme and the projector are what a page begins with once, and what it
# becomes once.
@pytest.mark.parametrize("key", PATHS)
@pytest.mark.parametrize(
    ("lang", "themes", "begins_large"),
    [("en", ("light", "dark"), False), ("zh", ("dark", "light"), True)],
)
def test_a_page_fits_the_screen_in_its_language_and_theme_and_on_a_projector(
    drawn, screenshot, ready, key, lang, themes, begins_large
):
    name = f"{key.replace('/', '-')}-{lang}"
    large, plain = (1024, 768), SIZES[0]
    if begins_large:
        page = drawn(key, *large, lang, themes[0], present="1")
        check_projector(page)
        screenshot(page, f"{name}-projector")
        page.set_viewport_size({"width": plain[0], "height": plain[1]})
        press(page, "Escape")
        page.locator(".stAppHeader").wait_for(state="visible")
        ready(page)
        settle(page)
    else:
        page = drawn(key, *plain, lang, themes[0])
    assert page.get_by_role("heading", level=1).count() == 1
    check_language(page, lang)
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        page.until(f"({LUMINANCE} > 128) === {str(theme == 'light').lower()}")
        page.until(IN_THEME)
        settle(page)
        for width in fits_every_screen(page):
            screenshot(page, f"{name}-{theme}-{width}")
    if not begins_large:
        press(page, "p")
        page.set_viewport_size({"width": large[0], "height": large[1]})
        page.wait_for_url(re.compile("present=1"))
        ready(page)
        check_projector(page)
        screenshot(page, f"{name}-projector")
