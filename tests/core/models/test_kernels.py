import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional as F  # noqa: N812

from core.budget.catalogue.profiles import PROFILES
from core.models.kernels import (
    EPSILON,
    KERNELS,
    eager_gate,
    eager_gelu,
    eager_rms_norm,
    fused_gate,
    fused_rms_norm,
    tanh_gelu,
)


def _kept(function, *inputs) -> int:
    """Return the bytes that autograd keeps, each storage once."""
    storages = {}

    def pack(tensor):
        storages[tensor.untyped_storage()._cdata] = tensor.untyped_storage()
        return tensor.detach()

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        out = function(*inputs)
    assert out.grad_fn is not None
    return sum(each.nbytes() for each in storages.values())


def test_there_is_a_row_of_kernels_for_each_profile_of_the_budget():
    assert set(KERNELS) == set(PROFILES)


def test_the_written_out_operations_say_what_torchs_own_say():
    torch.manual_seed(0)
    x, y, weight = torch.randn(3, 8, 16), torch.randn(3, 8, 16), torch.randn(16)
    torch.testing.assert_close(eager_rms_norm(x, weight), F.rms_norm(x, (16,), weight, EPSILON))
    torch.testing.assert_close(eager_gate(x, y), F.silu(x) * y)
    torch.testing.assert_close(eager_gelu(x), tanh_gelu(x))
    q, k, v = (torch.randn(2, heads, 12, 8) for heads in (4, 2, 2))
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    torch.testing.assert_close(KERNELS["cpu"].attend(q, k, v), expected)


def test_dropping_none_full_attention_is_attention(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.models.kernels.DROPOUT", 0.0)
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, heads, 12, 8) for heads in (4, 2, 2))
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    torch.testing.assert_close(KERNELS["megatron"].attend(q, k, v), expected)


def test_fused_kernels_keep_what_they_say_and_no_more():
    options = {"device": "meta", "dtype": torch.bfloat16, "requires_grad": True}
    x, y = torch.empty(4, 8, 16, **options), torch.empty(4, 8, 16, **options)
    weight = torch.empty(16, **options)
    num_values, num_rows = 4 * 8 * 16, 4 * 8
    fused, eager = KERNELS["fused"], KERNELS["hf_eager"]
    assert _kept(fused.rms_norm, x, weight) == 2 * num_values + 4 * num_rows + 2 * 16
    assert _kept(fused.gate, x, y) == 2 * 2 * num_values
    assert _kept(eager.gate, x, y) == 3 * 2 * num_values
    assert _kept(fused.gelu, x) == 2 * num_values
    assert _kept(eager.gelu, x) == 4 * 2 * num_values
    assert _kept(KERNELS["megatron"].dropout, x) == num_values
    q = torch.empty(2, 4, 8, 16, **options)
    kept = 4 * 2 * q.numel() + 4 * 2 * 4 * 8  # q, k, v, out; an fp32 number a row
    k, v = torch.empty_like(q), torch.empty_like(q)
    assert kept <= _kept(fused.attend, q, k, v) <= kept + 32  # and the kernel's random state


def test_stand_ins_give_gradients_of_the_right_shapes():
    x = torch.empty(2, 3, 8, device="meta", requires_grad=True)
    weight = torch.empty(8, device="meta", requires_grad=True)
    up = torch.empty(2, 3, 8, device="meta", requires_grad=True)
    fused_gate(fused_rms_norm(x, weight), up).sum().backward()
    for each in (x, weight, up):
        assert each.grad is not None
        assert each.grad.shape == each.shape
