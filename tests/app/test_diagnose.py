"""Diagnose: an error text or a memory snapshot in, what held the memory out."""

import gzip
import json
import pickle
from dataclasses import asdict, replace

import pytest

from core.budget.catalogue.hf_config import read_config
from core.budget.diagnosis.recognise import UnknownError, recognise
from core.budget.diagnosis.snapshot.answer import read_in_child
from core.budget.diagnosis.snapshot.history import summarize
from core.train.profiler.results import recorded
from core.units import format_bytes
from pages.server.snapshots import snapshots
from pages.shared.lessons import lessons_of
from tests.core.budget.diagnosis.made_snapshot import two_steps

PAGE = "plan/diagnose"


def notes(app):
    return " ".join(str(each.value) for each in (*app.caption, *app.markdown))


def test_the_example_names_a_feed_forward_matrix_and_other_tensors_of_that_size(open_page):
    app = open_page(
        PAGE, plan_model="llama-2-7b", plan_devices="1", plan_length="1024",
        diagnose_text="CUDA out of memory. Tried to allocate 172.00 MiB",
    )  # fmt: skip
    assert not app.exception
    assert "11,008 × 4,096 × 4" in app.session_state["headline"]
    assert "22,016 × 4,096 × 2" in notes(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_text_without_a_request_is_not_answered_as_choices_that_cannot_go_together(
    open_page, lang
):
    """The plan beside it may be well; a plan that is not is answered as on its other pages."""
    told = []
    app = open_page(PAGE, lang=lang, diagnose_text="CUDA out of memory")
    told.append(app.session_state["headline"])
    assert len(app.error) == 1
    impossible = {"plan_model": "llama-2-7b", "plan_devices": "8", "plan_tensor": "3"}
    app = open_page(PAGE, lang=lang, **impossible)
    assert len(app.error) == 1
    assert told[0] != app.session_state["headline"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_size_that_no_tensor_has_is_said(open_page, lang):
    app = open_page(PAGE, lang=lang, diagnose_text="CUDA out of memory. Tried to allocate 3.33 GiB")
    assert not app.exception
    assert "3.33 GiB" in app.session_state["headline"]
    text = "CUDA out of memory. Tried to allocate 3.33 GiB"
    app = open_page(PAGE, lang=lang, units="GB", diagnose_text=text)
    assert "3.58 GB" in app.session_state["headline"]


@pytest.fixture
def send(open_page, tmp_path):
    """Return send(dump, **query): the tab of snapshots after that file was sent to the server."""

    def sent(content):
        path = tmp_path / "snapshot.pickle"
        path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content))
        return snapshots().keep(*read_in_child(path)), path.name

    def open_with(content, other=None, **query):
        state = {"diagnose_sent": sent(content)}
        if other is not None:
            state["diagnose_other_sent"] = sent(other)
        return open_page(PAGE, state, diagnose_tab="snapshot", **query)

    return open_with


def figure_of(app):
    return json.loads(app.get("plotly_chart")[0].proto.spec)


def test_the_code_of_every_lesson_names_the_bytes_that_were_asked_for(open_page, run_code):
    for lesson in lessons_of(PAGE):
        app = open_page(PAGE, **lesson.query)
        for name in app.session_state["snippets"]:
            assert "bytes" in run_code(app, name), lesson.slug


def test_before_a_snapshot_is_sent_the_page_says_what_to_send(open_page, run_code):
    app = open_page(PAGE, diagnose_tab="snapshot")
    assert not app.exception
    assert not app.get("plotly_chart")
    printed = run_code(app)
    assert "3,072 of 4,096 bytes reserved are idle: 75.0%" in printed
    assert "peak: 4,000 bytes" in printed


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_snapshot_with_a_history_shows_the_peak_its_parts_and_its_blocks(send, lang):
    made = two_steps()
    app = send(made.dump(), lang=lang, plan_model="llama-2-7b")
    assert not app.exception
    assert not app.error
    active, reserved, _parts = max(made.told, key=lambda each: each[0])
    headline = app.session_state["headline"]
    for amount in (active, reserved, made.reserved):
        assert format_bytes(amount) in headline
    areas = [each for each in figure_of(app)["data"] if "stackgroup" in each]
    sums = [sum(column) for column in zip(*(area["y"] for area in areas), strict=True)]
    assert max(sums) == active
    assert len(areas) == 7
    table = app.dataframe[0].value
    assert len(table) == 20
    assert "project/model.py:41 gelu" in table.iloc[:, 2].tolist()
    assert format_bytes(sum(4_000_000 + n for n in range(5))) in notes(app)


