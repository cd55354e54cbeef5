"""A poster is the picture that was drawn, with the page around it, and a code that leads back."""

import io
import urllib.parse

import pytest
import segno
from PIL import Image

from tests.browser.poster_file import HEIGHT, WIDTH, modules, parsed, saved, squeezed

COPIED = """() => {
  Object.defineProperty(navigator, "clipboard",
    { configurable: true, value: { writeText: async (text) => { window.copied = text; } } });
}"""


@pytest.fixture
def opened(new_page, visit, ready):
    """Return opened(path, lang, theme, **query): a page with the files of its picture open."""

    def go(path, lang="en", theme="light", **query):
        page = visit(new_page(lang=lang, theme=theme), path, **query)
        page.until("document.querySelector('.js-plotly-plot')?._fullLayout")
        page.locator("[class*='_chart_numbers'] summary").first.click()
        page.locator("summary[data-kind=save]").first.wait_for()
        ready(page)
        return page

    return go


@pytest.mark.parametrize(
    ("path", "lang", "theme", "query"),
    [
        ("/training-memory", "en", "light", {"plan_batch": "4"}),
        ("/serving", "zh", "dark", {"lock": "1"}),
    ],
)
def test_a_poster_bears_what_the_page_says_and_a_code_that_leads_back(
    opened, tmp_path, path, lang, theme, query
):
    page = opened(path, lang, theme, **query)
    svg, name = saved(page, "svg", tmp_path)
    assert name.endswith("-poster.svg")
    root, own, drawn = parsed(svg)
    assert (root.get("width"), root.get("height")) == (str(WIDTH), str(HEIGHT))

    shown = page.locator(".st-key-headline").inner_text()
    assert squeezed("".join(own["headline"][0])) == squeezed(shown)
    assert page.locator("h1").first.inner_text() in own["title"][0][0]
    values = page.locator("[data-testid=stMetricValue]").all_inner_texts()[:5]
    assert values
    assert ["".join(each) for each in own["value"]] == values

    ticks = page.locator(".js-plotly-plot").first.locator(".xtick text, .ytick text")
    assert set(ticks.all_text_contents()) <= set(drawn)
    titles = page.locator(".js-plotly-plot").first.locator(".g-xtitle text, .g-ytitle text")
    assert set(titles.all_text_contents()) <= set(drawn)

    page.evaluate(COPIED)
    page.locator(".st-key-copy_link button").click()
    page.until("window.copied")
    link = "".join(own["link"][0])
    assert link == page.evaluate("window.copied")
    asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))
    assert query.items() <= asked.items()

    png, _name = saved(page, "png", tmp_path)
    assert Image.open(io.BytesIO(png)).size == (2 * WIDTH, 2 * HEIGHT)
    matrix = segno.make_qr(link, error="m", boost_error=False).matrix
    assert modules(png, root, len(matrix)) == [[bool(each) for each in row] for row in matrix]

    page.goto(link)
    page.locator(".st-key-headline").wait_for()
    page.until(f"document.querySelector('.st-key-headline')?.innerText === {shown!r}")


def test_nothing_of_a_poster_is_cut_or_lies_on_something_else(opened, tmp_path):
    """Texts are laid out in the browser again, from the file alone."""
    page = opened("/training-memory")
    svg, _name = saved(page, "svg", tmp_path)
    boxes = page.evaluate(
        """(text) => {
          const host = document.createElement("div");
          host.append(document.importNode(
            new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true));
          Object.assign(host.style, { position: "fixed", left: 0, top: 0 });
          document.body.append(host);
          const boxes = [...host.querySelectorAll(
            "svg > text[class^=poster-], svg.poster-picture, .poster-code")].map((each) => {
              const { left, top, right, bottom } = each.getBoundingClientRect();
              return [each.getAttribute("class"), left, top, right, bottom];
            });
          host.remove();
          return boxes;
        }""",
        svg.decode(),
    )
    assert {"poster-title", "poster-headline", "poster-link", "poster-picture", "poster-code"} <= {
        box[0] for box in boxes
    }
    for name, left, top, right, bottom in boxes:
        assert 0 <= left < right <= WIDTH, name
        assert 0 <= top < bottom <= HEIGHT, name
    for number, (name, left, top, right, bottom) in enumerate(boxes):
        for other, left_2, top_2, right_2, bottom_2 in boxes[:number]:
            across = min(right, right_2) - max(left, left_2)
            down = min(bottom, bottom_2) - max(top, top_2)
            assert across <= 1 or down <= 12, (name, other)  # a line's own box is higher than it


def test_a_teachers_link_can_hide_the_posters(page, visit, ready):
    visit(page, "/training-memory", hide="poster")
    page.locator("[class*='_chart_numbers'] summary").first.click()
    page.locator("[class*='_chart_csv'] button").wait_for()
    ready(page)
    assert page.locator("summary[data-kind=save]").count() == 0
