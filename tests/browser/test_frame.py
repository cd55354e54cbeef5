"""The parts of the frame that live in the browser: theme, keys, language, copied link."""

import itertools
import re
import urllib.parse

import pytest

from tests.browser.dashboard import wait_until

THEME = ".st-key-frame_reader button"
BACKGROUND = "() => getComputedStyle(document.querySelector('.stApp')).backgroundColor"
LIGHT, DARK = "rgb(251, 250, 247)", "rgb(16, 21, 29)"
CONTROL = ".st-key-lesson_control .stPopover button"
NEXT = ".st-key-next_lesson a"
LESSONS = ".st-key-lesson_list a"


@pytest.fixture
def home(page, visit):
    """Home in a light browser, marked so that a reload would be noticed."""
    visit(page)
    page.wait_for_selector(NEXT)
    for part in (THEME, ".st-key-key_map button >> nth=0"):  # shown when it listens to keys
        page.locator(part).wait_for()
    page.evaluate("window.notReloaded = true")
    return page


def wait_for(page, background):
    page.until(f"({BACKGROUND})() === '{background}'")


def query(page):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query))


def test_the_theme_button_changes_the_theme_without_a_reload_and_for_every_page(home, visit):
    """Also the canary for Streamlit's own menu, whose entry the button presses."""
    assert home.evaluate(BACKGROUND) == LIGHT
    home.locator(THEME).click()
    wait_for(home, DARK)
    assert home.evaluate("window.notReloaded")
    home.wait_for_selector('[data-testid="stMainMenuPopover"]', state="detached")
    assert home.locator(THEME).get_attribute("aria-label") == "Light theme"
    visit(home, "/lessons")
    wait_for(home, DARK)
    home.locator(THEME).click()
    wait_for(home, LIGHT)


def test_keys_open_lessons_the_list_of_keys_and_the_projector(home, ready):
    home.keyboard.press("?")
    dialog = home.locator(".st-key-key_map dialog")
    dialog.wait_for(state="visible")
    home.keyboard.press("?")
    dialog.wait_for(state="hidden")
    home.keyboard.press("2")
    home.wait_for_url(re.compile("home_search="))
    home.keyboard.press("p")
    home.wait_for_url(re.compile("present=1"))
    home.locator(".stAppHeader").wait_for(state="hidden")
    home.keyboard.press("Escape")
    home.locator(".stAppHeader").wait_for(state="visible")
    assert "present" not in query(home)
    assert home.evaluate("window.notReloaded")


PRESS_ESCAPE_ONCE_THE_MENU_IS_GONE = """() => {
  const look = () => {
    const { display } = getComputedStyle(document.querySelector('.stAppHeader'));
    if (display !== 'none') return requestAnimationFrame(look);
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    window.escaped = true;
  };
  look();
}"""


def test_escape_leaves_the_projector_from_the_first_frame_that_shows_it(home):
    """The style sheet of the projector arrives before the rest of the page."""
    home.evaluate(PRESS_ESCAPE_ONCE_THE_MENU_IS_GONE)
    home.keyboard.press("p")
    home.until("window.escaped === true")
    home.locator(".stAppHeader").wait_for(state="visible")
    home.until("!location.search.includes('present')")


def test_a_key_that_a_field_wants_is_left_to_it(home):
    field = home.locator(".stTextInput input:visible").first
    field.click()
    home.keyboard.type("2?p")
    assert field.input_value() == "2?p"
    assert home.locator(".st-key-key_map dialog").is_hidden()


def test_the_copied_link_says_every_setting_and_opens_the_same_page(home, visit):
    home.context.grant_permissions(["clipboard-read", "clipboard-write"])
    home.keyboard.press("3")
    home.wait_for_url(re.compile("home_search="))
    home.locator(".st-key-copy_link button").click()
    home.locator(".st-key-copy_link [role=status]").get_by_text("Link copied").wait_for()
    link = urllib.parse.urlsplit(home.evaluate("navigator.clipboard.readText()"))
    settings = dict(urllib.parse.parse_qsl(link.query))
    assert {"lang": "en", "units": "GiB", "present": "0", "lock": "0"}.items() <= settings.items()
    assert settings["home_search"] == query(home)["home_search"]
    home.locator(CONTROL).get_by_text("Lesson 3 of").wait_for()
    headline = home.locator(".st-key-headline").inner_text()
    visit(home, link.path, **settings)
    home.locator(".st-key-headline").get_by_text(headline).wait_for()


def test_a_lesson_link_resets_what_an_earlier_lesson_had_set(home):
    home.keyboard.press("2")
    home.wait_for_url(re.compile("home_search="))
    home.locator(CONTROL).get_by_text("Lesson 2 of").click()
    home.locator(LESSONS).first.click()
    home.until("!location.search.includes('home_search')")
    home.locator(CONTROL).get_by_text("Lesson 1 of").wait_for()


