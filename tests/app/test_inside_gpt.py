"""Inside GPT: what it shows of a text is what the shipped model computes, at each of its steps."""

import re
import threading

import pytest

from core.budget.by_hand.gpt import kv_cache
from core.models.depth import inside
from core.models.generation import forward_flops, generate
from core.train.learning.opened import open_fresh, open_shipped, shipped_steps
from core.train.text.pieces import last_pieces, vocabulary_signs
from core.units import format_bytes, format_count
from pages.models.inside_gpt import depth as tab
from pages.models.inside_gpt import generation, models
from pages.models.inside_gpt.depth import _choose
from pages.models.inside_gpt.inputs import MAX_TOKENS, START
from pages.models.inside_gpt.kept import Kept
from pages.shared import job
from pages.shared.inputs import Inputs
from tests.app.shown import ask, browser_part, commit, headline, parameters, said

PAGE = "models/inside_gpt"
PART = "gpt_depth"


@pytest.fixture(scope="module")
def opened():
    return open_shipped(shipped_steps()[-1])


@pytest.fixture(scope="module")
def ids(opened):
    return list(last_pieces(opened.tokenizer, START, MAX_TOKENS).token_ids)


def panels(app):
    (sent,) = browser_part(app, PART)
    return sent["panels"]


def chances_said(text):
    return [float(each) for each in re.findall(r"([\d.]+)\s?%", text)]


def test_the_headline_tells_the_next_token_and_how_sure_each_depth_is(open_page, opened, ids):
    app = open_page(PAGE)
    chances = inside(opened.model, ids)[1][:, -1].softmax(-1)
    best = int(chances[-1].argmax())
    sign = vocabulary_signs(opened.tokenizer, [best])[0]
    assert headline(app).startswith(f"The next token is “`{sign}`”")
    assert chances_said(headline(app))[-1] == pytest.approx(
        100 * float(chances[-1, best]), abs=0.06
    )


def test_the_picture_holds_the_lens_and_the_attention_of_one_real_pass(open_page, opened, ids):
    (panel,) = panels(open_page(PAGE, inside_head="2"))
    assert panel["tokens"] == ids
    maps, lens = inside(opened.model, ids)
    maps, lens = maps[:, 1], lens.softmax(-1)
    for row, cells in enumerate(panel["says"]):
        for at, candidates in enumerate(cells):
            sent = [each / 10_000 for each in panel["chances"][row][at]]
            wanted = lens[row, at][candidates]
            assert sent == pytest.approx(wanted.tolist(), abs=6e-5), (row, at)
            assert wanted[0] == lens[row, at].max(), (row, at)
    for layer, rows in enumerate(panel["attention"]):
        for at, weights in enumerate(rows):
            assert len(weights) == at + 1
            wanted = maps[layer, at, : at + 1].tolist()
            assert [each / 1000 for each in weights] == pytest.approx(wanted, abs=6e-4), (layer, at)


@pytest.mark.parametrize("is_quick", [True, False])
def test_the_pass_of_a_text_runs_in_the_sessions_thread_if_it_is_predicted_to_be_quick(
    open_page, opened, ids, monkeypatch, is_quick
):
    ran, own = [], []
    look, used = tab.look_inside, tab.used_tokens
    monkeypatch.setattr(
        tab, "look_inside", lambda *asked: ran.append(threading.current_thread()) or look(*asked)
    )
    monkeypatch.setattr(
        tab, "used_tokens", lambda *asked: own.append(threading.current_thread()) or used(*asked)
    )
    predicted = forward_flops(opened.model.shape, len(ids), len(ids))
    monkeypatch.setattr(job, "QUICK_FLOPS", predicted + is_quick)
    assert panels(open_page(PAGE))[0]["tokens"] == ids
    assert (ran == own) == is_quick
    assert ran[0].name.startswith("costly") != is_quick