@pytest.mark.parametrize("end", ["the whole", "a problem"])
def test_the_segments_are_shown_while_the_history_is_counted_and_where_it_cannot_be(open_page, end):
    dump = two_steps().dump()
    alone = summarize({"segments": dump["segments"]})
    first = json.dumps(asdict(replace(alone, is_first=True)))
    last = asdict(summarize(dump)) if end == "the whole" else {"problem": "late", "seconds": 10}
    key = snapshots().keep(first)
    app = open_page(PAGE, {"diagnose_sent": (key, "mine.pickle")}, diagnose_tab="snapshot")
    assert notes(app).index("still being counted") < notes(app).index("lies idle")
    assert app.session_state["headline"].startswith("At the end")
    assert format_bytes(alone.reserved) in app.session_state["headline"]
    assert not any("stackgroup" in each for each in figure_of(app)["data"])
    snapshots()._answers[key].append(json.dumps(last))
    app.run()
    assert "still being counted" not in notes(app)
    assert any("stackgroup" in each for each in figure_of(app)["data"]) == (end == "the whole")
    assert [each.value[:32] for each in app.error] == (
        [] if end == "the whole" else ["The snapshot was not read in 10 "]
    )


def test_the_plan_stands_in_the_picture_only_where_it_can_be_seen(send):
    dump = two_steps().dump()
    far = send(dump, plan_model="llama-2-7b", plan_devices="1")
    assert "far above" in notes(far)
    assert not figure_of(far)["layout"].get("shapes")
    for segment in dump["segments"]:
        for part in (segment, *segment["blocks"]):
            for name in {"size", "total_size", "requested_size"} & part.keys():
                part[name] *= 4000
    for event in dump["device_traces"][0]:
        event["size"] *= 4000
    near = send(dump, plan_model="llama-2-7b", plan_devices="1")
    assert len(figure_of(near)["layout"]["shapes"]) == 1


@pytest.mark.parametrize("size", [1, 2**62])
def test_a_snapshot_of_any_size_is_drawn(send, size):
    block = {"address": 0, "size": size, "state": "active_allocated", "frames": []}
    segment = {"device": 0, "address": 0, "total_size": size, "blocks": [block]}
    events = [
        {"action": action, "addr": address, "size": size - 1, "frames": []}
        for address in (0, 1) for action in ("alloc", "free_completed")
    ]  # fmt: skip
    for traces in ([], [events[:1]], [events]):
        app = send({"segments": [segment], "device_traces": traces})
        assert not app.exception
        assert len(app.get("plotly_chart")) == 1
    assert not send({"segments": [segment]}, {"segments": [segment]}).exception


def test_the_code_finds_the_same_peak_in_the_file(send, run_code, tmp_path, monkeypatch):
    made = two_steps()
    app = send(made.dump())
    monkeypatch.chdir(tmp_path)
    printed = run_code(app)
    assert f"peak: {max(active for active, *_rest in made.told):,} bytes" in printed


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_snapshot_without_a_history_shows_its_segments(send, lang):
    made = two_steps(with_history=False)
    app = send(made.dump(), lang=lang)
    assert not app.exception
    bars = figure_of(app)["data"]
    reserved = [bar["x"][0] for bar in bars if bar["y"] == bars[0]["y"]]
    assert sum(reserved) == made.reserved
    assert format_bytes(made.reserved) in app.session_state["headline"]
    assert not any(bar.get("text") for bar in bars), "nobody reads between lines"
    notes_in = figure_of(app)["layout"]["annotations"]
    written = [each for each in notes_in if "<b>" not in each["text"]]
    assert len(notes_in) == len(written) + 2, "the names of two rows, above their bars"
    assert {each["text"] for each in written} <= {format_bytes(bar["x"][0]) for bar in bars}
    assert written
    assert all(each["bgcolor"] for each in written)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_two_snapshots_stand_on_one_axis_and_the_category_that_changed_is_named(send, lang):
    before, after = two_steps(), two_steps(num_layers=20)
    app = send(before.dump(), after.dump(), lang=lang)
    assert not app.exception
    assert not app.error
    peaks = [max(each.told, key=lambda row: row[0]) for each in (before, after)]
    less = peaks[0][2]["forward"] - peaks[1][2]["forward"]
    headline = app.session_state["headline"]
    for amount in (peaks[0][0], peaks[1][0], peaks[0][0] - peaks[1][0], less):
        assert format_bytes(amount) in headline
    assert {"en": "forward", "zh": "前向"}[lang] in headline
    lines = figure_of(app)["data"]
    tops = [max(line["y"]) for line in lines]
    assert tops[::2] == [peak[0] for peak in peaks]
    layout = figure_of(app)["layout"]
    assert layout["yaxis"]["title"]["text"] == "MiB", "no hundredths of a GiB"
    ticks = layout["yaxis"]["tickvals"]
    assert [f"{each / 2**20:g}" for each in ticks] == list(layout["yaxis"]["ticktext"])
    assert ticks[-1] <= layout["yaxis"]["range"][1] < ticks[-1] + ticks[1]
    below = [each["ay"] for each in layout["annotations"]]
    assert below[0] < 0 < below[1], "the higher peak is named above, the lower below"
    assert [line["x"][-1] for line in lines] == [1.0] * 4
    table = app.dataframe[0].value
    assert f"−{format_bytes(less)}" in table.iloc[:, 3].tolist()
    if lang == "zh":  # AppTest cannot click where lists have translated words
        return
    app.button(key="diagnose_end").click().run()
    assert not app.exception
    assert format_bytes(peaks[0][1]) in app.session_state["headline"], "the first alone, as before"
    assert len(app.dataframe[0].value) == 20


