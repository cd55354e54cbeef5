"""Home, This machine and lessons in a real browser: first paint, ticks, ways, measuring, print."""

import json
import re

import pytest

from core.figures.theme import COLORS
from pages.components.ticks.ticks import STORAGE_KEY
from pages.shared.lessons import load_lessons

MAP = ".st-key-lessons_list"
STEPS = "[class*=st-key-home_step_]"
LESSONS = load_lessons()
# What scrolls inside the page, and what of a card stands outside its border.
SCROLLS = """[...document.querySelectorAll("[data-testid=stMain] *")].filter((each) =>
  ["auto", "scroll"].includes(getComputedStyle(each).overflowY)
  && each.scrollHeight > each.clientHeight + 1 && each.clientHeight > 0)
  .map((each) => each.className)"""
CARDS = "[...document.querySelectorAll('[class*=st-key-home_step_]')]"
OUT_OF_THEIR_CARD = f"""{CARDS}.flatMap((card) => {{
  const {{ bottom, right }} = card.getBoundingClientRect();
  return [...card.querySelectorAll("img, p")].filter((each) => {{
    const box = each.getBoundingClientRect();
    return box.bottom > bottom - 4 || box.right > right - 4;
  }}).map((each) => each.textContent || each.alt);
}})"""


def kept_ticks(page):
    return json.loads(page.evaluate(f"localStorage.getItem('{STORAGE_KEY}') ?? '[]'"))


def tick(page, slug):
    """Return the box of a lesson, its group of the map unfolded."""
    box = page.locator(f'input[data-slug="{slug}"]')
    box.evaluate("box => { const group = box.closest('details'); if (group) group.open = true; }")
    return box


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("width", "height", "present"),
    [(1366, 768, "0"), (1024, 768, "0"), (1024, 768, "1"), (1280, 720, "1")],
)
def test_everything_of_home_is_on_one_screen(new_page, visit, width, height, present, lang):
    page = visit(new_page(width=width, height=height, lang=lang), present=present)
    page.locator(f"{STEPS} img").nth(4).wait_for()
    page.until(f"[...document.querySelectorAll('{STEPS} img')].every((each) => each.complete)")

    bottom = page.locator(".st-key-parameters_code").bounding_box()
    assert bottom["y"] + bottom["height"] <= height
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SCROLLS) == []
    assert page.evaluate(OUT_OF_THEIR_CARD) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pictures_of_the_steps_are_drawn_in_the_theme(new_page, visit, scheme):
    page = new_page(theme=scheme)
    visit(page)

    blue = COLORS[scheme]["forward"].removeprefix("#")
    page.locator(f"{STEPS} img").nth(4).wait_for()
    page.until(f"document.querySelector('{STEPS} img')?.src.includes('{blue}')")
    page.until(f"[...document.querySelectorAll('{STEPS} img')].every((each) => each.complete)")
    drawn = page.locator(f"{STEPS} img").evaluate_all(
        "all => all.map((each) => [each.naturalWidth > 0, each.alt.length > 10])"
    )
    assert drawn == [[True, True]] * 5


def test_a_click_anywhere_on_a_step_opens_its_lesson_without_a_reload(new_page, visit):
    page = visit(new_page(lang="zh"))
    page.evaluate("window.notReloaded = true")

    page.locator(f"{STEPS} img").nth(4).click(force=True)

    page.wait_for_url(re.compile("/training-memory"))
    page.locator(".st-key-headline").get_by_text("33.7 GiB").wait_for()
    assert "lang=zh" in page.url
    assert page.evaluate("window.notReloaded")


def test_a_tick_stays_in_the_browser_through_a_reload_and_in_the_other_list(page, visit):
    visit(page, "/lessons")
    tick(page, "first-run").check()
    assert kept_ticks(page) == ["first-run"]

    visit(page, "/lessons")
    assert tick(page, "first-run").is_checked()
    visit(page, "/lessons", lessons_level="1")
    assert tick(page, "first-run").is_checked()

    tick(page, "first-run").uncheck()
    assert kept_ticks(page) == []


def test_the_browser_suggests_the_first_lesson_whose_needs_are_ticked(page, visit):
    visit(page, "/lessons")
    tick(page, "first-run").wait_for()
    order = page.locator(f"{MAP} input").evaluate_all("boxes => boxes.map(box => box.dataset.slug)")
    rows = sorted(LESSONS, key=lambda lesson: order.index(lesson.slug))
    ticked = []
    for slug in ("first-run", "take-away-70b", "environment-check", "install-linux-cuda"):
        tick(page, slug).check()
        ticked.append(slug)
        suggested = page.locator(f"{MAP} .next a").inner_text()
        left = [each for each in rows if each.slug not in ticked]
        assert suggested == next(
            each.title["en"] for each in left if {*each.prerequisites} <= {*ticked}
        )


def test_one_page_of_the_map_is_open_and_says_how_much_of_it_is_done(page, visit):
    visit(page, "/lessons")
    tick(page, "first-run").check()
    groups = page.locator(f"{MAP} details")
    assert groups.evaluate_all("all => all.filter((each) => each.open).length") == 1
    done = sum(1 for lesson in LESSONS if lesson.page == "start/home")
    assert page.locator(f"{MAP} details[open] .count").inner_text().strip() == f"1 / {done}"

    page.locator(f"{MAP} summary", has_text="Lessons").click()
    assert page.locator(f"{MAP} details[open] summary").inner_text().startswith("Lessons")
    tick(page, "take-away-70b").check()
    assert page.locator(f"{MAP} details[open] summary").inner_text().startswith("Lessons")


def test_ticks_that_are_not_ours_do_not_break_the_list(page, visit):
    visit(page, "/lessons")
    for damaged in ("{half", '"text"', '[1, null, "first-run"]'):
        page.evaluate(f"localStorage.setItem('{STORAGE_KEY}', {json.dumps(damaged)})")
        visit(page, "/lessons")
        tick(page, "environment-check").wait_for()
    assert tick(page, "first-run").is_checked()


def test_the_machine_is_measured_after_the_first_paint_and_the_page_updates_itself(
    new_page, start_server, visit
):
    with start_server() as server:
        page = visit(new_page(url=server.url))
        assert page.get_by_text("Measuring this machine…").is_visible()
        page.get_by_role("button", name=re.compile(r"Train a GPT now: \d")).wait_for(
            timeout=120_000
        )
        assert page.get_by_text(re.compile(r"[\d,]+ steps of .* on ")).is_visible()


def test_the_button_starts_a_run_and_leads_to_the_live_page(new_page, start_server, visit):
    with start_server() as server:
        page = visit(new_page(url=server.url))

        page.get_by_role("button", name=re.compile("Train a GPT now")).click()

        page.wait_for_url(re.compile("/live-run"), timeout=120_000)
        (run,) = list(server.runs.iterdir())
        assert json.loads((run / "run.json").read_text(encoding="utf-8"))["config"]["num_steps"] > 0
        stop_run(run)


def stop_run(run):
    from core.train.control.commands import send

    send(run, "stop", by="test")


def test_only_the_card_is_printed(page, visit):
    visit(page, "/lessons", lessons_print="true")
    page.get_by_text("42.0 ZFLOPs").last.wait_for()

    page.emulate_media(media="print")

    page.get_by_text("Mechanics.").wait_for()
    for text in ("Copy link", "Show the code", "Tokens D"):
        page.get_by_text(text).first.wait_for(state="hidden")
