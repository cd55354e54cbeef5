"""Data and batches: windows, ranks, loaders, files, seeds."""

import re

import pytest

from core.train.start.loader_speed import LoaderTiming, recorded_timings
from pages.train.data_and_batches import loader
from tests.app.shown import page_links, said

PAGE = "train/data_and_batches"


def headline(app):
    assert not app.exception
    return app.session_state["headline"]


def alts(app):
    return " ".join(each.proto.alt for each in app.get("plotly_chart"))


@pytest.mark.parametrize("tokenizer", ["character", "byte", "bpe"])
@pytest.mark.parametrize("text", ["sentence", "lessons"])
def test_the_headline_counts_the_tokens_and_the_code_says_the_same(
    open_page, run_code, tokenizer, text
):
    app = open_page(
        PAGE, batches_text=text, batches_tokenizer=tokenizer, batches_batch="3", batches_context="5"
    )
    assert "3 × 5 = 15 tokens" in headline(app)
    starts = app.metric[1].value
    said = run_code(app)
    assert said.startswith("15 inputs, 15 targets; ")
    assert re.search(r"; (\d+) starts", said)[1] == starts.replace(",", "")


def test_the_moved_window_and_its_targets_are_told(open_page):
    app = open_page(PAGE, batches_sentence="abcdefgh", batches_context="3", batches_start="2")
    assert "begins at token 2: inputs c|d|e, and below each its target: d|e|f." in alts(app)


@pytest.mark.parametrize("sentence", ["abc", ""])
def test_a_text_shorter_than_a_window_is_a_sentence(open_page, sentence):
    app = open_page(PAGE, batches_sentence=sentence, batches_context="8")
    assert headline(app) == "There is no such batch."
    assert f"The text has {len(sentence)} tokens; a window of 8" in app.error[0].value


def test_without_set_epoch_the_order_is_told_to_be_the_same(open_page):
    for ranks, calls, told in (("2", "false", True), ("2", "true", False), ("1", "false", False)):
        app = open_page(PAGE, batches_tab="ranks", batches_ranks=ranks, batches_set_epoch=calls)
        assert ("the same order" in headline(app)) is told, (ranks, calls)


def test_loaders_are_measured_at_the_push_of_a_button_and_drawn(open_page, monkeypatch):
    def timed(num_workers, prefetch_factor, item_kib):
        return LoaderTiming(
            num_workers=num_workers, prefetch_factor=prefetch_factor, item_seconds=1e-3,
            first_seconds=1.0, wait_seconds=((3 - num_workers) * 0.01,) * 12,
            step_seconds=(0.01,) * 12,
        )  # fmt: skip

    monkeypatch.setattr(loader, "measure_loader", timed)
    app = open_page(PAGE, batches_tab="loader", batches_item="64", batches_prefetch="4")
    assert "not measured" in headline(app)
    assert any("flops-and-time" in str(link) for link in page_links(app))
    app.button("batches_measure").click().run()
    assert "waits 75% of the time" in headline(app).replace(" %", "%")
    assert "(num_workers=2)" in headline(app)
    assert "num_workers=1: 360 ms for 12 steps" in alts(app)


def test_a_recorded_measurement_stands_there_until_this_machine_is_measured(open_page):
    app = open_page(PAGE, batches_tab="loader")
    kept = recorded_timings()
    assert f"waits {kept.timings[0].waited:.0%}".rstrip("%") in headline(app).replace(" %", "%")
    assert f"Recorded on {kept.date} on a machine with {kept.num_cores} CPU cores" in said(app)
    assert "Recorded on another machine" in alts(app)


def test_files_say_what_numpy_and_torch_say(open_page, run_code):
    app = open_page(PAGE, batches_tab="files", batches_whose="llama")
    assert "1,400,000,000,000 tokens in uint16 are 2.8" in headline(app)
    assert "a header of 128 bytes" in said(app)
    assert run_code(app).splitlines()[-1].startswith("2800000000000 bytes")


def test_refused_checkpoints_are_counted_in_the_headline_with_torchs_own_words(open_page, run_code):
    app = open_page(PAGE, batches_tab="files", batches_file="checkpoints")
    assert "reads 2 of 5 checkpoints and refuses 3" in headline(app)
    assert "GLOBAL print was not an allowed global" in said(app)
    printed = run_code(app).splitlines()
    assert [each.partition(":")[0] for each in printed] == ["read", "refused", "read", "refused"]


def test_another_seed_of_one_use_is_named(open_page, run_code):
    same = open_page(PAGE, batches_tab="ranks", batches_view="seeds")
    assert "all 80 losses are equal, bit for bit" in headline(same)
    assert run_code(same).split() == ["order", "same", "noise", "same", "weights", "same"]
    other = open_page(PAGE, batches_tab="ranks", batches_view="seeds", batches_same_numpy="false")
    assert "Another seed for numpy: the losses differ from step 0 on" in headline(other)
    assert "noise different" in run_code(other)
