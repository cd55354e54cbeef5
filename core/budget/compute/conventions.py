"""What is counted as work: the exact FLOPs beside 6 N D, and the MFUs that one speed can have."""

from math import inf
from typing import Final

from core.budget.check import check_range
from core.budget.compute.forward_flops import forward_flops, is_pairs, is_scores, training_forward
from core.budget.compute.step_flops import step_flops
from core.budget.item import GUESSED_WORK, Formula, Item, Number, as_guessed, item
from core.budget.recipe import TrainingRecipe
from core.budget.weights.parameters import counts
from core.language import N_
from core.models.spec import ModelSpec

SIX_ND: Final = Formula("6 * num_params * tokens_per_second / flops_per_second")
COUNTED: Final = Formula("3 * forward * tokens_per_second / (num_tokens * flops_per_second)")
HARDWARE: Final = Formula("step_flops * tokens_per_second / (num_tokens * flops_per_second)")
ADAPTED: Final = Formula("2 * matrices * tokens_per_second / (num_tokens * flops_per_second)")
SPARSE: Final = Formula("3 * forward * tokens_per_second / (num_tokens * 2 * flops_per_second)")

_SIX_ND: Final = N_("6 FLOPs for each parameter and token; Kaplan et al. 2020, section 2.1")
_PALM: Final = N_("Chowdhery et al. 2022, PaLM, appendix B; nanoGPT and torchtitan count so too")
_CAUSAL: Final = N_("masked pairs left out, as Megatron-LM and MaxText count today")
_HARDWARE: Final = N_(
    "HFU: checkpointing and the attention scores that flash attention recomputes count too"
)
_ADAPTED: Final = N_("4 FLOPs for each weight of a matrix and token: frozen ones have no gradient")
_SPARSE: Final = N_("a mistake: the peak with 2:4 sparsity, which dense training cannot reach")

RATIO: Final = Formula("3 * forward / (6 * num_params * num_tokens)")
CROSSING: Final = Formula("2 * matrices_each_token / scores_each_pair - 1")
# Full layers cost (s + 1) pairs a token, full windows w (2 s - w + 1) / s: the larger root of the
# square equation in s.
_LINEAR: Final = "(scores_full + 2 * window * scores_windowed - 2 * matrices_each_token)"
CROSSING_WITH_WINDOWS: Final = Formula(
    f"(({_LINEAR} ** 2 + 4 * scores_full * scores_windowed * window * (window - 1)) ** 0.5"
    f" - {_LINEAR}) / (2 * scores_full)"
)
CROSSING_IN_WINDOWS: Final = Formula(
    "scores_each_pair * window * (window - 1)"
    " / (2 * scores_each_pair * window - 2 * matrices_each_token)"
)
# Whole chunks cost (w + 1) / 2 pairs a token, whatever the context.
CROSSING_WITH_CHUNKS: Final = Formula(
    "(2 * matrices_each_token - scores_windowed * (window + 1)) / scores_full - 1"
)
CONTEXTS: Final[tuple[int, ...]] = tuple(2**power for power in range(8, 21))

_RATIO: Final = N_("forward and backward counted matmul by matmul, over 6 FLOPs a parameter")
_CROSSING: Final = N_("half the context on average behind a causal mask")
_WINDOWS: Final = N_("half the context behind a causal mask, in windowed layers no more than them")


