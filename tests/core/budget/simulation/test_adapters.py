import torch

from core.budget.quantized import quantized_weights
from core.budget.recipe import LoRA
from core.budget.simulation.adapters import use_adapters
from core.budget.simulation.step import simulate_step
from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.models.build import build_model
from tests.core.budget.simulation.test_prepared import LLAMA, recipe


def test_only_the_adapters_are_trained():
    model = build_model(LLAMA)
    use_adapters(model, LoRA(rank=4, targets=("q", "v")))
    trained = {name: each for name, each in model.named_parameters() if each.requires_grad}
    assert len(trained) == 4 * LLAMA.num_layers
    per_layer = 4 * (128 + 128) + 4 * (128 + 64)
    assert sum(each.numel() for each in trained.values()) == LLAMA.num_layers * per_layer


def test_a_quantized_base_takes_the_bytes_of_its_codes_and_scales():
    model = build_model(LLAMA)
    use_adapters(model, LoRA(base_format="nf4_double_quant"))
    gate = model.get_submodule("blocks.0.feed_forward.gate")
    expected = quantized_weights(128 * 340, BLOCK_FORMATS["nf4_double_quant"]).amount
    assert gate.codes.numel() == -(-expected // 1)


def test_qlora_needs_less_than_lora_and_lora_less_than_training_all():
    lora, nf4 = LoRA(), LoRA(base_format="nf4")
    peaks = [
        simulate_step(LLAMA, recipe(profile="fused", precision="pure_bf16", lora=each)).peak
        for each in (None, lora, nf4)
    ]
    assert peaks[0] > peaks[1] > peaks[2]


def test_an_adapted_layer_adds_its_low_rank_product():
    torch.manual_seed(0)
    model = build_model(LLAMA, "cpu", device="cpu")
    layer = model.get_submodule("blocks.0.attention")
    plain = layer.q
    use_adapters(model, LoRA(rank=4))
    x = torch.randn(3, LLAMA.hidden_dim)
    expected = plain(x) + 2 * layer.q.up(layer.q.down(x))
    torch.testing.assert_close(layer.q(x), expected)
