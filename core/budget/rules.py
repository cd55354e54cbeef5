"""Two rules to carry in the head: 16 bytes for a parameter, 6 FLOPs for a parameter and a token.

For our own model the closed forms of `core.budget.gpt` are exact; these are what they come to.
"""

from dataclasses import replace

from core.budget.formula import Formula
from core.budget.item import Item, item
from core.language import N_

STATE_RULE = Formula("16 * num_params")
STATE_PARTS = {
    "weights": Formula("2 * num_params"),
    "gradients": Formula("2 * num_params"),
    "master weights": Formula("4 * num_params"),
    "moments": Formula("(4 + 4) * num_params"),
}
FLOPS_RULE = Formula("6 * num_params * num_tokens")


def state_rule(num_params: int) -> Item:
    """Return the bytes of weights, gradients and AdamW's two moments, part by part.

    Mixed precision: 2 + 2 bytes in bf16, an fp32 master copy and two fp32 moments. All in fp32 it
    is 4 + 4 + 8, the same sum. Activations come on top.
    """
    source = N_("Rajbhandari et al. 2020, ZeRO, section 3.1: K = 12 beside 2 + 2 bytes")
    values = {"num_params": num_params}
    parts = [
        item(name, formula, values, unit="bytes", source=source)
        for name, formula in STATE_PARTS.items()
    ]
    whole = item("training state", STATE_RULE, values, unit="bytes", source=source)
    return replace(whole, children=tuple(parts))


def flops_rule(num_params: int, num_tokens: int) -> Item:
    """Return the FLOPs of training on `num_tokens`: 2 forward and 4 backward for each parameter.

    Attention over the context and the embedding's look-ups are left out, so a small model with a
    long context is off by some tens of per cent.
    """
    return item(
        "training FLOPs",
        FLOPS_RULE,
        {"num_params": num_params, "num_tokens": num_tokens},
        unit="FLOPs",
        kind="estimated",
        band=0.1,
        source=N_("Kaplan et al. 2020, Scaling Laws for Neural Language Models, section 2.1"),
    )