def test_what_has_no_history_is_compared_as_it_was_taken_and_a_bad_second_is_told(send):
    before, after = two_steps(), two_steps(with_history=False)
    after.alloc(5_000_000, "forward")
    app = send(before.dump(), after.dump())
    ends = [sum(each.amounts.values()) for each in (before, after)]
    for amount in (*ends, abs(ends[1] - ends[0])):
        assert format_bytes(amount) in app.session_state["headline"]
    bars = figure_of(app)["data"]
    for row, made in (("A", before), ("B", after)):
        assert sum(bar["x"][0] for bar in bars if bar["y"] == [row]) == made.reserved
    assert "same" in send(before.dump(), before.dump()).session_state["headline"]
    refused = send(before.dump(), b"")
    assert "_dump_snapshot" in refused.error[0].value
    assert len(refused.dataframe[0].value) == 20, "the first is shown alone"


def test_the_place_for_a_snapshot_speaks_the_readers_unit(open_page):
    app = open_page(PAGE, diagnose_tab="snapshot", units="GB")
    (place,) = [each for each in app.get("bidi_component") if "mostBytes" in each.proto.json]
    assert "268 MB" in place.proto.json
    assert "MiB" not in place.proto.json


@pytest.mark.parametrize("content", [b"", b"\x80\x04}", b"cos\nsystem\n(S'true'\ntR."])
def test_a_file_that_is_no_snapshot_is_refused_in_a_sentence(send, content):
    app = send(content)
    assert not app.exception
    assert "_dump_snapshot" in app.error[0].value


def test_a_snapshot_needs_no_error_text_and_a_forgotten_one_is_told(send, open_page):
    app = send(two_steps().dump(), diagnose_text="RuntimeError: shape mismatch")
    assert not app.error
    lost = open_page(PAGE, {"diagnose_sent": ("gone", "mine.pickle")}, diagnose_tab="snapshot")
    assert "mine.pickle" in notes(lost)


CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048,
    "num_hidden_layers": 10, "num_attention_heads": 16, "num_key_value_heads": 4,
    "intermediate_size": 6144, "vocab_size": 32000, "max_position_embeddings": 4096,
}  # fmt: skip


