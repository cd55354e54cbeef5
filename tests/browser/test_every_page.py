"""Every page as a reader sees it: two languages, two themes, a laptop and a projector."""

import re

import pytest

from pages.shared.navigation import PAGES
from tests.browser.conftest import save_screenshot
from tests.browser.first_look import barriers, first_look

PATHS = {row.key: "/" if row is PAGES[0] else f"/{row.address}" for row in PAGES}
SIZES = [(1366, 768), (1024, 768)]
PROJECTORS = [(1024, 768), (1280, 720)]
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
# How bright the background is: 0 black, 255 white.
LUMINANCE = """(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue)(
  getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor.match(/\\d+/g))"""
# Every chart is drawn, and on the background of the page.
IN_THEME = """[...document.querySelectorAll(".js-plotly-plot")].every((chart) => {
  const drawing = chart.querySelector(".main-svg");
  return drawing && getComputedStyle(drawing).backgroundColor ===
    getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor;
})"""
WITHOUT_PICTURE = {"start/home", "start/lessons"}
LOWEST_TOP = 300  # pixels from above at which a picture may begin
MOST_TABS, MOST_CONTROLS = 6, 5
FEWEST_LETTERS = 2  # fewer in the last line of a headline are an orphan
SMALLEST = 22  # pixels of a text on a projector


def settle(page):
    """Wait until the pictures of a page have been drawn: no skeleton, no spinner."""
    for name in ("stSkeleton", "stSpinner"):
        page.until(f"document.querySelectorAll('[data-testid={name}]').length === 0")


@pytest.fixture
def drawn(new_page, visit):
    """Return drawn(key, width, height, lang, theme, **query): a page whose pictures are there."""

    def open_page(key, *screen, **query):
        page = visit(new_page(*screen), PATHS[key], **query)
        settle(page)
        return page

    return open_page


def check_first_look(page, key):
    """Check that the answer is the largest text and its picture wholly on a laptop's screen."""
    look = first_look(page)
    assert 1 <= look.headline_lines <= 2
    assert look.largest_other[0] < look.headline_px, look.largest_other
    assert look.num_tabs <= MOST_TABS
    assert look.num_controls <= MOST_CONTROLS
    if key not in WITHOUT_PICTURE:
        assert look.picture_top < LOWEST_TOP
        assert look.picture_seen == 1


def fits_every_screen(page):
    """Check that nothing is cut or wider than a laptop or a projector; yield each width, drawn."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.until(f"document.documentElement.clientWidth <= {width}")
        page.wait_for_timeout(500)  # pictures follow the width with a delay of their own
        look = first_look(page)
        assert (look.width <= width, look.cut, look.two_lines) == (True, [], []), width
        assert look.last_line > FEWEST_LETTERS, width
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


def check_projector(page, key):
    """Check that all text is large, nothing is cut and the picture is wholly on the screen."""
    page.locator(".stAppHeader").wait_for(state="hidden")
    for width, height in PROJECTORS:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        page.wait_for_timeout(500)
        look = first_look(page)
        assert look.smallest[0] >= SMALLEST, look.smallest
        assert (look.width <= width, look.cut) == (True, []), width
        if key not in WITHOUT_PICTURE:
            assert look.picture_seen == 1, width


def check_themes(page, key, name, themes):
    """Check the page in each theme and at each size, and keep pictures of it."""
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        page.until(f"({LUMINANCE} > 128) === {str(theme == 'light').lower()}")
        page.until(IN_THEME)
        settle(page)
        if page.lang == "en":
            assert barriers(page) == []
        for width in fits_every_screen(page):
            save_screenshot(page, f"{name}-{theme}-{width}")
            if width == SIZES[0][0]:
                check_first_look(page, key)


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
    if begins_large:
        page = drawn(key, *PROJECTORS[0], lang, themes[0], present="1")
        check_projector(page, key)
        screenshot(page, f"{name}-projector")
        page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
        press(page, "Escape")
        page.locator(".stAppHeader").wait_for(state="visible")
        ready(page)
        settle(page)
    else:
        page = drawn(key, *SIZES[0], lang, themes[0])
    assert page.get_by_role("heading", level=1).count() == 1
    check_language(page, lang)
    check_themes(page, key, name, themes)
    if not begins_large:
        press(page, "p")
        page.wait_for_url(re.compile("present=1"))
        ready(page)
        check_projector(page, key)
        screenshot(page, f"{name}-projector")