def test_what_the_page_keeps_stays_within_its_bytes_while_a_reader_looks_around(
    open_page, opened, monkeypatch
):
    one = sum(each.nbytes for each in opened.model.parameters())
    small = Kept(max_bytes=2 * one + one // 2)
    for module in (models, generation):
        monkeypatch.setattr(module, "kept", lambda: small)
    for step in shipped_steps()[-4:]:
        for query in ({}, {"inside_with": "fresh"}, {"inside_tab": "generation"}):
            assert headline(open_page(PAGE, inside_step=str(step), **query))
            kept = [each for each in small.values if hasattr(each, "model")]
            weights = [each for found in kept for each in set(found.model.parameters())]
            written = [each for each in small.values if not hasattr(each, "model")]
            tokens = [each for found in written for each in found]
            num_bytes = sum(each.nbytes for each in weights)
            num_bytes += sum(each.logits.nbytes + each.chances.nbytes for each in tokens)
            assert one <= num_bytes <= 2.5 * one


def test_two_models_stand_side_by_side(open_page, opened, ids):
    app = open_page(PAGE, inside_with="fresh")
    first, second = panels(app)
    assert first["title"] != second["title"]
    fresh = inside(open_fresh(opened).model, ids)[1][-1, -1].softmax(-1)
    assert second["chances"][-1][-1][0] == round(10_000 * float(fresh.max()))


@pytest.mark.parametrize("tab", ["depth", "tokens", "stages", "attention", "generation"])
@pytest.mark.parametrize("text", ["", "你好，世界", "🎉🎉", "a", "\n\n  ", "x" * 390 + "\u0301"])
def test_any_text_is_shown_or_explained_in_every_tab(open_page, tab, text):
    app = open_page(PAGE, inside_tab=tab, inside_text=text)
    assert headline(app)


def test_characters_that_the_model_has_never_seen_are_named(open_page):
    app = open_page(PAGE, inside_text="the 值 of")
    assert "`` 值 ``" in said(app)
    (panel,) = panels(app)
    assert len(panel["tokens"]) == len("the  of")


@pytest.mark.parametrize(
    ("text", "signs"), [("你好", "`` 你 `` `` 好 ``"), ("\u200b", "`` 200B ``")]
)
def test_a_text_without_any_known_character_is_explained(open_page, text, signs):
    app = open_page(PAGE, inside_text=text)
    assert "has no token for any of these characters" in headline(app)
    assert signs in said(app)


def test_half_an_emoji_is_replaced_before_it_is_sent_back(monkeypatch):
    told = []
    monkeypatch.setattr(Inputs, "set", lambda _inputs, *pair: told.append(pair))
    _choose("text", "ab\ud83d")
    assert told == [("text", "ab?")]


def test_of_a_long_text_the_model_reads_the_end(open_page, opened):
    text = "the value of it " * 20
    app = open_page(PAGE, inside_text=text)
    (panel,) = panels(app)
    assert panel["tokens"] == list(last_pieces(opened.tokenizer, text, MAX_TOKENS).token_ids)
    assert str(MAX_TOKENS) in said(app)


def test_a_model_that_is_not_there_is_explained(open_page):
    name = "20260101t000000z-gone-00ff"
    app = open_page(PAGE, inside_run=name)
    assert any(name in each.value for each in (*app.warning, *app.error))


def test_a_token_can_be_kept_by_a_link(open_page):
    app = open_page(PAGE, inside_at="3", inside_layer="2")
    (sent,) = browser_part(app, PART)
    assert (sent["at"], sent["layer"]) == ("3", 1)
    assert parameters(app)["inside_at"] == "3"


def test_the_question_knows_that_a_fresh_model_is_as_good_as_a_die(open_page):
    app = open_page(PAGE, **ask("inside_first_chance"))
    options = app.radio(key="inside_first_chance").options
    commit(app, "inside_first_chance", options[1])
    assert any("ln 103" in each.value for each in app.markdown)


def test_generation_tells_the_work_with_and_without_a_cache(open_page, opened, ids):
    app = open_page(PAGE, inside_tab="generation", inside_temperature="0", inside_new="5")
    written = list(generate(opened.model, ids, 5, temperature=0))
    text = "".join(vocabulary_signs(opened.tokenizer, [each.id for each in written]))
    assert text in headline(app)
    assert format_count(written[-1].flops) in headline(app)
    whole = forward_flops(opened.model.shape, len(ids) + 4, len(ids) + 4)
    assert format_count(whole) in headline(app)
    assert kv_cache(opened.model.shape, len(ids) + 4).amount == written[-1].cache_bytes
    grown = [format_bytes(kv_cache(opened.model.shape, len(ids) + n).amount) for n in (0, 4)]
    assert f"{grown[0]} with token 1, {grown[1]} with token 5" in said(app)


def test_beyond_the_context_the_cache_is_computed_anew_and_that_is_said(open_page):
    app = open_page(PAGE, inside_tab="generation", inside_new="40")
    assert "window slides" in said(app)
    short = open_page(PAGE, inside_tab="generation", inside_new="4")
    assert "window slides" not in said(short)


@pytest.mark.parametrize("width", range(2, 17))
def test_an_odd_head_width_is_an_error_that_says_which_are_allowed(open_page, width):
    app = open_page(PAGE, inside_tab="tokens", inside_view="rotary", inside_head_dim=str(width))
    refused = [each.value for each in (*app.warning, *app.error)]
    assert any(f"{width}:" in each and "must be even" in each for each in refused) == bool(
        width % 2
    )


def test_the_same_text_in_three_tokenizers(open_page):
    app = open_page(PAGE, inside_tab="tokens", inside_text="the value")
    assert "character 9, byte 9, BPE" in headline(app)


def test_characters_without_a_token_are_told_beside_the_number_of_tokens(open_page):
    app = open_page(PAGE, inside_tab="tokens", inside_text="naïve café 日本")
    assert "character 9 (4 of 13 characters have no token), byte 19, BPE 17" in headline(app)
    chinese = open_page(PAGE, inside_tab="tokens", inside_text="naïve café 日本", lang="zh")
    assert re.search(r"9\D+13\D+4\D+19\D+17", headline(chinese))
