"""Attention from end to end, by hand and fused: what each statement copies and allocates."""

from collections.abc import Callable, Mapping
from typing import Final

from core.figures.tensors.rearrange_and_einsum.attention import attention_picture
from core.language import N_, _
from core.tensors.attention import (
    SIZES,
    AttentionRun,
    AttentionSize,
    by_hand,
    fused,
    largest_difference,
    run_attention,
    weight_per_head,
)
from core.units import format_exact
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown
from pages.shared.tensors.table_cells import kind_text, size_text
from pages.tensors.rearrange_and_einsum.inputs import ASK
from pages.tensors.rearrange_and_einsum.snippets import attention_code

TOY_LENGTHS: Final = (2, 3, 4, 5, 6, 8, 12, 16)
LENGTHS: Final = (128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
PROGRAMS: Final[Mapping[str, str]] = {
    "hand": N_("Step by step"),
    "sdpa": "SDPA",
    "linear": N_("Per head"),
}
Chosen = tuple[AttentionSize, int, str]


def choose_attention() -> Chosen:
    size = SIZES[
        ASK.segmented(
            "model", _("Size"), tuple(SIZES), default="toy", labels=lambda key: _(SIZES[key].title)
        )
    ]
    program = ASK.segmented(
        "program",
        _("Program"),
        tuple(PROGRAMS),
        default="hand",
        labels=lambda key: _(PROGRAMS[key]),
        help=_(
            "Step by step: scores, softmax and weighted sum. SDPA: torch's fused kernel. Per head: "
            "one small matrix for all heads."
        ),
    )
    if size.has_data:
        tokens = ASK.select_slider("toy_len", _("Sequence length"), TOY_LENGTHS, default=4)
    else:
        tokens = ASK.select_slider(
            "seq_len", _("Sequence length"), LENGTHS, default=8192, labels=format_exact
        )
    return size, tokens, program


def attention(chosen: Chosen) -> Shown:
    size, tokens, program = chosen
    is_traced = size.has_data or program != "sdpa"
    run = run_attention(size, tokens, _lines(program, is_traced=is_traced)(size, tokens))
    picture = attention_picture(run, look())
    return Shown(
        headline=_HEADLINES[program if is_traced else "hand"](run),
        charts=[Chart(picture=picture, file_name="attention")],
        notes=_notes(run, program, is_traced=is_traced),
        below=None if presenting() else lambda: _show_statements(run),
        code=attention_code(run, program if is_traced else "hand", unit_system()),
    )


def _lines(program: str, *, is_traced: bool) -> Callable[[AttentionSize, int], Mapping[str, str]]:
    if not is_traced or program == "hand":
        return by_hand
    return fused if program == "sdpa" else weight_per_head


def _headline_by_hand(run: AttentionRun) -> str:
    words = {
        "tokens": format_exact(run.seq_len),
        "scores": size_text(run.stage("scores").num_bytes),
        "merge": size_text(run.stage("merge").num_bytes),
    }
    message = _(
        "Attention by hand, {tokens} tokens: scores and softmax {scores} each, split 0 B, merge "
        "{merge}"
    )
    return message.format(**words)


def _headline_sdpa(run: AttentionRun) -> str:
    scores = run_attention(run.size, run.seq_len, by_hand(run.size, run.seq_len)).stage("scores")
    message = _(
        "SDPA, {tokens} tokens: result {made}, no scores of {scores} in memory, and the merge is a "
        "view"
    )
    return message.format(
        tokens=format_exact(run.seq_len),
        made=size_text(run.stage("SDPA").num_bytes),
        scores=size_text(scores.num_bytes),
    )


def _headline_linear(run: AttentionRun) -> str:
    message = _("Split and merge are views; the product of each head takes {made} in all")
    if run.result is not None:
        message = _(
            "Split and merge are views; the product of each head takes {made} in all, and every "
            "element is {value}"
        )
    value = "" if run.result is None else f"{run.result.flat[0]:.1f}"
    return message.format(made=size_text(run.stage("multiply").num_bytes), value=value)


_HEADLINES: Final = {
    "hand": _headline_by_hand,
    "sdpa": _headline_sdpa,
    "linear": _headline_linear,
}


def _notes(run: AttentionRun, program: str, *, is_traced: bool) -> list[str]:
    notes = []
    if not run.size.has_data:
        notes.append(
            _(
                "The sizes of one layer: {heads} query heads and {kv} KV heads of {dim}. Nothing "
                "is allocated: torch runs on tensors without data."
            ).format(heads=run.size.num_heads, kv=run.size.num_kv_heads, dim=run.size.head_dim)
        )
    if not is_traced:
        notes.append(
            _(
                "This is attention by hand: without data, torch decomposes SDPA into these same "
                "steps, so its own kernel can be seen at toy size only."
            )
        )
    if program == "hand" and run.size.has_data:
        difference = largest_difference(run.size, run.seq_len)
        notes.append(
            _(
                "No mask. The result differs from F.scaled_dot_product_attention by at most "
                "{difference}."
            ).format(difference=f"{difference:.1e}")
        )
    return notes


def _show_statements(run: AttentionRun) -> None:
    stages = run.stages
    show_table(
        {
            _("Statement"): [f"`{stage.code}`" for stage in stages],
            _("What it is"): [kind_text(stage.kind) for stage in stages],
            _("Shape"): [str(stage.shape) for stage in stages],
            _("Result"): [size_text(stage.num_bytes) for stage in stages],
            _("Temporary"): [size_text(stage.hidden_bytes) for stage in stages],
        }
    )
