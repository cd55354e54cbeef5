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
each_page = pytest.mark.parametrize("key", PATHS)
each_language = pytest.mark.parametrize("lang", ["en", "zh"])


def luminance(page):
    """Return how bright the background of the page is: 0 black, 255 white."""
    color = page.evaluate(
        "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    )
    red, green, blue = (int(part) for part in re.findall(r"\d+", color)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def settle(page):
    """Wait until the pictures of a page have been drawn: no skeleton, no spinner."""
    for name in ("stSkeleton", "stSpinner"):
        page.until(
            f"document.querySelectorAll('[data-testid={name}]').length === 0", timeout=60_000
        )


@pytest.fixture
def look(new_page, visit, screenshot):
    """Return look(key, name, width, height, lang, theme, query): a drawn page, its picture kept."""

    def open_page(key, name, *screen, query=None, **choices):
        page = visit(new_page(*screen, **choices), PATHS[key], **(query or {}))
        settle(page)
        screenshot(page, f"{key.replace('/', '-')}-{name}")
        return page

    return open_page


@each_page
@each_language
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_fits_the_screen_in_its_language_and_theme(look, screenshot, key, lang, theme):
    page = look(key, f"{lang}-{theme}-{SIZES[0][0]}", *SIZES[0], lang, theme)
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.locator("html").get_attribute("lang").startswith(lang)
    assert (luminance(page) > 128) == (theme == "light")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.until(f"document.documentElement.clientWidth <= {width}")
        page.wait_for_timeout(500)  # pictures follow the width with a delay of their own
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        screenshot(page, f"{key.replace('/', '-')}-{lang}-{theme}-{width}")


@each_page
def test_a_chinese_page_shows_no_english_sentence(look, key):
    texts = look(key, "zh", lang="zh").evaluate(VISIBLE_TEXT)
    assert texts
    assert [text for text in texts if ENGLISH_SENTENCE.search(text)] == []


@each_page
@each_language
def test_on_a_projector_text_is_large_and_fits(look, key, lang):
    page = look(key, f"{lang}-projector", 1024, 768, lang, query={"present": "1"})
    sizes = page.evaluate(TEXT_SIZES)
    assert sizes
    assert [(size, text) for size, text in sizes if size < 22] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024
