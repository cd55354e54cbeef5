"""The live page in a real browser, fed by a run that is written while it looks."""

import contextlib
import itertools
import json
import math
import re
import time
import urllib.request
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core import units
from core.budget.by_hand.gpt import count_parameters
from core.figures.theme import COLORS
from core.language import install_provider
from core.train.config import TrainConfig
from core.train.control.commands import Inbox
from core.train.run.directory import new_run_name, write_info
from core.train.run.history import landmarks
from core.train.run.reader import RunReader
from core.train.run.records import StepRecord
from core.train.run.state import NON_FINITE_PAUSE, hold_worker_lock
from core.train.run.store import RunStore
from core.train.worker.failures import HALVE_THE_BATCH
from pages.components.live_chart.words import live_words
from tests.browser.first_look import first_look

NUM_STEPS = 400
MEMORY = {"weights": 437_248, "gradients": 437_248, "optimizer": 874_556}
ACTIVATIONS = 9_425_412
ON_A_GPU = {
    "resolved": {
        "device": "cuda",
        "peak_flops_per_second": 989.4e12,
        "peak_source": "data sheet",
    },
    "prediction": {"memory": MEMORY, "seconds_per_step": 0.02, "flops_per_step": 3.21e11},
}
CARD = {
    "peak": 10_900_000,
    "source": "allocator",
    "reserved_bytes": 23 << 20,
    "context_bytes": 520 << 20,
    "other_bytes": 3 << 30,
    "total_bytes": 80 << 30,
    "utilization": 0.87,
}
INFO = {
    "config": {
        "name": "one-minute",
        "num_steps": NUM_STEPS,
        "batch_size": 16,
        "seq_len": 64,
        "accumulation_steps": 1,
        "grad_clip": 1.0,
    },
    "text": {
        "vocab_size": 103,
        "ln_vocab": math.log(103),
        "unigram_entropy": 3.25,
        "bigram_entropy": 2.46,
    },
    "prediction": {"memory": {**MEMORY, "activations": ACTIVATIONS}, "seconds_per_step": 0.02},
}
CHART = "document.querySelector('[data-chart={name}] .live-plot')"
# What was drawn and told of the runs below when core drew and told it too, and both were compared.
RECORDED = json.loads(Path(__file__).with_name("live_run.json").read_text(encoding="utf-8"))
VIEW = "[...(window[Symbol.for('bits-to-gpt.live')] ?? new Map()).values()][0]"


def loss_at(step):
    return 2 + 2.6 * math.exp(-step / 80) + 0.05 * math.sin(step)


