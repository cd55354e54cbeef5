"""The closed forms of what is trained here: parameters, bytes of one training step, FLOPs.

Each rule was derived from the layers of `core.models.gpt` and `core.models.llama` and is held
against the real module, its gradients, its optimizer and the tensors that autograd saves
(tests/core/budget).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from core.budget.item import Formula, Item, Number, counted, estimated, total
from core.language import N_
from core.models.spec import GPTShape, ModelSpec

Precision = Literal[
    "fp32", "bf16", "bf16_fp32_attention", "fp16", "fp16_unscaled", "pure_bf16", "pure_fp16"
]
Sizes = GPTShape | ModelSpec  # of our GPT, or of the Llama-like model

PARAMETERS = {
    "embeddings": Formula("(vocab_size + seq_len) * hidden_dim"),
    "attention": Formula("num_layers * 4 * hidden_dim ** 2"),
    "feed_forward": Formula("num_layers * 8 * hidden_dim ** 2"),
    "norms": Formula("(2 * num_layers + 1) * hidden_dim"),
}
LLAMA_PARAMETERS = {
    "embeddings": Formula("vocab_size * hidden_dim"),
    "attention": Formula("num_layers * (2 * hidden_dim ** 2 + 2 * hidden_dim * kv_dim)"),
    "feed_forward": Formula("num_layers * 3 * hidden_dim * ffn_dim"),
    "norms": Formula("(2 * num_layers + 1) * hidden_dim"),
}
NUM_TENSORS = Formula("6 * num_layers + 3")
LLAMA_TENSORS = Formula("9 * num_layers + 2")

WEIGHTS = Formula("num_params * value_bytes")
GRADIENTS = Formula("num_params * value_bytes")
KV_CACHE = Formula("2 * num_layers * num_tokens * hidden_dim * 4")


@dataclass(frozen=True, kw_only=True, slots=True)
class States:
    """What an optimizer of torch keeps: numbers as wide as the weights, and fp32 step counts."""

    rule: Formula
    source: str


_TWO_MOMENTS = "num_params * 2 * value_bytes + num_tensors * 4"
_TORCH = N_("the state of torch's own class, counted over its tensors")
STATES: Final[Mapping[str, States]] = {
    "adamw": States(
        rule=Formula(_TWO_MOMENTS),
        source=N_("Loshchilov & Hutter 2019, Decoupled Weight Decay Regularization: two moments"),
    ),
    "adam": States(rule=Formula(_TWO_MOMENTS), source=N_("Kingma & Ba 2015, Adam: two moments")),
    "sgd": States(rule=Formula("0"), source=_TORCH),
    "momentum": States(rule=Formula("num_params * value_bytes"), source=_TORCH),
    "rmsprop": States(rule=Formula("num_params * value_bytes + num_tensors * 4"), source=_TORCH),
    "adagrad": States(rule=Formula("num_params * value_bytes + num_tensors * 4"), source=_TORCH),
    "muon": States(
        rule=Formula(
            "num_in_matrices * value_bytes + (num_params - num_in_matrices) * 2 * value_bytes"
            " + num_other_tensors * 4"
        ),
        source=N_("Jordan et al. 2024, Muon: one moment for each matrix in a block"),
    ),
}

# Bytes that autograd keeps for the backward pass. Outside the blocks: ids, targets and positions,
# the final norm, the log-softmax in fp32; in each layer, per token and unit of width, what follows;
# then the norms' mean and 1/std, the attention's log-sum-exp, and 16-bit copies of weights.
_OUTSIDE = "num_tokens * (16 + 4 * vocab_size{norm}) + 8 * seq_len + 4"
_DROPPED = " + 2 * dropout_bytes * hidden_dim"  # what dropout multiplies by, of each half


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What autograd keeps: `outside` once, `layer` for each, `again` of each with checkpointing.

    Attributes:
        layer: Bytes of one layer.
        outside: Bytes of all that is in no layer.
        value_bytes: Of one number of the weights, their gradients and moments.
        block_input: Bytes of one number that goes from block to block.
        shared: Bytes that all layers keep together, and checkpointing only holds.
    """

    layer: str
    outside: str
    value_bytes: int = 4
    block_input: int = 4
    shared: str = ""

    def rule(self, *, checkpointing: bool) -> Formula:
        """Return the bytes of the whole forward pass."""
        if checkpointing:
            kept_input = f"num_tokens * {self.block_input} * hidden_dim"
            return Formula(f"num_layers * {kept_input} + {self.outside}")
        return Formula(f"num_layers * ({self.layer}){self.shared} + {self.outside}")


