"""The lecture's account against the module itself."""

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional as F  # noqa: N812
from torch.utils.flop_counter import FlopCounterMode

from core.budget.by_hand.tiny_model import tiny_account
from tests.core.budget.refusals import refused


def _run(batch_size, width, num_layers):
    """Return parameters, kept values and FLOPs of the real thing."""
    shapes = [(width, width)] * num_layers + [(width, 1)]
    matrices = [torch.randn(*shape, requires_grad=True) for shape in shapes]
    x, y, kept = torch.randn(batch_size, width), torch.randn(batch_size), {}
    own = {each.untyped_storage()._cdata for each in matrices}

    def pack(tensor):
        kept[tensor.untyped_storage()._cdata] = tensor
        return tensor

    with FlopCounterMode(display=False) as counter:
        with saved_tensors_hooks(pack, lambda tensor: tensor):
            out = x
            for each in matrices:
                out = out @ each
            loss = F.mse_loss(out.squeeze(-1), y)
        loss.backward()
    values = sum(tensor.numel() for key, tensor in kept.items() if key not in own)
    return sum(each.numel() for each in matrices), values, counter.get_total_flops()


def test_the_lectures_numbers():
    # C111: B = 2, D = 4, L = 2: 36 parameters, 16 activations, 496 bytes, 432 FLOPs; 28 kept
    account = tiny_account(2, 4, 2)
    assert account.parameters.amount == 36
    assert account.activations.amount == 16
    assert account.memory.amount == 496
    assert account.flops.amount == 432
    assert account.kept.amount == 28


def test_torch_keeps_and_runs_what_the_account_says():
    for sizes in ((2, 4, 2), (3, 8, 1), (16, 32, 5)):
        account = tiny_account(*sizes)
        real = (account.parameters.amount, account.kept.amount, account.real_flops.amount)
        assert real == _run(*sizes), sizes


def test_a_size_that_cannot_be_is_refused():
    refused("width is 0; it must lie between 1 and 1,048,576", tiny_account, 2, 0, 2)
