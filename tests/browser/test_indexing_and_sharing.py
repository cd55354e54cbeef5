"""Indexing and sharing in a browser: a program that is typed, marks on what it wrote, sliders."""

from tests.browser.seen import press, until_headline

PATH = "/indexing-and-sharing"
MARKED = """((which) => {
  const roots = [...document.querySelectorAll("*")].map((each) => each.shadowRoot).filter(Boolean);
  const maps = roots.map((root) => root.querySelector(".map")).filter(Boolean);
  const map = maps.at(which) ?? document.querySelector(".map");
  return map ? [map.querySelectorAll(".cell.changed").length,
    map.querySelectorAll(".byte.changed").length] : [];
})"""


def until_marked(page, cells, addresses, which=0):
    page.until(f"JSON.stringify({MARKED}({which})) === '[{cells},{addresses}]'")


def test_a_typed_write_marks_what_it_changed_in_every_variable(page, visit, ready, screenshot):
    visit(page, PATH)
    until_headline(page, "changes x and y (address 3 of S0)")
    until_marked(page, 1, 1)
    field = page.get_by_role("textbox", name="Program")
    field.fill("y = x[:, 1]\ny.mul_(10)")
    field.press("Control+Enter")
    until_headline(page, "y.mul_(10) changes x and y (addresses 1, 4 of S0)")
    until_marked(page, 2, 2)
    page.get_by_role("button", name="x given").first.click()
    until_marked(page, 2, 2)
    assert "index_code=" in page.url
    screenshot(page, "indexing-typed")

    press(page, "Last dimension of x", "ArrowRight")
    until_headline(page, "(addresses 1, 5 of S0)")
    ready(page)


def test_the_link_of_a_program_of_two_lines_opens_it(page, visit):
    visit(page, PATH, index_code="y = x.expand(2, 3)\ny.add_(1)", index_columns="1")
    until_headline(page, "The program is refused in line 2")
    page.get_by_text("refers to a single memory location").wait_for()
    assert page.get_by_role("textbox", name="Program").input_value().count("\n") == 1


def test_of_many_storages_that_of_the_written_tensor_is_drawn(page, visit):
    visit(page, PATH, index_code="y = x[x > 2]\nx[x > 2] = 0")
    until_headline(page, "changes x, not y (addresses 3–5 of S0)")
    until_marked(page, 0, 0)
    until_marked(page, 3, 3, which=-1)


def test_the_sliders_of_a_window_end_at_the_storage(page, visit):
    visit(page, PATH, index_tab="strided")
    until_headline(page, "as_strided((5, 4), (2, 1), 0)")
    press(page, "stride[0]", "End")
    until_headline(page, "as_strided((5, 4), (3, 1), 0)")
    page.get_by_text("storage_offset: 0, the only choice here").wait_for()
    press(page, "size[0]", "End")
    until_headline(page, "as_strided((8, 4), (1, 1), 0)")
    press(page, "storage_offset", "End")
    until_headline(page, "as_strided((8, 4), (1, 1), 5)")
