"""The loss before the first step, against closed forms and torch's own modules."""

import math

import pytest
import torch

from core.models.first_loss import (
    STDS,
    first_loss,
    first_loss_by_blocks,
    make_fresh,
    spread_losses,
)
from core.models.gpt import GPT
from core.models.spec import GPTShape

SMALL = GPTShape(num_layers=2, hidden_dim=64, num_heads=4, vocab_size=103, seq_len=64)
GPT2_SMALL = GPTShape(num_layers=12, hidden_dim=768, num_heads=12, vocab_size=50257, seq_len=1024)


def random_text(shape, seed=0, num_texts=16):
    chance = torch.Generator().manual_seed(seed)
    text = torch.randint(shape.vocab_size, (num_texts, shape.seq_len + 1), generator=chance)
    return text[:, :-1], text[:, 1:]


def test_a_fresh_model_is_the_one_that_the_seed_gives_and_leaves_torchs_seed_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    model = make_fresh(SMALL, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(3)
    assert torch.equal(model.tokens.weight, GPT(SMALL).tokens.weight)


def test_torchs_own_initialisation_draws_the_tied_rows_from_n_0_1():
    model = make_fresh(SMALL, init="normal")
    assert model.head.weight is model.tokens.weight
    assert model.tokens.weight.std().item() == pytest.approx(1, rel=0.03)
    bound = 1 / math.sqrt(SMALL.hidden_dim)  # nn.Linear: uniform up to 1 / sqrt(fan_in)
    qkv = model.blocks[0].attention.qkv.weight
    assert bound * 0.99 < qkv.abs().max().item() <= bound


def test_the_loss_is_torchs_own_cross_entropy():
    model, (ids, targets) = make_fresh(SMALL), random_text(SMALL)
    found = first_loss(model, ids, targets)
    with torch.no_grad():
        assert found.loss == pytest.approx(model(ids, targets).item(), rel=1e-6)
    assert found.std == pytest.approx(0.02, rel=0.05)


def test_narrow_rows_start_at_ln_v_and_wide_ones_far_above():
    losses = spread_losses(SMALL, *random_text(SMALL))
    assert [each.std for each in losses] == pytest.approx(STDS, rel=0.05)
    ln_vocab = math.log(SMALL.vocab_size)
    assert losses[0].loss == pytest.approx(ln_vocab, abs=1e-3)
    assert losses[-1].loss > 5 * ln_vocab
    for each in losses[:4]:  # up to 0.02
        # the mean of V equal exponentials of Gaussian logits
        expected = ln_vocab + SMALL.hidden_dim * each.std**2 / 2
        assert each.loss == pytest.approx(expected, abs=0.05), each.std


def test_logits_spread_as_the_rows_times_the_root_of_the_width():
    narrow, *_between, wide = spread_losses(SMALL, *random_text(SMALL))
    for each in (narrow, wide):
        # wider: the own row of the token went in at the bottom
        assert each.logit_std == pytest.approx(each.std * math.sqrt(64), rel=0.35), each.std
    # What was read stands in the last hidden state, unless the positions drown it.
    assert wide.own_logit > 2 * wide.logit_std
    assert narrow.own_logit < narrow.logit_std


@pytest.mark.parametrize("init", ["gpt2", "normal"])
def test_block_by_block_gives_the_loss_of_the_whole_model(init):
    whole = [
        first_loss(make_fresh(SMALL, seed, init), *random_text(SMALL, seed)).loss
        for seed in range(4)
    ]
    streamed = [
        first_loss_by_blocks(SMALL, SMALL.seq_len, init=init, seed=seed).loss for seed in range(32)
    ]
    mean = sum(whole) / len(whole)
    assert sum(streamed) / len(streamed) == pytest.approx(
        mean, rel=0.08 if init == "normal" else 0.01
    )


def test_it_tells_of_every_block():
    told = []
    first_loss_by_blocks(SMALL, 8, init="gpt2", tell=lambda: told.append(1))
    assert told == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(("init", "low", "high"), [("gpt2", 10.9, 11.15), ("normal", 430, 480)])
def test_gpt_2_small_begins_at_11_or_at_458_nats(init, low, high):
    assert low < first_loss_by_blocks(GPT2_SMALL, 32, init=init).loss < high