def deepspeed(**fields):
    return json.dumps({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": True}, **fields})


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_recipe_fills_the_plan_by_one_click_and_names_what_it_does_not_know(open_page, lang):
    text = deepspeed(zero_optimization={"stage": 1}, made_up=3)
    app = open_page(PAGE, lang=lang, diagnose_text=text, plan_devices="4")
    assert not app.exception
    assert not app.error
    assert "made_up" in notes(app)
    table = app.dataframe[0].value
    assert len(figure_of(app)["data"][0]["y"]) == 2
    assert len(table) >= 3
    if lang == "zh":  # AppTest cannot click where lists have translated words
        return
    app.button(key="plan_take_brought").click().run()
    assert not app.exception
    assert app.session_state["plan_sharding"] == "1"
    assert app.session_state["plan_batch"] == 2
    assert len(figure_of(app)["data"][0]["y"]) == 1
    assert app.button(key="plan_take_brought").disabled


def test_a_length_that_cannot_be_chosen_is_counted_as_it_is_and_set_to_the_next(open_page):
    text = "base_model: meta-llama/Llama-3.1-8B\nsequence_len: 5000\nmicro_batch_size: 1\n"
    app = open_page(PAGE, diagnose_text=text + "adapter: lora\nlora_r: 16\n")
    assert not app.error
    values = app.dataframe[0].value.to_numpy().ravel().tolist()
    assert "5,000" in values
    app.button(key="plan_take_brought").click().run()
    assert int(app.session_state["plan_length"]) >= 5000


def test_a_config_of_an_unknown_model_becomes_the_readers_own(open_page):
    app = open_page(PAGE, diagnose_text=json.dumps(CONFIG))
    assert not app.error
    app.button(key="plan_take_brought").click().run()
    assert not app.exception
    assert app.session_state["plan_model"] == "own"
    assert read_config(app.session_state["plan_config"]).hidden_dim == 2048


def test_a_locked_page_keeps_the_plan(open_page):
    app = open_page(PAGE, diagnose_text=deepspeed(), lock="1")
    assert app.button(key="plan_take_brought").disabled


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_log_shows_its_mfu_by_each_way_of_counting(open_page, lang):
    line = "step: 10  loss: 7.2  memory: 47.65GiB(50.1%)  tps: 5,760  tflops: 333.6  mfu: 33.73%"
    app = open_page(PAGE, lang=lang, diagnose_text=line)
    assert not app.exception
    assert not app.error
    assert "MFU" in app.session_state["headline"]
    assert len(figure_of(app)["data"][0]["y"]) >= 3


def test_a_trace_is_answered_in_place_with_the_verdict_of_the_step_profiler(open_page):
    packed = recorded("operators", "110k", "fp32").trace
    asked = open_page("train/step_profiler", profile_tab="operators")
    for name, content in (("trace.json.gz", packed), ("trace.json", gzip.decompress(packed))):
        app = open_page(PAGE)
        app.get("file_uploader")[0].upload(name, content, "application/json").run()
        assert not app.exception
        assert app.session_state["headline"] == asked.session_state["headline"]
        assert figure_of(app)["data"][0]["values"] == figure_of(asked)["data"][0]["values"]
        assert "operators" in str(app.get("page_link")[-1].proto)
    app = open_page(PAGE)
    app.get("file_uploader")[0].upload("trace.json", b'{"traceEvents": []}', "").run()
    assert "ProfilerActivity.CPU" in app.error[0].value


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\x80\x05 device_traces", "Memory snapshot"),
        (b'{"schemaVersion": 1, "traceEvents": []}', "Step profiler"),
        (b"x" * (16 * 2**20 + 1), "more than 16 MiB"),
    ],
)
def test_what_another_page_reads_is_told_where(content, text):
    with pytest.raises(UnknownError, match=text):
        recognise(content)


AXOLOTL = (
    "# about 6,100 tok/s on one H100\nbase_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 1\n"
)
STATES = '{"weights": 1, "gradients": 1, "optimizer": 1, "peak": 9, "reserved": 9}'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (AXOLOTL, "Brought"),
        (f'tok/s: 6100\n{{"measured_peak": {STATES}}}\n', "MeasuredPeak"),
        ("step 1 tok/s: 6100\nstep 2 tok/s: 6100\n", "Log"),
    ],
)
def test_a_remark_on_speed_makes_no_log_of_a_recipe(text, kind):
    assert type(recognise(text.encode())).__name__ == kind


@pytest.mark.parametrize(
    "text", ["Decode batch. gen throughput (token/s): 755.13", "eval rate: 52.10 tokens/s"]
)
def test_the_speed_of_a_server_is_no_speed_of_a_training(text):
    with pytest.raises(UnknownError):
        recognise(text.encode())


def test_what_a_file_calls_its_model_is_no_link_on_the_page(open_page):
    text = "model_name_or_path: '[here](https://example.org) *bold*'\nfinetuning_type: full\n"
    app = open_page(PAGE, diagnose_text=text + "stage: sft\ncutoff_len: 1024\n")
    assert not app.error
    assert "\\[here\\](https://example.org)" in notes(app)


def test_a_second_own_model_can_be_taken_too(open_page):
    app = open_page(PAGE, diagnose_text=json.dumps(CONFIG))
    app.button(key="plan_take_brought").click().run()
    assert app.button(key="plan_take_brought").disabled
    config = json.loads(app.session_state["plan_config"])
    other = open_page(
        PAGE, diagnose_text=json.dumps(CONFIG | {"num_hidden_layers": 12}), plan_model="own",
        plan_config=json.dumps(config),
    )  # fmt: skip
    assert not other.button(key="plan_take_brought").disabled


@pytest.mark.parametrize("text", ["hello", "{", "[1, 2, 3]", "a: b"])
def test_what_is_nothing_is_said_to_be_nothing(open_page, text):
    app = open_page(PAGE, diagnose_text=text)
    assert not app.exception
    assert len(app.error) == 1
    assert app.session_state["headline"] == "This was not recognised."


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_measured_peak_stands_beside_the_plans_and_the_largest_difference_is_named(
    open_page, lang, run_code
):
    told = {"weights": 2 * 10**9, "gradients": 0, "optimizer": 8 * 10**9, "peak": 3 * 10**10}
    text = json.dumps({"measured_peak": told | {"reserved": 4 * 10**10}})
    app = open_page(PAGE, lang=lang, diagnose_text=text)
    assert not app.exception
    assert not app.error
    assert format_bytes(3 * 10**10) in app.session_state["headline"]
    assert format_bytes(4 * 10**10) in notes(app)
    assert "measured_peak" in run_code(app)
