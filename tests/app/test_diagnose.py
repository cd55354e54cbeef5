"""Diagnose: an error text or a memory snapshot in, what held the memory out."""

import json
import pickle

import pytest

from core.budget.diagnosis.snapshot.answer import read_in_child
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


def test_a_text_that_is_no_such_error_is_refused_in_a_sentence(open_page):
    app = open_page(PAGE, diagnose_text="RuntimeError: shape mismatch")
    assert not app.exception
    assert "no out-of-memory error" in " ".join(each.value for each in app.error)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_text_without_a_request_is_not_answered_as_choices_that_cannot_go_together(
    open_page, lang
):
    """The plan beside it may be well; a plan that is not is answered as on its other pages."""
    told = []
    for text in ("hello", "CUDA out of memory"):
        app = open_page(PAGE, lang=lang, diagnose_text=text)
        told.append(app.session_state["headline"])
        assert len(app.error) == 1
    assert told[0] == told[1]
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

    def open_with(content, **query):
        path = tmp_path / "snapshot.pickle"
        path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content))
        key = snapshots().keep(read_in_child(path))
        sent = {"diagnose_sent": (key, path.name)}
        return open_page(PAGE, sent, diagnose_tab="snapshot", **query)

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
    assert max(sums) == pytest.approx(active / 2**30)
    assert len(areas) == 7
    table = app.dataframe[0].value
    assert len(table) == 20
    assert "project/model.py:41 gelu" in table.iloc[:, 2].tolist()
    assert format_bytes(sum(4_000_000 + n for n in range(5))) in notes(app)


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
    hatched = [bar for bar in bars if bar["marker"]["pattern"]["shape"]]
    assert [bar["text"] for bar in hatched] == [[""]] * len(hatched), "nobody reads between lines"
    written = figure_of(app)["layout"]["annotations"]
    assert {each["text"] for each in written} <= {
        format_bytes(bar["x"][0]) for bar in hatched
    }  # fmt: skip
    assert written[0]["bgcolor"]


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