def test_the_language_switch_keeps_the_settings_and_the_address(home):
    home.keyboard.press("2")
    home.wait_for_url(re.compile("home_search="))
    asked = query(home)["home_search"]
    home.locator(".st-key-lang_choice").get_by_text("中文").click()
    home.wait_for_url(re.compile("lang=zh"))
    home.until("document.documentElement.lang === 'zh-CN'")
    wait_until(lambda: query(home) == {"lang": "zh", "home_search": asked})
    assert home.evaluate("window.notReloaded")


def test_the_focus_can_be_seen(home):
    for _press in range(6):
        home.keyboard.press("Tab")
        style = home.evaluate("""() => {
          let e = document.activeElement;
          while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
          const s = getComputedStyle(e);
          return [e.outerHTML.slice(0, 80), s.outlineStyle, s.boxShadow];
        }""")
        assert style[1] != "none" or style[2] != "none", style[0]


def test_the_lesson_on_show_its_neighbours_and_the_whole_list_are_a_click_away(page, visit):
    visit(page, "/flops-and-time", flops_tab="rule", flops_of="layers")
    control = page.locator(CONTROL).get_by_text("Lesson ")
    control.wait_for()
    number, count = map(int, re.findall(r"\d+", control.inner_text())[:2])
    control.click()
    links = page.locator(LESSONS)
    links.first.wait_for()
    assert links.count() == count > 9
    assert "●" in links.nth(number - 1).inner_text()
    rows = [each.bounding_box() for each in links.all()]
    assert all(a["y"] + a["height"] <= b["y"] + 0.5 for a, b in itertools.pairwise(rows))
    page.keyboard.press("Escape")
    page.locator(".st-key-previous_lesson a").click()
    page.locator(CONTROL).get_by_text(f"Lesson {number - 1} of").wait_for()


PLACES_OF_THE_TITLE = """window.places = [];
(function look() {
  const title = document.querySelector("[data-testid=stMain] h1");
  const { x, y } = title?.getBoundingClientRect() ?? {};
  if (title && window.places.at(-1) !== `${x} ${y}`) window.places.push(`${x} ${y}`);
  requestAnimationFrame(look);
})();"""


def test_the_title_stands_where_it_will_stay_from_its_first_frame(page, visit):
    page.add_init_script(PLACES_OF_THE_TITLE)
    visit(page, "/serving")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.until("document.querySelectorAll('[data-testid=stSkeleton]').length === 0")
    page.wait_for_timeout(500)  # a style that came last would move it within a moment

    places = [place.split() for place in page.evaluate("window.places")]
    assert places
    assert {x for x, _y in places} == {places[-1][0]}
    assert max(abs(float(y) - float(places[-1][1])) for _x, y in places) <= 2


CLASS_SWITCHES = """() => {
  const view = document.querySelector(".st-key-frame_switches > :has(.stPopover)");
  view.before(view.cloneNode(true), view.cloneNode(true));
}"""


@pytest.mark.parametrize("in_class", [False, True], ids=["alone", "class"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_menu_of_seven_sections_is_one_line_and_ends_before_the_switches(
    new_page, visit, lang, in_class
):
    page = visit(new_page(1024, 768, lang))
    if in_class:
        page.evaluate(CLASS_SWITCHES)
    for width in (1024, 1152, 1280, 1366, 1440):
        page.set_viewport_size({"width": width, "height": 768})
        page.until(f"document.documentElement.clientWidth <= {width}")
        switches = page.locator(".st-key-frame_switches").bounding_box()
        menu = page.get_by_test_id("stTopNav").bounding_box()
        sections = [each.bounding_box() for each in page.get_by_test_id("stTopNavSection").all()]
        assert len(sections) == 7
        end = sections[-1]["x"] + sections[-1]["width"]
        assert end <= min(menu["x"] + menu["width"], switches["x"]), width
        assert len({section["y"] for section in sections}) == 1, width


def test_on_a_narrow_screen_the_switch_of_languages_is_the_other_language(new_page, visit, ready):
    page = visit(new_page(1024, 768))
    choice = page.locator(".st-key-lang_choice")
    other = choice.locator("button", has_text="中文").bounding_box()
    assert choice.bounding_box()["width"] == pytest.approx(other["width"], abs=1)
    choice.get_by_text("中文").click()
    page.until("document.documentElement.lang === 'zh-CN'")
    choice.get_by_text("English").click()
    page.until("document.documentElement.lang === 'en'")
    ready(page)
    page.locator(".st-key-lang_choice [aria-checked=true]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.until("document.documentElement.lang === 'zh-CN'")