def _gpt(per_token: str, copies: str, norm: str, *, extra: str = "", pure: bool = False) -> Kept:
    width = 2 if pure else 4
    return Kept(
        layer=f"num_tokens * ({per_token}{_DROPPED} + 4 * num_heads){copies}",
        outside=_OUTSIDE.format(norm=norm) + extra,
        value_bytes=width,
        block_input=width,
    )


_COPIES = " + 24 * hidden_dim ** 2"
_HEAD_COPIES = " + 2 * hidden_dim * vocab_size"
_AUTOCAST_NORM = " + 8 + 6 * hidden_dim"
_AUTOCAST = _gpt("36 * hidden_dim + 16", _COPIES, _AUTOCAST_NORM, extra=_HEAD_COPIES)
_SCALED = _gpt("36 * hidden_dim + 16", _COPIES, _AUTOCAST_NORM, extra=f"{_HEAD_COPIES} + 4")
_PURE = _gpt("32 * hidden_dim + 8", "", " + 4 + 4 * hidden_dim", pure=True)
ACTIVATIONS: dict[Precision, Kept] = {
    "fp32": _gpt("64 * hidden_dim + 16", "", " + 8 + 8 * hidden_dim"),
    "bf16": _AUTOCAST,
    "fp16": _SCALED,  # 4 more: the factor that scales the loss
    "fp16_unscaled": _AUTOCAST,
    "bf16_fp32_attention": _gpt(
        "46 * hidden_dim + 16", _COPIES, _AUTOCAST_NORM, extra=_HEAD_COPIES
    ),
    "pure_bf16": _PURE,
    "pure_fp16": _PURE,
}


def _llama(per_token: str, copies: str, norm: str, *, extra: str = "", pure: bool = False) -> Kept:
    width = 2 if pure else 4
    return Kept(
        layer=f"num_tokens * ({per_token}{_DROPPED} + 8 + 4 * num_heads){copies}",
        outside=(f"num_tokens * (16 + 4 * vocab_size + 4 + {norm} * hidden_dim) + 4{extra}"),
        value_bytes=width,
        block_input=width,
        shared=f" + 2 * {width} * seq_len * head_dim",  # the rotary angles
    )


_LLAMA_COPIES = " + 4 * hidden_dim ** 2 + 4 * hidden_dim * kv_dim + 6 * hidden_dim * ffn_dim"
_LLAMA_16 = "26 * hidden_dim + 2 * (2 * hidden_dim + 2 * kv_dim) + 8 * ffn_dim"
_LLAMA_AUTOCAST = _llama(_LLAMA_16, _LLAMA_COPIES, "10", extra=_HEAD_COPIES)
_LLAMA_PURE = _llama(
    "16 * hidden_dim + 2 * (2 * hidden_dim + 2 * kv_dim) + 8 * ffn_dim", "", "8", pure=True
)
LLAMA_ACTIVATIONS: dict[Precision, Kept] = {
    "fp32": _llama("24 * hidden_dim + 4 * (2 * hidden_dim + 2 * kv_dim) + 16 * ffn_dim", "", "12"),
    "bf16": _LLAMA_AUTOCAST,
    "fp16": _llama(_LLAMA_16, _LLAMA_COPIES, "10", extra=f"{_HEAD_COPIES} + 4"),
    "fp16_unscaled": _LLAMA_AUTOCAST,
    "bf16_fp32_attention": _llama(
        "26 * hidden_dim + 4 * (2 * hidden_dim + 2 * kv_dim) + 2 * hidden_dim + 8 * ffn_dim",
        _LLAMA_COPIES,
        "10",
        extra=_HEAD_COPIES,
    ),
    "pure_bf16": _LLAMA_PURE,
    "pure_fp16": _LLAMA_PURE,
}

STEP_FLOPS = Formula(
    "num_tokens * (6 * num_layers * 12 * hidden_dim ** 2 + 6 * vocab_size * hidden_dim"
    " + 12 * num_layers * hidden_dim * seq_len)"
)
LLAMA_FLOPS = Formula(
    "num_tokens * (6 * num_layers * (2 * hidden_dim ** 2 + 2 * hidden_dim * kv_dim"
    " + 3 * hidden_dim * ffn_dim) + 6 * vocab_size * hidden_dim"
    " + 12 * num_layers * hidden_dim * seq_len)"
)

_MODULE = N_("counted over the layers of core.models.gpt")
_LLAMA_MODULE = N_("counted over the layers of core.models.llama")
_SAVED = N_("tensors saved by autograd, counted over the operations of core.models.gpt")
_RUN = N_("one forward pass of core.models.gpt on this machine")
_UNIFORM = N_("the cross-entropy of 1 / V for each of V tokens")
_KAPLAN = N_("Kaplan et al. 2020, Scaling Laws, table 1, with the head and full attention")


