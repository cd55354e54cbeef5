import torch

from core.models.llama import rotary_angles, rotate


def test_rotation_keeps_lengths_and_products_depend_on_distance_alone():
    torch.manual_seed(0)
    q, k = torch.randn(8), torch.randn(8)
    rotary = rotary_angles(20, 8, q)
    turned_q, turned_k = (rotate(x.expand(1, 1, 20, 8), rotary)[0, 0] for x in (q, k))
    torch.testing.assert_close(turned_q.norm(dim=-1), q.norm().expand(20))
    torch.testing.assert_close(turned_q[7] @ turned_k[4], turned_q[13] @ turned_k[10])
    torch.testing.assert_close(turned_q[0], q)
