"""The closed forms of our own GPT: parameters, bytes of one training step, FLOPs.

Each rule was derived from the layers of `core.models.gpt` and is held against the real module,
its gradients, its optimizer and the tensors that autograd saves (tests/core/budget).
"""

from typing import Literal

from core.budget.item import Formula, Item, Number, counted, estimated, total
from core.language import N_
from core.models.spec import GPTShape

Precision = Literal["fp32", "bf16", "bf16_fp32_attention", "fp16"]

PARAMETERS = {
    "embeddings": Formula("(vocab_size + seq_len) * hidden_dim"),
    "attention": Formula("num_layers * 4 * hidden_dim ** 2"),
    "feed_forward": Formula("num_layers * 8 * hidden_dim ** 2"),
    "norms": Formula("(2 * num_layers + 1) * hidden_dim"),
}
NUM_TENSORS = Formula("6 * num_layers + 3")

WEIGHTS = Formula("num_params * 4")
GRADIENTS = Formula("num_params * 4")
KV_CACHE = Formula("2 * num_layers * num_tokens * hidden_dim * 4")
ADAMW = Formula("num_params * (4 + 4) + num_tensors * 4")

# Bytes that autograd keeps for the backward pass: per layer, per token and unit of width, then the
# norms' mean and 1/std (4 floats), the attention's log-sum-exp, and bfloat16 copies of weights.
_OUTSIDE = (
    "num_tokens * (16 + 4 * vocab_size + 8) + 8 * seq_len + 4"  # ids, targets, log-softmax, loss
)
_AUTOCAST = (
    "num_layers * (num_tokens * (36 * hidden_dim + 16 + 4 * num_heads)"
    " + 24 * hidden_dim ** 2)"
    f" + num_tokens * 6 * hidden_dim + 2 * hidden_dim * vocab_size + {_OUTSIDE}"
)
ACTIVATIONS: dict[Precision, Formula] = {
    "fp32": Formula(
        "num_layers * num_tokens * (16 * 4 * hidden_dim + 16 + 4 * num_heads)"
        f" + num_tokens * 2 * 4 * hidden_dim + {_OUTSIDE}"
    ),
    "bf16": Formula(_AUTOCAST),
    "fp16": Formula(f"{_AUTOCAST} + 4"),  # the factor that scales the loss
    "bf16_fp32_attention": Formula(
        "num_layers * (num_tokens * (46 * hidden_dim + 16 + 4 * num_heads)"
        " + 24 * hidden_dim ** 2)"
        f" + num_tokens * 6 * hidden_dim + 2 * hidden_dim * vocab_size + {_OUTSIDE}"
    ),
}

STEP_FLOPS = Formula(
    "num_tokens * (6 * num_layers * 12 * hidden_dim ** 2 + 6 * vocab_size * hidden_dim"
    " + 12 * num_layers * hidden_dim * seq_len)"
)

_MODULE = N_("counted over the layers of core.models.gpt")
_SAVED = N_("tensors saved by autograd, counted over the operations of core.models.gpt")
_RUN = N_("one forward pass of core.models.gpt on this machine")
_UNIFORM = N_("the cross-entropy of 1 / V for each of V tokens")
_ADAMW = N_("Loshchilov & Hutter 2019, Decoupled Weight Decay Regularization: two fp32 moments")
_KAPLAN = N_("Kaplan et al. 2020, Scaling Laws, table 1, with the head and full attention")


def _sizes(shape: GPTShape) -> dict[str, Number]:
    return {
        "num_layers": shape.num_layers,
        "hidden_dim": shape.hidden_dim,
        "num_heads": shape.num_heads,
        "vocab_size": shape.vocab_size,
        "seq_len": shape.seq_len,
    }


def count_parameters(shape: GPTShape) -> Item:
    """Return the trainable parameters, in four parts; the tied head counts once."""
    sizes = _sizes(shape)
    parts = [
        counted(name, formula, sizes, _MODULE, "parameters") for name, formula in PARAMETERS.items()
    ]
    return total("parameters", parts, source=_MODULE)


def weights(shape: GPTShape) -> Item:
    """Return the bytes of the fp32 weights."""
    num_params = count_parameters(shape).amount
    return counted("weights", WEIGHTS, {"num_params": num_params}, _MODULE)


def gradients(shape: GPTShape) -> Item:
    """Return the bytes of the gradients: one fp32 number for each parameter, also under bf16."""
    num_params = count_parameters(shape).amount
    return counted("gradients", GRADIENTS, {"num_params": num_params}, _MODULE)


def optimizer(shape: GPTShape) -> Item:
    """Return the bytes of AdamW: two moments, and a step count for each parameter tensor."""
    values = {
        "num_params": count_parameters(shape).amount,
        "num_tensors": NUM_TENSORS.of({"num_layers": shape.num_layers}),
    }
    return counted("optimizer", ADAMW, values, _ADAMW)


def activations(shape: GPTShape, batch_size: int, precision: Precision) -> Item:
    """Return the bytes that one forward pass keeps for its backward pass.

    Sequences are `shape.seq_len` tokens long.
    """
    return estimated(
        "activations",
        ACTIVATIONS[precision],
        {**_sizes(shape), "num_tokens": batch_size * shape.seq_len},
        _SAVED,
        0.02,
    )


def training_memory(shape: GPTShape, batch_size: int, precision: Precision) -> Item:
    """Return the bytes of one training step by category; temporaries are not in it.

    An upper bound of what the categories hold together: gradients arrive while activations leave.
    """
    parts = [
        weights(shape),
        gradients(shape),
        optimizer(shape),
        activations(shape, batch_size, precision),
    ]
    return total("training memory", parts, source=_SAVED)


def step_flops(shape: GPTShape, batch_size: int) -> Item:
    """Return the FLOPs of forward and backward over one batch: 6 per weight and token, and 12 LCT.

    Matrix products only; attention is counted in full, not halved for the causal mask.
    """
    return counted(
        "step FLOPs",
        STEP_FLOPS,
        {**_sizes(shape), "num_tokens": batch_size * shape.seq_len},
        _KAPLAN,
        "FLOPs",
    )


def kv_cache(shape: GPTShape, num_tokens: int) -> Item:
    """Return the bytes of the keys and values of a text, in fp32."""
    sizes = {
        "num_layers": shape.num_layers,
        "num_tokens": num_tokens,
        "hidden_dim": shape.hidden_dim,
    }
    return counted("KV cache", KV_CACHE, sizes, _MODULE)


def nats(name: str, amount: float, *, is_measured: bool = False) -> Item:
    """Return a loss in nats per token: ln V of a uniform guess, or one that a model had.

    It is measured where a model was run; else it follows from the vocabulary.
    """
    return Item(
        name=name,
        amount=amount,
        unit="nats",
        low=amount,
        high=amount,
        source=_RUN if is_measured else _UNIFORM,
        kind="measured" if is_measured else "exact",
    )