def mfu_conventions(
    spec: ModelSpec,
    recipe: TrainingRecipe,
    tokens_per_second: float,
    flops_per_second: float,
    *,
    sparsity: bool = True,
) -> tuple[Item, ...]:
    """Return the utilisation that each convention makes of a speed that somebody reports.

    `tokens_per_second` is of one device, as somebody measured it: nothing here checks that.
    `sparsity` says that its data sheet also prints twice the dense peak, which some divide by.

    Raises:
        ValueError: If a speed is out of range.
    """
    check_range("tokens_per_second", tokens_per_second, 0, 1e12)
    check_range("flops_per_second", flops_per_second, 1, 1e20)
    tokens = recipe.num_tokens
    forward = training_forward(spec, tokens, recipe.seq_len)
    base: dict[str, Number] = {
        "num_tokens": tokens,
        "tokens_per_second": tokens_per_second,
        "flops_per_second": flops_per_second,
        "num_params": counts(spec).active,
        "forward": forward.amount,
        "matrices": sum(part.amount for part in forward.children if not is_pairs(part)),
    }
    causal = base | {"forward": training_forward(spec, tokens, recipe.seq_len, causal=True).amount}
    step = step_flops(spec, recipe, causal=True).amount // recipe.accumulation
    rows = (
        (N_("6ND"), SIX_ND, base, _SIX_ND),
        (N_("full attention"), COUNTED, base, _PALM),
        (N_("causal attention"), COUNTED, causal, _CAUSAL),
        (N_("hardware (HFU), causal"), HARDWARE, base | {"step_flops": step}, _HARDWARE),
        *([(N_("adapters, without attention"), ADAPTED, base, _ADAPTED)] if recipe.lora else []),
        *([(N_("sparse peak"), SPARSE, base, _SPARSE)] if sparsity else []),
    )
    return tuple(
        item(name, formula, values, unit="1", kind="claimed", source=source)
        for name, formula, values, source in rows
    )


def six_nd_ratio(spec: ModelSpec, seq_len: int, *, causal: bool) -> Item:
    """Return exact over rule for one sequence of `seq_len`; N are the active parameters.

    Neither side has the blocks for multi-token prediction.

    Raises:
        ValueError: If the length is out of range.
    """
    forward = forward_flops(spec, seq_len, seq_len, causal=causal)
    values = {"forward": forward.amount, "num_params": counts(spec).active, "num_tokens": seq_len}
    ratio = item(N_("exact / 6ND"), RATIO, values, unit="×", kind=forward.kind, source=_RATIO)
    return as_guessed(ratio, spec)


def crossing(spec: ModelSpec) -> Item | None:
    """Return the context at which causal scores cost as much as all matrices.

    None if they never do: a window holds them down in every layer, or no layer has attention.
    """
    forward = forward_flops(spec, 1, 1)
    pairs = sum(part.amount for part in forward.children if is_pairs(part))
    if not pairs:
        return None
    values: dict[str, Number] = {
        "matrices_each_token": forward.amount - pairs,
        "scores_each_pair": pairs,
    }
    formula, source = CROSSING, _CROSSING
    first, num_windowed = CROSSING.of(values), spec.num_windowed_layers
    window = spec.window or first
    if spec.indexer is not None:
        window, num_windowed = spec.indexer.top_k, spec.num_attention_layers
    if num_windowed and first > window:
        scores = sum(part.amount for part in forward.children if is_scores(part))
        windowed = scores * num_windowed / spec.num_attention_layers
        values |= {"scores_full": pairs - windowed, "scores_windowed": windowed, "window": window}
        beyond = _beyond_windows(values, chunked=spec.chunked)
        if beyond is None:
            return None
        formula, source = beyond, _WINDOWS
    found = item(N_("crossing"), formula, values, unit="tokens", kind=forward.kind, source=source)
    # A window that is not known would put it off, however far.
    return as_guessed(found, spec, (GUESSED_WORK[0], inf))


def _beyond_windows(values: dict[str, Number], *, chunked: bool) -> Formula | None:
    """Return the rule beyond a window that is full; a full chunk costs half a window."""
    windowed = values["scores_windowed"]
    if values["scores_full"]:
        return CROSSING_WITH_CHUNKS if chunked else CROSSING_WITH_WINDOWS
    if chunked or windowed * values["window"] <= values["matrices_each_token"]:
        return None
    return CROSSING_IN_WINDOWS
