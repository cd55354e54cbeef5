"""The most that the tensors of one training step hold at one time: the highest of its moments.

Activations leave while gradients come, a layer at a time, so that the peak lies at an end: where
the loss is, in the last block or the first, at the embedding, or in the optimizer. Each moment was
read off the tensors of real steps on a CPU, where nothing is fused, and is held against them within
2 % (tests/core/train/start/test_memory.py).
"""

from dataclasses import replace
from typing import Final

from core.budget.by_hand.gpt import (
    Precision,
    Sizes,
    activations,
    count_parameters,
    gradients,
    kept,
    optimizer,
    sizes_of,
    weights,
)
from core.budget.item import Formula, Item, Number, counted, estimated, total
from core.language import N_
from core.models.spec import ModelSpec

TEXT = Formula("4 * num_text_tokens")
HELD: Final = N_("held all the time")
_ARRIVED = "held + outside_gradients + (num_layers - waiting) * layer_gradients + token_bytes"
_LEFT: Final = {False: "waiting * layer_bytes", True: "waiting * input_bytes + again_bytes"}
_AT_LOSS = Formula("held + activations + 8 * num_tokens * vocab_size")
# Autocast keeps its 16-bit copies of weights to the end of the forward pass; without checkpointing
# they are activations anyway.
_BEFORE_LOSS = Formula("held + activations + 6 * num_tokens * vocab_size + 2 * num_copied")
_FEED_FORWARD: Final = {
    "gpt": (
        "num_tokens * (block_bytes + cast_bytes) * hidden_dim"
        " + value_bytes * ffn_dim * (num_tokens + hidden_dim)"
    ),
    "llama": (
        "num_tokens * block_bytes * hidden_dim"
        " + ffn_dim * (2 * value_bytes * num_tokens + weight_bytes * hidden_dim)"
    ),
}
_QUERIES = Formula(
    "held + outside_gradients + num_layers * layer_gradients + token_bytes"
    " + num_tokens * (hidden_dim * (2 * block_bytes + norm_bytes + value_bytes)"
    " + value_bytes * (hidden_dim + 2 * kv_dim))"
)
_EMBEDDING = Formula(
    "held + outside_gradients + num_layers * layer_gradients + token_bytes"
    " + 2 * weight_bytes * vocab_size * hidden_dim + num_tokens * block_bytes * hidden_dim"
)
# An RMSNorm that is written out in fp32 among 16-bit tensors goes back through several of its own.
_FINAL_NORM = Formula(
    "held + activations - 4 * num_tokens * vocab_size + own_bytes * num_tokens * hidden_dim"
    " + 2 * vocab_size * hidden_dim"
)
_FIRST_NORM = Formula(
    "held + outside_gradients + num_layers * layer_gradients + token_bytes + kept_input"
    " + 26 * num_tokens * hidden_dim"
)
# What the update of one matrix makes beside its moments: the gradient with weight decay, a root.
_NUM_TEMPORARY: Final = {"sgd": 1, "momentum": 1, "rmsprop": 2, "adagrad": 2}
_UPDATE = Formula("held + gradients + num_temporary * weight_bytes * largest")
_MUON = Formula("held + gradients + (weight_bytes + 4) * largest_in_block + 4 * smaller_side ** 2")
_MOMENTS = N_("tensors alive at that moment, read off real steps")


