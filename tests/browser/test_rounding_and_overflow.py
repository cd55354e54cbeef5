"""Casts in a real browser: a new number is a new picture, every tab draws, the link holds."""

import statistics

import pytest

from tests.browser.first_look import first_look

PATH = "/rounding-and-overflow"
NUM_CHANGES = 6
# Looks at every frame whether the picture shows a text, and notes when Enter was pressed.
STOPWATCH = """(expected) => {
  window.pressed = window.arrived = null;
  addEventListener("keydown", (event) => {
    if (event.key === "Enter") window.pressed = performance.now();
  }, { capture: true, once: true });
  const look = () => {
    const picture = document.querySelector(".st-key-rounding_zoom_chart .js-plotly-plot");
    if (picture && picture.textContent.includes(expected)) window.arrived = performance.now();
    else requestAnimationFrame(look);
  };
  look();
}"""


def picture(page, name):
    """Return the drawn chart of that name."""
    chart = page.locator(f".st-key-rounding_{name}_chart .js-plotly-plot .main-svg").first
    chart.wait_for()
    return page.locator(f".st-key-rounding_{name}_chart .js-plotly-plot")


def field(page):
    return page.locator(".st-key-rounding_value input")


def headline(page):
    return page.locator(".st-key-headline").inner_text()


def test_a_new_number_is_a_new_picture_at_once(page, visit, ready):
    """Measures, and asserts no time: Enter until the new number stands in the drawn picture."""
    visit(page, PATH)
    picture(page, "zoom")
    seconds = []
    for number in range(NUM_CHANGES):
        value = f"{1000 + number}.3"
        page.evaluate(STOPWATCH, f"{value} ·")
        field(page).fill(value)
        field(page).press("Enter")
        page.until("window.arrived !== null")
        seconds.append(page.evaluate("(window.arrived - window.pressed) / 1000"))
        ready(page)
    assert headline(page) == "1005.3 in float16 = 1005.5"
    median, most = statistics.median(seconds), max(seconds)
    print(f"Enter to new picture: median {median:.3f} s, longest {most:.3f} s")  # noqa: T201


def test_the_picture_follows_the_number_that_is_dragged(page, visit, ready):
    visit(page, PATH)
    picture(page, "zoom")
    ready(page)
    thumb = page.locator(".st-key-rounding_value_slider input")
    track = page.locator(".st-key-rounding_value_slider [role=group]").bounding_box()
    thumb.focus()
    seen = set()
    page.mouse.move(track["x"] + track["width"] / 2, track["y"] + track["height"] - 8)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(
            track["x"] + track["width"] * (0.5 + step / 150), track["y"] + track["height"] - 8
        )
        page.wait_for_timeout(50)
        seen.add(headline(page))
    page.mouse.up()
    ready(page)
    seen.add(headline(page))
    assert len(seen) >= 3, seen
    assert {each.rpartition(" = ")[2].partition("\n")[0] for each in seen} >= {"inf"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_zoom_fits_one_screen(new_page, visit, lang):
    for width, query in ((1366, {}), (1024, {"present": "1"})):
        page = visit(new_page(width, 768, lang), PATH, **query)
        picture(page, "zoom")
        bottom = page.evaluate(
            """() => Math.max(...[...document.querySelectorAll(
                 ".st-key-rounding_zoom_chart .js-plotly-plot .annotation-text")]
                 .map((each) => each.getBoundingClientRect().bottom))"""
        )
        assert bottom <= 768, (width, bottom)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_window_of_the_number_line_has_few_controls_and_fits(new_page, visit, lang):
    page = visit(new_page(1366, 768, lang), PATH, rounding_tab="line", rounding_view="free")
    picture_of_line = page.locator(".st-key-rounding_line_window .main-svg").first
    picture_of_line.wait_for()
    look = first_look(page)
    assert look.num_controls <= 5, look
    assert look.picture_top < 300, look
    assert look.picture_seen == 1, look
