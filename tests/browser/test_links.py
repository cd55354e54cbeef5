"""Every link that a page makes keeps language, unit, projector, hidden inputs and the lock."""

import urllib.parse

import pytest

from pages.shared.navigation import PAGES
from tests.browser.dashboard import wait_until

FIVE = {"lang": "zh", "units": "GB", "present": "1", "hide": "tab", "lock": "1"}
PATHS = {row.key: "/" if row is PAGES[0] else f"/{row.address}" for row in PAGES}
CONTROL = ".st-key-lesson_control .stPopover button"
LESSON = ".st-key-lesson_list a"
# Links inside browser parts too. Reached by a pointer, as a reader does before a right click.
LINKS = """() => {
  const found = [];
  const look = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.matches("a[href]")) {
        each.dispatchEvent(new Event("pointerover", { bubbles: true, composed: true }));
        const isPage = each.origin === location.origin && !each.pathname.startsWith("/live/");
        if (isPage && !each.hash) found.push(each.href); // the others are files
      }
      if (each.shadowRoot) look(each.shadowRoot);
    }
  };
  look(document);
  return found;
}"""
# The answers to a question stay free on a locked page, and the slider that leafs through samples.
FREE = """() => [...document.querySelectorAll("[data-testid=stMain] input:enabled")]
  .filter((each) => each.checkVisibility() && !each.closest("[data-testid=stRadio]"))
  .filter((each) => each.dataset.label !== "sample_slider")
  .map((each) => each.getAttribute("aria-label"))"""


def query_of(address):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))


def lost(address, five=FIVE):
    """Return what an address does not say, or says twice."""
    said = urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query)
    return [pair for pair in five.items() if said.count(pair) != 1]


def check_in_force(page, five=FIVE):
    """Check that all five shape the page, not only its address."""
    page.until("document.documentElement.lang === 'zh-CN'")
    page.locator(".st-key-headline").first.wait_for(state="attached")
    assert lost(page.url, five) == []
    assert page.locator(".stAppHeader").is_hidden() == (five.get("present") == "1")
    assert "GiB" not in page.locator(".st-key-headline").first.inner_text()
    assert page.locator("[data-testid=stMain] [class*=_tab_choice]").count() == 0
    assert page.evaluate(FREE) == []


def open_list_of_lessons(page):
    """Open the list; on a projector its button is not seen."""
    button = page.locator(CONTROL)
    button.wait_for(state="attached")
    button.evaluate("button => button.click()")
    page.locator(LESSON).nth(4).wait_for(state="attached")


def follow(page, ready, act, five=FIVE):
    """Follow a link, then reload: the five are in force both times."""
    page.locator(".st-key-key_map button:not([hidden])").first.wait_for(state="attached")
    before = page.url
    act()
    wait_until(lambda: page.evaluate("location.href") != before)
    ready(page)
    check_in_force(page, five)
    page.reload()
    ready(page)
    check_in_force(page, five)


@pytest.mark.parametrize("key", PATHS)
def test_all_links_of_a_page_carry_what_was_chosen_and_a_lesson_keeps_it(page, visit, ready, key):
    # A lesson that was found is a link too.
    visit(page, PATHS[key], **FIVE, **({"home_search": "silicon"} if key == "start/home" else {}))
    open_list_of_lessons(page)
    page.locator(".st-key-frame_reader button:not([hidden])").wait_for(state="attached")
    links = page.evaluate(LINKS)
    assert len(links) >= 5
    assert {link: lost(link) for link in links if lost(link)} == {}
    page.locator(CONTROL).evaluate("button => button.click()")
    page.locator(LESSON).first.wait_for(state="detached")
    follow(page, ready, lambda: page.keyboard.press("4"))


def test_a_lesson_of_the_page_on_show_stands_in_the_address_and_the_way_back_leads_back(
    page, visit, ready
):
    """Streamlit writes such a link's address only where a default has to leave it."""
    visit(page, "/bit-layouts", units="GB")
    page.locator(".st-key-key_map button:not([hidden])").first.wait_for(state="attached")
    headline = page.locator(".st-key-headline").inner_text
    first = headline()
    page.keyboard.press("4")
    page.wait_for_url("**/bit-layouts?bits_tab=codes&*units=GB")
    wait_until(lambda: headline() != first)
    ready(page)
    lesson = headline()
    page.reload()
    ready(page)
    wait_until(lambda: headline() == lesson)
    page.locator(".st-key-key_map button:not([hidden])").first.wait_for(state="attached")
    page.go_back()
    wait_until(lambda: headline() == first)


