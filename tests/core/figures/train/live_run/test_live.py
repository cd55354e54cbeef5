"""The charts of the live run, checked by their data."""

import itertools
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.figures.picture import Look
from core.figures.theme import COLORS
from core.figures.train.live_run import live, live_parts
from core.figures.train.live_run.live_parts import LiveLook
from core.figures.train.live_run.run_facts import (
    ALTS,
    AROUND,
    CATEGORIES,
    RunView,
    alt,
    facts,
    mfu,
)
from core.language import install_provider
from core.units import MIB, format_bytes

BYTES = {
    "weights": 4 * MIB,
    "gradients": 4 * MIB,
    "optimizer": 8 * MIB,
    "activations": 32 * MIB,
    "other": 2 * MIB,
}
VRAM = {
    "reserved_bytes": 64 * MIB,
    "context_bytes": 500 * MIB,
    "other_bytes": 2048 * MIB,
    "total_bytes": 81_920 * MIB,
    "utilization": 0.875,
}
PREDICTED = {name: value for name, value in BYTES.items() if name != "other"}
INFO = {
    "config": {
        "num_steps": 40,
        "batch_size": 12,
        "seq_len": 64,
        "accumulation_steps": 2,
        "grad_clip": 1.0,
    },
    "text": {"ln_vocab": math.log(65), "unigram_entropy": 3.3, "bigram_entropy": 2.4},
    "prediction": {"memory": PREDICTED, "seconds_per_step": 0.05},
}
FIGURES = (live.loss, live.memory, live.learning_rate, live.grad_norm, live.tokens_per_second)


def columns(steps, attempts=None, losses=None):
    return {
        "step": steps,
        "loss": losses or [4.0 - 0.01 * step for step in steps],
        "attempt": attempts or [1] * len(steps),
        "learning_rate": [3e-3] * len(steps),
        "grad_norm": [1.5] * len(steps),
        "tokens_per_second": [30_000.0] * len(steps),
        "resident_bytes": [400 * MIB] * len(steps),
    }


@pytest.fixture
def run():
    """A run of 20 of 40 steps with one evaluation, one change of the rate, one memory watch."""
    events = [
        {"kind": "eval", "step": 10, "validation_loss": 3.5},
        {
            "kind": "ack",
            "step": 12,
            "op": "set_learning_rate_multiplier",
            "value": 0.5,
            "accepted": True,
        },
        {"kind": "ack", "step": 13, "op": "pause", "value": None, "accepted": True},
        {"kind": "memory", "step": 1, **BYTES, "peak": 46 * MIB, "source": "tensors"},
    ]
    return RunView(columns=columns(list(range(1, 21))), events=events, info=INFO)


@pytest.fixture
def old_gpu_run(run):
    """The same on a GPU, before a GPU was asked for more than the peak."""
    events = [each | {"source": "allocator"} for each in run.events]
    return replace(run, events=events, info=INFO | {"resolved": {"device": "cuda"}})


@pytest.fixture
def gpu_run(old_gpu_run):
    """The same, with all that a GPU tells, and its peak."""
    *others, memory = old_gpu_run.events
    resolved = {"device": "cuda", "peak_flops_per_second": 989.4e12, "peak_source": "data sheet"}
    prediction = INFO["prediction"] | {"flops_per_step": 6e12}
    info = INFO | {"resolved": resolved, "prediction": prediction}
    return replace(old_gpu_run, events=[*others, memory | VRAM], info=info)


def trace(figure, role, category=None):
    return next(
        each
        for each in figure.data
        if each.meta["role"] == role and each.meta.get("category") == category
    )


def test_the_loss_chart_holds_every_step_and_every_evaluation(run):
    figure = live.loss(run)
    assert list(trace(figure, "training").x) == list(range(1, 21))
    assert list(trace(figure, "training").y) == run.columns["loss"]
    assert list(trace(figure, "validation").x) == [10]
    assert list(trace(figure, "validation").y) == [3.5]


@pytest.mark.parametrize("role", ["ln_vocab", "unigram_entropy", "bigram_entropy"])
def test_each_rung_is_a_labelled_line_across_the_whole_plan(run, role):
    rung = trace(live.loss(run), role)
    assert (rung.x[0], rung.x[-1]) == (0, 40)
    assert set(rung.y) == {INFO["text"][role]}
    assert f"{INFO['text'][role]:.2f}" in rung.text[1]


