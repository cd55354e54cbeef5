"""Posters of what our own parts draw: graph, tensors, depth, bytes on their way, bits, a run."""

import io
import re
from collections import Counter

import pytest
import segno
from PIL import Image

from tests.browser.poster_file import (
    HEIGHT,
    WIDTH,
    colors_in_picture,
    count_of_class,
    modules,
    parsed,
    picture_of,
    saved,
    squeezed,
)

# path, settings, which elements are counted, and whose words are compared
GRAPH = ("/computation-graph", {}, "box", ".box .label")
MAP = ("/strides-and-views", {}, "cell", ".cell text")
PAIR = ("/indexing-and-sharing", {"index_tab": "index"}, "cell", ".cell text")
WRITTEN = ("/indexing-and-sharing", {}, "cell", ".cell text")
DEPTH = ("/inside-gpt", {}, "cell", ".cell .sign")
MOVING = {"parallel_tab": "moving", "parallel_moved": "3"}
BYTES = ("/parallelism", MOVING, "parcel", ".device-box .rank, .turn, .message")
BITS = ("/bit-layouts", {}, "", ".bit b, .field b")
CODES = {"bits_tab": "codes", "bits_format": "float8_e4m3fn"}
MANY_CODES = ("/bit-layouts", CODES, "", ".cells .cell")
VIEW = "[...window[Symbol.for('bits-to-gpt.live')].values()][0]"
LAST_STEP = f"({VIEW}?.history.columns.step.at(-1) ?? 0)"


@pytest.fixture
def opened(new_page, visit, ready):
    """Return opened(path, lang, theme, **query): a page whose part has its poster below it."""

    def go(path, lang="en", theme="light", url=None, **query):
        page = visit(
            new_page(lang=lang, theme=theme, **({"url": url} if url else {})), path, **query
        )
        page.locator("summary[data-kind=save]").first.wait_for()
        ready(page)
        return page

    return go


@pytest.fixture
def alone(browser, tmp_path):
    """Return alone(svg): what a browser without a network makes of it, and what it asks for."""

    def go(svg):
        path = tmp_path / "alone.svg"
        path.write_bytes(svg)
        context = browser.new_context(offline=True)
        page, asked = context.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        name = page.evaluate("document.documentElement.localName")
        has_fonts = page.evaluate(
            """() => Promise.all([...document.fonts].map((each) => each.load()))
              .then((all) => all.length > 0 && all.every((each) => each.status === 'loaded'))"""
        )
        context.close()
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        return name, has_fonts

    return go


@pytest.mark.parametrize(
    ("part", "lang", "theme"),
    [
        *((GRAPH, "en", "light"), (GRAPH, "zh", "dark")),
        *((MAP, "zh", "light"), (MAP, "en", "dark")),
        *((PAIR, "en", "light"), (WRITTEN, "zh", "dark")),
        *((DEPTH, "en", "dark"), (DEPTH, "zh", "light")),
        *((BYTES, "en", "light"), (BYTES, "zh", "dark")),
        *((BITS, "zh", "dark"), (MANY_CODES, "en", "light")),
    ],
)  # fmt: skip
def test_a_poster_bears_the_marks_of_the_part_and_what_the_page_says(
    opened, alone, tmp_path, part, lang, theme
):
    path, query, counted, words = part
    page = opened(path, lang, theme, **query)
    svg, _name = saved(page, "svg", tmp_path)
    png, name = saved(page, "png", tmp_path)
    assert name.endswith("-poster.png")
    root, own, drawn = parsed(svg)

    shown = page.locator(".st-key-headline").inner_text()
    assert squeezed("".join(own["headline"][0])) == squeezed(shown)
    assert page.locator("h1").first.inner_text() in own["title"][0][0]
    values = page.locator("[data-testid=stMetricValue]").all_inner_texts()[:5]
    assert ["".join(each) for each in own.get("value", [])] == values

    seen = [squeezed(each) for each in page.locator(words).all_text_contents() if squeezed(each)]
    assert len(seen) > 4
    assert not Counter(seen) - Counter(map(squeezed, drawn))
    if counted:
        marks = page.locator(f".{counted}").evaluate_all(
            "(all) => all.filter((each) => each.style.display !== 'none').length"
        )
        assert count_of_class(root, counted) == marks > 0

    assert alone(svg) == ("svg", True)
    assert b"var(--" not in svg
    assert b"color(srgb" not in svg
    assert Image.open(io.BytesIO(png)).size == (2 * WIDTH, 2 * HEIGHT)
    found = colors_in_picture(png, root)
    assert len(found) > 50
    assert max(found.values()) < 0.97 * sum(found.values())
    matrix = segno.make_qr("".join(own["link"][0]), error="m", boost_error=False).matrix
    assert modules(png, root, len(matrix)) == [[bool(each) for each in row] for row in matrix]


