"""One measured speed, many MFUs: what is counted as work, and what as the peak."""

from typing import Final

from core.budget.catalogue.parameters import counts
from core.budget.check import check_range
from core.budget.compute.flops import step_flops
from core.budget.compute.forward_flops import forward_flops
from core.budget.formula import Formula, Number
from core.budget.item import Item, item
from core.budget.recipe import TrainingRecipe
from core.language import N_
from core.models.spec import ModelSpec

SIX_ND: Final = Formula("6 * num_params * tokens_per_second / flops_per_second")
COUNTED: Final = Formula("3 * forward * tokens_per_second / (num_tokens * flops_per_second)")
HARDWARE: Final = Formula("step_flops * tokens_per_second / (num_tokens * flops_per_second)")
SPARSE: Final = Formula("3 * forward * tokens_per_second / (num_tokens * 2 * flops_per_second)")

_SIX_ND: Final = N_("6 FLOPs for each parameter and token; Kaplan et al. 2020, section 2.1")
_PALM: Final = N_("Chowdhery et al. 2022, PaLM, appendix B; nanoGPT and torchtitan count so too")
_CAUSAL: Final = N_("masked pairs left out, as Megatron-LM and MaxText count today")
_HARDWARE: Final = N_(
    "HFU: checkpointing and the scores that flash attention makes again count too"
)
_SPARSE: Final = N_("a mistake: the peak with 2:4 sparsity, which dense training cannot reach")


def mfu_conventions(
    spec: ModelSpec,
    recipe: TrainingRecipe,
    tokens_per_second: float,
    flops_per_second: float,
    *,
    sparsity: bool = True,
) -> tuple[Item, ...]:
    """Return the utilisation that each convention makes of a measured speed.

    Args:
        spec: The model.
        recipe: Length, checkpointing and profile.
        tokens_per_second: Measured, for one device.
        flops_per_second: Dense peak of the device in the dtype of the products.
        sparsity: Whether its data sheet also prints twice that peak, which some divide by.

    Raises:
        ValueError: If a speed is out of range.
    """
    check_range("tokens_per_second", tokens_per_second, 0, 1e12)
    check_range("flops_per_second", flops_per_second, 1, 1e20)
    tokens = recipe.num_tokens
    base: dict[str, Number] = {
        "num_tokens": tokens,
        "tokens_per_second": tokens_per_second,
        "flops_per_second": flops_per_second,
        "num_params": counts(spec).active,
        "forward": forward_flops(spec, tokens, recipe.seq_len).amount,
    }
    causal = base | {"forward": forward_flops(spec, tokens, recipe.seq_len, causal=True).amount}
    step = step_flops(spec, recipe, causal=True).amount // recipe.accumulation
    rows = (
        (N_("6ND"), SIX_ND, base, _SIX_ND),
        (N_("full attention"), COUNTED, base, _PALM),
        (N_("causal attention"), COUNTED, causal, _CAUSAL),
        (N_("hardware (HFU), causal"), HARDWARE, base | {"step_flops": step}, _HARDWARE),
        *([(N_("sparse peak"), SPARSE, base, _SPARSE)] if sparsity else []),
    )
    return tuple(
        item(name, formula, values, unit="1", source=source)
        for name, formula, values, source in rows
    )
