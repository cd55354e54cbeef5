"""The live page through the frame: its numbers, its start, its refusals."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.machine.nvml import Gpu
from core.train.control.device import DeviceBusyError, hold_device
from core.train.run.directory import read_info, write_info
from core.train.run.reader import RunReader
from core.train.run.recorded import recorded_run
from core.train.start.plan import Wish, outline_run
from core.train.start.presets import preset_config
from core.train.start.timing import TimingError
from core.units import GIB
from pages.train.live_run import runs as runs_room
from pages.train.live_run import settings as settings_room
from pages.train.live_run import start as start_room
from pages.train.live_run.runs import send_command
from tests.app.shown import ask, browser_part, captions, commit, headline, said

PAGE = "train/live_run"
NAME = "20260102t030405z-one-minute-00ff"


@pytest.fixture
def started(monkeypatch):
    """Note what would be started, instead of starting it."""
    configs = []

    def start_run(prepared):
        configs.append(prepared.config)
        return Path(NAME)

    monkeypatch.setattr(start_room, "start_run", start_run)
    monkeypatch.setattr(start_room, "measure_timing", lambda *_: None)
    return configs


def part_of(app):
    return browser_part(app, "live_chart")


def test_the_snippet_prints_the_parameters_of_the_headline(open_page, run_code):
    app = open_page(PAGE, lr_size="110k", lr_layers="3", lr_tokenizer="byte")
    assert run_code(app, "plan").splitlines()[-1] in headline(app)


@pytest.mark.slow
def test_the_size_of_a_bpe_vocabulary_is_asked_for_with_bpe_only(open_page):
    app = open_page(PAGE, lr_size="110k", lr_tokenizer="bpe", lr_vocabulary="512")
    outline = outline_run(Wish(size="110k", changes={"tokenizer": "bpe", "bpe_vocab_size": 512}))
    assert outline.vocab_size == 512
    assert f"{outline.parameters.amount:,}" in headline(app)
    assert "lr_vocabulary" not in {one.key for one in open_page(PAGE).select_slider}


def test_every_setting_is_in_the_address_and_changes_the_prediction(open_page):
    small, large = open_page(PAGE, lr_width="32"), open_page(PAGE, lr_width="512")
    assert headline(small) != headline(large)


def test_a_width_that_the_heads_do_not_divide_is_a_sentence_and_the_run_stays_in_view(open_page):
    app = open_page(PAGE, lr_size="110k", lr_heads="3")
    assert "multiple of 3" in app.warning[0].value
    assert part_of(app)["controls"] == "enabled"


def test_a_run_that_does_not_fit_into_free_memory_is_refused_with_the_numbers(
    open_page, monkeypatch
):
    monkeypatch.setattr("core.train.start.plan._free_bytes", lambda _timing: 1000)
    app = open_page(PAGE, lr_size="110k")
    assert "This run needs" in app.warning[0].value


def test_a_text_of_ones_own_is_asked_for_before_it_is_there(open_page):
    app = open_page(PAGE, lr_corpus="upload")
    assert "Choose a text file" in app.info[0].value
    assert not app.get("file_uploader")[0].proto.disabled
    assert not app.exception
    locked = open_page(PAGE, lr_corpus="upload", lock="1")
    assert locked.get("file_uploader")[0].proto.disabled


def test_the_preset_stands_beside_its_own_value_so_that_a_notch_changes_it_by_a_notch(open_page):
    app = open_page(PAGE)
    preset = preset_config("one_minute")
    for row in (*settings_room.SHAPES, *settings_room.LEARNING):
        if row.fits:
            continue
        slider = app.select_slider(key=f"lr_{row.name}_choice")
        stops = list(slider.proto.options)
        place = stops.index(slider.proto.raw_value[0])
        own = getattr(preset, row.field)
        below, above = row.options[place - 1 : place + 1] if place else (own - 1, row.options[0])
        assert below < own <= above, row.name


def test_start_trains_what_the_settings_say(open_page, started):
    app = open_page(PAGE, lr_size="110k", lr_steps="50", lr_learning_rate="0.01", lr_clip="0.0")
    app.button(key="lr_start").click().run()
    (config,) = started
    assert (config.num_steps, config.learning_rate, config.grad_clip) == (50, 0.01, 0.0)
    assert not app.exception


@pytest.fixture
def gpus(monkeypatch):
    """Return gpus(*uuids): these are visible to the page."""

    def see(*uuids):
        sizes = {"total_bytes": 80 * GIB, "used_bytes": 20 * GIB, "utilization": 0.0}
        seen = tuple(
            Gpu(uuid=uuid, name="NVIDIA H100", is_slice=False, processes=(), **sizes)
            for uuid in uuids
        )
        settings_room._visible_gpus.clear()
        monkeypatch.setattr(settings_room, "visible_gpus", lambda: seen)

    yield see
    settings_room._visible_gpus.clear()


def test_with_several_gpus_the_settings_ask_which_and_the_least_busy_comes_first(
    open_page, started, gpus
):
    gpus("GPU-a", "GPU-b")
    app = open_page(PAGE, lr_size="110k")
    box = app.selectbox(key="lr_gpu_choice")
    assert box.options[1:] == [f"{n}: NVIDIA H100 · 60.0 GiB free" for n in (0, 1)]
    app.button(key="lr_start").click().run()
    app = open_page(PAGE, lr_size="110k", lr_gpu="GPU-b")
    app.button(key="lr_start").click().run()
    assert [config.gpu for config in started] == ["", "GPU-b"]
    assert not app.exception


def test_a_refusal_for_a_named_gpu_stands_there_until_that_one_is_free(
    open_page, started, gpus, monkeypatch
):
    def busy(_prepared):
        raise DeviceBusyError("Another run trains.")

    held = {"GPU-b": NAME}
    gpus("GPU-a", "GPU-b")
    monkeypatch.setattr(start_room, "start_run", busy)
    monkeypatch.setattr(start_room, "device_holder", lambda _kind, gpu: held.get(gpu, ""))
    app = open_page(PAGE, lr_gpu="GPU-b")
    app.button(key="lr_start").click().run()
    assert "Another run trains." in said(app.run())
    held.clear()
    assert "Another run trains." not in said(app.run())


@pytest.mark.parametrize("error", [ValueError("The device is taken."), TimingError("no clock")])
def test_a_start_that_fails_says_why(open_page, started, monkeypatch, error):
    def refuse(*_arguments):
        raise error

    monkeypatch.setattr(start_room, "measure_timing", refuse)
    app = open_page(PAGE)
    app.button(key="lr_start").click().run()
    assert started == []
    assert str(error) in said(app)


def test_why_a_start_was_refused_stands_there_until_it_is_no_longer_so(
    open_page, started, monkeypatch
):
    def busy(_prepared):
        raise DeviceBusyError("Another run trains.")

    train, holders = start_room.start_run, [NAME]
    monkeypatch.setattr(start_room, "start_run", busy)
    monkeypatch.setattr(start_room, "device_holder", lambda *_device: holders[-1])
    app = open_page(PAGE)
    app.button(key="lr_start").click().run()
    assert "Another run trains." in said(app)
    app.button_group(key="lr_duration_choice").set_value("ten_minutes").run()
    assert "Another run trains." in said(app)
    holders.append("")  # it has ended
    assert "Another run trains." not in said(app.run())
    monkeypatch.setattr(start_room, "start_run", train)
    app.button(key="lr_start").click().run()
    assert len(started) == 1


def test_a_refusal_names_the_run_that_trains_as_the_list_does(
    open_page, started, ten_minutes, monkeypatch
):
    def busy(_prepared):
        raise DeviceBusyError("Another run trains.")

    monkeypatch.setattr(start_room, "start_run", busy)
    monkeypatch.setattr(start_room, "device_holder", lambda *_device: NAME)
    app = open_page(PAGE)
    app.button(key="lr_start").click().run()
    (refusal,) = [each.value for each in app.markdown if ":material/block:" in each.value]
    assert "Ten minutes, 0.8M · 2026-01-02 03:04:05 UTC" in refusal
    assert NAME not in refusal


@pytest.fixture
def ten_minutes(a_run):
    """A finished run of ten minutes with the larger model, beside settings for one minute."""
    config = replace(preset_config("ten_minutes", size_key="0.8M"), num_steps=4321)
    outline = outline_run(Wish(duration="ten_minutes", size="0.8M"))
    info = {"name": NAME, "created": 1_767_323_045.0, "resolved": {"device": "cpu"}}
    info |= {"config": config.to_json(), "text": {"vocab_size": outline.vocab_size}}
    write_info(a_run, info | {"prediction": {"memory": {"weights": 3 << 20}, "seconds": 600.0}})
    return outline


@pytest.mark.parametrize("query", [{}, {"run": NAME}])
def test_what_stands_above_a_run_is_that_runs_and_the_next_one_is_named_as_such(
    open_page, ten_minutes, query
):
    app = open_page(PAGE, lr_size="110k", **query)
    coming = outline_run(Wish(size="110k"))
    assert f"{ten_minutes.parameters.amount:,}" in headline(app)
    assert f"{ten_minutes.config.tokens_per_step:,}" in headline(app)
    (details,) = [each for each in captions(app) if "4,321" in each]
    for words in ("Ten minutes, 0.8M", "3.00 MiB", "at most 10 min 00 s"):
        assert words in details
    (next_run,) = [each for each in captions(app) if each.startswith("Next: ")]
    assert f"{coming.parameters.amount:,}" in next_run
    assert "One minute, 110k" in next_run
    told = part_of(app)["told"]
    assert told["mark"] == f"{NAME} ended"
    assert told["title"] == "Ten minutes, 0.8M"
    assert told["parameters"] == f"{ten_minutes.parameters.amount:,}"
    assert told["headline"] == headline(app)


def test_an_earlier_run_opens_with_a_click(open_page, a_run):
    app = open_page(PAGE)
    app.button(key="lr_manage").click().run()
    app.button(key=f"lr_open_{NAME}").click().run()
    assert part_of(app)["run"] == NAME
    app.button(key="lr_manage").click().run()
    app.button(key="lr_newest").click().run()
    assert part_of(app)["run"] == ""


def test_a_damaged_run_is_listed_with_what_is_wrong(open_page, a_run):
    (a_run / "run.json").write_text("{", encoding="utf-8")
    window = open_page(PAGE).button(key="lr_manage").click().run()
    assert any("cannot be read" in each.value for each in window.caption)


@pytest.mark.parametrize(
    ("query", "controls"),
    [({}, "enabled"), ({"lock": "1"}, "disabled"), ({"hide": "controls"}, "hidden")],
)
def test_a_teachers_link_locks_or_hides_the_control_of_the_run(open_page, query, controls):
    assert part_of(open_page(PAGE, **query))["controls"] == controls


def test_a_locked_link_cannot_start_and_a_hiding_one_has_no_start(open_page):
    assert open_page(PAGE, lock="1").button(key="lr_start").disabled
    keys = [each.key for each in open_page(PAGE, hide="start").button]
    assert "lr_start" not in keys


def test_the_first_loss_is_not_told_before_the_reader_commits(open_page):
    app = open_page(PAGE, lr_size="110k", **ask("lr_first_loss"))
    assert part_of(app)["told"]["waits"]
    loss = outline_run(Wish(size="110k")).ln_vocab
    told = f"= {loss:.2f} nats"
    assert told not in said(app)
    commit(app, "lr_first_loss", 2)
    for words in (told, "entropy of the token frequencies"):
        assert words in said(app)
    assert not part_of(app)["told"]["waits"]


def test_a_command_lands_in_the_inbox_of_the_run_that_the_browser_shows(a_run):
    number = send_command(NAME, "set_max_steps_per_second", 5)
    written = json.loads((a_run / "control" / f"{number:06d}.json").read_text(encoding="utf-8"))
    assert (written["op"], written["value"]) == ("set_max_steps_per_second", 5)


def test_resume_starts_a_new_process_for_a_run_whose_own_has_ended(a_run, monkeypatch):
    resumed = []
    monkeypatch.setattr(runs_room, "resume_run", lambda run, **_: resumed.append(run))
    assert send_command(NAME, "resume", None) == 0
    assert resumed == [a_run]
    assert not (a_run / "control").exists()


def test_resume_is_refused_while_another_run_holds_the_device(a_run):
    other = "20260102t030405z-another-00ff"
    with hold_device("cpu", other), pytest.raises(DeviceBusyError, match=other):
        send_command(NAME, "resume", None)
    assert not (a_run / "control").exists()
    info = read_info(a_run)
    for resolved in (None, {}, {"device": None}):
        (a_run / "run.json").write_text(json.dumps({**info, "resolved": resolved}))
        with pytest.raises(ValueError, match="section 'resolved' of"):
            send_command(NAME, "resume", None)


@pytest.mark.parametrize("name", ["../../etc", "", "20260102t030405z-nobody-0000"])
def test_a_command_to_a_run_that_is_none_is_refused(name):
    with pytest.raises((ValueError, OSError), match=r"run"):
        send_command(name, "pause", None)


def test_without_a_run_a_recording_is_shown_and_says_so(open_page):
    told = part_of(open_page(PAGE))["told"]
    assert told["recording"] == "one_minute"
    recorded = RunReader(recorded_run("one_minute")).info["recorded"]
    for name in ("machine", "cores", "date"):
        assert str(recorded[name]) in told["recorded"]
    assert "is kept" not in told["recorded"]
    assert "Train" in told["recorded"]


def test_what_the_readers_own_run_takes_stands_in_the_rail_and_not_in_the_headline(open_page):
    app = open_page(PAGE)
    (said,) = [each.value for each in app.caption if "Your run: " in each.value]
    assert "vocabulary of 103" in said
    assert "Your run" not in headline(app)