def frame(root):
    """Return width and height of what the poster holds of a picture, in pixels of the page."""
    return [float(number) for number in picture_of(root).get("viewBox").split()[2:]]


def test_a_poster_holds_the_graph_without_room_around_it_or_what_a_reader_has_zoomed_to(
    opened, tmp_path
):
    page = opened("/computation-graph")
    seen = page.locator(".graph .picture").evaluate("(it) => [it.clientWidth, it.clientHeight]")
    boxes = page.locator(".box").evaluate_all(
        """(all) => all.map((each) => each.getBoundingClientRect())
          .map(({ top, bottom }) => [top, bottom])"""
    )
    needed = max(bottom for _top, bottom in boxes) - min(top for top, _bottom in boxes)
    whole = frame(parsed(saved(page, "svg", tmp_path)[0])[0])
    assert needed <= whole[1] < seen[1] - 20
    for _time in range(6):
        page.locator("[data-act=in]").click()
    assert frame(parsed(saved(page, "svg", tmp_path)[0])[0]) == pytest.approx(seen, abs=1)


@pytest.mark.parametrize(("lang", "theme"), [("en", "light"), ("zh", "dark")])
def test_a_run_hangs_with_its_curve_its_text_and_its_newest_numbers(
    opened, alone, fresh, tmp_path, lang, theme
):
    page = opened("/live-run", lang, theme, fresh.url)
    page.until(f"{LAST_STEP} > 300")
    svg, name = saved(page, "svg", tmp_path)
    after = page.evaluate(LAST_STEP)
    png, _name = saved(page, "png", tmp_path)
    assert name == "live-run-poster.svg"
    root, own, drawn = parsed(svg)
    headline = "".join(own["headline"][0])
    steps = [int(each.replace(",", "")) for each in re.findall(r"[\d,]+(?![\d.])", headline)]
    loss = page.evaluate(f"{VIEW}.history.columns.loss")
    drawn_at = [
        step for step in steps if step <= after and own["value"][0][0] == f"{loss[step - 1]:.3f}"
    ]
    assert drawn_at, "the loss of the poster is that of the step in its headline"
    assert own["value"][0][0] in headline
    assert len(own["value"]) == len(own["label"]) == 5
    assert page.evaluate(f"{VIEW}.data.told.title") in own["title"][0][0]
    plot = page.locator("[data-chart=loss]")
    # The axis of a run that goes on may have moved meanwhile.
    assert len(set(plot.locator(".ytick text").all_text_contents()) & set(drawn)) >= 3
    assert count_of_class(root, "scatterlayer") == 1
    assert page.locator(".live-sample h3").inner_text() in drawn
    assert alone(svg) == ("svg", True)
    assert b"non-scaling-stroke" not in svg  # lines grow with the picture
    assert Image.open(io.BytesIO(png)).size == (2 * WIDTH, 2 * HEIGHT)
    assert len(colors_in_picture(png, root)) > 50


def test_while_a_question_is_open_the_poster_of_a_run_keeps_the_answer_to_itself(
    opened, fresh, tmp_path
):
    page = opened("/live-run", url=fresh.url, lr_predict="true")
    page.until(f"{LAST_STEP} > 10")
    _root, own, _drawn = parsed(saved(page, "svg", tmp_path)[0])
    assert not {"headline", "value"} & set(own)


@pytest.mark.parametrize("query", [{"hide": "poster"}, {"present": "1"}])
@pytest.mark.parametrize("path", ["/computation-graph", "/live-run"])
def test_a_teachers_link_or_a_projector_has_no_posters_below_a_part(
    page, visit, ready, path, query
):
    visit(page, path, **query)
    page.locator(".graph .picture, [data-chart=loss]").first.wait_for()
    ready(page)
    assert page.locator("summary[data-kind=save]").count() == 0
