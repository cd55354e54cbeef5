"""The closed forms of what is trained here: parameters, bytes of one training step, FLOPs.

Each rule was derived from the layers of `core.models.gpt` and `core.models.llama` and is held
against the real module, its gradients, its optimizer and the tensors that autograd saves
(tests/core/budget).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from core.budget.item import Formula, Item, Number, counted, estimated, total
from core.language import N_
from core.models.spec import GPTShape, ModelSpec

Precision = Literal[
    "fp32", "bf16", "bf16_fp32_attention", "fp16", "fp16_unscaled", "pure_bf16", "pure_fp16"
]
Sizes = GPTShape | ModelSpec  # of our GPT, or of the Llama-like model

WEIGHTS = Formula("num_params * value_bytes")
KV_CACHE = Formula("2 * num_layers * num_tokens * hidden_dim * 4")


_TWO_MOMENTS = Formula("num_params * 2 * value_bytes + num_tensors * 4")
_ONE_MOMENT = Formula("num_params * value_bytes + num_tensors * 4")
_TORCH = N_("the state of torch's own class, counted over its tensors")
# What an optimizer of torch keeps, numbers as wide as the weights and fp32 step counts; its source.
STATES: Final[Mapping[str, tuple[Formula, str]]] = {
    "adamw": (
        _TWO_MOMENTS,
        N_("Loshchilov & Hutter 2019, Decoupled Weight Decay Regularization: two moments"),
    ),
    "adam": (_TWO_MOMENTS, N_("Kingma & Ba 2015, Adam: two moments")),
    "sgd": (Formula("0"), _TORCH),
    "momentum": (Formula("num_params * value_bytes"), _TORCH),
    "rmsprop": (_ONE_MOMENT, _TORCH),
    "adagrad": (_ONE_MOMENT, _TORCH),
    "muon": (
        Formula(
            "num_in_matrices * value_bytes + (num_params - num_in_matrices) * 2 * value_bytes"
            " + num_other_tensors * 4"
        ),
        N_("Jordan et al. 2024, Muon: one moment for each matrix in a block"),
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What autograd keeps: `outside` once, `layer` for each, `again` of each with checkpointing.

    Attributes:
        layer: Bytes of one layer.
        outside: Bytes of all that is in no layer.
        value_bytes: Of one number of the weights, their gradients and moments, and of the
            residual stream.
        shared: Bytes that all layers keep together, and checkpointing only holds.
    """

    layer: str
    outside: str
    value_bytes: int = 4
    shared: str = ""

    def rule(self, *, checkpointing: bool) -> Formula:
        """Return the bytes of the whole forward pass."""
        if checkpointing:
            kept_input = f"num_tokens * {self.value_bytes} * hidden_dim"
            return Formula(f"num_layers * {kept_input} + {self.outside}")
        return Formula(f"num_layers * ({self.layer}){self.shared} + {self.outside}")


_HEAD_COPIES = " + 2 * hidden_dim * vocab_size"


