"""Adapters: nothing changes at first, counts by the paper's formula, names must exist."""

import pytest
import torch
from torch import nn

from core.models.gpt import GPT
from core.models.lora import LoRALinear, add_lora
from core.models.small import make
from core.models.spec import GPTShape

SHAPE = GPTShape(num_layers=2, hidden_dim=32, num_heads=4, vocab_size=65, seq_len=16)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return GPT(SHAPE).eval()


def test_a_new_adapter_changes_nothing_bit_for_bit(model):
    ids = torch.randint(0, 65, (2, 16))
    before = model.logits(ids)
    assert add_lora(model, ["qkv", "out"], rank=4) == 6
    assert torch.equal(model.logits(ids), before)


def test_only_adapters_learn_and_there_are_rank_times_both_sides_of_them(model):
    add_lora(model, ["qkv"], rank=4)
    learning = {name: p.numel() for name, p in model.named_parameters() if p.requires_grad}
    assert sum(learning.values()) == SHAPE.num_layers * 4 * (32 + 96)
    assert all("lora_" in name for name in learning)


def test_a_name_that_is_none_is_refused_with_the_names_that_are_there(model):
    with pytest.raises(ValueError, match=r"q_proj; the names here are: head, out, qkv, up"):
        add_lora(model, ["q_proj"])
    assert all(each.requires_grad for each in model.parameters()), "nothing was changed"
    with pytest.raises(ValueError, match="No linear layer is called ''"):
        add_lora(model, [])


def test_multihead_attention_has_no_q_proj_but_one_packed_weight():
    encoder = make("encoder")
    assert "self_attn.in_proj_weight" in dict(encoder.named_parameters())
    with pytest.raises(ValueError, match=r"names here are: linear1, linear2.*in_proj_weight"):
        add_lora(encoder, ["q_proj"])


@pytest.mark.parametrize("rank", [0, 33, -1])
def test_a_rank_beyond_the_matrix_is_refused(rank):
    with pytest.raises(ValueError, match=rf"The rank is {rank}; .* 64 × 32 .* 1 and 32"):
        LoRALinear(nn.Linear(32, 64), rank, 16.0)