class Run:
    """A run that this test writes, step by step, as a worker would."""

    def __init__(self, directory):
        self.directory = directory
        self.store = RunStore(directory)
        self.inbox = Inbox(directory)
        self.step = 0
        self.told_by_the_card = {}
        self.state("running")

    def state(self, state, **more):
        self.store.append_event("state", self.step, state=state, reason="", message="")
        self.store.write_state(state, step=self.step, **more)

    def train(self, num_steps):
        """Train, then look at the losses, the memory and the text."""
        self.take_steps(num_steps)
        self.store.append_event("eval", self.step, validation_loss=2 + 2.6 / self.step)
        held = {**MEMORY, "activations": ACTIVATIONS, "other": 200_000}
        self.store.append_event("memory", self.step, **held, **self.told_by_the_card)
        self.store.append_event(
            "sample",
            self.step,
            prompt="The ",
            text=f"text of step {self.step}",
            num_words=4,
            num_real_words=3,
        )
        self.store.write_state("running", step=self.step)

    def take_steps(self, num_steps):
        for _number in range(num_steps):
            self.step += 1
            self.store.append_step(
                StepRecord(
                    step=self.step,
                    time=1e9 + self.step / 50,
                    seconds=0.02,
                    loss=loss_at(self.step),
                    learning_rate=5e-3,
                    grad_norm=1.2 + 0.3 * math.cos(self.step),
                    tokens_per_second=51_200.0,
                    resident_bytes=353 << 20,
                )
            )

    def obey(self, op, seconds=10):
        """Wait for a command and answer it as a worker does."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for command in self.inbox.poll():
                assert command.op == op
                self.store.append_event(
                    "ack",
                    self.step,
                    command=command.number,
                    op=command.op,
                    value=command.value,
                    accepted=True,
                    reason="",
                )
                return command
            time.sleep(0.05)
        pytest.fail(f"no command {op} within {seconds} s")
        return None


@contextlib.contextmanager
def living_run(server, sections=None, **config):
    """Begin a run that is alive while the block runs.

    `sections` of run.json and fields of its `config` are what differs from `INFO`.
    """
    created = time.time()
    directory = server.runs / new_run_name("one minute", created)
    directory.mkdir(parents=True)
    info = {**INFO, **(sections or {}), "config": {**INFO["config"], **config}}
    write_info(directory, {**info, "name": directory.name, "created": created})
    with hold_worker_lock(directory):
        run = Run(directory)
        yield run
        run.store.close()


@pytest.fixture
def run(server):
    """A run of 60 steps so far."""
    with living_run(server) as run:
        run.train(60)
        yield run


def chart(page, name, expression):
    return page.evaluate(f"(plot => {expression})({CHART.format(name=name)})")


def drawn_steps(page):
    return chart(page, "loss", "plot.data?.find(t => t.meta.role === 'training')?.x.length ?? 0")


def wait_for_steps(page, num_steps):
    page.until(
        f"(plot => plot?.data?.find(t => t.meta.role === 'training')?.x.length >= {num_steps})"
        f"({CHART.format(name='loss')})",
    )


@pytest.fixture
def watching(new_page, visit, run):
    """Return watching(**screen): a page that shows the run up to its newest step."""

    def open_one(query=None, **screen):
        page = visit(new_page(**screen), "/live-run", run=run.directory.name, **(query or {}))
        wait_for_steps(page, run.step)
        return page

    return open_one


def zoom(page):
    """Drag a rectangle over the loss chart; return the ranges that it leaves."""
    box = page.locator("[data-chart=loss] .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 160, steps=8)
    page.mouse.up()
    page.until(f"!{CHART.format(name='loss')}._fullLayout.xaxis.autorange")
    return ranges(page)


def ranges(page):
    return chart(
        page, "loss", "[plot._fullLayout.xaxis.range, plot._fullLayout.yaxis.range].flat()"
    )


def connections(page):
    return page.evaluate(f"{VIEW}.numConnections")


def test_the_curves_grow_without_a_reload(watching, run):
    page = watching()
    run.train(20)
    wait_for_steps(page, 80)
    page.locator(".st-key-headline").get_by_text(f"step 80 of {NUM_STEPS}").wait_for()


def test_zoom_and_connection_survive_updates_a_slider_and_a_theme_change(watching, run):
    page = watching()
    zoomed = zoom(page)
    page.evaluate(f"window.firstNode = {CHART.format(name='loss')}")
    run.train(20)
    wait_for_steps(page, 80)
    assert ranges(page) == pytest.approx(zoomed)

    page.get_by_role("button", name="Settings").click()
    page.get_by_role("slider", name="Layers").press("ArrowRight")
    page.wait_for_url(re.compile("lr_layers"))
    page.keyboard.press("Escape")
    page.emulate_media(color_scheme="dark")
    light = COLORS["light"]["text"]
    page.until(f"{CHART.format(name='loss')}._fullLayout.font.color !== '{light}'")
    run.train(20)
    wait_for_steps(page, 100)

    assert ranges(page) == pytest.approx(zoomed)
    assert page.evaluate(f"window.firstNode === {CHART.format(name='loss')}")
    assert connections(page) == 1


def test_a_run_whose_memory_nobody_has_measured_yet_has_a_chart_of_it(new_page, visit, server):
    """Plotly draws a legend before it places an axis without data: a path of NaN in the console."""
    with living_run(server) as run:
        run.take_steps(5)
        page = visit(new_page(), "/live-run", run=run.directory.name)
        wait_for_steps(page, 5)
        page.until(f"{CHART.format(name='memory')}._fullLayout?.xaxis?._length > 0")
        assert page.locator("[data-chart=memory] .legend").count() == 0
        run.train(5)
        page.locator("[data-chart=memory] .legend").wait_for()


def headline_of(run):
    config = TrainConfig.from_json(RunReader(run.directory).info["config"])
    count = count_parameters(config.shape(103)).amount
    told = f"Loss {loss_at(run.step):.3f} at step {run.step} of {NUM_STEPS}"
    return f"{told} · {count:,} parameters"


def test_a_run_that_somebody_else_starts_brings_its_own_headline(new_page, visit, server):
    with living_run(server, num_layers=1) as first:
        first.train(5)
        page = visit(new_page(), "/live-run")
        page.locator(".st-key-headline").get_by_text(headline_of(first)).wait_for()
        with living_run(server, num_layers=3) as second:
            second.train(7)
            page.locator(".st-key-headline").get_by_text(headline_of(second)).wait_for()
            assert connections(page) == 1
            box = page.locator(".st-key-headline p").bounding_box()
            assert box["height"] < 40  # one line of 28 px


def test_a_prediction_that_is_open_hides_the_loss_until_the_reader_commits(watching, run):
    page = watching({"lr_predict": "true"})
    page.locator(".st-key-headline").get_by_text("Predict first").wait_for()
    run.train(5)
    wait_for_steps(page, 65)
    assert "Loss" not in page.locator(".st-key-headline").inner_text()
    page.get_by_test_id("stRadioOption").first.click()
    page.get_by_role("button", name="Reveal").click()
    page.locator(".st-key-headline").get_by_text("at step 65").wait_for()


def test_leaving_the_page_closes_its_connection(watching):
    page = watching()
    page.evaluate(f"window.leftView = {VIEW}")
    page.evaluate("window.live = window[Symbol.for('bits-to-gpt.live')]")
    page.locator("[data-testid=stTopNavSection]").first.click()
    page.get_by_test_id("stTopNavDropdownLink").filter(has_text="Home").first.click()
    page.until("window.live.size === 0 && window.leftView.source.readyState === 2")


def test_what_a_run_says_does_not_stand_above_the_next_page(watching):
    page = watching()
    page.locator(".st-key-headline").get_by_text("at step 60").wait_for()
    page.locator("[data-testid=stTopNavSection]").nth(1).click()
    page.get_by_test_id("stTopNavDropdownLink").first.click()
    page.locator("section.live").wait_for(state="detached")
    headline = page.locator(".st-key-headline p")
    headline.wait_for()
    assert "at step" not in headline.inner_text()


def die_and_go_on_from(run, step):
    """Let the worker die and a second attempt do the steps after `step` again."""
    run.store.close()
    run.store = RunStore(run.directory, attempt=2)
    run.step = step
    run.train(30)


def until_all_events_are_there(page, run):
    count = len(RunReader(run.directory).read_new().events)
    page.until(f"{VIEW}.history.events.length === {count}")


def assert_drawn_as_recorded(page, run, case):
    """Compare every trace of every chart."""
    until_all_events_are_there(page, run)
    for name, traces in RECORDED[case]["drawn"].items():
        shown = chart(
            page, name, "plot.data.map(t => ({meta: t.meta, x: t.x, y: t.y, text: t.text}))"
        )
        for known, theirs in zip(traces, shown, strict=True):
            place = (name, known["trace"])
            meta = theirs["meta"]
            assert "/".join(filter(None, (meta["role"], meta.get("category")))) == known["trace"]
            assert list(theirs["x"]) == known["x"], place
            assert theirs["y"] == pytest.approx(known["y"]), place
            if "text" in known:
                assert list(theirs["text"]) == known["text"], place


@pytest.mark.parametrize("case", ["one attempt", "two attempts"])
def test_the_browser_draws_what_was_written_down(watching, run, case):
    page = watching()
    if case == "two attempts":
        die_and_go_on_from(run, 40)
        wait_for_steps(page, 70)
    assert_drawn_as_recorded(page, run, case)


def table_of_now(page):
    """Return label -> value of the facts table."""
    page.locator(".live summary").click()
    page.locator(".live-tables td").first.wait_for()
    table = page.locator(".live-tables table").first
    return dict(
        zip(
            table.locator("th").all_inner_texts(),
            table.locator("td").all_inner_texts(),
            strict=True,
        )
    )


def test_a_run_on_a_gpu_shows_vram_its_peak_its_mfu_and_no_memory_of_the_host(
    new_page, visit, server, screenshot
):
    with living_run(server, ON_A_GPU) as run:
        run.told_by_the_card = CARD
        run.train(20)
        page = visit(new_page(), "/live-run", run=run.directory.name)
        wait_for_steps(page, 20)
        known = RECORDED["gpu"]
        assert_drawn_as_recorded(page, run, "gpu")
        assert chart(page, "memory", "plot._fullLayout.yaxis.title.text") == "VRAM (MiB)"
        outline = chart(page, "memory", "plot.data.find(t => t.meta.role === 'peak').name")
        assert known["facts"]["peak"] in outline
        label = page.locator("[data-chart=memory]").get_attribute("aria-label")
        assert label == known["alts"]["memory"]
        share = page.evaluate(f"window[Symbol.for('bits-to-gpt.arithmetic')].mfu({VIEW}.history)")
        assert share == pytest.approx(known["mfu"])
        told = table_of_now(page)
        assert list(told.values()) == list(known["facts"].values())
        assert told["VRAM: reserved by the allocator"] == "23.0 MiB"
        assert told["Host memory of the process (RSS)"] == "353 MiB"
        assert told["MFU, mean of all steps"].endswith("of 989 TFLOP/s (data sheet)")
        screenshot(page, "live-run-gpu")


def test_alt_texts_sentences_and_table_have_the_runs_numbers(watching):
    page, known = watching(), RECORDED["one attempt"]
    for name, alt in known["alts"].items():
        assert page.locator(f"[data-chart={name}]").get_attribute("aria-label") == alt
    learnt = page.locator(".live-learnt").inner_text()
    assert learnt.startswith("Validation loss 2.04: 0.42 nats below the bigram entropy")
    assert page.locator(".live-real-words").inner_text().startswith("75 % of the words")
    assert list(table_of_now(page).values()) == list(known["facts"].values())


def arithmetic(page, name, *arguments):
    return page.evaluate(
        f"window[Symbol.for('bits-to-gpt.arithmetic')].{name}(...{json.dumps(arguments)})"
    )


def test_rates_and_shares_are_written_as_core_writes_them(watching):
    page = watching()
    for rate in (0, 950, 2.5e9, 6.71e13, 989.4e12, 2.3e15):
        written = units.format_flops_per_second(rate)
        assert arithmetic(page, "formatFlopsPerSecond", rate) == written
    for language in ("en", "zh"):
        install_provider(lambda language=language: language)
        for share in (0, 0.0000321, 0.0009, 0.254, 0.87, 0.99961, 1, 1.5):
            written = units.format_percent(share)
            assert arithmetic(page, "formatPercent", share, live_words()) == written


def test_the_browsers_arithmetic(watching, run):
    """Numbers written as core.units writes them; what follows from a run, by hand."""
    page = watching()
    browser = partial(arithmetic, page)
    for number in (0, 7, 999.4, 1023, 1024, 1e6, 3_216_384, 12_345_678_901):
        for unit in units.BYTE_UNITS:
            assert browser("formatBytes", number, unit) == units.format_bytes(number, unit), number
        assert browser("formatCount", number) == units.format_count(number), number
    seconds = (0, 2e-5, 0.0123, 0.9996, 3.14159, 45, 59.97, 60, 200, 3599.7, 3900, 90_000)
    for language in ("en", "zh"):
        install_provider(lambda language=language: language)
        words = live_words()
        for each in seconds:
            assert browser("formatSeconds", each, words) == units.format_seconds(each), each
    steps = [1, 2, 3, 5, 8, 13, 60, 61, 300]
    values = [4.0, 3.5, None, 3.0, 2.5, 2.75, 2.0, 1.5, 1.25]
    smoothed = [4.0, 3.8535534, None, 3.3017767, 2.7834709, 2.7559169, 2.0000145, 1.8983678, 1.25]
    assert browser("smooth", steps, values, 1000) == pytest.approx(smoothed, abs=1e-6)
    # Two steps at once leave of the old average what two single steps leave.
    dense, sparse = (
        browser("smooth", [1, 2, 3], [1, 0, 0], 100),
        browser("smooth", [1, 3], [1, 0], 100),
    )
    assert dense[2] == pytest.approx(sparse[1])
    times = [0.3 * step for step in steps]
    assert browser("secondsPerStep", steps, times) == pytest.approx(0.3)
    assert browser("secondsPerStep", [1, 2, 3, 5], [0, 1, 61, 63]) == 1, "a pause is forgotten"
    assert browser("secondsPerStep", [9, 10, 10, 11], [1, 2, 9, 10]) == 1, "a step done again"
    assert browser("secondsPerStep", [1], [0]) is None
    assert browser("ownPace", 12.5, 300, steps, times) == pytest.approx(12.5 / 300)
    assert browser("ownPace", 0, 300, steps, times) == pytest.approx(0.3)
    until_all_events_are_there(page, run)
    room = page.evaluate(f"window[Symbol.for('bits-to-gpt.arithmetic')].labelRoom({VIEW}.history)")
    assert room == pytest.approx(RECORDED["one attempt"]["label_room"])
    for limit, left, told in (  # 3,600 steps of 10 ms, speed limit, time limit
        (None, None, 36), (None, 7.5, 7.5), (None, 90, 36), (None, -1, 0),
        (0.5, None, 7200), (0.5, 7.5, 1500), (0.5, 90, 7200), (1000, 7.5, 7.5),
    ):  # fmt: skip
        assert browser("secondsLeft", 3600, 0.01, limit, left) == pytest.approx(told), limit


def test_thinning_keeps_the_points_that_core_keeps(watching, run):
    page = watching()
    run.train(300)
    wait_for_steps(page, 360)
    records = RunReader(run.directory).read_new().records
    length = -(-len(records) // ((100 - 2) // 2))  # two points a stretch, and the ends
    kept = landmarks(records, np.arange(0, len(records), length), ("loss",))
    losses = json.dumps(records["loss"].tolist())
    indices = page.evaluate(
        f"window[Symbol.for('bits-to-gpt.arithmetic')].decimated({losses}, 100)"
    )
    assert indices == kept.tolist()


def test_a_button_and_a_dial_say_at_which_step_they_took_effect(watching, run):
    page = watching()
    page.get_by_role("button", name="Pause", exact=True).click()
    run.obey("pause")
    run.state("paused")
    page.get_by_text("Pause: took effect at step 60.").wait_for()
    assert page.get_by_role("button", name="One step").is_enabled()
    assert page.get_by_role("button", name="Pause", exact=True).count() == 0
    assert page.get_by_role("button", name="Resume", exact=True).is_enabled()

    page.get_by_role("slider", name="Factor on the planned learning rate").press("ArrowLeft")
    command = run.obey("set_learning_rate_multiplier")
    assert command.value == 0.5
    run.store.write_state("paused", step=60, learning_rate_multiplier=0.5)
    page.get_by_text("Learning rate × 0.5: took effect at step 60.").wait_for()
    page.until(
        f"{CHART.format(name='learning_rate')}.data.find(t => t.meta.role === 'multiplier')"
        ".x.includes(60)"
    )


def test_the_time_left_follows_the_speed_limit_and_a_pause_has_none(watching, run):
    """340 steps are left: 6.8 s at 20 ms a step, 680 s at one step in 2 s."""
    status = watching().locator(".live-progress")

    def tell(**state):
        run.store.write_state(step=60, trained_seconds=1.2, **state)

    tell(state="running")
    status.filter(has_text=f"{units.format_seconds(6.8)} left").wait_for()
    tell(state="running", max_steps_per_second=0.5)
    status.filter(has_text=f"{units.format_seconds(680)} left").wait_for()
    tell(state="paused", max_steps_per_second=0.5)
    status.filter(has_not_text="left").wait_for()
    tell(state="running")
    status.filter(has_text=f"{units.format_seconds(6.8)} left").wait_for()


def test_space_and_full_stop_control_the_run_but_not_while_an_input_has_the_focus(watching, run):
    page = watching()
    page.locator("h1").click()
    page.keyboard.press("Space")
    run.obey("pause")
    run.state("paused")
    page.get_by_role("button", name="One step").wait_for()
    page.until(f"{VIEW}.history.state.state === 'paused'")
    page.keyboard.press(".")
    run.obey("step")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("spinbutton", name="Seed").press(".")
    page.wait_for_timeout(500)
    assert run.inbox.poll() == ()


def ended_run(server, state, **said):
    """Return the name of a run whose worker is gone; `said` is what it wrote into its state."""
    with living_run(server) as gone:
        gone.train(12)
        gone.store.write_state(state, step=12, **said)
    return gone.directory.name


def test_a_run_whose_process_is_gone_says_so(new_page, visit, server):
    page = visit(new_page(), "/live-run", run=ended_run(server, "running"))
    message = page.get_by_text("Crashed after step 12. The training process ended without a word")
    message.wait_for()


def test_a_run_that_ran_out_of_memory_says_how_much_it_wanted(new_page, visit, server):
    numbers = {"predicted_bytes": 3 << 30, "actual_bytes": 5 << 30, "free_bytes": 4 << 30}
    others = {"others": 2, "others_bytes": 6 << 30}
    values = {**numbers, **others, "batch_size": 8, "accumulation_steps": 2}
    said = {"reason": "out_of_memory", "message": HALVE_THE_BATCH, "values": values}
    page = visit(new_page(), "/live-run", run=ended_run(server, "failed", **said))
    page.get_by_text("predicted to need 3.00 GiB, the process held 5.00 GiB").wait_for()
    page.get_by_text("Halve the batch to 8").wait_for()
    page.get_by_text("Other processes (2) hold 6.00 GiB of this GPU").wait_for()


def test_a_lesson_shows_what_train_would_begin_although_there_are_runs(new_page, visit, run):
    page = visit(new_page(), "/live-run", run="none", lr_size="110k", lr_learning_rate="1.0")
    page.locator(".st-key-headline").get_by_text("learning rate 1").wait_for()
    page.until(f"{VIEW}?.history.run === null && {VIEW}.root.dataset.state === 'none'")
    assert page.evaluate(f"{VIEW}.numConnections ?? 0") == 0


def test_the_samples_are_a_time_machine(watching, run):
    page = watching()
    run.train(40)
    page.get_by_text("after step 100").wait_for()
    assert page.locator(".live-sample pre").inner_text() == "The text of step 100"
    page.get_by_role("slider", name="Samples so far").press("Home")
    assert page.locator(".live-sample pre").inner_text() == "The text of step 60"


def test_all_steps_come_as_csv_and_a_chart_as_png(watching, run):
    page = watching()
    address = page.locator(".live-csv").get_attribute("href")
    with urllib.request.urlopen(page.evaluate("location.origin") + address, timeout=10) as answer:
        assert len(answer.read().decode().splitlines()) == 1 + run.step
    page.locator("[data-chart=loss]").hover()
    with page.expect_download() as download:
        page.locator("[data-chart=loss]").get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == f"{run.directory.name}-loss.png"


def until_in_sight(page):
    """Wait until loss, memory and text stand on the screen, drawn as large as their places."""
    for part, least in (("[data-chart=loss]", 250), ("[data-chart=memory]", 150), ("pre", 80)):
        page.until(
            f"(box => box.top >= 0 && box.bottom <= innerHeight && box.height >= {least})"
            f"(document.querySelector('.live {part}').getBoundingClientRect())"
        )
    for name in ("loss", "memory"):
        page.until(
            f"(plot => Math.abs((plot._fullLayout?.height ?? 0) - plot.clientHeight) < 2)"
            f"({CHART.format(name=name)})"
        )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def assert_large(page):
    """Check what a projector shows: loss and step, half of the screen for charts, no small text."""
    look = first_look(page)
    assert (look.headline_px, look.smallest[0] >= 22) == (60, True), look
    areas = page.locator("[data-chart=loss], [data-chart=memory]").evaluate_all(
        "all => all.map(each => each.offsetWidth * each.offsetHeight / innerWidth / innerHeight)"
    )
    assert sum(areas) >= 0.5, areas
    assert "one-minute" in chart(page, "loss", "plot._fullLayout.xaxis.title.text")
    assert set(chart(page, "memory", "plot.data.map(t => t.meta.role)")) == {"bar"}


def until_axes_end_behind(page, step, *, is_over):
    """Wait until the axes end at what was done, or a little behind it while the run goes on."""
    until = f"=== {step}" if is_over else f"> {step} && end <= {1.4 * step}"
    for name in ("loss", "learning_rate", "grad_norm", "tokens_per_second"):
        page.until(f"(end => end {until})({CHART.format(name=name)}._fullLayout.xaxis.range[1])")


SCREENS = ((1366, 768, {}), (1280, 720, {"present": "1"}), (1024, 768, {"present": "1"}))


def places(page):
    """Return where loss, memory and text begin, once all labels stand at the bars."""
    # Each part, and the sums of measured and predicted.
    page.until(f"{CHART.format(name='memory')}.layout.annotations.length === {5 + 2}")
    for _look in range(20):  # they are placed anew when the chart gets another height
        if not (apart := overlaps_of(page, "[data-chart=memory] .annotation")):
            break
        page.wait_for_timeout(250)
    assert apart == []
    parts = ("[data-chart=loss]", "[data-chart=memory]", "pre")
    return [page.locator(f".live {part}").bounding_box()["y"] for part in parts]


def overlaps_of(page, selector):
    boxes = page.locator(selector).evaluate_all(
        "all => all.map(each => [each.textContent, each.getBoundingClientRect()])"
        ".map(([text, box]) => [text, box.left, box.top, box.right, box.bottom])"
    )
    return overlaps(boxes)


def assert_at_hand(page, state, width, height):
    """Check that Train and what the state allows stand on the screen, and the headline with it."""
    wanted = [".st-key-lr_start", ".st-key-headline", ".live-state"]
    wanted += [".live-controls"] if state in ("running", "paused") else []
    wanted += [".st-key-lr_replay_end"] if state == "replayed" else []
    for selector in wanted:
        box = page.locator(selector).bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width, (selector, state)
        assert 0 <= box["y"] <= box["y"] + box["height"] <= height, (selector, state)


@pytest.mark.parametrize(("lang", "theme"), [("en", "light"), ("zh", "dark")])
def test_loss_memory_text_and_controls_are_in_sight_running_paused_ended_and_replayed(
    watching, visit, run, screenshot, lang, theme
):
    """No notice moves the charts, and no axis keeps room for steps that will not come."""
    pages = [
        watching(query, width=width, height=height, lang=lang, theme=theme)
        for width, height, query in SCREENS
    ]
    stood = {}
    told = {"reason": "non_finite", "message": NON_FINITE_PAUSE}
    for state, more in (("running", {}), ("paused", {}), ("paused", told), ("finished", {})):
        run.store.write_state(state, step=run.step, **more)
        for (width, height, _query), page in zip(SCREENS, pages, strict=True):
            page.until(f"{VIEW}.moment.state.state === '{state}'")
            page.until(f"{VIEW}.moment.state.reason === '{more.get('reason', '')}'")
            until_in_sight(page)
            until_axes_end_behind(page, run.step, is_over=state == "finished")
            assert_at_hand(page, state, width, height)
            now = places(page)
            assert stood.setdefault(width, now) == pytest.approx(now, abs=1), (state, width)
            if width != 1366:
                assert_large(page)
            screenshot(page, f"live-run-{state}-{lang}-{theme}-{width}")
    for (width, height, query), page in zip(SCREENS, pages, strict=True):
        visit(page, "/live-run", run=run.directory.name, speed="60", **query)
        page.until(f"{VIEW}?.moment.state?.state === 'finished'")
        page.until(f"{VIEW}.moment.events.some(each => each.kind === 'memory')")
        until_in_sight(page)
        assert_at_hand(page, "replayed", width, height)
        now = places(page)
        if width == 1366:  # a projector has a line more: how fast the replay is
            assert now == pytest.approx(stood[width], abs=1)


IN_SIGHT = """[...document.querySelectorAll(".st-key-page_rail :is([data-testid=stPopover],"
    + "[data-testid=stButton], [data-testid=stButtonGroup], [data-testid=stSlider])")]
    .filter(each => each.checkVisibility() && !each.closest(".st-key-lr_start")).length"""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_beside_train_five_controls_are_in_sight_and_smoothing_waits_in_the_settings(
    watching, lang
):
    for width, height, query in SCREENS:
        page = watching({"lr_smoothing": "2.0", **query}, width=width, height=height, lang=lang)
        assert page.evaluate(IN_SIGHT) <= 5, width
        assert page.evaluate(f"{VIEW}.data.smoothing") == 2, width
        assert page.locator(".st-key-lr_axis_choice").is_visible() == (not query), width
        assert page.locator("[class*=st-key-lr_smoothing]").count() == 0, width
        settings = {"en": "Settings", "zh": "设置"}[lang]
        page.get_by_role("button", name=settings).press("Enter")
        page.locator(".st-key-lr_smoothing_choice").wait_for(timeout=15_000)
        page.close()


BOXES = """(plot => [...plot.querySelectorAll('.textpoint text, .textpoint')]
    .filter(each => each.tagName === 'text' && each.textContent.trim())
    .map(each => [each.textContent, each.getBoundingClientRect()])
    .map(([text, box]) => [text, box.left, box.top, box.right, box.bottom]))"""


def overlaps(boxes):
    """Return the texts of the boxes that share a pixel."""
    return [
        (one[0], other[0])
        for one, other in itertools.combinations(boxes, 2)
        if one[1] < other[3] and other[1] < one[3] and one[2] < other[4] and other[2] < one[4]
    ]


@pytest.mark.parametrize("width", [1366, 1024])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_label_is_printed_over_another_when_the_loss_has_blown_up(
    watching, run, screenshot, width, lang
):
    """A loss of 90 presses the three rungs together; two changes of the rate lie side by side."""
    for number, (step, value) in enumerate([(20, 10), (21, 1), (60, 0.5)], 1):
        told = {
            "op": "set_learning_rate_multiplier",
            "value": value,
            "accepted": True,
            "reason": "",
        }
        run.store.append_event("ack", step, command=number, **told)
    run.store.append_event("eval", 60, validation_loss=90.0)
    page = watching(width=width, lang=lang)
    page.until(f"{CHART.format(name='loss')}?._fullLayout?.yaxis.range[1] > 80")
    for name, num_labels in (("loss", 3 + 3), ("learning_rate", 3), ("grad_norm", 3 + 1)):
        place = CHART.format(name=name)
        page.until(f"{BOXES}({place}).length === {num_labels}")
        boxes = page.evaluate(f"{BOXES}({place})")
        assert overlaps(boxes) == [], name
        frame = page.locator(f"[data-chart={name}] .nsewdrag").first.bounding_box()
        for text, left, top, right, bottom in boxes:
            assert frame["x"] <= left < right <= frame["x"] + frame["width"], (name, text)
            assert frame["y"] <= top < bottom <= frame["y"] + frame["height"] + 1, (name, text)
    screenshot(page, f"live-run-labels-{lang}-{width}")


def test_one_click_trains_a_gpt_whose_bytes_are_those_predicted(new_page, visit):
    """The real thing: timing, worker, stream and charts, fifty steps long."""
    page = visit(new_page(), "/live-run", lr_size="110k", lr_steps="50", lr_precision="fp32")
    page.get_by_test_id("stMain").get_by_role("button", name="Train", exact=True).click()
    page.until(
        f"(v => v.history.state?.state === 'finished' && v.history.info.config.num_steps === 50)"
        f"({VIEW})",
        timeout=120_000,
    )
    wait_for_steps(page, 50)
    for category in ("weights", "gradients", "optimizer"):
        measured, predicted = chart(
            page,
            "memory",
            f"plot.data.find(t => t.meta.role === 'bar' && t.meta.category === '{category}').y",
        )
        assert measured == predicted, category
    losses = chart(page, "loss", "plot.data.find(t => t.meta.role === 'validation').y")
    assert losses[-1] < losses[0]
    assert page.get_by_text("finished", exact=True).is_visible()


def test_a_browser_that_draws_slowly_draws_what_came_meanwhile_in_one_go(watching, run):
    page = watching()
    page.evaluate(
        "() => { window.numPasses = 0; const { react } = window.Plotly;"
        " window.Plotly.react = async (plot, ...more) => {"
        " if (plot.closest('[data-chart=loss]')) window.numPasses += 1;"
        " await new Promise((goOn) => setTimeout(goOn, 300));"
        " return react(plot, ...more) } }"
    )
    page.evaluate(
        f"""(view => {{ for (let step = {run.step + 1}; step <= {run.step + 20}; step += 1) {{
            const columns = Object.fromEntries(Object.entries(view.history.columns).map(
                ([name, values]) => [name, [name === 'step' ? step : values.at(-1)]]))
            const events = [{{ kind: 'eval', step, validation_loss: 3 }}]
            const data = JSON.stringify({{ run: view.history.run, columns, events }})
            view.source.dispatchEvent(new MessageEvent('update', {{ data }}))
        }} }})({VIEW})"""
    )
    page.evaluate(f"{VIEW}.drawing")
    assert drawn_steps(page) == run.step + 20
    assert page.evaluate("window.numPasses") <= 3


def test_that_a_new_process_goes_on_is_not_said_of_one_that_has_ended(watching, run):
    page = watching()
    page.evaluate(
        f"(view => {{ view.sent = {{ op: 'resume', nonce: 'n' }};"
        f" view.data.receipt = {{ nonce: 'n', number: 0, error: '' }} }})({VIEW})"
    )
    run.train(1)
    page.get_by_text("A new process goes on from the last checkpoint.").wait_for()
    run.state("failed", reason="error")
    page.until(f"{VIEW}.history.state.state === 'failed'")
    page.until("document.querySelector('.live-ack')?.textContent === ''")
