"""A slider's picture follows the hand that drags it, and ends where a click would have ended."""

import pytest

from tests.browser.dashboard import wait_until

HEADLINES = """() => {
  window.headlines = new Set();
  const look = () => {
    window.headlines.add(document.querySelector(".st-key-headline").textContent);
    requestAnimationFrame(look);
  };
  look();
}"""
IDLE = "document.querySelector('[data-test-script-state=notRunning]')"
MIDDLE = """(input, up) => {
  for (; up; up--) input = input.parentElement;
  const { left, top, width, height } = input.getBoundingClientRect();
  return { left, width, x: left + width / 2, y: top + height / 2 };
}"""
# The page looks busy until the element "held" is taken away.
BUSY = """() => {
  const held = document.createElement("i");
  Object.assign(held, { id: "held", hidden: true }).dataset.testScriptState = "running";
  document.body.append(held);
}"""
# The same from the moment on in which the slider is let go to tell of another value; what the page
# itself says of its script may come and go between two frames.
HOLD = f"""(input) => {{
  const before = input.value;
  const hold = ({{ isTrusted }}) => {{
    if (isTrusted || input.value === before) return;
    window.removeEventListener("pointerup", hold, true);
    ({BUSY})();
  }};
  window.addEventListener("pointerup", hold, true);
}}"""
# What the thumb tells of its own place, as if it were still drawn there: so many pixels beside it.
BESIDE = """(input, pixels) => {
  const thumb = input.parentElement.parentElement;
  const { x, y, width, height } = Element.prototype.getBoundingClientRect.call(thumb);
  thumb.getBoundingClientRect = () => new DOMRect(x + pixels, y, width, height);
}"""
AS_IT_IS = "input => delete input.parentElement.parentElement.getBoundingClientRect"
THUMB, TRACK = 2, 3  # as many elements above the slider's own input


def ends_at(page, slider, share):
    """Wait until the slider's thumb lies at a share of its track; there it has to stay."""

    def beside():
        track, thumb = slider.evaluate(MIDDLE, TRACK), slider.evaluate(MIDDLE, THUMB)
        return abs((thumb["x"] - track["left"]) / track["width"] - share)

    wait_until(lambda: beside() < 0.03)
    page.wait_for_timeout(500)
    page.until(IDLE)
    assert beside() < 0.03


@pytest.fixture
def slider(page, visit, ready):
    """The slider of Serving, at rest."""
    visit(page, "/serving", plan_context_length="1024")  # none of the places it is dragged to
    ready(page)
    page.until(IDLE)
    page.evaluate(HEADLINES)
    return page.get_by_role("slider", name="Context length (tokens)").first


def test_pictures_come_while_a_slider_is_dragged_and_the_last_is_that_of_a_click(page, slider):
    track = slider.evaluate(MIDDLE, TRACK)

    def place(share):
        return track["left"] + share * track["width"]

    def look():
        return slider.input_value(), page.locator(".st-key-headline").inner_text()

    def click(share):
        _value, words = look()
        page.mouse.click(place(share), track["y"])
        ends_at(page, slider, share)
        wait_until(lambda: look()[1] != words)
        return look()

    clicked = click(0.83)
    assert click(0.2) != clicked
    page.evaluate("window.headlines.clear()")
    thumb = slider.evaluate(MIDDLE, THUMB)
    page.mouse.move(thumb["x"], thumb["y"])
    page.mouse.down()
    for seen, share in enumerate((0.4, 0.55, 0.7, 0.83), start=2):
        page.mouse.move(place(share), thumb["y"], steps=5)
        page.until(f"window.headlines.size >= {seen}")
    page.mouse.up()
    ends_at(page, slider, 0.83)
    wait_until(lambda: look() == clicked)


