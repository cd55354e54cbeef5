"""The closed forms against the real module, its gradients, AdamW and autograd."""

from typing import get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from core.budget.by_hand.gpt import (
    Precision,
    activations,
    count_parameters,
    gradients,
    optimizer,
    step_flops,
    training_memory,
    weights,
)
from core.models import GPTShape
from core.models.gpt import GPT
from core.models.llama import Llama
from core.models.spec import ModelSpec
from core.train.config import TrainConfig
from tests.core.budget.random_budgets import check_tree

# each: batch, context, layers, heads, width, vocabulary
SHAPES = [
    (12, 64, 4, 4, 128, 65),
    (3, 32, 2, 2, 64, 65),
    (2, 48, 1, 3, 96, 300),
    (16, 64, 2, 4, 64, 103),
    (1, 8, 1, 1, 8, 2),
]

_SIZES = {"num_layers": 2, "hidden_dim": 48, "num_heads": 6, "num_kv_heads": 2, "seq_len": 32}
LLAMA = TrainConfig(family="llama", **_SIZES).spec(65)


def shape_of(numbers):
    _b, seq_len, num_layers, num_heads, hidden_dim, vocab_size = numbers
    return GPTShape(
        num_layers=num_layers,
        hidden_dim=hidden_dim,
        num_heads=num_heads,
        vocab_size=vocab_size,
        seq_len=seq_len,
    )


def saved_bytes(of, batch_size, precision):
    """Bytes of the storages that autograd saves in one forward pass, parameters left out."""
    family = Llama if isinstance(of, ModelSpec) else GPT
    model = family(of, attention_in_fp32=precision == "bf16_fp32_attention")
    in_fp16, is_pure = "fp16" in precision, precision.startswith("pure")
    dtype = torch.float16 if in_fp16 else torch.bfloat16
    model = model.to(dtype) if is_pure else model
    own = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = (storage.nbytes(), tensor.detach())
        return tensor.detach()

    tokens, targets = torch.randint(0, of.vocab_size, (2, batch_size, of.seq_len))
    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        torch.autocast("cpu", dtype, enabled=precision != "fp32" and not is_pure),
    ):
        loss = model(tokens, targets)
        if precision == "fp16":
            loss = torch.amp.GradScaler("cpu", init_scale=1.0).scale(loss)
    assert loss.isfinite()
    return sum(num_bytes for num_bytes, _tensor in kept.values())


@given(
    st.integers(1, 4), st.integers(1, 4), st.integers(1, 8), st.integers(2, 300), st.integers(1, 64)
)
@settings(max_examples=40, deadline=None)
def test_counted_parameters_are_those_of_the_module(layers, heads, head_dim, vocab, context):
    shape = shape_of((1, context, layers, heads, heads * head_dim, vocab))
    with torch.device("meta"):
        model = GPT(shape)
    counted = count_parameters(shape)
    assert counted.amount == sum(weight.numel() for weight in model.parameters())
    assert counted.amount == sum(part.amount for part in counted.children)


@pytest.mark.parametrize("numbers", SHAPES)
def test_weights_gradients_and_optimizer_match_the_tensors_byte_for_byte(numbers):
    shape = shape_of(numbers)
    model = GPT(shape)
    adamw = torch.optim.AdamW(model.parameters())
    tokens, targets = torch.randint(0, shape.vocab_size, (2, 1, shape.seq_len))
    model(tokens, targets).backward()
    adamw.step()
    states = [value for state in adamw.state.values() for value in state.values()]
    parameters = list(model.parameters())
    assert weights(shape).num_bytes == sum(w.nbytes for w in parameters)
    assert gradients(shape).num_bytes == sum(w.grad.nbytes for w in parameters)
    assert optimizer(shape).num_bytes == sum(value.nbytes for value in states)


@pytest.mark.parametrize("precision", sorted(get_args(Precision)))
@pytest.mark.parametrize("numbers", SHAPES)
def test_activations_match_what_autograd_saves_byte_for_byte(numbers, precision):
    shape = shape_of(numbers)
    predicted = activations(shape, numbers[0], precision)
    assert predicted.num_bytes == saved_bytes(shape, numbers[0], precision)


@pytest.mark.parametrize("numbers", SHAPES)
def test_flops_are_torchs_own_count(numbers):
    shape, batch_size = shape_of(numbers), numbers[0]
    for family, of in ((GPT, shape), (Llama, LLAMA)):
        with torch.device("meta"):
            model = family(of)
            tokens = torch.zeros(batch_size, of.seq_len, dtype=torch.long)
            with FlopCounterMode(display=False) as counter:
                model(tokens, tokens).backward()
        # on meta tensors torch takes attention apart into the products that it counts
        assert step_flops(of, batch_size).amount == counter.get_total_flops()


@pytest.mark.parametrize("precision", sorted(get_args(Precision)))
def test_a_llama_like_model_keeps_and_counts_what_its_rules_say(precision):
    counted = count_parameters(LLAMA)
    assert counted.amount == sum(weight.numel() for weight in Llama(LLAMA).parameters())
    predicted = activations(LLAMA, 3, precision)
    assert predicted.num_bytes == saved_bytes(LLAMA, 3, precision)


def test_every_line_shows_a_formula_that_gives_its_number():
    memory = training_memory(shape_of(SHAPES[0]), 12, "bf16_fp32_attention")
    check_tree(memory)
    assert memory.child("activations").low < memory.child("activations").high
