"""Parallelism: every tab at both ends of its sliders, impossible splits, the ring, the cards."""

import json
import urllib.parse

import pytest

from core.units import format_bytes
from pages.plan.parallelism import programs
from pages.plan.parallelism.programs import PROGRAMS
from pages.server.moved import moved
from tests.app.shown import alt, captions, headline, page_links

PAGE = "plan/parallelism"
TABS = ("sharding", "stages", "links", "schedule")
RING = {"parallel_tab": "moving", "parallel_collective": "arrays"}
SMALL = {"parallel_data": "1", "parallel_tensor": "1", "parallel_stages": "1"}
LARGE = {
    "parallel_model": "llama-3.1-405b",
    "parallel_data": "4",
    "parallel_tensor": "32",
    "parallel_stages": "64",
    "parallel_microbatches": "256",
    "parallel_seq_len": "8192",
    "parallel_ring_ranks": "6",
    "parallel_ring_step": "10",
}


@pytest.fixture
def open_page(open_page):
    """Open the page as an old link of it does: on the plan as it was then."""

    def opened(page, **settings):
        if page == PAGE and not any(name.startswith("plan_") for name in settings):
            old = {"parallel_data": "2"} | settings
            new = moved(f"/parallelism?{urllib.parse.urlencode(old)}")
            settings = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(new).query))
        return open_page(page, **settings)

    return opened


def memory_settings(app):
    """Return with which settings the link opens the memory page."""
    (link,) = [each for each in page_links(app) if each.page == "training-memory"]
    return dict(urllib.parse.parse_qsl(link.query_string))


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_a_picture_at_both_ends(open_page, tab):
    for settings in (SMALL, LARGE):
        app = open_page(PAGE, parallel_tab=tab, **settings)
        assert headline(app), tab
        assert len(alt(app)) > 40


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_is_drawn_in_chinese_on_a_projector(open_page, tab):
    app = open_page(PAGE, lang="zh", present="1", units="GB", parallel_tab=tab)

    assert any("\u4e00" <= sign <= "\u9fff" for sign in headline(app) + alt(app))


def test_the_headline_says_what_a_device_holds_and_what_it_sends(open_page):
    app = open_page(PAGE, parallel_tab="stages")
    largest, sent, _seconds = [metric.value for metric in app.metric]

    assert headline(app).startswith(
        f"Llama-3.1 70B on 64 × H100 SXM: a device holds at most {largest} of 78.6 GiB (stage 0)"
    )
    assert headline(app).endswith(f"sends {sent} in a step")


def test_every_stage_is_drawn_and_told(open_page):
    app = open_page(PAGE, parallel_tab="stages", **LARGE)

    assert "each of 64 stages" in alt(app)
    assert "stage 62" in headline(app) + alt(app)


@pytest.mark.parametrize(
    ("tab", "sentence"),
    [
        ("stages", "each device holds"),
        ("sharding", "One replica has nobody to share with"),
        ("links", "One device sends nothing"),
        ("schedule", "One stage has nobody to wait for"),
    ],
)
def test_one_device_has_sentences_of_its_own(open_page, tab, sentence):
    app = open_page(PAGE, parallel_tab=tab, **SMALL)

    assert sentence in headline(app)
    assert "1 stages" not in alt(app)


def test_one_micro_batch_is_one(open_page):
    app = open_page(PAGE, parallel_tab="schedule", parallel_microbatches="1")

    assert headline(app) == "4 stages, 1 micro-batch: each stage waits 75 % of the time"
    assert "with 1 micro-batch" in alt(app)


def test_the_links_speak_of_the_slowest_stage(open_page):
    """Without sequence parallelism a middle stage sends fewer bytes, more of them slowly."""
    slow = {"parallel_zero": "ddp", "parallel_sequence": "false"}
    sent = open_page(PAGE, parallel_tab="stages", **slow).metric[1].value
    app = open_page(PAGE, parallel_tab="links", **slow)

    assert sent == "147 GiB"
    assert "a device of the slowest stage sends 146 GiB" in headline(app)