def test_the_three_rungs_differ_in_their_dash_and_not_only_in_their_label(run):
    figure = live.loss(run)
    dashes = {trace(figure, role).line.dash for role, *_more in live.RUNGS}
    assert len(dashes) == 3


def test_the_labels_of_the_rungs_end_a_third_of_the_plan_apart_however_close_the_lines_are(run):
    figure = live.loss(run)
    ends = sorted(trace(figure, role).x[1] for role, *_more in live.RUNGS)
    assert ends == pytest.approx([40 / 3, 80 / 3, 40])


def test_the_loss_axis_goes_down_below_the_lowest_rung_for_its_label(run):
    low, high = 2.4, math.log(65)
    drawn = live.loss(run).layout.yaxis.autorangeoptions.include
    assert list(drawn) == pytest.approx([low - live.LABEL_ROOM * (high - low)])
    blown_up = replace(run, events=[{"kind": "eval", "step": 3, "validation_loss": 90.0}])
    assert live.label_room(blown_up) == pytest.approx([low - live.LABEL_ROOM * (90 - low)])
    assert live.label_room(RunView()) == []


def written_on(steps, marks, end):
    """Return (row, from, to) for each label, in steps."""
    room = live_parts.MARK_ROOM * end
    return [
        (mark.height, step - room, step)
        if mark.side == "left"
        else (mark.height, step, step + room)
        for step, mark in zip(steps, marks, strict=True)
        if mark.has_label
    ]


@given(st.lists(st.integers(1, 1000), max_size=12))
def test_no_label_of_a_change_is_printed_over_another_or_beside_the_chart(steps):
    steps = sorted(steps)
    marks = live_parts.place_marks(steps, 1000)
    labels = written_on(steps, marks, 1000)
    for (row, begin, until), (other_row, other, other_until) in itertools.combinations(labels, 2):
        assert row != other_row or until <= other or other_until <= begin, (steps, marks)
    assert all(until <= 1000 for _row, _begin, until in labels), steps


def test_two_changes_side_by_side_stand_in_two_rows_and_far_ones_in_one():
    near, far = (live_parts.place_marks(steps, 1000) for steps in ([300, 310], [300, 700]))
    assert [mark.height for mark in near] == list(live_parts.MARK_HEIGHTS[:2])
    assert [mark.height for mark in far] == [live_parts.MARK_HEIGHTS[0]] * 2
    assert all(mark.has_label for mark in (*near, *far))
    five = live_parts.place_marks([300, 301, 302, 303, 304], 1000)
    assert [mark.has_label for mark in five] == [True] * 4 + [False]  # the hover still tells it


@pytest.mark.parametrize(
    "draw", [live.loss, live.learning_rate, live.grad_norm, live.tokens_per_second]
)
def test_a_change_of_the_multiplier_is_marked_at_its_step_in_every_chart(run, draw):
    marks = trace(draw(run), "multiplier")
    assert list(marks.x) == [12]
    assert list(marks.text) == ["×0.5"]


def test_a_later_attempt_leaves_what_it_did_again_as_a_ghost():
    steps, attempts = [1, 2, 3, 4, 3, 4, 5], [1, 1, 1, 1, 2, 2, 2]
    figure = live.loss(RunView(columns=columns(steps, attempts), info=INFO))
    assert list(trace(figure, "ghost").x) == [3, 4]
    assert list(trace(figure, "training").x) == [1, 2, 3, 4, 5]


def test_evaluations_that_a_later_attempt_did_again_are_not_drawn_twice():
    events = [
        {"kind": "eval", "step": step, "validation_loss": loss}
        for step, loss in ((10, 3.0), (20, 2.5), (10, 2.9))
    ]
    figure = live.loss(RunView(events=events, info=INFO))
    assert list(trace(figure, "validation").y) == [2.9]


def test_a_loss_that_is_not_finite_is_a_cross_at_the_last_finite_height():
    view = RunView(columns=columns([1, 2, 3], losses=[4.0, math.nan, None]), info=INFO)
    broken = trace(live.loss(view), "non_finite")
    assert list(broken.x) == [2, 3]
    assert list(broken.y) == [4.0, 4.0]
    assert broken.marker.symbol == "x"


