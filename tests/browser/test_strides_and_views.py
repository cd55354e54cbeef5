"""The tensor map in a browser: its addresses against Python, keys, pointer, links, files."""

import re
from random import Random

import pytest

from core.tensors.layout import Layout
from tests.browser.seen import RUNS, headline, until_headline

ADDRESSES = "(layout) => window[Symbol.for('bits-to-gpt.tensor-map')].addressesOf(layout)"

# Pairs of words of two kinds that lie on each other.
OVERLAPS = """([one, other]) => {
  const roots = [document, ...[...document.querySelectorAll("*")].map((each) => each.shadowRoot)];
  const all = (kind) => roots.filter(Boolean).flatMap((each) => [...each.querySelectorAll(kind)]);
  const box = (each) => each.getBoundingClientRect();
  const meet = (a, b) => a.left < b.right && b.left < a.right
    && a.top + 6 < b.bottom && b.top + 6 < a.bottom;
  return all(one).flatMap((each) => all(other).filter((next) => meet(box(each), box(next)))
    .map((next) => [each.textContent, next.textContent]));
}"""


@pytest.fixture
def open_map(new_page, visit):
    """Return open_map(lang=..., **query): the page with its picture drawn."""

    def go(lang="en", width=1366, **query):
        page = visit(new_page(lang=lang, width=width), "/strides-and-views", **query)
        page.locator(".cell").first.wait_for()
        return page

    return go


def sum_line(page):
    return page.locator(".sum").inner_text()


def strip_of(page):
    """Where the cells of the first storage stand, and what they say."""
    cells = page.locator(".lane").first.locator(".byte")
    return cells.evaluate_all("all => all.map(e => [e.getAttribute('transform'), e.textContent])")


def test_the_browsers_addresses_are_pythons(open_map):
    page = open_map()
    rng = Random(5)  # noqa: S311  a seeded test
    for _ in range(200):
        shape = tuple(rng.randint(0, 4) for _ in range(rng.randint(0, 5)))
        stride = tuple(rng.randint(0, 9) for _ in shape)
        layout = Layout(shape=shape, stride=stride, offset=rng.randint(0, 5))
        told = {"shape": shape, "stride": stride, "offset": layout.offset}
        assert page.evaluate(ADDRESSES, told) == layout.addresses().reshape(-1).tolist()


def test_an_arrow_key_jumps_by_the_stride_and_the_link_follows(open_map):
    page = open_map()
    assert sum_line(page) == "[1, 2] = 9 is stored at 0 + 1·1 + 2·4 = 9"
    page.locator(".picture").focus()
    page.keyboard.press("ArrowRight")
    assert sum_line(page) == "[1, 3] = 13 is stored at 0 + 1·1 + 3·4 = 13"
    assert page.locator(".jump text").text_content() == "+4"
    page.keyboard.press("ArrowDown")
    assert page.locator(".jump text").text_content() == "+1"
    until_headline(page, "is stored at 0 + 2·1 + 3·4 = 14")
    page.wait_for_url(re.compile(r"strides_at=1(%3A|:)2(%2C|,)3"))


def test_a_view_leaves_the_storage_where_it_is(open_map):
    page = open_map()
    before = strip_of(page)
    page.locator(".step").first.click()
    assert sum_line(page).startswith("[2, 1] = 9 is stored at 0 + 2·4 + 1·1")
    assert strip_of(page) == before
    page.keyboard.press("]")
    assert page.locator(".lane").count() == 1


def test_a_copy_has_a_storage_of_its_own(open_map):
    page = open_map(strides_code="x.t().contiguous()")
    assert page.locator(".lane").count() == 2
    assert page.locator(".lane.own .name").text_content().startswith("storage S1")


def test_elements_that_share_an_address_light_together_and_are_counted(open_map):
    page = open_map(strides_code="x.expand(3, 4)", strides_rows="3", strides_columns="1")
    page.locator(".cell").nth(5).hover()
    assert page.locator(".cell.lit").count() == 4
    assert page.locator(".times").all_text_contents() == ["×4"] * 3
    assert page.evaluate(OVERLAPS, [".lane text:not(.times)", ".lane .times"]) == []


def test_on_a_projector_the_counts_stand_clear_of_what_the_cells_say(open_map):
    page = open_map(present="1", strides_code="x.expand(3, 4)", strides_rows=3, strides_columns=1)
    page.locator(".times").first.wait_for()
    assert page.evaluate(OVERLAPS, [".lane text:not(.times)", ".lane .times"]) == []


PAUSE_MS = 250  # of the arrow keys, before Python hears of it: TELL_MS of tensor_map.js


def test_hovering_asks_python_nothing_and_arrow_keys_only_after_a_pause(open_map):
    page = open_map()
    page.until("document.querySelector('[data-test-script-state=notRunning]')")
    page.evaluate(RUNS)
    for cell in range(16):
        page.locator(".cell").nth(cell).hover()
    page.wait_for_timeout(2 * PAUSE_MS)
    assert page.locator(".cell.lit").count() == 1
    assert page.evaluate("window.runs") == 0

    page.mouse.move(0, 0)
    page.locator(".picture").focus()
    for key in (*["ArrowLeft"] * 3, *["ArrowDown"] * 3, *["ArrowRight"] * 3):
        page.keyboard.press(key)
    assert sum_line(page).startswith("[3, 3] = 15")
    assert page.evaluate("window.runs") == 0
    until_headline(page, "[3, 3]")
    page.until("document.querySelector('[data-test-script-state=notRunning]')")
    assert page.evaluate("window.runs") == 1


def test_the_storage_leads_back_to_the_element(open_map):
    page = open_map()
    page.locator(".lane.own .byte").nth(7).click()
    assert sum_line(page).startswith("[3, 1] = 7")


def test_the_picture_is_saved_from_its_data(open_map):
    page = open_map()
    with page.expect_download() as saved:
        page.locator("[data-act=svg]").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert len(re.findall(r'class="cell[ "]', text)) == 16
    assert "<script" not in text


def test_what_a_reader_types_is_text_and_nothing_else(new_page, visit):
    program = "x['<img src=x onerror=alert(1)>']"
    page = visit(new_page(), "/strides-and-views", strides_code=program)
    page.locator(".cell").first.wait_for()
    assert page.locator("img[src=x]").count() == 0
    assert headline(page)