DESIGN = {
    "bits_tab": "designer",
    "bits_exp": "4",
    "bits_man": "3",
    "bits_nans": "one",
    "bits_inf": "false",
}
WAYS = {
    "course map, same page": ("/lessons", {}, ".ticks a[href^='/lessons?lessons_path=check']"),
    "course map, other page": ("/lessons", {}, ".ticks a[href^='/serving?']"),
    "next lesson": ("/bit-layouts", DESIGN, None),
    "bits of a code": ("/rounding-and-overflow", {}, "a[href^=bit-layouts]"),
    "one job": ("/what-fits", {}, "[data-testid=stMain] a[href^=serving]"),
    "one rank": (
        "/parallelism",
        {"parallel_tab": "stages"},
        "[data-testid=stMain] a[href^=training-memory]",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_kind_of_link_keeps_what_was_chosen(page, visit, ready, way):
    path, query, selector = WAYS[way]
    visit(page, path, **FIVE, **query)
    if selector is None:
        page.locator(".st-key-next_lesson a").wait_for(state="attached")  # which the key presses
        follow(page, ready, lambda: page.keyboard.press("n"))
    else:
        link = page.locator(selector).first
        link.wait_for(state="attached")
        follow(page, ready, lambda: link.evaluate("link => link.click()"))


def test_the_menu_keeps_what_was_chosen(page, visit, ready):
    five = {name: value for name, value in FIVE.items() if name != "present"}
    visit(page, "/serving", **five)
    page.locator(".st-key-frame_reader button:not([hidden])").wait_for(state="attached")
    page.get_by_test_id("stTopNavSection").nth(1).click()
    rows = page.get_by_test_id("stTopNavDropdownLink")
    rows.first.wait_for()
    for row in rows.all():
        row.hover()
        assert lost(row.get_attribute("href"), five) == []
    follow(page, ready, rows.nth(1).click, five)


def test_a_click_before_the_page_has_come_keeps_what_was_chosen(page, ready):
    five = {name: value for name, value in FIVE.items() if name != "present"}
    page.goto(f"/training-memory?{urllib.parse.urlencode(five)}")
    logo = page.get_by_test_id("stLogoLink").first
    logo.wait_for(state="attached")
    logo.evaluate("logo => logo.click()")
    page.locator(".st-key-home_train").wait_for()
    ready(page)
    page.until("location.search.includes('lock=1')")
    check_in_force(page, five)


# Clicks one choice, and another as soon as the script is at work for the first: so the page says,
# or, where the answer overtakes that word, a moment has passed.
TWO_CLICKS = """(names) => {
  const click = (name) => document
    .querySelector(`.st-key-optim_${name}_choice button:not([aria-checked=true])`).click();
  const second = () => {
    if (!waiting) return;
    waiting = false;
    works.disconnect();
    click(names[1]);
  };
  let waiting = true;
  const works = new MutationObserver(() => {
    if (document.querySelector("[data-test-script-state=running]")) second();
  });
  // The whole page: a page that has just been opened can still be given another stApp.
  const attributeFilter = ["data-test-script-state"];
  works.observe(document, { subtree: true, childList: true, attributeFilter });
  click(names[0]);
  setTimeout(second, 60);
}"""


def test_a_second_choice_before_the_first_ones_picture_has_come_does_not_take_it_back(
    page, visit, ready
):
    visit(page, "/optimizers", optim_tab="rule")
    for names in (["m", "v"], ["v", "m"], ["m", "v"]):
        for name in names:
            choice = page.locator(f".st-key-optim_{name}_choice button:not([aria-checked=true])")
            choice.first.wait_for(state="attached")
        before = query_of(page.url)
        page.evaluate(TWO_CLICKS, names)
        words = [f"optim_{name}" for name in names]

        def are_both(url, before=before, words=words):
            return all(query_of(url).get(word) != before.get(word) for word in words)

        page.wait_for_url(are_both)
        ready(page)
        page.wait_for_timeout(300)  # what would be taken back is so in the run after
        for name in names:
            word = f"optim_{name}"
            assert query_of(page.url).get(word) != before.get(word), (names, page.url)
