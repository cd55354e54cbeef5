"""The window of the number line in a hand: a drag and the wheel on the picture change the link."""

import urllib.parse

import ml_dtypes
import numpy as np
import pytest

from core.dtypes.exact import parse_value
from core.figures.dtypes.rounding_and_overflow.line_window import free_window, moved_window

PATH = "/rounding-and-overflow"
FREE = {
    "rounding_tab": "line",
    "rounding_view": "free",
    "rounding_format": "float8_e4m3fn",
    "rounding_format2": "float8_e5m2",
    "rounding_format3": "none",
    "rounding_format4": "none",
}
CHART = "document.querySelector('.st-key-rounding_line_window .js-plotly-plot')"
ENDS = f"[{CHART}?.layout?.meta?.low, {CHART}?.layout?.meta?.high]"
# What every mark in sight says, row by row.
MARKS = f"""() => {{
  const seen = ([x]) => Math.abs(x) <= 0.5;
  const rows = {CHART}.data.filter(({{ mode, name }}) => mode === "markers" && !name);
  const told = ({{ x, y, hovertext }}) => [...x].map((at, i) => [at, y[i], hovertext[i]]);
  return rows.flatMap(told).filter(seen);
}}"""
# Where a mark of the first row stands on the screen, told by what it says.
PLACE = f"""(text) => {{
  const points = {CHART}.querySelectorAll(".scatterlayer path.point");
  const told = {CHART}.data.flatMap(({{ hovertext }}) => [...(hovertext ?? [])]);
  return points[told.indexOf(text)].getBoundingClientRect().left;
}}"""


@pytest.fixture
def line(page, visit, ready):
    """Return line(**query): the picture of a window, ready for a hand."""

    def show(**query):
        visit(page, PATH, **FREE, **query)
        page.until(f"{CHART}?._fullLayout && {CHART}.querySelector('.nsewdrag')")
        ready(page)
        return page.locator(".st-key-rounding_line_window .nsewdrag").first.bounding_box()

    return show


def drag(page, box, distance, *, hold=False):
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + distance, y, steps=8)
    if not hold:
        page.mouse.up()


