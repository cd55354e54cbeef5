"""Live training on a server without a run: a recording that moves and says that it is one."""

import pytest

from core.train.run.reader import RunReader
from core.train.run.recorded import recorded_run

PLOT = "document.querySelector('[data-chart=loss] .live-plot')"
STEPS = f"({PLOT}?.data?.find(t => t.meta.role === 'training')?.x.length ?? 0)"
VIEW = "[...window[Symbol.for('bits-to-gpt.live')].values()][0]"


@pytest.fixture
def fresh(start_server, tmp_path):
    """A server of its own, on which nothing was ever trained."""
    with start_server() as server:
        yield server


@pytest.mark.parametrize(("lang", "width"), [("en", 1366), ("zh", 1024)])
def test_a_fresh_server_shows_a_moving_curve_that_is_labelled_as_recorded(
    fresh, new_page, visit, screenshot, lang, width
):
    page = visit(new_page(lang=lang, width=width, url=fresh.url), "/live-run")
    page.until(f"{STEPS} > 1")
    seen = page.evaluate(STEPS)
    page.until(f"{STEPS} > {seen}")
    recorded = RunReader(recorded_run("one_minute")).info["recorded"]
    said = page.locator(".live-message").inner_text()
    assert recorded["date"] in said
    assert recorded["machine"] in said
    word = {"en": "Recorded run", "zh": "录制"}[lang]
    page.locator(".st-key-headline").get_by_text(word).wait_for()
    assert page.locator(".live-controls").is_hidden()
    assert page.locator(".st-key-lr_start button").is_enabled()
    screenshot(page, f"live-run-recorded-{lang}")


def test_the_readers_own_run_takes_the_place_of_the_recording_on_the_same_connection(
    fresh, new_page, visit
):
    page = visit(new_page(url=fresh.url), "/live-run", lr_steps="20", lr_size="110k")
    page.until(f"{STEPS} > 1")
    page.locator(".st-key-lr_start button").click()
    page.until(
        f"{VIEW}.history.state?.state === 'finished' && !{VIEW}.history.info.recorded", 120_000
    )
    page.locator(".st-key-headline").get_by_text("step 20 of 20").wait_for()
    assert page.evaluate(f"{VIEW}.numConnections") == 1
    assert "recording" not in page.locator(".live").inner_text().lower()
