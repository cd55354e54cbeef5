"""Runs that are over: two in one picture, and one seen again as if it were live.

Nothing trains here: the runs are written as a worker would have written them.
"""

import re

import pytest

from core.figures.picture import Look
from core.train.run.directory import write_info
from core.train.run.evaluations import validation_curve
from core.train.run.records import StepRecord
from core.train.run.store import RunStore
from pages.train.live_run.compare import compare_picture, run_names

SLOW, FAST = "20260102t030405z-slow-00aa", "20260102t040506z-fast-00bb"
BYTES = {"weights": 437_248, "gradients": 437_248, "optimizer": 874_556, "activations": 9_425_412}
NUM_STEPS = 120  # two minutes of its own time: two seconds at 60 times
CREATED = 1_767_323_045.0
VIEW = "[...(window[Symbol.for('bits-to-gpt.live')]?.values() ?? [])][0]"
DIALOG_LINES = """[...document.querySelectorAll('[role=dialog] .js-plotly-plot')].flatMap(
    (plot) => plot.data.map(({ name, x, y }) => ({ name, x: [...x], y: [...y] })))"""


def write_run(folder, name, learning_rate, num_steps=NUM_STEPS):
    """Write a finished run of one step a second; a higher rate learns more."""
    directory = folder / name
    directory.mkdir(parents=True)
    config = {"name": "one-minute", "num_steps": num_steps, "learning_rate": learning_rate}
    text = {"vocab_size": 103, "ln_vocab": 4.63, "unigram_entropy": 3.25, "bigram_entropy": 2.46}
    shape = {"batch_size": 16, "seq_len": 64, "grad_clip": 1.0, "tokenizer": "character"}
    created = CREATED + (3661 if name == FAST else 0)  # as its name says
    info = {"name": name, "created": created, "config": {**config, **shape}, "text": text}
    write_info(directory, {**info, "prediction": {"memory": BYTES, "seconds_per_step": 1.0}})
    with RunStore(directory) as store:
        store.clock.now = lambda: CREATED
        store.append_event("state", 0, state="running", reason="", message="")
        store.append_event("memory", 0, **BYTES, other=200_000)
        for step in range(1, num_steps + 1):
            store.clock.now = lambda step=step: CREATED + step
            loss = 4.5 / (1 + learning_rate * step)
            record = StepRecord(
                step=step,
                time=CREATED + step,
                seconds=1.0,
                loss=loss,
                learning_rate=learning_rate,
                grad_norm=1.0,
                tokens_per_second=1024.0,
                resident_bytes=353 << 20,
            )
            store.append_step(record)
            if step % 40 == 0:
                store.append_event("eval", step, validation_loss=loss + 0.1)
        store.write_state("finished", step=num_steps)
    return directory


@pytest.fixture(scope="module")
def over(server):
    """Two runs that are over, alike but for their learning rate."""
    made = [write_run(server.runs, name, rate) for name, rate in ((SLOW, 0.001), (FAST, 0.01))]
    yield made
    for directory in made:
        directory.rename(directory.with_name(f"done-{directory.name}"))


def open_runs(page):
    """Open the window of the runs."""
    page.get_by_test_id("stMain").locator(".st-key-lr_manage").get_by_role("button").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").first.wait_for()
    return dialog


@pytest.mark.parametrize(
    ("lang", "width", "query"), [("en", 1366, {}), ("zh", 1024, {"present": "1"})]
)
def test_two_runs_are_lines_of_one_picture_that_tells_what_differs(
    new_page, visit, over, screenshot, lang, width, query
):
    page = visit(new_page(lang=lang, width=width), "/live-run", run=SLOW, **query)
    dialog = open_runs(page)
    assert "03:04:05" in dialog.locator("[data-tag]").inner_text()  # the one that the page shows
    box = dialog.get_by_role("combobox").first
    box.fill("04:05:06")
    box.press("Enter")
    page.until(f"{DIALOG_LINES}.length === 2")
    box.press("Escape")
    curves = [validation_curve(directory) for directory in over]
    expected = compare_picture(curves, Look())
    shown = page.evaluate(DIALOG_LINES)
    assert [line["name"] for line in shown] == run_names(curves)
    for mine, theirs in zip(expected.figure.data, shown, strict=True):
        assert (theirs["x"], theirs["y"]) == (list(mine.x), pytest.approx(list(mine.y)))
    if lang == "en":
        dialog.get_by_text(expected.alt, exact=True).wait_for()
    assert dialog.locator("td").all_inner_texts()[1:] == ["0.001", "0.01"]
    screenshot(page, f"compare-{lang}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def steps_shown(page):
    return page.evaluate(f"{VIEW}?.history.columns.step.length ?? 0")


def test_a_replay_begins_at_the_first_step_ends_as_the_run_did_and_is_left_again(
    new_page, visit, over
):
    page = visit(new_page(), "/live-run", run=FAST)
    page.until(f"{VIEW}?.history.columns.step.length === {NUM_STEPS}")
    dialog = open_runs(page)
    dialog.get_by_role("slider", name="Speed").press("End")
    dialog.get_by_test_id("stSliderThumbValue").filter(has_text="× 60").wait_for()
    dialog.get_by_role("button", name="Replay").click()
    page.wait_for_url(re.compile("speed=60"))
    page.get_by_text("A replay, 60 times as fast as it was.").wait_for()
    page.until(f"{VIEW}.history.columns.step.length < {NUM_STEPS}")
    assert page.locator(".live-controls").is_hidden()
    page.until(f"{VIEW}.history.state?.state === 'finished'")
    assert steps_shown(page) == NUM_STEPS
    page.locator(".st-key-headline").get_by_text(f"step {NUM_STEPS} of {NUM_STEPS}").wait_for()

    page.get_by_role("button", name="Show the whole run").click()
    page.wait_for_url(re.compile("^(?!.*speed=).*$"))
    page.get_by_text("A replay,").wait_for(state="detached")


def test_a_replay_at_its_own_speed_is_a_link_and_shows_a_run_under_way(new_page, visit, over):
    page = visit(new_page(), "/live-run", run=SLOW, speed="1")
    page.get_by_text("A replay, 1 times as fast as it was.").wait_for()
    page.until(f"{VIEW}?.history.state?.state === 'running'")
    page.until(f"{VIEW}.history.columns.step.length >= 2")
    assert steps_shown(page) < NUM_STEPS
    assert page.locator(".live-controls").is_hidden()
