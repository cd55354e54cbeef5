"""Layers and parameters: what it says of a model is what torch counts, adapts, draws or refuses."""

import re
from urllib.parse import parse_qs

import numpy as np
import pytest
import torch
from torch import nn

from core.budget.catalogue.hf_config import read_config
from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import counts as parameters_of
from core.models.first_loss import first_loss_on_random_text
from core.models.gpt import GPT
from core.models.spec import GPTShape
from core.train.learning.opened import open_shipped, shipped_steps
from pages.models.layers_and_parameters.inputs import HEADS, VOCABULARIES, WIDTHS
from tests.app.shown import alt, ask, commit, headline, page_links, said

PAGE = "models/layers_and_parameters"
QUESTIONS = (  # tab, key of its question, the right answer
    ("tree", "layers_twice_the_width", 1),
    ("trainable", "layers_before_the_first_step", 1),
    ("zoo", "layers_one_row", 1),
    ("init", "layers_sixteen_layers", 2),
)


def counts(text):
    """Return the whole numbers of a text."""
    return [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?![\d.,]|\s?%)", text)]


def learned(module):
    return sum(each.numel() for each in module.parameters())


def linear(*sides):
    """Return the parameters of a matrix, as torch counts them."""
    return learned(nn.Linear(*sides, bias=False, device="meta"))


def gpt_count(width, layers, vocabulary, context):
    """Return the parameters of a GPT without biases whose head is tied."""
    norm = learned(nn.LayerNorm(width, bias=False, device="meta"))
    block = linear(width, 3 * width) + linear(width, width) + 2 * linear(width, 4 * width)
    embeddings = linear(width, vocabulary) + linear(width, context)
    return embeddings + layers * (block + 2 * norm) + norm


def query_of(**settings):
    return {f"layers_{name}": str(value) for name, value in settings.items()}


@pytest.mark.slow
def test_a_model_of_405_billion_parameters_opens_on_every_laptop(open_page):
    app = open_page(PAGE, layers_model="llama-3.1-405b")
    assert counts(headline(app))[-1] == MODELS["llama-3.1-405b"].published
    assert "405" in alt(app)
    assert any("plan_model=llama-3.1-405b" in each.query_string for each in page_links(app))


@pytest.mark.parametrize("model", ["gpt", "llama"])
@pytest.mark.parametrize("end", [0, -1])
def test_a_model_of_any_size_goes_on_to_its_bytes_and_its_training_memory(
    open_page, probed, model, end
):
    sizes = {"width": WIDTHS[end], "layers": (1, 128)[end], "vocabulary": VOCABULARIES[end]}
    chosen = {f"layers_{name}": str(value) for name, value in sizes.items()}
    for tab, page in (("tree", "plan/model_sizes"), ("trainable", "plan/training_memory")):
        app = open_page(PAGE, layers_model=model, layers_tab=tab, **chosen)
        count = counts(headline(app))[0]
        (query,) = [
            parse_qs(each.query_string)
            for each in page_links(app)
            if "plan_config" in each.query_string
        ]
        read = read_config(query["plan_config"][0])
        assert (read.hidden_dim, read.num_layers) == (sizes["width"], sizes["layers"])
        if (model, tab) == ("llama", "tree"):
            assert parameters_of(read).total == count
        there = open_page(page, **{name: value for name, (value,) in query.items()})
        assert tab == "trainable" or read.name in headline(there)
        assert not there.warning


def test_the_shares_of_the_headline_fill_the_whole(open_page):
    shares = re.findall(r"([\d.]+) ?%", headline(open_page(PAGE)))
    assert sum(float(each) for each in shares) == pytest.approx(100, abs=0.1)


def test_lora_trains_what_two_thin_matrices_hold(open_page):
    width, layers, rank = 512, 6, 16
    query = query_of(tab="trainable", width=width, layers=layers, rank=rank)
    text = headline(open_page(PAGE, **query))
    sides = ((width, 3 * width), (width, width), (4 * width, width))  # qkv and out, and MLP's out
    each_block = sum(linear(inputs, rank) + linear(rank, outputs) for inputs, outputs in sides)
    assert f"on {len(sides) * layers} layers trains {layers * each_block:,} of" in text


def test_a_target_of_lora_is_a_name_of_a_layer(open_page):
    app = open_page(PAGE, layers_tab="trainable", layers_targets=" up,", layers_rank="4")
    blocks = 12 * (linear(768, 4) + linear(4, 4 * 768))
    assert f"on 12 layers trains {blocks:,} of" in headline(app)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (query_of(targets="q_proj"), ("q_proj", "qkv", "out")),
        (query_of(targets="qkv, nothing"), ("nothing", "qkv")),
        (query_of(targets="q_proj", model="encoder"), ("q_proj", "linear1", "in_proj_weight")),
        (query_of(rank=64, width=32), ("64", "1", "32")),
    ],
    ids=["wrong name", "one of two", "packed", "rank"],
)
def test_adapters_that_cannot_be_added_are_refused_in_one_sentence(open_page, query, names):
    app = open_page(PAGE, layers_tab="trainable", **query)
    assert "LoRA" in headline(app)
    (error,) = app.error
    assert [each for each in names if each not in error.value] == []


