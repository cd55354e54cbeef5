"""A race of a few steps: turns, the same data, bytes that are counted, updates in ulps."""

import math

import pytest
import torch

from core.train.learning.trainer import Trainer
from core.train.learning.updates import Before, ulp
from core.train.recipes.choices import PRESETS, Comparison
from core.train.recipes.race import lost_share, race
from core.train.recipes.results import Result, gap, recorded, run_race
from core.train.text.dataset import dataset_of

SMALL = (("hidden_dim", 16), ("num_layers", 1), ("num_heads", 2), ("seq_len", 16))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def raced(comparison):
    results = [Result() for _value in comparison.values]
    order = []
    for line in race(comparison):
        results[line["recipe"]].add(line)
        order.append(line["recipe"])
    return results, order


def test_micro_batches_train_in_turns_to_the_same_loss_with_fewer_bytes():
    comparison = Comparison(axis="batch", values=("whole", "quarters"), num_steps=30, base=SMALL)
    (whole, quarters), order = raced(comparison)
    assert order == [0, 1, 0, 1, 0, 1]  # bytes, 20 steps, 10 steps
    assert [whole.num_steps, quarters.num_steps] == [30, 30]
    assert quarters.losses == pytest.approx(whole.losses, abs=1e-3)
    assert quarters.last == pytest.approx(whole.last, abs=1e-3)
    assert quarters.held("activations") < whole.held("activations") / 2
    assert gap((whole, quarters), "activations") < 0


def test_all_in_fp16_stops_where_a_number_is_not_finite_and_the_other_goes_on():
    base = (("learning_rate", 5e-3),)  # the rate of the preset
    comparison = Comparison(axis="precision", values=("fp32", "pure_fp16"), num_steps=40, base=base)
    (healthy, broken), _order = raced(comparison)
    assert not healthy.tensor
    assert healthy.num_steps == 40
    assert broken.tensor
    assert broken.num_steps < 40
    assert broken.last == math.inf
    assert gap((healthy, broken), "finite") == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_an_ulp_is_the_distance_to_the_next_number(dtype):
    weights = torch.tensor([1.0, 1.5, 0.1, 3e-5, 100.0, -2.0], dtype=dtype)
    towards = torch.full_like(weights, math.inf) * weights.sign()
    neighbours = torch.nextafter(weights.float(), towards.float()) if dtype == torch.float32 else (
        (weights.view(torch.int16) + 1).view(dtype).float()
    )  # fmt: skip
    assert torch.equal(ulp(weights), (neighbours - weights.float()).abs())


def small_trainer(precision, rate):
    comparison = Comparison(
        axis="precision", values=("fp32", precision), base=(*SMALL, ("learning_rate", rate))
    )
    config = comparison.config(comparison.options[1])
    data = dataset_of(config)
    tokens = data.training_tokens, data.validation_tokens
    return Trainer(config, *tokens, data.tokenizer.vocab_size, torch.device("cpu"))


def test_the_lost_share_is_that_of_the_weights_that_stood_still():
    trainer = small_trainer("pure_bf16", 1e-4)
    for _step in range(3):
        trainer.train_step()
    state, weights = before = Before.of(trainer)
    trainer.train_step()
    still = moved = 0
    for weight, old in zip(trainer.model.parameters(), weights, strict=True):
        has_gradient = weight.grad != 0
        still += int(((weight == old) & has_gradient).sum())
        moved += int(((weight != old) & has_gradient).sum())
    assert state
    # A downward step from a power of two is held against the wider of its two neighbours.
    assert lost_share(trainer, before) == pytest.approx(still / (still + moved), abs=0.03)
    assert still > moved > 0


def test_where_nothing_moves_there_is_no_share():
    trainer = small_trainer("fp16", 1e-3)
    trainer.train_step()
    before = Before.of(trainer)
    for weight in trainer.model.parameters():
        weight.grad = None
    assert lost_share(trainer, before) is None


def test_a_race_runs_in_a_process_of_its_own_and_can_be_ended():
    comparison = Comparison(axis="checkpointing", values=("none", "full"), num_steps=40, base=SMALL)
    grown = run_race(comparison, threads=1)
    for results in grown:
        if all(result.num_steps == 20 for result in results):
            break
    grown.close()
    first, last = results
    assert first.losses == pytest.approx(last.losses, abs=1e-5)
    assert last.held("activations") < first.held("activations")


def test_every_preset_is_recorded_and_shows_its_gap():
    assert recorded()
    for key, results in recorded().items():
        num_steps = PRESETS[key].comparison.num_steps
        assert all(each.tensor or each.num_steps == num_steps for each in results), key
        assert len(results) >= 2, key
