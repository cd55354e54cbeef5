"""Memory against compute: the same stack with checkpoint segments of every length."""

from core.autograd.recomputation import Run
from core.figures.autograd.accumulation_and_recomputation.trade_off import (
    segment_name,
    trade_off_picture,
)
from core.language import _
from core.units import format_flops
from pages.autograd.accumulation_and_recomputation.inputs import Case
from pages.autograd.accumulation_and_recomputation.measured import swept
from pages.autograd.accumulation_and_recomputation.snippets import trade_off_snippet
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown


def trade_off(case: Case) -> Shown:
    """Draw what segments of every length keep and compute again."""
    runs = swept(case.stack)
    picture = trade_off_picture(runs, look())
    return Shown(
        headline=_headline(runs),
        charts=[Chart(picture=picture, file_name="memory-against-compute")],
        notes=[] if presenting() else [_note()],
        below=None if presenting() else lambda: _show_growth(runs),
        code=trade_off_snippet(case.stack),
    )


def _headline(runs: tuple[Run, ...]) -> str:
    plain, *checkpointed = runs
    best = min((each for each in checkpointed[:-1]), key=lambda each: each.peak)
    said = _("Of these lengths, segments of {segment} peak lowest: {peak} instead of {plain}")
    return said.format(
        segment=segment_name(best.segment),
        peak=look().format_bytes(best.peak),
        plain=look().format_bytes(plain.peak),
    )


def _note() -> str:
    return _(
        "Every run is a real backward pass on torch's meta device: tensors have shapes and no "
        "elements, and bytes and FLOPs are the same. Nested: a checkpoint within a checkpoint, so "
        "that each layer is recomputed from the input."
    )


def _show_growth(runs: tuple[Run, ...]) -> None:
    """List how memory and compute grow with the number of layers L."""
    plain, *checkpointed, nested = runs
    root = min(checkpointed, key=lambda each: each.peak)
    rows = [(plain, "O(L)", "O(L)"), (root, "O(√L)", "O(L)"), (nested, "O(1)", "O(L²)")]
    show_table(
        {
            _("layers per checkpoint segment"): [segment_name(run.segment) for run, *_o in rows],
            _("peak grows as"): [memory for _run, memory, _flops in rows],
            _("peak"): [look().format_bytes(run.peak) for run, *_o in rows],
            _("FLOPs grow as"): [flops for _run, _memory, flops in rows],
            "FLOPs": [format_flops(run.flops) for run, *_o in rows],
        }
    )
