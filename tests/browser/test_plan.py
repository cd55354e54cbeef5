"""One plan in a browser: its first screen, the way through the pages, and tasks in six clicks."""

import urllib.parse

import pytest

from pages.shared.navigation import PAGES
from tests.browser.seen import HEADLINE, drawn, headline, until_headline

SIZING = [row for row in PAGES if row.section == "Sizing"]
SEVENTY = {"plan_model": "llama-3.1-70b", "plan_devices": "16"}
LINE = ".st-key-page_line p"
JOBS = {"serving": "Serving Llama-3.1 70B in bfloat16 on 16"}
LINES = f"""() => {{
  const said = document.querySelector('{HEADLINE}');
  return Math.round(said.clientHeight / parseFloat(getComputedStyle(said).lineHeight));
}}"""
# Words that the line of the capacity crosses: on a ground they stand before it.
ON_LINE = """() => {
  const plot = document.querySelector(".js-plotly-plot");
  const line = plot.querySelector(".shapelayer path").getBoundingClientRect();
  const grounds = each => getComputedStyle(each.parentNode.querySelector(".bg")).fillOpacity;
  return [...plot.querySelectorAll(".annotation-text")].filter(each => !Number(grounds(each)))
  .filter(each => {
    const words = each.getBoundingClientRect();
    return words.left < line.right && words.right > line.left && words.bottom > line.top + 8;
  }).map(each => each.textContent);
}"""
HOURS = {"en": "11 h 17 min", "zh": "11 小时 17 分"}


def query(page):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query))


def menu(page, row, ready):
    """Open a page of Sizing by the menu: two clicks."""
    page.get_by_test_id("stTopNavSection").last.click()
    page.get_by_test_id("stTopNavDropdownLink").nth(SIZING.index(row)).click()
    page.wait_for_url(f"**/{row.address}*")
    ready(page)


def test_the_plan_of_one_page_is_the_plan_of_all_through_menu_reload_link_and_compare(
    page, visit, ready, new_page
):
    visit(page, "/what-fits", **SEVENTY)
    until_headline(page, "does not fit: 100 GiB")
    for row in SIZING[1:]:
        menu(page, row, ready)
        page.locator(LINE).filter(
            has_text=JOBS.get(row.address, "Training Llama-3.1 70B on 16")
        ).first.wait_for()
        page.until("location.search.includes('plan_model=llama-3.1-70b')")
        assert query(page).items() >= SEVENTY.items(), row.address
    menu(page, SIZING[1], ready)
    page.reload()
    until_headline(page, "Llama-3.1 70B needs 100 GiB")
    page.get_by_role("button", name="Compare with").click()
    until_headline(page, "A and B need the same memory")
    other = new_page()
    visit(other, "/training-memory", **query(page))
    until_headline(other, "A and B need the same memory: 100 GiB")


def test_a_lesson_leaves_the_readers_plan_which_is_one_click_away(page, visit, ready):
    visit(page, "/what-fits", plan_model="qwen2.5-7b", plan_devices="4")
    until_headline(page, "Qwen2.5 7B on 4 H100")
    assert page.get_by_role("button", name="Back to my plan").count() == 0
    page.get_by_test_id("stPopover").filter(has_text="lessons").locator("button").first.click()
    page.get_by_role("link", name="How many H100 train 70B?").first.click()
    until_headline(page, "Llama-3.1 70B on 16 H100")
    menu(page, SIZING[1], ready)
    until_headline(page, "Llama-3.1 70B needs 100 GiB")
    page.get_by_role("button", name="Back to my plan").click()
    until_headline(page, "Qwen2.5 7B")
    page.until("location.search.includes('plan_devices=4')")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_first_screen_of_the_plan_says_what_fits_what_it_costs_and_what_to_change(
    new_page, visit, lang
):
    page = visit(new_page(lang=lang), "/what-fits", **SEVENTY)
    drawn(page)
    said = headline(page)
    for words in ("Llama-3.1 70B", "16", "100 GiB", "24", "32", HOURS[lang], "USD", "MFU"):
        assert words in said, words
    assert page.evaluate(LINES) <= 2
    assert page.evaluate(ON_LINE) == []
    ticks = page.locator(".js-plotly-plot .ytick text").all_text_contents()
    assert [each.split("×")[0].strip() for each in ticks] == ["8", "16", "24", "32", "64"]
    assert all("USD" in each for each in ticks)
    buttons = [page.locator(f".st-key-plan_change_{place} button").first for place in range(3)]
    assert all(each.is_visible() for each in buttons)
    buttons[-1].click()
    page.until(f"document.querySelector('{HEADLINE}')?.innerText.includes('65.5')")
    phone = visit(new_page(width=390, height=844, lang=lang), "/what-fits", **SEVENTY)
    drawn(phone)
    assert phone.evaluate(LINES) <= 5
    assert phone.evaluate(ON_LINE) == []
