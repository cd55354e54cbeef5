"""Which weights a pass reads: counted on modules, and by throwing dice for the experts."""

from dataclasses import replace

import numpy as np
import pytest

from core.budget.catalogue.models import MODELS
from core.budget.serving.serving_memory import serving_weights
from core.budget.serving.serving_plan import ServingPlan
from core.budget.serving.serving_reads import weights_read
from core.models.build import build_model
from core.models.spec import ModelSpec


def test_a_pass_reads_all_but_the_tables_unless_the_table_is_the_head():
    for name, spec in MODELS.items():
        if spec.mixture is not None:
            continue
        shallow = replace(spec, num_layers=1, num_windowed_layers=min(1, spec.num_windowed_layers))
        model = build_model(shallow)
        tables = [model.positions] if model.positions is not None else []
        tables += [] if spec.tied else [model.tokens]
        skipped = sum(table.weight.numel() for table in tables)
        parameters = sum(each.numel() for each in model.parameters())

        read = weights_read(shallow, ServingPlan(), 1)

        assert read.amount == 2 * (parameters - skipped), name


def test_experts_are_read_as_often_as_dice_say():
    spec = MODELS["qwen3-30b-a3b"]
    num_experts, picked = spec.mixture.num_experts, spec.mixture.experts_per_token
    rng = np.random.default_rng(0)
    for num_tokens in (1, 2, 8, 40):
        tries = 300
        seen = np.zeros((tries, num_experts), dtype=bool)
        for row in seen:
            for _ in range(num_tokens):
                row[rng.permutation(num_experts)[:picked]] = True
        expected = seen.mean()

        experts = weights_read(spec, ServingPlan(), num_tokens).child("experts")

        assert experts.amount / experts.values["expert_bytes"] == pytest.approx(expected, rel=0.02)
        assert experts.kind == "estimated"


def test_many_tokens_read_every_expert_and_one_token_its_own():
    for name in ("mixtral-8x7b", "deepseek-v3"):
        spec = MODELS[name]
        plan = ServingPlan(weight_format="int8_group128")
        table = 2 * spec.vocab_size * spec.hidden_dim

        many = weights_read(spec, plan, 1_000_000)

        assert many.amount == serving_weights(spec, plan.weight_format).amount - table, name
        one = weights_read(spec, plan, 1).child("experts")
        share = spec.mixture.experts_per_token / spec.mixture.num_experts
        assert one.amount == pytest.approx(share * many.child("experts").amount), name


def test_a_group_of_devices_reads_its_parts():
    for name in ("llama-3.1-70b", "mixtral-8x22b"):
        spec: ModelSpec = MODELS[name]
        whole = weights_read(spec, ServingPlan(), 3).amount
        for tensor in (2, 4, 8):
            part = weights_read(spec, ServingPlan(tensor=tensor), 3).amount
            assert part * tensor == pytest.approx(whole, rel=0.001), (name, tensor)