def test_memory_is_stacked_in_mebibytes_beside_its_prediction(run):
    figure = live.memory(run)
    for name in CATEGORIES:
        assert list(trace(figure, "area", name).y) == [BYTES[name] / MIB]
        assert list(trace(figure, "bar", name).y) == [
            BYTES[name] / MIB,
            PREDICTED.get(name, 0) / MIB,
        ]
    assert "MiB" in figure.layout.yaxis.title.text


def test_hiding_the_prediction_leaves_every_measured_number_as_it_was(run):
    shown, hidden = live.memory(run), live.memory(run, show_prediction=False)
    for name in CATEGORIES:
        assert trace(hidden, "area", name).y == trace(shown, "area", name).y
        assert trace(hidden, "bar", name).y[0] == trace(shown, "bar", name).y[0]
        assert len(trace(hidden, "bar", name).y) == 1


def test_the_predicted_bar_is_hatched_and_the_measured_one_filled(run):
    assert list(trace(live.memory(run), "bar", "weights").marker.pattern.shape) == ["", "/"]


def test_the_resident_size_is_named_as_that_of_the_process_and_waits_for_a_click(run):
    resident = trace(live.memory(run), "resident")
    assert resident.visible == "legendonly"
    assert "RSS" in resident.name
    assert format_bytes(400 * MIB) in resident.name
    assert set(resident.y) == {400.0}


@pytest.mark.parametrize("look", [Look(), Look(present=True)])
def test_on_a_gpu_an_outline_over_the_measured_bar_is_the_allocators_peak(old_gpu_run, look):
    peak = trace(live.memory(old_gpu_run, look), "peak")
    measured = trace(live.memory(old_gpu_run, look), "bar", "weights").x[0]
    assert (peak.x, peak.base, peak.y) == ((measured,), (0,), (46.0,))
    assert "46.0 MiB (allocator)" in peak.name
    hidden = trace(live.memory(old_gpu_run, look, show_prediction=False), "peak")
    assert hidden.y == (46.0,)


def test_the_empty_frame_can_be_filled_by_a_run_on_either_device(run, gpu_run):
    roles = {each.meta["role"] for each in live.memory().data}
    drawn = [{each.meta["role"] for each in live.memory(view).data} for view in (run, gpu_run)]
    assert drawn[0] | drawn[1] == roles
    assert drawn[0] ^ drawn[1] == {"resident", "peak"}


def test_on_a_gpu_the_picture_is_of_vram_and_leaves_the_hosts_memory_to_the_words(run, gpu_run):
    figure = live.memory(gpu_run)
    assert "resident" not in {each.meta["role"] for each in figure.data}
    assert figure.layout.yaxis.title.text == "VRAM (MiB)"
    assert live.memory(run).layout.yaxis.title.text == "memory (MiB)"
    assert facts(gpu_run)["resident_bytes"] == format_bytes(400 * MIB)
    assert alt("memory", gpu_run).startswith("VRAM by category")
    assert alt("memory", run).startswith("Memory by category")
    install_provider(lambda: "zh")
    assert live.memory(gpu_run).layout.yaxis.title.text == "显存（MiB）"


def test_a_run_of_before_is_drawn_as_it_was_and_tells_no_more_than_it_knows(run, old_gpu_run):
    """An event without a peak, and a run on a GPU whose events tell nothing of the card."""
    no_peak = [{"kind": "memory", "step": 1, **BYTES}]
    bare = replace(run, events=no_peak)
    assert trace(live.memory(replace(old_gpu_run, events=no_peak)), "peak").y == (None,)
    assert facts(bare)["peak"] == "–"
    assert facts(run)["peak"] == "46.0 MiB (watched tensors)"
    for view in (bare, old_gpu_run):
        assert list(trace(live.memory(view), "area", "weights").y) == [4.0]
        assert not {*AROUND, "utilization", "mfu"} & set(facts(view))


def test_the_facts_of_a_gpu_are_the_peak_the_bytes_around_it_and_its_utilization(gpu_run):
    told = facts(gpu_run)
    assert told["peak"] == "46.0 MiB (allocator)"
    assert {name: told.get(name) for name in AROUND} == {
        "reserved_bytes": "64.0 MiB",
        "context_bytes": "500 MiB",
        "other_bytes": "2.00 GiB",
        "context_and_other_bytes": None,
        "total_bytes": "80.0 GiB",
    }
    assert told["utilization"] == "87.5 %"


