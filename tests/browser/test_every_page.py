"""Every page as a reader sees it: two languages, two themes, a laptop and a projector."""

import re

import pytest

from pages.shared.navigation import PAGES

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
each_page = pytest.mark.parametrize("key", PATHS)


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


def fits_every_screen(page):
    """Check that nothing is wider than a laptop or a projector; yield each width, drawn."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.until(f"document.documentElement.clientWidth <= {width}")
        page.wait_for_timeout(500)  # pictures follow the width with a delay of their own
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        yield width


@each_page
@pytest.mark.parametrize(("lang", "themes"), [("en", ("light", "dark")), ("zh", ("dark", "light"))])
def test_a_page_fits_the_screen_in_its_language_and_theme(drawn, screenshot, key, lang, themes):
    """Both themes are the first once, and both follow a switch of the system once."""
    page = drawn(key, *SIZES[0], lang, themes[0])
    assert page.get_by_role("heading", level=1).count() == 1
    page.until(f"document.documentElement.lang.startsWith('{lang}')")
    if lang == "zh":
        texts = page.evaluate(VISIBLE_TEXT)
        assert texts
        assert [text for text in texts if ENGLISH_SENTENCE.search(text)] == []
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        page.until(f"({LUMINANCE} > 128) === {str(theme == 'light').lower()}")
        page.until(IN_THEME)
        settle(page)
        for width in fits_every_screen(page):
            screenshot(page, f"{key.replace('/', '-')}-{lang}-{theme}-{width}")


@each_page
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_on_a_projector_text_is_large_and_fits(drawn, screenshot, key, lang):
    page = drawn(key, 1024, 768, lang, present="1")
    screenshot(page, f"{key.replace('/', '-')}-{lang}-projector")
    sizes = page.evaluate(TEXT_SIZES)
    assert sizes
    assert [(size, text) for size, text in sizes if size < 22] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024