def test_hidden_communication_is_told_beside_the_bars(open_page):
    app = open_page(PAGE, parallel_tab="links", parallel_overlap="100")

    assert any("100 % is hidden behind compute and not drawn" in text for text in captions(app))
    assert not any("not drawn" in text for text in captions(open_page(PAGE, parallel_tab="links")))


def test_recomputed_work_counts_in_compute_and_bubble(open_page):
    seconds = {}
    for way in ("none", "full"):
        app = open_page(PAGE, parallel_tab="schedule", parallel_checkpointing=way)
        seconds[way] = [metric.value for metric in app.metric]

    assert seconds == {"none": ["2.04 s", "764 ms"], "full": ["2.54 s", "952 ms"]}


FSDP2 = {
    "parallel_tab": "sharding", "parallel_model": "llama-2-7b", "parallel_data": "8",
    "parallel_tensor": "1", "parallel_stages": "1", "parallel_microbatches": "1",
    "parallel_precision": "fsdp2", "parallel_zero": "zero3",
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "sent"), [("none", "32.9 GiB"), ("float32", "43.9 GiB")])
def test_fsdp2_sends_gradients_in_its_reduce_dtype(open_page, dtype, sent):
    app = open_page(PAGE, parallel_reduce=dtype, **FSDP2)

    assert f"sends {sent}" in headline(app).split("FSDP2")[1]
    assert "sends 43.9 GiB" in headline(app).split("FSDP2")[0]  # DDP knows no such choice


def test_a_model_is_not_read_beyond_its_positions_and_the_page_says_so(open_page):
    """GPT-2 has a table of 1,024 positions; the page's default is 8,192 tokens."""
    app = open_page(PAGE, parallel_tab="stages", parallel_model="gpt2", parallel_tensor="4")
    longer = open_page(PAGE, parallel_model="llama-2-7b")

    assert "GPT-2 has a table of 1,024 positions: 1,024 tokens are taken." in captions(app)
    assert memory_settings(app)["plan_length"] == "8192"
    assert any("was made for 4,096 tokens" in text for text in captions(longer))


def test_choices_that_cannot_go_together_are_a_sentence(open_page):
    app = open_page(PAGE, parallel_tab="links", parallel_device="own", parallel_precision="fp32")

    assert headline(app) == "These choices cannot go together."
    assert "has no known peak for float32" in app.info[0].value


def test_without_a_peak_there_is_one_headline_and_no_code(open_page):
    app = open_page(PAGE, parallel_tab="schedule", parallel_device="own", parallel_precision="fp32")

    assert headline(app) == "These choices cannot go together."
    assert not app.get("plotly_chart")
    assert app.session_state["snippets"] == {}


def moving_bytes(app):
    """Return what the browser part was given."""
    parts = [each for each in app.get("bidi_component") if "parallel_devices" in each.proto.id]
    (part,) = [each for each in parts if "poster" not in each.proto.id]
    return json.loads(part.proto.json)[0]


MOVING = {"parallel_tab": "moving"}


def test_bytes_that_move_are_told_with_what_their_devices_hold(open_page):
    app = open_page(PAGE, **MOVING)
    rows = moving_bytes(app)
    assert headline(app).startswith("A device sends 107 GiB in a training step for its all-gather")
    assert len(rows["devices"]) == 8
    assert len(rows["sentences"]) == len(rows["turns"]) + 1 == 8
    assert rows["sentences"][7].endswith("has sent 112 MiB of 112 MiB.")
    assert [each.value for each in app.metric] == ["107 GiB"]