def step_peak(  # noqa: PLR0913  the settings of a run that decide its bytes
    of: Sizes,
    batch_size: int,
    precision: Precision,
    *,
    optimizer_name: str = "adamw",
    checkpointing: bool = False,
    dropout: bool = False,
    num_text_tokens: int = 0,
) -> Item:
    """Return the peak of a step, the largest of its moments; the text lies in memory with it."""
    states = optimizer(of, precision, optimizer_name)
    text = counted("text", TEXT, {"num_text_tokens": num_text_tokens}, _MOMENTS)
    held = total(HELD, [weights(of, precision), states, text], source=_MOMENTS)
    kept_by_autograd = activations(
        of, batch_size, precision, checkpointing=checkpointing, dropout=dropout
    )
    values = _values(of, batch_size, precision, dropout=dropout)
    values |= {"held": held.amount, "activations": kept_by_autograd.amount}
    family = "llama" if isinstance(of, ModelSpec) else "gpt"
    block = Formula(f"{_ARRIVED} + {_LEFT[checkpointing]} + {_FEED_FORWARD[family]}")
    moments: list[tuple[str, Formula, dict[str, Number]]] = [
        (N_("before the loss"), _BEFORE_LOSS, {} if checkpointing else {"num_copied": 0}),
        (N_("at the loss"), _AT_LOSS, {}),
        (N_("in the last block"), block, {"waiting": of.num_layers}),
        (N_("in the first block"), block, {"waiting": 1}),
        (N_("at the first queries"), _QUERIES, {}),
        (N_("at the embedding"), _EMBEDDING, {}),
        (N_("in the optimizer"), *_update(optimizer_name)),
    ]
    if family == "llama" and precision != "fp32":
        is_pure = values["weight_bytes"] == 2
        moments.append((N_("at the final norm"), _FINAL_NORM, {"own_bytes": 16 if is_pure else 14}))
        if is_pure:
            input_bytes = values["input_bytes"] if checkpointing else 0
            moments.append((N_("at the first norm"), _FIRST_NORM, {"kept_input": input_bytes}))
    parts = [estimated(name, rule, values | more, _MOMENTS, 0.02) for name, rule, more in moments]
    return total("peak", parts, source=_MOMENTS, combine="max")


def _update(name: str) -> tuple[Formula, dict[str, Number]]:
    if name == "muon":
        return _MUON, {}
    return _UPDATE, {"num_temporary": _NUM_TEMPORARY.get(name, 0)}


def _values(
    of: Sizes, batch_size: int, precision: Precision, *, dropout: bool
) -> dict[str, Number]:
    row, num_tokens = kept(of, precision), batch_size * of.seq_len
    all_gradients, parameters = gradients(of, precision).amount, count_parameters(of)
    in_blocks = parameters.child("attention").amount + parameters.child("feed_forward").amount
    layer = (row.value_bytes * in_blocks) / of.num_layers + 2 * row.value_bytes * of.hidden_dim
    one, two = (
        activations(replace(of, num_layers=count), batch_size, precision, dropout=dropout).amount
        for count in (1, 2)
    )
    is_llama = isinstance(of, ModelSpec)
    in_16_bits, is_pure = precision != "fp32", row.value_bytes == 2
    input_bytes = num_tokens * row.value_bytes * of.hidden_dim
    return {
        **sizes_of(of),
        "num_tokens": num_tokens,
        "gradients": all_gradients,
        "layer_gradients": int(layer),
        "outside_gradients": all_gradients - int(layer) * of.num_layers,
        "layer_bytes": two - one,
        # Of a 16-bit input an RMSNorm keeps a copy in fp32, and checkpointing the input too.
        "again_bytes": two - one - (0 if is_llama and is_pure else input_bytes),
        "input_bytes": input_bytes,
        "token_bytes": 16 * num_tokens + 8 * of.seq_len,
        "block_bytes": row.value_bytes,
        "cast_bytes": 2 if in_16_bits and not is_pure else 0,
        "num_copied": in_blocks if in_16_bits and not is_pure else 0,
        "value_bytes": 2 if in_16_bits else 4,
        "weight_bytes": row.value_bytes,
        "norm_bytes": (8 if is_llama else 4) if not in_16_bits else 2,
        "largest": max(of.vocab_size, of.ffn_dim, 0 if is_llama else 3 * of.hidden_dim)
        * of.hidden_dim,
        "largest_in_block": of.ffn_dim * of.hidden_dim,
        "smaller_side": of.hidden_dim,
    }
