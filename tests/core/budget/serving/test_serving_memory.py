"""What serving keeps, against modules on meta: their parameters and the peak of a real pass."""

from dataclasses import replace

import pytest
import torch

from core.budget.catalogue.models import MODELS
from core.budget.serving.serving_memory import (
    serving_memory,
    serving_weights,
    work_space,
)
from core.budget.serving.serving_plan import ServingPlan
from core.budget.simulation.tracker import StorageTracker
from core.dtypes import BLOCK_FORMATS
from core.models.build import build_model
from core.units import GIB

KINDS = ("gpt2", "llama-3.1-8b", "qwen3-32b", "gemma-2-9b", "mixtral-8x7b", "deepseek-v3")


def shallow(spec, num_layers=2):
    """The same model with few layers, one of them dense if there were dense ones."""
    mixture = spec.mixture
    if mixture is not None:
        mixture = replace(mixture, num_dense_layers=min(1, mixture.num_dense_layers))
    return replace(
        spec,
        num_layers=num_layers,
        num_windowed_layers=min(num_layers, spec.num_windowed_layers),
        mixture=mixture,
    )


def is_quantized(name, parameter):
    """Matrices of the layers: their biases, norms and routers stay as they are."""
    return name.startswith("blocks.") and parameter.dim() > 1 and "router" not in name


def test_weights_are_the_parameters_of_the_module_matrix_by_matrix():
    fmt = BLOCK_FORMATS["int4_group128"]
    for name in KINDS:
        spec = shallow(MODELS[name])
        expected = 0
        for path, parameter in build_model(spec).named_parameters():
            if is_quantized(path, parameter):
                expected += parameter.numel() * 4 // 8 + parameter.numel() // 128 * 2
            else:
                expected += parameter.numel() * 2
        assert fmt.scale.bits == 16
        assert serving_weights(spec, "int4_group128").num_bytes == expected, name


def test_sixteen_bit_weights_are_two_bytes_a_parameter_and_float32_four():
    for name, spec in MODELS.items():
        parameters = sum(each.numel() for each in build_model(shallow(spec)).parameters())
        assert serving_weights(shallow(spec)).amount == 2 * parameters, name
    assert serving_weights(shallow(spec), "float32").amount == 4 * parameters


def test_four_bit_llama_3_is_not_4_gb():
    four_bit = serving_weights(MODELS["llama-3-8b"], "int4_group128")

    assert four_bit.num_bytes / 1e9 == pytest.approx(5.70, abs=0.01)
    assert four_bit.child("the rest").num_bytes == pytest.approx(2 * 2 * 128_256 * 4096, rel=0.001)
    assert four_bit.child("matrices").child("scales").amount > 0


def peak_of_a_pass(spec, num_tokens):
    """Bytes at the peak of one forward pass of the module, weights apart."""
    model, tracker = build_model(spec, dtype=torch.bfloat16), StorageTracker()
    token_ids = torch.zeros(1, num_tokens, dtype=torch.long, device="meta")
    tracker.ignore([*model.parameters(), token_ids])
    with torch.no_grad(), tracker:
        hidden = model.hidden(token_ids)
        model.head(hidden[:, -1]).float()
    return max(event.live for event in tracker.timeline({}).events)


def test_work_space_is_the_peak_of_a_pass():
    for name in KINDS:
        spec = shallow(MODELS[name])

        item = work_space(spec, ServingPlan(prompt_len=1000))

        peak = peak_of_a_pass(spec, 1000)
        assert item.low <= peak <= item.high, name
        assert item.kind == "estimated"
        if spec.mixture is None:
            assert item.amount == pytest.approx(peak, rel=0.03), name


def test_long_prompts_are_read_in_pieces():
    spec = MODELS["llama-2-7b"]
    one, many = (work_space(spec, ServingPlan(prompt_len=n)) for n in (8192, 80_000))

    assert one.amount == many.amount


def test_the_tree_adds_up_and_every_line_comes_from_its_formula():
    for name, spec in MODELS.items():
        for fmt in ("bfloat16", "nf4_double_quant", "int4_group128_affine"):
            memory = serving_memory(spec, ServingPlan(weight_format=fmt, kv_format="fp8_block128"))
            for line in memory.walk():
                if line.children:
                    assert line.amount == sum(part.amount for part in line.children), name
                else:
                    assert line.rule.of(line.values) == line.amount, (name, line.name)
            assert memory.low <= memory.amount <= memory.high


def test_a_group_of_devices_shares_weights_and_heads():
    spec = MODELS["llama-3.1-70b"]
    whole = serving_memory(spec, ServingPlan())
    for tensor in (2, 4, 8):
        part = serving_memory(spec, ServingPlan(tensor=tensor))
        assert whole.amount / tensor <= part.amount < whole.amount, tensor
        assert part.child("KV cache").amount * tensor == whole.child("KV cache").amount, tensor
    sixteen = serving_memory(spec, ServingPlan(tensor=16))
    assert sixteen.child("KV cache").amount == part.child("KV cache").amount  # 8 key heads
    latent = MODELS["deepseek-v3"]
    caches = [serving_memory(latent, ServingPlan(tensor=n)).child("KV cache") for n in (1, 8)]
    assert caches[0].amount == caches[1].amount  # each device holds the latent vector


def test_llama_2_70b_in_16_bits_needs_two_devices_of_80_gb():
    spec = MODELS["llama-2-70b"]
    one, two = (serving_memory(spec, ServingPlan(tensor=n)).num_bytes / GIB for n in (1, 2))

    assert one > 80
    assert two < 70


def test_what_cannot_be_is_refused_in_a_sentence():
    spec = MODELS["llama-2-7b"]
    with pytest.raises(ValueError, match="weight_format is 'q4_k'; use one of: float64"):
        serving_weights(spec, "q4_k")
    with pytest.raises(ValueError, match="kv_format is ''; use one of: float64"):
        serving_memory(spec, ServingPlan(kv_format=""))
    with pytest.raises(ValueError, match="5 tensor ranks cannot share 32 heads"):
        serving_memory(spec, ServingPlan(tensor=5))
