import torch

from core.models.fused import fused_gate, fused_rms_norm


def test_stand_ins_give_gradients_of_the_right_shapes():
    x = torch.empty(2, 3, 8, device="meta", requires_grad=True)
    weight = torch.empty(8, device="meta", requires_grad=True)
    up = torch.empty(2, 3, 8, device="meta", requires_grad=True)
    fused_gate(fused_rms_norm(x, weight), up).sum().backward()
    for each in (x, weight, up):
        assert each.grad is not None
        assert each.grad.shape == each.shape