def test_a_device_of_each_stage_stands_in_a_pipeline(open_page):
    rows = moving_bytes(
        open_page(PAGE, parallel_collective="activations-to-the-next-stage", **MOVING)
    )
    assert rows["devices"][0]["size"] == "45.8 GiB"
    assert len({each["size"] for each in rows["devices"]}) == 4
    assert [turn["only"] for turn in rows["turns"]] == [0, 1, 2]


@pytest.mark.parametrize(("said", "turn"), [("3", 3), ("7", 7), ("9999", 7), ("x", 0), ("-1", 0)])
def test_a_link_opens_the_collective_at_a_step(open_page, said, turn):
    assert moving_bytes(open_page(PAGE, parallel_moved=said, **MOVING))["turn"] == turn


def test_bytes_of_groups_too_large_to_draw_are_told(open_page):
    app = open_page(PAGE, **MOVING, **SMALL | {"parallel_data": "256"})
    assert "256 devices, each sends 131 GiB in a training step" in headline(app)
    assert "256 devices take part; at most 64 are drawn" in app.info[0].value
    assert "sends nothing" in headline(open_page(PAGE, **MOVING, **SMALL))


def test_a_collective_that_this_split_lacks_is_a_sentence_with_those_it_has(open_page):
    app = open_page(PAGE, parallel_collective="all-to-all-of-tokens", **MOVING)
    assert headline(app) == "These choices cannot go together."
    assert "no all-to-all of tokens" in app.info[0].value
    assert "reduce-scatter of gradients" in app.info[0].value


@pytest.mark.parametrize(
    "settings",
    [{}, {"parallel_collective": "activations-to-the-next-stage"}, {"parallel_zero": "ddp"}],
)
def test_the_code_of_a_collective_prints_the_budgets_bytes(open_page, run_code, settings):
    app = open_page(PAGE, **MOVING, **settings)
    printed = run_code(app)
    rows = moving_bytes(app)
    (sent,) = [each.value for each in app.metric]
    assert "bytes in one call" in printed
    in_step = int(printed.split(" in one call, ")[1].split()[0].replace(",", ""))
    assert format_bytes(in_step, "GiB") == sent
    assert rows["turns"]


def test_moving_bytes_are_told_in_chinese_on_a_projector(open_page):
    app = open_page(PAGE, lang="zh", present="1", **MOVING)
    assert "训练步" in headline(app)
    assert "步" in moving_bytes(app)["sentences"][1]


def test_the_code_of_the_ring_runs(open_page, run_code):
    app = open_page(PAGE, **RING, parallel_ring_ranks="3")
    assert run_code(app).splitlines()[-1].startswith("4 all-gather [111.0, 222.0, 333.0] 16 bytes")


def test_experts_bring_a_link_of_their_own(open_page):
    app = open_page(
        PAGE,
        parallel_tab="links",
        parallel_model="mixtral-8x7b",
        parallel_data="8",
        parallel_expert="8",
        parallel_overlap="50",
    )

    assert "all-to-all of tokens" in alt(app)


def test_the_ring_goes_on_step_by_step(open_page):
    app = open_page(PAGE, **RING, parallel_ring_ranks="3", parallel_ring_step="3")
    assert "Step 3 of 4, all-gather" in headline(app)

    app.button(key="parallel_next").click().run()

    assert "Step 4 of 4" in headline(app)
    assert headline(app).endswith("each rank has sent 16 bytes, 1.33 times its array")
    assert app.button(key="parallel_next").disabled


def test_the_ring_of_a_locked_page_stays_where_it_is(open_page):
    app = open_page(PAGE, lock="1", **RING)

    assert app.button(key="parallel_next").disabled
    assert "Step 2 of 6" in headline(app)


def test_the_steps_of_the_ring_end_where_its_ranks_are_done(open_page):
    app = open_page(PAGE, **RING, parallel_ring_ranks="6", parallel_ring_step="10")
    assert app.slider(key="parallel_ring_step").max == 10

    app.session_state["parallel_ring_ranks"] = "2"
    app.run()

    assert app.slider(key="parallel_ring_step").max == 2
    assert "Step 2 of 2" in headline(app)
    assert not [text for text in captions(app) if "was not accepted" in text]