def _sizes(of: Sizes) -> dict[str, Number]:
    sizes: dict[str, Number] = {
        "num_layers": of.num_layers,
        "hidden_dim": of.hidden_dim,
        "num_heads": of.num_heads,
        "vocab_size": of.vocab_size,
        "seq_len": of.seq_len,
    }
    if isinstance(of, ModelSpec):
        sizes["head_dim"], sizes["ffn_dim"] = of.head_dim, of.ffn_dim
        sizes["kv_dim"] = of.num_kv_heads * of.head_dim
    return sizes


def kept(of: Sizes, precision: Precision) -> Kept:
    """Return what one forward pass of a model keeps, as rules."""
    table = LLAMA_ACTIVATIONS if isinstance(of, ModelSpec) else ACTIVATIONS
    return table[precision]


def count_parameters(of: Sizes) -> Item:
    """Return the trainable parameters, in four parts; the tied head counts once."""
    is_llama = isinstance(of, ModelSpec)
    source = _LLAMA_MODULE if is_llama else _MODULE
    rules, sizes = LLAMA_PARAMETERS if is_llama else PARAMETERS, _sizes(of)
    parts = [counted(name, rule, sizes, source, "parameters") for name, rule in rules.items()]
    return total("parameters", parts, source=source)


def _state_sizes(of: Sizes, precision: Precision) -> dict[str, Number]:
    parameters, layers = count_parameters(of), {"num_layers": of.num_layers}
    is_llama = isinstance(of, ModelSpec)
    num_tensors = (LLAMA_TENSORS if is_llama else NUM_TENSORS).of(layers)
    in_matrices = parameters.child("attention").amount + parameters.child("feed_forward").amount
    return {
        "num_params": parameters.amount,
        "num_tensors": num_tensors,
        "num_in_matrices": in_matrices,
        "num_other_tensors": num_tensors - of.num_layers * (7 if is_llama else 4),
        "value_bytes": kept(of, precision).value_bytes,
    }


def weights(of: Sizes, precision: Precision = "fp32") -> Item:
    """Return the bytes of the weights: fp32, also under autocast; 16 bits in a pure format."""
    return counted("weights", WEIGHTS, _state_sizes(of, precision), _MODULE)


def gradients(of: Sizes, precision: Precision = "fp32") -> Item:
    """Return the bytes of the gradients: one number for each parameter, as wide as it is."""
    return counted("gradients", GRADIENTS, _state_sizes(of, precision), _MODULE)


def optimizer(of: Sizes, precision: Precision = "fp32", name: str = "adamw") -> Item:
    """Return the bytes of an optimizer's state: moments, and step counts where it has them."""
    row = STATES[name]
    return counted("optimizer", row.rule, _state_sizes(of, precision), row.source)


def activations(
    of: Sizes,
    batch_size: int,
    precision: Precision,
    *,
    checkpointing: bool = False,
    dropout: bool = False,
) -> Item:
    """Return the bytes that one forward pass keeps for its backward pass.

    Sequences are `of.seq_len` tokens long. With checkpointing they are the inputs of the blocks;
    what one block computes again is not in it. Dropout's are those of a CPU.
    """
    in_16_bits = precision != "fp32"
    return estimated(
        "activations",
        kept(of, precision).rule(checkpointing=checkpointing),
        {
            **_sizes(of),
            "num_tokens": batch_size * of.seq_len,
            "dropout_bytes": (2 if in_16_bits else 4) if dropout else 0,
        },
        _SAVED,
        0.02,
    )


def training_memory(
    of: Sizes,
    batch_size: int,
    precision: Precision,
    *,
    optimizer_name: str = "adamw",
    checkpointing: bool = False,
    dropout: bool = False,
) -> Item:
    """Return the bytes of one training step by category; temporaries are not in it.

    An upper bound of what the categories hold together: gradients arrive while activations leave.
    """
    kept_by_autograd = activations(
        of, batch_size, precision, checkpointing=checkpointing, dropout=dropout
    )
    parts = [
        weights(of, precision),
        gradients(of, precision),
        optimizer(of, precision, optimizer_name),
        kept_by_autograd,
    ]
    return total("training memory", parts, source=_SAVED)


def step_flops(of: Sizes, batch_size: int) -> Item:
    """Return the FLOPs of forward and backward over one batch: 6 per weight and token, and 12 LCT.

    Matrix products only; attention is counted in full, not halved for the causal mask.
    """
    return counted(
        "step FLOPs",
        LLAMA_FLOPS if isinstance(of, ModelSpec) else STEP_FLOPS,
        {**_sizes(of), "num_tokens": batch_size * of.seq_len},
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
