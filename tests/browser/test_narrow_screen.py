"""What narrow screens have room for: a small laptop's, a tablet's held upright and a phone's."""

import pytest

from tests.browser.first_look import narrow_look
from tests.browser.seen import CHART, drawn

CUT = """() => [...document.querySelectorAll("[data-testid=stMain] *")].filter(each => {
  const style = getComputedStyle(each);
  return style.textOverflow === "ellipsis" && style.overflowX !== "visible"
    && each.clientWidth > 0 && each.scrollWidth > each.clientWidth;
}).map(each => each.value || each.textContent)"""
SQUARES = f"""() => {{
  const plot = document.querySelector("{CHART}");
  const words = [...plot.querySelectorAll(".scatterlayer text")];
  const width = plot._fullLayout.xaxis._length / plot._fullLayout.xaxis.ticktext.length;
  if (!width || !words.length) return ["not drawn"];
  return words.filter(each => each.getBoundingClientRect().width > width)
    .map(each => each.textContent);
}}"""
IDLE = "document.querySelector('[data-test-script-state=notRunning]')"
PLACES = {  # address -> the switch of its tabs, and which of them are looked at beside the first
    "/flops-and-time": ("flops_tab", {"mfu": 2, "roofline": 3}),
    "/parallelism": ("parallel_tab", {"moving": 2, "schedule": 4}),
    "/serving": ("serving_tab", {"speed": 2}),
    "/model-sizes": ("sizes_tab", {"gguf": 1, "parts": 2}),
}
UPRIGHT = [(768, 1024), (390, 844)]
UPRIGHT_PLACES = {"/serving", "/parallelism"}  # pages of which every tab looked at is whole there


def check_upright(page, address, tab):
    """Check that on a tablet and a phone columns stack and nothing is cut, covered or too wide."""
    if address not in UPRIGHT_PLACES:
        return
    for width, height in UPRIGHT:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(700)  # pictures follow the width with a delay of their own
        assert narrow_look(page).faults() == [], (tab, width)
    page.set_viewport_size({"width": 1024, "height": 768})


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("address", PLACES)
def test_columns_stack_and_nothing_is_cut_or_covered_on_a_narrow_screen(
    new_page, visit, address, lang
):
    page = new_page(width=1024, height=768, lang=lang)
    name, tabs = PLACES[address]
    drawn(visit(page, address))
    assert page.evaluate(CUT) == []
    check_upright(page, address, "first")
    for tab, place in tabs.items():
        page.locator(f".st-key-{name}_choice").get_by_role("radio").nth(place).click()
        page.wait_for_url(f"**{name}={tab}*")
        page.until(IDLE)
        page.locator("[data-testid=stMetric], [data-testid=stPlotlyChart]").first.wait_for()
        assert page.evaluate(CUT) == [], tab
        check_upright(page, address, tab)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("address", ["/what-fits", "/parallelism", "/model-sizes"])
def test_a_picture_of_sizing_is_whole_on_a_phone_without_moving_it(new_page, visit, address, lang):
    page = visit(new_page(width=390, height=844, lang=lang), address)
    drawn(page)
    page.wait_for_timeout(700)  # a picture whose words are crowded is widened with a delay
    assert page.locator("[data-room]").count() == 0
    assert narrow_look(page).faults() == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_recipes_at_scale_are_named_above_their_bars_and_whole_on_a_phone(
    new_page, visit, screenshot, lang
):
    page = new_page(width=390, height=844, lang=lang)
    four = {"recipes_preset": "own", "recipes_axis": "precision"}
    four["recipes_of_precision"] = "fp32,bf16,fp16,pure_bf16"
    for chosen, size in (({}, "7B"), (four, "70B")):
        query = {"recipes_tab": "scale", "recipes_size": size, **chosen}
        drawn(visit(page, "/compare-recipes", **query))
        page.wait_for_timeout(700)
        screenshot(page, f"recipes-at-{size}-{lang}-390")
        assert page.locator("[data-room]").count() == 0, size
        assert narrow_look(page).faults() == [], size
        share = page.evaluate(f"(plot => plot._fullLayout.xaxis._length / plot.clientWidth)"
                              f"(document.querySelector('{CHART}'))")  # fmt: skip
        assert share > 0.6, size


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_stands_in_a_square_of_the_map_is_no_wider_than_the_square(new_page, visit, lang):
    page = new_page(width=1024, height=768, lang=lang)
    for query in ({}, {"fits_all": "true"}, {"present": "1"}):
        drawn(visit(page, "/what-fits", fits_tab="map", **query))
        assert page.locator(f"{CHART} .scatterlayer text").count() >= 40, query
        assert page.evaluate(SQUARES) == [], query


def test_a_chart_that_is_laid_out_anew_on_a_phone_gets_no_more_room_than_its_words_need(
    new_page, visit
):
    page = new_page(width=390, height=844)
    drawn(visit(page, "/rounding-and-overflow", rounding_tab="line"))
    room = f"document.querySelector('{CHART}')._fullLayout.width"
    page.until(f"{room} > 390")
    page.wait_for_timeout(1500)  # it has grown until its words stand apart
    before = page.evaluate(room)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(500)  # it is drawn anew, as wide as the screen at first
    page.until(f"{room} >= {before}")
    page.wait_for_timeout(1500)
    assert page.evaluate(room) == before
