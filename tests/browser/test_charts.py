"""What a reader did to a chart stays when a slider moves, as long as the axes mean the same.

Streamlit replaces a chart element whenever its figure changes, so without the part `kept_zoom` each
of these tests finds the whole range and all lines again.
"""

import pytest

SUMS = "/low-precision-training"
CHART = "document.querySelector('.st-key-lowp_sums_chart .js-plotly-plot')"
LINE = "document.querySelector('.st-key-rounding_line_chart .js-plotly-plot')"
FULL, LONGER = [1, 1000], [1, 2000]


def shown(page, chart=CHART):
    """Return the range of the x axis, or nothing while there is no chart."""
    return page.evaluate(f"{chart}?._fullLayout?.xaxis?.range")


def zoom(page, chart=CHART):
    """Drag over the middle of a chart; return the range that is seen then."""
    full = shown(page, chart)
    area = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    page.mouse.move(area["x"] + area["width"] * 0.3, area["y"] + area["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.6, area["y"] + area["height"] * 0.6, steps=5)
    page.mouse.up()
    page.until(f"{chart}._fullLayout.xaxis.range[0] > {full[0]}")
    return shown(page, chart)


def is_range(wanted, chart=CHART):
    return f"JSON.stringify({chart}?._fullLayout?.xaxis?.range) === JSON.stringify({wanted})"


def slide(page, key="ArrowRight"):
    """Move the number of added values; a mark tells the old chart from the new one."""
    page.evaluate(f"{CHART}.isOld = true")
    slider = page.get_by_role("slider", name="Repetitions")
    slider.focus()
    slider.press(key)
    page.until(f"{CHART}?._fullLayout && !{CHART}.isOld")


@pytest.fixture
def sums(page, visit):
    visit(page, SUMS)
    page.until(is_range(FULL))
    return page


def test_a_zoom_outlives_a_slider_and_a_double_click_shows_the_whole_new_range(sums, ready):
    seen = zoom(sums)
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight"):
        slide(sums, key)
        sums.until(is_range(seen))
        ready(sums)
    area = sums.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    sums.mouse.dblclick(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    sums.until(is_range(LONGER))
    slide(sums, "ArrowLeft")
    sums.until(is_range(FULL))
    sums.wait_for_timeout(500)  # what is remembered would come within a moment
    assert shown(sums) == FULL


def test_a_line_hidden_by_the_legend_and_the_chosen_tool_stay(sums):
    sums.locator(".legendtoggle").first.click()
    sums.until(f"{CHART}._fullData[0].visible === 'legendonly'")
    sums.locator("[data-attr=dragmode][data-val=pan]").first.evaluate("each => each.click()")
    sums.until(f"{CHART}._fullLayout.dragmode === 'pan'")
    slide(sums)
    sums.until(f"{CHART}._fullData[0].visible === 'legendonly'")
    sums.until(f"{CHART}._fullLayout.dragmode === 'pan'")
    assert sums.evaluate(f"{CHART}._fullData.slice(1).every((each) => each.visible === true)")


def test_a_zoom_does_not_outlive_the_meaning_of_its_axis(page, visit, ready):
    # Where the inputs of a window are hidden, a drag over this picture is a mere zoom.
    visit(page, "/rounding-and-overflow", rounding_tab="line", hide="rounding_center")
    page.until(f"{LINE}?._fullLayout")
    seen = zoom(page, LINE)
    page.evaluate(f"{LINE}.isOld = true")
    page.locator(".st-key-rounding_view_choice").get_by_role("combobox").click()
    page.get_by_role("option", name="from zero, evenly").click()
    page.until(f"{LINE}?._fullLayout && !{LINE}.isOld")
    ready(page)
    page.wait_for_timeout(500)  # what is remembered would come within a moment
    assert shown(page, LINE) != seen


def test_a_zoom_ends_when_its_tab_is_left(sums, ready):
    zoom(sums)
    sums.get_by_role("radio", name="Softmax").click()
    sums.until(f"!{CHART}")
    ready(sums)
    sums.locator(".js-plotly-plot").first.wait_for()
    sums.get_by_role("radio", name="Sums").first.click()
    sums.until(is_range(FULL))
    sums.wait_for_timeout(500)
    assert shown(sums) == FULL


# The changes inside charts, one number for each time that something was changed there.
COUNT = """() => {
  window.strokes = [];
  new MutationObserver((changes) => {
    const inside = changes.filter(({ target }) => target.closest?.(".js-plotly-plot")).length;
    if (inside) window.strokes.push(inside);
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""


@pytest.mark.parametrize(
    ("path", "query", "label"),
    [
        (SUMS, {}, "Repetitions"),
        (SUMS, {"lowp_tab": "updates", "lowp_update_way": "stochastic"}, "Weights"),  # numpy arrays
        ("/training-memory", {}, "Sequence length"),
        ("/serving", {}, "Context length (tokens)"),  # a column of a fraction of a pixel
    ],
)
def test_a_new_picture_is_drawn_once(page, visit, ready, path, query, label):
    visit(page, path, **query)
    page.until("document.querySelector('.js-plotly-plot')?._fullLayout")
    ready(page)
    slider = page.get_by_role("slider", name=label)
    slider.focus()
    page.evaluate(COUNT)
    slider.press("ArrowRight")
    page.until("window.strokes.length > 0")
    page.wait_for_timeout(1000)  # a second drawing would come within a moment
    strokes = page.evaluate("window.strokes")
    assert sum(each > max(strokes) / 5 for each in strokes) == 1, strokes
