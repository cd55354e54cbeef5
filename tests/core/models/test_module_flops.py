"""FLOPs of modules: torch's counter over the whole module, and 2 N D by hand."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.budget.catalogue.models import MODELS
from core.models.build import build_model
from core.models.chosen import flops_of, tree_of
from core.models.describe import describe
from core.models.gpt import GPT
from core.models.module_flops import TOKENS, count_flops, module_rows
from core.models.small import SMALL, make
from core.models.spec import GPTShape

SHAPE = GPTShape(num_layers=5, hidden_dim=32, num_heads=4, vocab_size=65, seq_len=128)


def torch_says(module, *inputs):
    with FlopCounterMode(display=False) as counter, torch.enable_grad():
        module.eval()(*inputs)
    return counter.get_total_flops()


@pytest.mark.parametrize("key", SMALL)
def test_the_rows_of_a_small_module_add_up_to_what_torch_counts(key):
    module = make(key)
    rows = module_rows(describe(module), count_flops(module, torch.zeros(SMALL[key].input_shape)))
    assert sum(row.flops for row in rows) == torch_says(module, torch.zeros(SMALL[key].input_shape))
    assert sum(row.num_params for row in rows) == sum(p.numel() for p in module.parameters())


def test_a_linear_layer_does_two_flops_for_each_weight_and_row():
    x = torch.zeros(SMALL["linear"].input_shape)
    assert count_flops(make("linear"), x)[""] == 2 * 10 * 5 * 4


def test_a_folded_gpt_does_what_the_whole_gpt_does():
    ids = torch.zeros(1, TOKENS, dtype=torch.long, device="meta")
    with torch.device("meta"):
        whole = torch_says(GPT(SHAPE), ids, ids)
    rows = module_rows(tree_of(SHAPE), flops_of(SHAPE))
    assert sum(row.flops for row in rows) == whole
    assert sum(row.num_params for row in rows) == tree_of(SHAPE).num_params


@pytest.mark.slow
@pytest.mark.parametrize("key", ["llama-3.2-1b", "qwen3-30b-a3b", "llama-4-maverick", "kimi-k2"])
def test_one_block_of_each_kind_does_what_all_of_them_do(key):
    spec, ids = MODELS[key], torch.zeros(1, TOKENS, dtype=torch.long, device="meta")
    rows = module_rows(tree_of(spec), flops_of(spec))
    assert sum(row.flops for row in rows) == torch_says(build_model(spec), ids, ids)
    assert sum(row.num_params for row in rows) == tree_of(spec).num_params


def test_an_embedding_costs_nothing_and_attention_itself_has_no_parameters():
    rows = {row.path: row for row in module_rows(tree_of(SHAPE), flops_of(SHAPE))}
    assert (rows["tokens"].flops, rows["tokens"].num_params) == (0, 65 * 32)
    attention = rows["blocks.0–4.attention"]
    assert (attention.num_params, attention.flops) == (0, 5 * 2 * 2 * TOKENS * TOKENS * 32)
    up = rows["blocks.0–4.feed_forward.up"]
    assert up.flops == 2 * TOKENS * SHAPE.num_layers * SHAPE.hidden_dim * SHAPE.ffn_dim
