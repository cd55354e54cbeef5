"""Runs that are over: three in one picture, and one seen again as if it were live.

Nothing trains here: the runs are written as a worker would have written them.
"""

import re

import pytest

from core.train.run.directory import write_info
from core.train.run.evaluations import validation_curve
from core.train.run.records import StepRecord
from core.train.run.store import RunStore

SLOW, FAST = "20260102t030405z-slow-00aa", "20260102t040506z-fast-00bb"
WIDE = "20260102t050607z-wide-00cc"
BYTES = {"weights": 437_248, "gradients": 437_248, "optimizer": 874_556, "activations": 9_425_412}
NUM_STEPS = 120  # two minutes of its own time: two seconds at 60 times
CREATED = 1_767_323_045.0
VIEW = "[...(window[Symbol.for('bits-to-gpt.live')]?.values() ?? [])][0]"
LINES = """(plot => plot?.data?.filter(each => each.meta.role.startsWith('beside'))
    .map(({ name, x, y }) => ({ name, x: [...x], y: [...y] })))
    (document.querySelector('[data-chart=loss] .live-plot')) ?? []"""


def write_run(folder, name, learning_rate, num_steps=NUM_STEPS, hidden_dim=64):
    """Write a finished run of one step a second; a higher rate learns more."""
    directory = folder / name
    directory.mkdir(parents=True)
    config = {"name": "one-minute", "num_steps": num_steps, "learning_rate": learning_rate}
    config |= {"hidden_dim": hidden_dim}
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
            if step % 20 == 0:
                told = {"prompt": "The ", "num_words": 4, "num_real_words": 3}
                store.append_event("sample", step, text=f"text of step {step}", **told)
        store.write_state("finished", step=num_steps)
    return directory