def test_parts_that_learn_are_counted(open_page):
    norms = 12 * 2 * 768 + 768
    query = query_of(tab="trainable", method="parts")
    assert f"{norms:,} of {gpt_count(768, 12, 50257, 1024):,}" in headline(open_page(PAGE, **query))
    query |= query_of(train_norms="false")
    assert headline(open_page(PAGE, **query)).startswith("0 of ")


def test_heads_that_do_not_divide_the_width_give_way_and_are_named(open_page):
    app = open_page(PAGE, layers_width="768", layers_heads="25")
    assert headline(app)
    (told,) = [each.value for each in app.caption if "layers_heads" in each.value]
    offered = {int(each) for each in re.findall(r"`(\d+)`", told)}
    assert {each for each in HEADS if 768 % each == 0} <= offered
    with pytest.raises(ValueError, match="25"):
        GPT(GPTShape(num_layers=1, hidden_dim=768, num_heads=25, vocab_size=65, seq_len=8))


@pytest.mark.parametrize(
    ("name", "value"),
    [("width", "777"), ("layers", "9999"), ("vocabulary", "-1"), ("model", "gpt-9"), ("rank", "3")],
)
def test_a_value_that_is_not_offered_is_named(open_page, name, value):
    app = open_page(PAGE, layers_tab="trainable" if name == "rank" else "tree",
                    **query_of(**{name: value}))  # fmt: skip
    assert headline(app)
    assert any(f"`layers_{name}` = `{value}`" in each.value for each in app.caption)


def test_batch_norm_refuses_one_row_in_torchs_own_words(open_page):
    app = open_page(PAGE, layers_tab="zoo", layers_layer="BatchNorm1d", layers_batch="1")
    with pytest.raises(ValueError, match="more than 1 value per channel") as refused:
        nn.BatchNorm1d(64)(torch.zeros(1, 64))
    assert str(refused.value) in [each.value for each in app.code]


def test_the_classifier_learns_nothing_from_random_labels(open_page):
    app = open_page(PAGE, layers_tab="init", layers_shows="labels")
    floor = app.get("plotly_chart")[0].proto.alt
    *_first, last, classes, bound = re.findall(r"\d+\.?\d*", floor)
    assert classes == "3"
    assert float(bound.rstrip(".")) == pytest.approx(np.log(3), abs=1e-3)
    assert float(last) == pytest.approx(np.log(3), abs=0.15)
    stays, count, told = re.search(r"at (1\.\d+);.* ln (3) = ([\d.]+)", headline(app)).groups()
    assert (count, float(told)) == ("3", pytest.approx(np.log(3), abs=1e-4))
    assert float(stays) == pytest.approx(np.log(3), abs=0.03)


@pytest.mark.parametrize(("bound", "sigmas"), [("absolute", 384), ("sigmas", 3)])
def test_a_bound_is_said_in_standard_deviations(open_page, bound, sigmas):
    text = headline(open_page(PAGE, layers_tab="init", layers_shows="bound", layers_bound=bound))
    said_sigmas, largest = re.search(r"are ±([\d.]+)σ.* is ([\d.]+)σ", text).groups()
    assert float(said_sigmas) == sigmas
    # The largest of a million draws of N(0, 1) lies near 4.9.
    assert 2.99 < float(largest) <= 3 if sigmas == 3 else 4.3 < float(largest) < 6.2


@pytest.mark.slow
@pytest.mark.parametrize(("tab", "key", "right"), QUESTIONS, ids=[tab for tab, *_rest in QUESTIONS])
def test_each_tab_asks_and_explains_its_answer(open_page, tab, key, right):
    told = said(commit(open_page(PAGE, layers_tab=tab, **ask(key)), key, right))
    assert "Right: **" in told
    told = said(commit(open_page(PAGE, layers_tab=tab, **ask(key)), key, 0))
    assert "The answer is **" in told


def test_the_first_loss_of_a_wide_tied_embedding_is_far_above_ln_v(open_page):
    shape = open_shipped(shipped_steps()[-1]).model.shape
    curve = first_loss_on_random_text(shape)
    text = headline(open_page(PAGE, layers_tab="init", layers_shows="loss"))
    assert f"{curve[-1].loss:.2f} nats" in text
    assert curve[-1].loss > 10 * curve[0].loss
    assert f"{np.log(shape.vocab_size):.2f}" in text


def test_a_presented_page_keeps_its_notes_to_itself(open_page):
    assert "requires_grad_" in said(open_page(PAGE, **query_of(tab="trainable", method="parts")))
    shown = open_page(PAGE, present="1", **query_of(tab="trainable", method="parts"))
    assert "requires_grad_" not in said(shown)
