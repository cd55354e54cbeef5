"""What a model keeps of one sequence, other kinds of attention, and the blocks of an engine."""

from collections.abc import Sequence
from typing import Final

from core.budget.item import hedged
from core.budget.serving.kv_cache import (
    AS_MADE,
    MHA,
    KVVariant,
    kv_cache,
    kv_cache_bytes_per_token,
    kv_reserved,
    kv_variants,
)
from core.figures.budget.frames import lying_bars, stack, stack_table, text_size
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext
from pages.plan.serving.code import rules
from pages.plan.serving.inputs import ASK, Case
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

CACHE: Final = """
# {name}, {num_kv_heads} KV heads, {kv_format}
{rules}
print(f"KV cache of one sequence: {{KV_cache / 2**20:,.0f}} MiB")
"""
BLOCKS: Final = (8, 16, 32, 64, 128)  # tokens of a block
RESERVED: Final = N_(
    "On paper a layer with a window keeps no more than the window. An engine that keeps one block "
    "table for all layers reserves the whole context in each of them."
)
PAGED: Final = N_(
    "PagedAttention hands out the cache in blocks as a sequence grows, so only its last block has "
    "free slots: on average half a block. An engine that reserves the context in advance keeps the "
    "room of the whole output free from the first token on. Source: Kwon et al. 2023, section 4."
)
MOST_HEIGHT_PX: Final = 310  # of the bars
_LOOKS: Final = {N_("keys and values"): ("kv_cache", ""), N_("scales"): ("gradients", "/")}
_BAR_ROOM: Final = 1.18  # of the longest bar: its number stands beside it
_BAR_HEIGHT: Final = 2.1  # of the text's size


def heads_picture(variants: Sequence[KVVariant], look: Look) -> Picture:
    """Return one bar a kind and format, cut into keys and values, and scales."""
    drawing = Drawing()
    rows = {variant_label(each): _parts(each) for each in variants}
    stack(drawing, rows, _LOOKS, look.format_bytes, look)
    for label, variant in zip(rows, variants, strict=True):
        text = " " + look.format_bytes(variant.cache.amount)
        bold = f"<b>{text}</b>" if variant.name == AS_MADE else text
        drawing.note(x=variant.cache.amount, y=label, text=bold, xanchor="left")
    size = text_size(look)
    longest = max(variant.cache.amount for variant in variants)
    figure = lying_bars(
        drawing,
        look,
        room=_BAR_ROOM * longest,
        height=min(round(len(rows) * size * _BAR_HEIGHT) + 4 * size, MOST_HEIGHT_PX),
        top=32,
        bargap=0.25,
    )
    table = stack_table(_("attention"), rows, _LOOKS, look.format_bytes)
    parts = [f"{label} {total}" for label, total in zip(rows, table[_("total")], strict=True)]
    alt = _("KV cache of one sequence: {parts}.", parts=_(", ").join(parts))
    return Picture(figure=figure, alt=alt, table=table)


def variant_label(variant: KVVariant) -> str:
    """Return what a bar is called: kind of attention, key heads, format."""
    name = _(variant.name)
    if variant.num_kv_heads:
        heads = ngettext("{count} KV head", "{count} KV heads", variant.num_kv_heads)
        name = f"{name} · {heads.format(count=variant.num_kv_heads)}"
    elif variant.name == AS_MADE:
        name = _("as made: latent vector")
    return f"{name} · {variant.kv_format}"


def _parts(variant: KVVariant) -> dict[str, float]:
    """Return the bytes of keys and values, and of scales; layers with windows have their own."""
    found = dict.fromkeys(_LOOKS, 0.0)
    for part in variant.cache.children:
        found[part.name.removesuffix(" in windows")] += part.amount
    return found


def choose_block() -> int:
    return ASK.segmented("block", _("Tokens in a block (PagedAttention)"), BLOCKS, default=16)


def heads(case: Case, block: int) -> Shown:
    """Show what other kinds of attention and formats would keep, and what blocks leave empty."""
    made, plan = case.made, case.plan
    variants = kv_variants(made, plan.context, plan.kv_format)
    windows = bool(made.num_windowed_layers)
    sizes = (made, plan.context, 1, plan.kv_format)
    both = [(_("on paper"), kv_cache(*sizes)), (_("as reserved"), kv_reserved(*sizes))]
    blocks = [
        (label, kv_reserved(made, num_tokens, 1, plan.kv_format))
        for label, num_tokens in (
            (_("one block"), block),
            (_("empty in the last block, at most"), block - 1),
            (_("empty at the start, if reserved in advance"), plan.output_len),
        )
    ]
    return Shown(
        headline=heads_sentence(case, variants),
        charts=[Chart(picture=heads_picture(variants, look()), file_name="kv-cache")],
        numbers=[*(both if windows else []), *blocks],
        notes=[*([_(RESERVED)] if windows else []), _(PAGED)],
        code=cache_code(*_compared(variants)),
    )


def _compared(variants: Sequence[KVVariant]) -> tuple[KVVariant, ...]:
    """Return the model as it was made and, if that is another one, with MHA."""
    made = next(each for each in reversed(variants) if each.name == AS_MADE)
    return (made, *(each for each in variants[::-1] if each.name == MHA))[:2]


def heads_sentence(case: Case, variants: Sequence[KVVariant]) -> str:
    """Return what the model keeps of a token and of the context, and what MHA would."""
    made, *others = _compared(variants)
    words = {
        "model": case.made.name,
        "token": look().format_bytes(kv_cache_bytes_per_token(case.made)),
        "context": f"{case.plan.context:,}",
        "total": hedged(look().format_bytes(made.cache.amount), made.cache),
        "format": f"`{case.plan.kv_format}`",
    }
    if not others:
        return _(
            "{model}: {token} per token in 16 bits; {context} tokens in {format}: {total}", **words
        )
    return _(
        "{model}: {token} per token in 16 bits; {context} tokens in {format}: {total}, "
        "with MHA {mha}",
        mha=look().format_bytes(others[0].cache.amount),
        **words,
    )


def cache_code(*variants: KVVariant) -> str:
    """Return code that counts the cache of one sequence for some kinds of attention."""
    parts = [
        CACHE.format(
            name=each.name,
            num_kv_heads=each.num_kv_heads,
            kv_format=each.kv_format,
            rules=rules(each.cache),
        )
        for each in variants
    ]
    return "from math import ceil\n" + "".join(parts)


TAB: Final = Tab(label=N_("KV cache"), show=heads, choose=choose_block)
