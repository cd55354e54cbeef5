"""What serving keeps on one device: weights, KV cache and the work space of one forward pass.

None of this depends on the device: work it out once for a model and a plan, compare it with many.
"""

from dataclasses import replace
from typing import Final

from core.budget.catalogue.parameters import ParameterCounts, share_counts
from core.budget.formula import Formula, Number
from core.budget.item import Item, item, total
from core.budget.parallel.share import Share, whole
from core.budget.quantized import quantized_weights
from core.budget.serving.kv_cache import kv_cache, stored_format
from core.budget.serving.serving_plan import ServingPlan
from core.language import N_
from core.models.spec import ModelSpec

# Engines read a long prompt in pieces (Agrawal et al. 2023, SARATHI).
PREFILL_PIECE: Final = 8192

OTHERS: Final = Formula("num_params * bits // 8")
WORK_SPACE: Final = Formula(
    "min(concurrency * prompt_len, piece)"
    " * 2 * (3 * hidden_dim + max(num_inner * ffn_dim + copies * hidden_dim, attention_dim))"
    " + concurrency * vocab_size * (2 + 4)"
)
_QUANTIZED: Final = N_("matrices of the layers; embeddings, norms, biases and head apart")
_SIXTEEN: Final = N_("not quantized: they are small, or their errors hurt most")
_WORK: Final = N_(
    "the largest layer's inputs and results for one piece of the prompts, and the logits"
)
_MEMORY: Final = N_("everything that stays on the device while it serves")


def serving_share(spec: ModelSpec, tensor: int) -> Share:
    """Return what one of `tensor` devices holds."""
    return replace(whole(spec), tensor=tensor)


def serving_weights(spec: ModelSpec, weight_format: str = "bfloat16", tensor: int = 1) -> Item:
    """Return the bytes of the weights on one device: "matrices" (with scales) and "the rest".

    Args:
        spec: The model.
        weight_format: A name of `core.dtypes` FORMATS or BLOCK_FORMATS.
        tensor: Devices that share each matrix.

    Raises:
        ValueError: If the format is unknown, or the heads cannot be split over the devices.
    """
    return stored_weights(share_counts(spec, serving_share(spec, tensor)), weight_format)


def stored_weights(counted: ParameterCounts, weight_format: str) -> Item:
    """Return the bytes of counted weights: matrices in the format, the rest in 16 bits.

    Raises:
        ValueError: If the format is unknown.
    """
    fmt = stored_format("weight_format", weight_format)
    matrices = replace(quantized_weights(counted.matrices, fmt), name="matrices", source=_QUANTIZED)
    values = {
        "num_params": counted.total - counted.matrices,
        "bits": 32 if weight_format == "float32" else 16,
    }
    rest = item("the rest", OTHERS, values, unit="bytes", source=_SIXTEEN)
    return total("weights", (matrices, rest), source=_QUANTIZED)


def work_space(spec: ModelSpec, plan: ServingPlan) -> Item:
    """Return the bytes of one forward pass beside weights and cache: an estimate for any engine.

    With fused kernels a pass of the dense modules of `core.models` takes so much within 2 %; code
    out of small operations takes more than twice as much.
    """
    return item(
        "work space",
        WORK_SPACE,
        _work_sizes(spec, plan),
        unit="bytes",
        source=_WORK,
        kind="estimated",
        band=(0.5, 1.5),
    )


def _work_sizes(spec: ModelSpec, plan: ServingPlan) -> dict[str, Number]:
    mixture, tensor = spec.mixture, plan.tensor
    widths = [spec.ffn_dim] if spec.num_dense_layers else []
    copies = 0
    if mixture is not None:
        copies = mixture.experts_per_token  # each picked expert gets a copy of the token
        widths.append((copies + mixture.num_shared) * mixture.expert_dim)
    return {
        "concurrency": plan.concurrency,
        "prompt_len": plan.prompt_len,
        "piece": PREFILL_PIECE,
        "hidden_dim": spec.hidden_dim,
        "num_inner": 3 if spec.gated else 2,
        "ffn_dim": -(-max(widths) // tensor),
        "copies": copies,
        "attention_dim": -(-(2 * spec.num_heads + 2 * spec.num_kv_heads) * spec.head_dim // tensor),
        "vocab_size": -(-spec.vocab_size // tensor),
    }


def serving_memory(spec: ModelSpec, plan: ServingPlan) -> Item:
    """Return the bytes on one device: "weights", "KV cache" and "work space".

    Raises:
        ValueError: If a format is unknown, or the heads cannot be split over the devices.
    """
    weights = serving_weights(spec, plan.weight_format, plan.tensor)
    return total("serving memory", (weights, *growing_parts(spec, plan)), source=_MEMORY)


def growing_parts(spec: ModelSpec, plan: ServingPlan) -> tuple[Item, Item]:
    """Return what grows with sequences and their length: "KV cache" and "work space".

    Raises:
        ValueError: If the format of the cache is unknown.
    """
    cache = kv_cache(spec, plan.context, plan.concurrency, plan.kv_format, plan.tensor)
    return cache, work_space(spec, plan)