def test_a_hand_that_leaves_at_once_is_followed_to_its_last_place(page, slider):
    """It leaves within the moment in which the slider was let go to be told of."""
    for rest, target in enumerate((0.3, 0.75, 0.5, 0.9, 0.2, 0.6, 0.4, 0.8)):
        thumb, track = slider.evaluate(MIDDLE, THUMB), slider.evaluate(MIDDLE, TRACK)
        page.mouse.move(thumb["x"], thumb["y"])
        page.mouse.down()
        for share in (0.1, 0.98, target):
            page.mouse.move(track["left"] + share * track["width"], thumb["y"])
            page.wait_for_timeout(8 * rest)
        page.mouse.up()
        ends_at(page, slider, target)


@pytest.mark.parametrize("pixels", [-25, 25])
def test_a_thumb_that_was_drawn_late_when_it_was_taken_up_still_ends_under_the_hand(
    page, slider, pixels
):
    thumb, track = slider.evaluate(MIDDLE, THUMB), slider.evaluate(MIDDLE, TRACK)
    page.mouse.move(thumb["x"], thumb["y"])
    page.mouse.down()
    page.mouse.move(track["left"] + 0.4 * track["width"], thumb["y"], steps=5)
    page.until("window.headlines.size >= 2")
    page.until(IDLE)
    page.wait_for_timeout(300)
    page.evaluate(BUSY)
    slider.evaluate(BESIDE, pixels)
    page.mouse.move(track["left"] + 0.6 * track["width"], thumb["y"])
    page.wait_for_timeout(300)
    slider.evaluate(AS_IT_IS)
    page.mouse.up()
    page.evaluate("document.querySelector('#held').remove()")
    ends_at(page, slider, 0.6)


@pytest.mark.parametrize("late", [1, 2])
def test_one_late_picture_is_forgiven_two_in_a_row_wait_for_the_end(page, slider, late):
    """The page is held busy for longer than a second, as by a slow picture."""
    thumb, track = slider.evaluate(MIDDLE, THUMB), slider.evaluate(MIDDLE, TRACK)
    page.mouse.move(thumb["x"], thumb["y"])
    page.mouse.down()
    shares = iter((0.4, 0.5, 0.6, 0.7))
    for _picture in range(late):
        slider.evaluate(HOLD)
        page.mouse.move(track["left"] + next(shares) * track["width"], thumb["y"])
        page.until("document.querySelector('#held')")
        page.wait_for_timeout(1200)
        page.evaluate("document.querySelector('#held').remove()")
        page.wait_for_timeout(500)
    seen = page.evaluate("window.headlines.size")
    page.mouse.move(track["left"] + 0.9 * track["width"], thumb["y"], steps=3)
    if late == 1:
        page.until(f"window.headlines.size > {seen}")
    else:
        page.wait_for_timeout(1500)
        assert page.evaluate("window.headlines.size") == seen
    page.mouse.up()
    page.until(f"window.headlines.size > {seen}")


def test_a_slider_that_is_drawn_anew_under_the_hand_ends_its_drag_without_an_error(page, slider):
    """An error of the page fails the test by itself (`Watch`)."""
    thumb, track = slider.evaluate(MIDDLE, THUMB), slider.evaluate(MIDDLE, TRACK)
    page.mouse.move(thumb["x"], thumb["y"])
    page.mouse.down()
    page.mouse.move(track["left"] + 0.6 * track["width"], thumb["y"], steps=5)
    page.until("window.headlines.size >= 2")
    page.evaluate("document.querySelector('[data-testid=stSlider] input').type = 'text'")
    page.wait_for_timeout(300)
    page.mouse.up()
    assert page.watch.problems == []


def test_a_locked_slider_does_not_move(page, visit, ready):
    visit(page, "/serving", lock="1")
    ready(page)
    slider = page.get_by_role("slider", name="Context length (tokens)").first
    value, thumb = slider.input_value(), slider.evaluate(MIDDLE, THUMB)
    page.mouse.move(thumb["x"], thumb["y"])
    page.mouse.down()
    page.mouse.move(thumb["x"] + 200, thumb["y"], steps=5)
    page.wait_for_timeout(500)
    page.mouse.up()
    assert slider.input_value() == value