def _kept(
    per_token: Sequence[str], copies: str, outside: str, norms: Sequence[str], shared: str = ""
) -> dict[Precision, Kept]:
    """Return the bytes that autograd keeps for the backward pass.

    Outside the blocks: ids, targets and positions, the final norm, the log-softmax in fp32; in each
    layer what is kept `per_token`: in fp32, in 16 bits, there with attention in fp32, and all in
    16 bits. Then what dropout multiplies by, the attention's log-sum-exp, and `copies` of weights
    in 16 bits. `norms`: of the final norm in fp32, in 16 bits, and all in 16 bits.
    """
    layer = "num_tokens * ({} + 2 * dropout_bytes * hidden_dim + 4 * num_heads)"
    in_fp32, mixed, fp32_attention, pure = map(layer.format, per_token)
    ends = [outside.format(norm=norm) for norm in norms]
    autocast = Kept(
        layer=mixed + copies, outside=ends[1] + _HEAD_COPIES, shared=shared.format(width=4)
    )
    all_in_16_bits = Kept(layer=pure, outside=ends[2], value_bytes=2, shared=shared.format(width=2))
    return {
        "fp32": replace(autocast, layer=in_fp32, outside=ends[0]),
        "bf16": autocast,
        "fp16": replace(autocast, outside=f"{autocast.outside} + 4"),  # what scales the loss
        "fp16_unscaled": autocast,
        "bf16_fp32_attention": replace(autocast, layer=fp32_attention + copies),
        "pure_bf16": all_in_16_bits,
        "pure_fp16": all_in_16_bits,
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """The rules of one kind of model.

    Attributes:
        parameters: In four parts; the tied head counts once.
        num_tensors: Of parameters.
        num_matrices: In one block.
        activations: What autograd keeps.
        flops: Of one training step.
        source: Where they were counted.
    """

    parameters: Mapping[str, Formula]
    num_tensors: Formula
    num_matrices: int
    activations: Mapping[Precision, Kept]
    flops: Formula
    source: str


_NORMS = Formula("(2 * num_layers + 1) * hidden_dim")
_FLOPS = (
    "num_tokens * (6 * num_layers * {matrices} + 6 * vocab_size * hidden_dim"
    " + 12 * num_layers * hidden_dim * seq_len)"
)
_PROJECTED = "(2 * hidden_dim + 2 * kv_dim)"  # queries, keys, values and what is mixed of them
GPT: Final = Family(
    parameters={
        "embeddings": Formula("(vocab_size + seq_len) * hidden_dim"),
        "attention": Formula("num_layers * 4 * hidden_dim ** 2"),
        "feed_forward": Formula("num_layers * 8 * hidden_dim ** 2"),
        "norms": _NORMS,
    },
    num_tensors=Formula("6 * num_layers + 3"),
    num_matrices=4,
    activations=_kept(
        [
            "64 * hidden_dim + 16",
            "36 * hidden_dim + 16",
            "46 * hidden_dim + 16",
            "32 * hidden_dim + 8",
        ],
        " + 24 * hidden_dim ** 2",
        "num_tokens * (16 + 4 * vocab_size + {norm} * hidden_dim) + 8 * seq_len + 4",
        ["8 + 8", "8 + 6", "4 + 4"],
    ),
    flops=Formula(_FLOPS.format(matrices="12 * hidden_dim ** 2")),
    source=N_("counted over the layers of core.models.gpt"),
)
LLAMA: Final = Family(
    parameters={
        "embeddings": Formula("vocab_size * hidden_dim"),
        "attention": Formula("num_layers * (2 * hidden_dim ** 2 + 2 * hidden_dim * kv_dim)"),
        "feed_forward": Formula("num_layers * 3 * hidden_dim * ffn_dim"),
        "norms": _NORMS,
    },
    num_tensors=Formula("9 * num_layers + 2"),
    num_matrices=7,
    activations=_kept(
        [
            f"24 * hidden_dim + 4 * {_PROJECTED} + 16 * ffn_dim + 8",
            f"26 * hidden_dim + 2 * {_PROJECTED} + 8 * ffn_dim + 8",
            f"28 * hidden_dim + 4 * {_PROJECTED} + 8 * ffn_dim + 8",
            f"16 * hidden_dim + 2 * {_PROJECTED} + 8 * ffn_dim + 8",
        ],
        " + 4 * hidden_dim ** 2 + 4 * hidden_dim * kv_dim + 6 * hidden_dim * ffn_dim",
        "num_tokens * (16 + 4 * vocab_size + {norm} * hidden_dim) + 4",
        ["4 + 12", "4 + 10", "4 + 8"],
        " + 2 * {width} * seq_len * head_dim",  # the rotary angles
    ),
    flops=Formula(
        _FLOPS.format(
            matrices="(2 * hidden_dim ** 2 + 2 * hidden_dim * kv_dim + 3 * hidden_dim * ffn_dim)"
        )
    ),
    source=N_("counted over the layers of core.models.llama"),
)

_SAVED = N_("tensors saved by autograd, counted over the operations of core.models.gpt")
_RUN = N_("one forward pass of core.models.gpt on this machine")
_UNIFORM = N_("the cross-entropy of 1 / V for each of V tokens")
_KAPLAN = N_("Kaplan et al. 2020, Scaling Laws, table 1, with the head and full attention")


def family_of(of: Sizes) -> Family:
    """Return the rules of a model."""
    return LLAMA if isinstance(of, ModelSpec) else GPT


def sizes_of(of: Sizes) -> dict[str, Number]:
    """Return what the rules call a model's sizes."""
    names = ("num_layers", "hidden_dim", "num_heads", "vocab_size", "seq_len", "head_dim")
    sizes: dict[str, Number] = {name: getattr(of, name) for name in (*names, "ffn_dim")}
    key_heads = of.num_kv_heads if isinstance(of, ModelSpec) else of.num_heads
    return {**sizes, "kv_dim": key_heads * of.head_dim}


def kept(of: Sizes, precision: Precision) -> Kept:
    """Return what one forward pass of a model keeps, as rules."""
    return family_of(of).activations[precision]


def count_parameters(of: Sizes) -> Item:
    """Return the trainable parameters, in four parts; the tied head counts once."""
    family, sizes = family_of(of), sizes_of(of)
    parts = [
        counted(name, rule, sizes, family.source, "parameters")
        for name, rule in family.parameters.items()
    ]
    return total("parameters", parts, source=family.source)


def _state_sizes(of: Sizes, precision: Precision) -> dict[str, Number]:
    parameters, family = count_parameters(of), family_of(of)
    num_tensors = family.num_tensors.of({"num_layers": of.num_layers})
    in_matrices = parameters.child("attention").amount + parameters.child("feed_forward").amount
    return {
        "num_params": parameters.amount,
        "num_tensors": num_tensors,
        "num_in_matrices": in_matrices,
        "num_other_tensors": num_tensors - of.num_layers * family.num_matrices,
        "value_bytes": kept(of, precision).value_bytes,
    }


def weights(of: Sizes, precision: Precision = "fp32") -> Item:
    """Return the bytes of the weights: fp32, also under autocast; 16 bits in a pure format."""
    return counted("weights", WEIGHTS, _state_sizes(of, precision), family_of(of).source)


def gradients(of: Sizes, precision: Precision = "fp32") -> Item:
    """Return the bytes of the gradients: one number for each parameter, as wide as it is."""
    return counted("gradients", WEIGHTS, _state_sizes(of, precision), family_of(of).source)


def optimizer(of: Sizes, precision: Precision = "fp32", name: str = "adamw") -> Item:
    """Return the bytes of an optimizer's state: moments, and step counts where it has them."""
    rule, source = STATES[name]
    return counted("optimizer", rule, _state_sizes(of, precision), source)


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
            **sizes_of(of),
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
    states = [weights(of, precision), gradients(of, precision)]
    parts = [*states, optimizer(of, precision, optimizer_name), kept_by_autograd]
    return total("training memory", parts, source=_SAVED)


def step_flops(of: Sizes, batch_size: int) -> Item:
    """Return the FLOPs of forward and backward over one batch: 6 per weight and token, and 12 LCT.

    Matrix products only; attention is counted in full, not halved for the causal mask.
    """
    return counted(
        "step FLOPs",
        family_of(of).flops,
        {**sizes_of(of), "num_tokens": batch_size * of.seq_len},
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
    return counted("KV cache", KV_CACHE, sizes, GPT.source)


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
