"""Bytes a parameter, recipe by recipe."""

import torch

from core.budget.catalogue.precisions import PRECISIONS


def test_the_named_recipes_take_8_12_16_18_and_20_bytes_a_parameter_with_adamw():
    # Rajbhandari et al. 2020; Megatron-LM; the Ultra-Scale Playbook; CS336 2026
    others = {"pure_bf16": 8, "cs336_12": 12, "megatron": 18, "nanotron": 20}
    expected = dict.fromkeys(("fp32", "autocast_bf16", "mixed_bf16", "fsdp2"), 16) | others
    assert {key: row.with_adam for key, row in PRECISIONS.items()} == expected


def test_torch_autocast_leaves_weight_gradient_and_moments_in_fp32():
    layer = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(layer.parameters())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = layer(torch.ones(2, 4)).sum()
    loss.backward()
    optimizer.step()
    row = PRECISIONS["autocast_bf16"]
    assert layer.weight.element_size() == row.weights
    assert layer.weight.grad.element_size() == row.gradients
    assert optimizer.state[layer.weight]["exp_avg"].element_size() == row.state


def test_gradient_sums_that_stay_are_named():
    sums = {key: row.resident for key, row in PRECISIONS.items() if row.resident}
    assert sums == {"megatron": 4, "nanotron": 4}