def test_a_step_beyond_the_last_is_refused(open_page):
    app = open_page(PAGE, **RING, parallel_ring_ranks="2", parallel_ring_step="9")

    assert "Step 2 of 2" in headline(app)
    assert any("a whole number from 0 to 2" in text for text in captions(app))


def test_a_long_schedule_says_what_it_draws(open_page):
    app = open_page(PAGE, parallel_tab="schedule", **LARGE)

    assert "64 stages, 256 micro-batches: each stage waits 19.7 % of the time" in headline(app)
    assert any("Drawn with 16 stages and 32 micro-batches" in text for text in captions(app))


@pytest.mark.parametrize("card", PROGRAMS)
def test_a_card_runs_its_program_and_shows_what_it_prints(open_page, monkeypatch, card):
    programs.printed.clear()
    monkeypatch.setattr(programs, "run_ranks", lambda source: (source.splitlines()[-1], "two"))
    where = RING if card == "torchrun" else {"parallel_tab": "sharding", "parallel_card": card}
    app = open_page(PAGE, **where)
    assert PROGRAMS[card].strip() in [each.value.strip() for each in app.code]

    app.button(key="parallel_run").click().run()

    assert "dist.destroy_process_group()\ntwo" in [each.value for each in app.code]
    programs.printed.clear()


def test_ranks_that_fail_are_a_sentence(open_page, monkeypatch):
    def fail(_source):
        raise ValueError("no ranks today")

    monkeypatch.setattr(programs, "run_ranks", fail)
    app = open_page(PAGE, parallel_tab="sharding")
    app.button(key="parallel_run").click().run()

    assert not app.exception
    assert any("no ranks today" in each.value for each in app.markdown)


@pytest.mark.parametrize(
    "layout",
    [
        {"parallel_stages": "2", "parallel_zero": "zero3", "parallel_tensor": "4"},
        {"parallel_stages": "12", "parallel_data": "3"},
    ],
)
def test_the_memory_page_opens_in_the_same_state(open_page, layout):
    app = open_page(PAGE, parallel_tab="stages", **layout)
    largest = app.metric[0].value
    there = open_page("plan/training_memory", **memory_settings(app))

    assert largest in headline(there)
    assert there.session_state["frame_book"].refusals == {}


def test_virtual_stages_shorten_the_bubble_and_hold_more(open_page):
    app = open_page(PAGE, parallel_tab="schedule", parallel_virtual="2")
    assert headline(app) == (
        "4 stages of 2 virtual stages each, 8 micro-batches: each stage waits 15.8 % of the time "
        "instead of 27.3 %"
    )
    assert "as many activations as 5.5 micro-batches have" in alt(app)
    odd = open_page(PAGE, parallel_virtual="2", parallel_microbatches="6")
    assert any("take a multiple of 4" in each.value for each in odd.info)


def test_context_ranks_share_a_long_sequence_and_say_how(open_page):
    settings = {**SMALL, "parallel_seq_len": "131072", "parallel_checkpointing": "full"}
    held = []
    for ranks in ("1", "8"):
        app = open_page(
            PAGE,
            parallel_model="llama-3.1-8b",
            parallel_context=ranks,
            parallel_tab="stages",
            **settings,
        )
        held.append(app.metric[0].value)
        there = open_page("plan/training_memory", **memory_settings(app))
        assert app.metric[0].value in headline(there)
    assert held[0] != held[1]
    links = open_page(
        PAGE, parallel_model="llama-3.1-8b", parallel_tab="links", parallel_context="8", **settings
    )
    said = " ".join(captions(links))
    assert "Each rank has one chunk from the front" in said
    assert "1.88 times the mean" in said
    assert "keys, values and their gradients" in alt(links)
