"""The FLOPs of serving: a whole prompt at once, then one token of each sequence at a time."""

from typing import Final

from core.budget.compute.forward_flops import flop_sizes, forward_flops, is_scores
from core.budget.formula import Formula, Number
from core.budget.item import Item, item, total
from core.language import N_
from core.models.spec import ModelSpec

_TOKENS: Final = "num_full_layers * context + num_windowed_layers * min(context, window)"
SCORES: Final = Formula(f"2 * concurrency * ({_TOKENS}) * num_heads * (key_dim + value_dim)")
# Latent attention multiplies its queries into the compressed space and never unfolds the cache.
LATENT_SCORES: Final = Formula(
    f"2 * concurrency * ({_TOKENS}) * num_heads * (kv_rank + rope_dim + kv_rank)"
)
LAST_TOKEN: Final = Formula("2 * num_sequences * hidden_dim * vocab_size")
_SCORES: Final = N_("queries times keys, then weights times values, for every token in the cache")
_LATENT: Final = N_("DeepSeek-V2, 2024, section 2.1.2: projections absorbed while decoding")
_LAST: Final = N_("only the last token of a prompt is turned into a next token")
_PASS: Final = N_("2 FLOPs for each multiply and add; norms and activations left out")


def prefill_flops(spec: ModelSpec, prompt_len: int) -> Item:
    """Return the FLOPs of reading one prompt: causal attention, the head for its last token."""
    whole = forward_flops(spec, prompt_len, prompt_len, causal=True)
    values = flop_sizes(spec) | {"num_sequences": 1}
    head = item("head", LAST_TOKEN, values, unit="FLOPs", source=_LAST)
    parts = [part for part in whole.children if part.name != "head"]
    return total("prefill FLOPs", (*parts, head), source=_PASS)


def decode_flops(spec: ModelSpec, context: int, concurrency: int) -> Item:
    """Return the FLOPs of one more token for each of `concurrency` sequences.

    Args:
        spec: The model.
        context: Tokens in the cache of each sequence.
        concurrency: Sequences.
    """
    pass_over = forward_flops(spec, concurrency, 1)
    parts = [part for part in pass_over.children if not is_scores(part)]
    values: dict[str, Number] = flop_sizes(spec) | {
        "context": context,
        "window": spec.window or context,
        "concurrency": concurrency,
    }
    formula, source = (SCORES, _SCORES) if spec.latent is None else (LATENT_SCORES, _LATENT)
    scores = item("attention scores", formula, values, unit="FLOPs", source=source)
    return total("decode FLOPs", (*parts, scores), source=_PASS)
