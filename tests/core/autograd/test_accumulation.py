"""What backward adds to .grad, and micro-batches, against torch.autograd.grad."""

import pytest
import torch

from core.autograd.accumulation import bytes_after_reset, count_calls, micro_batches
from core.autograd.layer_stack import Stack

STACK = Stack(batch_size=16, width=8, num_layers=3)


def after(*args, **kwargs):
    return [each.after for each in count_calls(*args, **kwargs)]


def test_gradients_add_up_and_both_resets_start_again():
    assert after(3) == [4, 8, 12]
    assert after(3, reset="zero") == after(3, reset="none") == [4, 4, 4]
    assert after(3, loss="multiples", reset="zero", every=2) == [2, 5, 4]


def test_what_a_call_adds_is_the_gradient_of_its_loss_alone():
    x = torch.tensor(2.0, requires_grad=True)
    (wanted,) = torch.autograd.grad(x**2, x)
    for each in count_calls(4):
        assert each.added == wanted.item()
        assert each.after == (each.before or 0) + each.added


def test_zero_writes_into_the_tensor_and_none_makes_way_for_another():
    first, second = count_calls(2, reset="zero")
    assert (first.before, first.is_same_tensor) == (None, False)
    assert (second.before, second.is_same_tensor, second.is_reset_before) == (0, True, True)
    _first, second = count_calls(2, reset="none")
    assert (second.before, second.is_same_tensor) == (None, False)


def test_only_none_frees_the_gradients_bytes():
    assert bytes_after_reset(1000, "never") == (4000, 4000)
    assert bytes_after_reset(1000, "zero") == (4000, 4000)
    assert bytes_after_reset(1000, "none") == (4000, 0)


@pytest.mark.parametrize("pieces", [1, 2, 4, 16])
def test_divided_losses_give_the_gradient_of_the_whole_batch(pieces):
    ran = micro_batches(STACK, pieces)
    assert ran.ratio == pytest.approx(1, abs=1e-5)
    assert ran.largest_difference < 1e-6 * max(ran.largest_gradient, 1)
    assert ran.peaks == (3 * 16 * 8 * 4, 3 * 16 * 8 * 4 // pieces)


def test_the_largest_gradient_is_torchs():
    weights = STACK.weights()
    loss = STACK.run(STACK.rows(), weights).square().mean()
    wanted = max(each.abs().max().item() for each in torch.autograd.grad(loss, weights))
    assert micro_batches(STACK, 2).largest_gradient == pytest.approx(wanted)


def test_an_undivided_loss_gives_a_gradient_as_many_times_too_large():
    assert micro_batches(STACK, 4, is_divided=False).ratio == pytest.approx(4, abs=1e-4)


def test_a_batch_is_cut_into_equal_pieces_only():
    for pieces in (0, 3, 32):
        with pytest.raises(ValueError, match="cannot be cut into"):
            micro_batches(STACK, pieces)