@pytest.fixture(scope="module")
def over(server):
    """Two runs that are over, alike but for their rate, and a shorter one of another width."""
    made = [write_run(server.runs, name, rate) for name, rate in ((SLOW, 0.001), (FAST, 0.01))]
    made.append(write_run(server.runs, WIDE, 0.001, num_steps=90, hidden_dim=128))
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
def test_runs_are_lines_of_the_main_picture_and_a_table_tells_what_differs(
    new_page, visit, over, screenshot, lang, width, query
):
    beside = {"lr_beside": f"{FAST},{WIDE}"}
    page = visit(new_page(lang=lang, width=width), "/live-run", run=SLOW, **beside, **query)
    page.until(f"{LINES}.length === 4")
    lines = page.evaluate(LINES)
    rate, size = {"en": ("Learning rate", "Hidden size"), "zh": ("学习率", "隐藏维度")}[lang]
    names = [f"{rate} 0.001 → 0.01", f"{size} 64 → 128"]
    assert [line["name"] for line in lines] == [names[0], names[0], names[1], names[1]]
    for directory, line in zip(over[1:], lines[1::2], strict=True):
        curve = validation_curve(directory)
        assert (tuple(line["x"]), line["y"]) == (curve.steps, pytest.approx(curve.losses))
    # The axis ends with the longest of them, 90 steps of the last are drawn.
    assert (lines[0]["x"][-1], lines[2]["x"][-1]) == (NUM_STEPS, 90)
    table = page.locator("table").filter(has_text="0.01").first
    table.scroll_into_view_if_needed()
    assert table.locator("th").all_inner_texts()[2:] == names
    cells = table.locator("td").all_inner_texts()
    assert cells[:4] == [size, "64", "64", "128"], cells
    assert [rate, "0.001", "0.01", "0.001"] == cells[8:12] or rate in cells, cells
    screenshot(page, f"beside-{lang}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_runs_chosen_in_the_window_come_into_the_picture_and_the_address(new_page, visit, over):
    page = visit(new_page(), "/live-run", run=SLOW)
    dialog = open_runs(page)
    assert "03:04:05" in dialog.locator("[data-tag]").inner_text()  # the one that the page shows
    box = dialog.get_by_role("combobox").first
    box.fill("04:05:06")
    page.get_by_role("option").filter(has_text="04:05:06").first.click()
    box.press("Tab")  # Escape would close the window, where the list has closed already
    dialog.get_by_role("button", name="Show them in one picture").click()
    page.wait_for_url(re.compile(f"lr_beside={FAST}"))
    page.until(f"{LINES}.length === 2")
    with page.expect_download() as started:
        page.locator(".live-player").click()
    exported = started.value.path().read_text(encoding="utf-8")
    assert "Learning rate 0.001 → 0.01" in exported
    assert FAST in exported


MOMENT = """(plot => {
    const xs = (role) => plot?.data?.find(each => each.meta.role === role)?.x ?? []
    const last = (role) => [...xs(role)].at(-1) ?? 0
    const text = (selector) => document.querySelector(selector)?.textContent ?? ''
    return {
        curve: last('training'), diamond: last('validation'),
        others: Object.fromEntries((plot?.data ?? []).filter(each => each.meta.role === 'beside')
            .map(each => [each.meta.run, [...each.x].at(-1) ?? 0])),
        headline: text('.st-key-headline p'), sample: text('.live-sample pre'),
        label: text('.live-sample output'), status: text('.live-progress'),
        badge: text('.live-state'),
    }
})(document.querySelector('[data-chart=loss] .live-plot'))"""


def faults_of(seen):
    """Return what one look at the page shows of another moment than the curve's last step."""
    step, expected = seen["curve"], []
    evaluated, sampled = step // 40 * 40, step // 20 * 20
    half = 1e-9  # JavaScript rounds a half up, Python to the even digit
    loss = 4.5 / (1 + 0.01 * step) + half
    expected.append((f"Loss {loss:.3f} at step {step} of" in seen["headline"], "headline"))
    expected.append((seen["diamond"] == evaluated, "validation"))
    if sampled:
        expected.append((seen["sample"] == f"The text of step {sampled}", "text"))
        expected.append((seen["label"] == f"after step {sampled}", "label of the text"))
    if evaluated:
        validation = f"validation loss {4.5 / (1 + 0.01 * evaluated) + 0.1 + half:.3f}"
        expected.append((validation in seen["status"], "status"))
    expected.append((seen["badge"] == ("finished" if step == NUM_STEPS else "training"), "badge"))
    for run, until in ((SLOW, NUM_STEPS), (WIDE, 90)):
        if run in seen["others"]:
            expected.append((seen["others"][run] == min(step, until), run))
    return [name for agrees, name in expected if not agrees]


def test_at_every_moment_of_a_replay_of_three_runs_all_tell_of_the_same_step(new_page, visit, over):
    page, looks = new_page(), []
    page.emulate_media(reduced_motion="no-preference")
    for _replay in range(3):  # a busy machine draws few moments of one
        visit(page, "/live-run", run=FAST, speed="8", lr_beside=f"{SLOW},{WIDE}")
        page.until(f"{MOMENT}.curve > 0")
        # Until the stream is there, the script's own sentence stands: it tells of no step.
        page.until(f"/step \\d/.test({MOMENT}.headline)")
        looks.append(page.evaluate(MOMENT))
        while looks[-1]["badge"] != "finished":
            looks.append(page.evaluate(MOMENT))
            page.wait_for_timeout(100)
        if len({look["curve"] for look in looks}) >= 50:
            break
    apart = [(faults_of(look), look) for look in looks if faults_of(look)]
    assert not apart, str(apart[:3])
    assert len(looks) >= 50
    page.until(f"{MOMENT}.others['{SLOW}'] === {NUM_STEPS} && {MOMENT}.others['{WIDE}'] === 90")


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
    for part in ("[data-chart=loss]", "[data-chart=memory]", "pre"):
        box = page.locator(f".live {part}").bounding_box()
        assert 0 <= box["y"] <= box["y"] + box["height"] <= 768, part
