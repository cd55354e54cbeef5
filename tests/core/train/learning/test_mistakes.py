"""What a mistake changes in model, batch and loop, and that a healthy run has none of it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.models.gpt import GPT
from core.models.spec import GPTShape
from core.train.config import TrainConfig
from core.train.learning.mistakes import spoil_model, starts_of
from core.train.learning.trainer import Trainer

TOKENS = np.arange(600, dtype=np.uint16) % 7
SMALL = TrainConfig(
    num_layers=1, hidden_dim=16, num_heads=2, seq_len=8, batch_size=4, precision="fp32",
    device="cpu", eval_batches=2, warmup_steps=0,
)  # fmt: skip


def trainer(**changes):
    config = replace(SMALL, **changes)
    return Trainer(config, TOKENS, TOKENS, 7, torch.device("cpu"))


def gradients(one):
    return torch.cat([weight.grad.flatten() for weight in one.model.parameters()])


def test_the_leaky_mask_shows_the_next_token_and_no_later_one():
    model = GPT(GPTShape(num_layers=1, hidden_dim=16, num_heads=2, vocab_size=7, seq_len=8))
    before = dict(model.state_dict())
    spoil_model(model, "leaky_mask")
    assert dict(model.state_dict()).keys() == before.keys()
    tokens = torch.zeros(1, 8, dtype=torch.long)
    changed = tokens.clone()
    changed[0, 5] = 3
    moved = (model.logits(tokens) - model.logits(changed)).abs().amax(-1)[0]
    assert moved.nonzero().flatten().tolist() == [4, 5, 6, 7]


def test_a_missing_zero_grad_adds_the_gradients_up():
    runs = {name: trainer(mistake=name, grad_clip=0.0) for name in ("", "no_zero_grad")}
    for each in runs.values():
        each.train_step()
    first = gradients(runs[""]).clone()
    for each in runs.values():
        each.train_step()
    torch.testing.assert_close(gradients(runs["no_zero_grad"]), first + gradients(runs[""]))


def test_without_division_the_gradient_is_the_sum_and_the_reported_loss_the_mean():
    one, other = (
        trainer(mistake=name, accumulation_steps=3, grad_clip=0.0) for name in ("", "undivided")
    )
    results = [each.train_step() for each in (one, other)]
    torch.testing.assert_close(gradients(other), 3 * gradients(one))
    assert results[0].loss == pytest.approx(results[1].loss, rel=1e-6)


def test_a_small_loss_has_gradients_of_a_thousandth_and_reports_the_loss():
    one, other = (trainer(mistake=name, grad_clip=0.0) for name in ("", "small_loss"))
    results = [each.train_step() for each in (one, other)]
    torch.testing.assert_close(gradients(other) * 1024, gradients(one))
    assert results[0].loss == pytest.approx(results[1].loss, rel=1e-6)


def test_unshuffled_batches_follow_each_other():
    config = replace(SMALL, mistake="unshuffled")
    starts = [*starts_of(config, 1, 600), *starts_of(config, 2, 600)]
    assert starts == [place * 8 for place in range(8)]
    assert all(0 <= start < 592 for step in (20, 99) for start in starts_of(config, step, 600))


def test_a_target_that_is_not_shifted_is_the_input():
    for mistake, same in (("unshifted_target", True), ("", False)):
        token_ids, targets = next(trainer(mistake=mistake)._batches(1))
        assert token_ids.shape == targets.shape == (4, 8)
        assert torch.equal(token_ids, targets) is same


def test_without_eval_validation_draws_and_else_it_is_the_same_number():
    for mistake, same in (("no_eval", False), ("", True)):
        one = trainer(mistake=mistake, dropout=0.5)
        one.train_step()
        assert (one.validation_loss() == one.validation_loss()) is same
        assert one.model.training


def test_a_normal_embedding_is_the_head_too():
    model = trainer(mistake="normal_init", hidden_dim=64).model
    assert model.head.weight is model.tokens.weight
    assert model.tokens.weight.std().item() == pytest.approx(1.0, abs=0.2)


def test_a_llama_refuses_the_mistakes_of_a_gpt():
    with pytest.raises(ValueError, match="choose the family gpt"):
        trainer(mistake="leaky_mask", family="llama")