def asked(page, name):
    """Return what the address says, "" for a default."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(page.url).query)
    return query.get(f"rounding_{name}", [""])[-1]


def another_window(page, before):
    page.until(f"{CHART}?._fullLayout && JSON.stringify({ENDS}) !== '{before}'")


def ends(page):
    return page.evaluate(f"JSON.stringify({ENDS})")


def test_a_drag_moves_the_centre_in_the_link_as_python_would_and_the_link_shows_the_same(
    page, line, visit, ready
):
    box = line(rounding_width="1")
    before = ends(page)
    drag(page, box, -300)
    another_window(page, before)
    ready(page)
    window, _changed = free_window(parse_value("1"), 1)
    wanted = moved_window(window, 300 / box["width"], 0)[0]
    center = asked(page, "center")
    assert float(center) == pytest.approx(float(wanted), abs=2 * 2 / box["width"])  # a pixel
    moved = ends(page)
    line(rounding_width="1", rounding_center=center)
    assert ends(page) == moved


@pytest.mark.parametrize(("turn", "width"), [(-100, "-1"), (100, "1")])
def test_a_turn_of_the_wheel_changes_the_width_and_what_is_under_the_pointer_stays(
    page, line, ready, turn, width
):
    box = line(rounding_width="0")
    before, one = ends(page), page.evaluate(PLACE, "1.125")
    page.mouse.move(one, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, turn)
    another_window(page, before)
    ready(page)
    assert asked(page, "width") == width
    assert page.evaluate(PLACE, "1.125") == pytest.approx(one, abs=2)


def test_a_double_click_looks_closer_and_a_fast_wheel_goes_far_out(page, line, ready):
    box = line(rounding_width="-1")
    before = ends(page)
    page.mouse.dblclick(box["x"] + box["width"] / 3, box["y"] + box["height"] / 2)
    another_window(page, before)
    ready(page)
    assert asked(page, "width") == "-2"
    for _ in range(6):
        page.mouse.wheel(0, 100)
    page.until("location.search.includes('rounding_width=4')")
    ready(page)
    assert page.evaluate(f"{CHART}.querySelectorAll('.xtick').length") > 2


def test_a_turn_of_the_wheel_stays_with_the_picture_while_the_next_one_is_drawn(page, line):
    """Else a slow machine would scroll the page in the middle of a turn."""
    line(rounding_width="-1")
    halted = page.evaluate(
        f"""() => {{
            const plane = {CHART}.querySelector('.nsewdrag')
            const {{ left, top, width }} = plane.getBoundingClientRect()
            const turn = (target) => {{
                const place = {{ clientX: left + width / 2, clientY: top + 10 }}
                const notch = new WheelEvent('wheel',
                    {{ ...place, deltaY: 100, bubbles: true, cancelable: true }})
                target.dispatchEvent(notch)
                return notch.defaultPrevented
            }}
            return [turn(document.body), turn(plane), turn(document.body), turn(plane)]
        }}"""
    )
    assert halted == [False, True, True, True]
    page.until("location.search.includes('rounding_width=2')")


def test_the_marks_of_a_dragged_window_are_the_codes_that_ml_dtypes_has_there(page, line, ready):
    box = line(rounding_width="6", rounding_center="-100")
    before = ends(page)
    drag(page, box, -400)
    another_window(page, before)
    ready(page)
    low, high = page.evaluate(ENDS)
    seen = page.evaluate(MARKS)
    for name in ("float8_e4m3fn", "float8_e5m2"):
        values = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name)).astype(float)
        inside = np.unique(values[(low <= values) & (values <= high)])
        marked = sorted(float(text) for _x, row, text in seen if name in row)
        assert marked == inside.tolist(), name
        assert all(
            x == pytest.approx((float(text) - low) / (high - low) - 0.5) for x, _row, text in seen
        )


def test_while_the_hand_holds_the_next_marks_come_and_nothing_under_it_moves(page, line, ready):
    box = line(rounding_width="1")
    before, one = ends(page), page.evaluate(PLACE, "1")
    drag(page, box, -200, hold=True)
    assert page.evaluate(PLACE, "1") == pytest.approx(one - 200, abs=1)
    another_window(page, before)
    ready(page)
    assert page.evaluate(PLACE, "1") == pytest.approx(one - 200, abs=2)
    rows = f"[...{CHART}.querySelectorAll('.ytick text')].map((each) => each.textContent)"
    assert all("float8" in row for row in page.evaluate(rows))
    for step in range(30):  # new charts come in the midst of it
        page.mouse.move(one - 200 - 5 * step, box["y"] + 20)
        page.wait_for_timeout(400 if step % 10 == 5 else 40)
    page.until(f"{CHART}.isConnected")
    page.mouse.move(one - 350, box["y"] + 20)
    page.mouse.up()
    page.wait_for_timeout(1000)  # what is told would come within a moment
    ready(page)
    assert page.evaluate(PLACE, "1") == pytest.approx(one - 350, abs=3)
    assert ends(page) != before
    assert page.evaluate(f"Math.abs({CHART}.layout.xaxis.range[0] + 0.5)") == 0


# Two fingers on the picture, `from` and then `to` pixels apart.
PINCH = f"""([from, to]) => {{
  const plane = {CHART}.querySelector(".nsewdrag");
  const {{ left, top, width, height }} = plane.getBoundingClientRect();
  const tell = (type, pointerId, apart) => plane.dispatchEvent(new PointerEvent(type, {{
    bubbles: true, button: 0, buttons: Number(type !== "pointerup"), pointerId,
    clientX: left + width / 2 + (pointerId === 1 ? -apart : apart) / 2, clientY: top + height / 2,
  }}));
  for (const [type, apart] of [["pointerdown", from], ["pointermove", to], ["pointerup", to]])
    for (const pointerId of [1, 2]) tell(type, pointerId, apart);
}}"""


@pytest.mark.parametrize(("fingers", "width"), [((100, 190), "-1"), ((400, 100), "2")])
def test_two_fingers_zoom_to_a_power_of_two_around_their_middle(page, line, ready, fingers, width):
    line(rounding_width="0")
    before = ends(page)
    page.evaluate(PINCH, fingers)
    another_window(page, before)
    ready(page)
    assert asked(page, "width") == width
    low, high = page.evaluate(ENDS)
    assert (low + high) / 2 == pytest.approx(1, abs=2 ** int(width) / 100)


def test_a_locked_page_does_not_move(page, line, ready):
    box = line(rounding_width="0", lock="1")
    before, url, one = ends(page), page.url, page.evaluate(PLACE, "1")
    drag(page, box, -300)
    page.mouse.wheel(0, -300)
    page.mouse.dblclick(box["x"] + 50, box["y"] + 50)
    page.wait_for_timeout(1000)  # what is told would come within a moment
    ready(page)
    assert (ends(page), page.url, page.evaluate(PLACE, "1")) == (before, url, one)


def test_at_the_end_of_float64_a_drag_stops_and_the_page_says_so(page, line, ready):
    box = line(rounding_width="1020", rounding_center="1.6e308")
    for _ in range(2):
        before = ends(page)
        drag(page, box, -800)
        another_window(page, before)
        ready(page)
    page.get_by_text("Here float64 ends: its largest number is 1.7976931348623157e+308").wait_for()
    assert page.evaluate(f"{CHART}.layout.meta.high") == np.finfo(np.float64).max
    assert float(asked(page, "center")) == pytest.approx(1.7415e308, rel=1e-3)


def test_a_stretch_marked_on_the_whole_line_opens_as_a_window(page, visit, ready):
    visit(page, PATH, rounding_tab="line")
    whole = "document.querySelector('.st-key-rounding_line_chart .js-plotly-plot')"
    page.until(f"{whole}?._fullLayout")
    ready(page)
    box = page.locator(".st-key-rounding_line_chart .nsewdrag").first.bounding_box()
    low, high = page.evaluate(f"{whole}._fullLayout.xaxis.range")
    floor = page.evaluate(f"{whole}.layout.meta.floor")

    def pixel(value):
        place = np.copysign(np.log2(abs(value)) - floor, value)
        return box["x"] + box["width"] * (place - low) / (high - low)

    y = box["y"] + box["height"] / 2
    page.mouse.move(pixel(2.0**-2), y)
    page.mouse.down()
    page.mouse.move(pixel(2.0**12), y, steps=5)
    page.mouse.up()
    page.until(f"{CHART}?._fullLayout")
    ready(page)
    assert asked(page, "view") == "free"
    shown_low, shown_high = page.evaluate(ENDS)
    assert shown_low <= 0.25
    assert 2**11 < shown_high < 2**14