def test_mfu_is_the_models_flops_of_all_steps_over_what_the_peak_could_do(gpu_run):
    """30,000 of 1,536 tokens a second, 6 TFLOPs for these, of 989.4 TFLOP/s."""
    share = 6e12 * (30_000 / 1536) / 989.4e12
    assert mfu(gpu_run) == pytest.approx(share)
    assert facts(gpu_run)["mfu"] == f"{100 * share:.3g} % of 989 TFLOP/s (data sheet)"
    not_begun = replace(gpu_run, columns={})
    assert facts(not_begun)["mfu"].startswith("– of 989 TFLOP/s")


def test_without_a_known_peak_mfu_is_unknown(gpu_run):
    unknown = replace(gpu_run, info=gpu_run.info | {"resolved": {"device": "cuda"}})
    assert mfu(unknown) is None
    assert facts(unknown)["mfu"] == "unknown"


def test_decimal_units_change_the_axis_and_the_heights_together(run):
    figure = live.memory(run, Look(unit="GB"))
    assert "MB" in figure.layout.yaxis.title.text
    assert list(trace(figure, "area", "weights").y) == [pytest.approx(4 * MIB / 1e6)]


def test_the_predicted_speed_is_the_tokens_of_a_step_over_its_seconds(run):
    predicted = trace(live.tokens_per_second(run), "predicted_rate")
    assert list(predicted.y) == [pytest.approx(12 * 64 * 2 / 0.05)] * 2


def test_without_the_prediction_the_speed_chart_has_no_such_line(run):
    figure = live.tokens_per_second(run, show_prediction=False)
    assert "predicted_rate" not in {each.meta["role"] for each in figure.data}


def test_the_gradient_is_drawn_on_a_log_axis_with_the_length_it_is_cut_to(run):
    figure = live.grad_norm(run)
    assert figure.layout.yaxis.type == "log"
    assert list(trace(figure, "grad_clip").y) == [1.0, 1.0]


@pytest.mark.parametrize("draw", FIGURES)
def test_every_chart_can_be_empty_and_keeps_the_readers_zoom(draw):
    figure = draw(RunView())
    assert figure.layout.uirevision
    assert all(each.meta["role"] for each in figure.data)


@pytest.mark.parametrize("draw", FIGURES)
def test_a_projector_gets_chart_text_of_at_least_18_pixels(draw):
    assert draw(RunView(), Look(present=True)).layout.font.size >= 18


def test_both_themes_come_as_plain_json_with_the_same_traces():
    both = live.specs_of_both_themes(LiveLook())
    assert json.loads(json.dumps(both)) == both
    for light, dark in zip(both["light"], both["dark"], strict=True):
        assert [each["meta"] for each in light["data"]] == [each["meta"] for each in dark["data"]]
        assert dark["layout"]["paper_bgcolor"] == COLORS["dark"]["background"]


def test_the_facts_are_the_newest_numbers(run):
    newest = facts(run)
    assert newest["step"] == "20"
    assert newest["num_steps"] == "40"
    assert newest["loss"] == "3.800"
    assert newest["validation_loss"] == "3.500"
    assert newest["weights"] == "4.00 MiB"
    assert newest["predicted"] == "48.0 MiB"
    assert newest["num_changes"] == "1"


def test_the_mean_speed_is_all_tokens_by_all_seconds_and_not_the_last_steps():
    """Steps of 1,536 tokens in 0.05 s, 0.05 s and 0.02 s."""
    seconds = [0.05, 0.05, 0.02]
    shown = columns([1, 2, 3]) | {"tokens_per_second": [1536 / each for each in seconds]}
    told = facts(RunView(columns=shown, info=INFO))
    assert told["tokens_per_second"].startswith("76.8 k")
    assert told["mean_rate"].startswith(f"{3 * 1536 / sum(seconds) / 1000:.1f} k")


def test_the_facts_of_a_run_that_has_not_begun_are_dashes():
    newest = facts(RunView())
    assert newest.pop("step") == "0"
    assert newest.pop("num_changes") == "0"
    assert set(newest.values()) == {"–"}


@pytest.mark.parametrize("name", list(ALTS))
def test_the_alt_text_of_a_chart_is_a_sentence_with_the_newest_numbers(run, name):
    sentence = alt(name, run)
    assert "{" not in sentence
    assert "–" not in sentence
    assert sentence.endswith(".")
