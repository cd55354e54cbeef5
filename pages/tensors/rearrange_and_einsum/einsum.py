"""einsum: which indices are summed, what torch multiplies, and the copies that nobody wrote."""

from typing import Final

import streamlit as st

from core.figures.tensors.rearrange_and_einsum.indices import IndexCell, IndexRow, index_picture
from core.language import _
from core.tensors.einsum_run import (
    OPERANDS,
    EinsumRun,
    Equation,
    is_clone,
    orders_of,
    read_equation,
    run_einsum,
)
from core.tensors.pattern_examples import EINSUM_BY_KEY, EINSUM_LENGTHS, EINSUMS, EinsumExample
from core.tensors.presets import DTYPES
from core.units import format_bytes, format_count, format_flops
from pages.shared.charts import show_table
from pages.shared.settings import locked, look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown
from pages.tensors.rearrange_and_einsum.inputs import ASK, choose_lengths
from pages.tensors.rearrange_and_einsum.snippets import einsum_code

START: Final = EINSUMS[0]
_MAX_EQUATION: Final = 120
Chosen = tuple[Equation, dict[str, int], str, str]


def choose_einsum() -> Chosen:
    """Ask for an equation; return it with the lengths, the index looked at, and the dtype."""
    key = ASK.key("einsum_menu")
    st.menu_button(
        _("Examples"),
        [each.key for each in EINSUMS],
        format_func=lambda name: _(EINSUM_BY_KEY[name].title),
        key=key,
        disabled=locked(),
        on_click=lambda: _open(EINSUM_BY_KEY[str(st.session_state[key])]),
    )
    text = ASK.text(
        "equation",
        _("Equation"),
        default=START.equation,
        max_chars=_MAX_EQUATION,
        help=_(
            "In the notation of torch, `bqd,bkd->bqk`, or of einops, `b q d, b k d -> b q k`: a "
            "space between names makes it the latter. Up to three tensors."
        ),
    )
    equation = read_equation(text)
    index, lengths, settings = choose_lengths(
        "index", _("Index"), equation.indices, EINSUM_LENGTHS, looked_at=START.axis
    )
    with settings:
        dtype = ASK.selectbox("einsum_dtype", "dtype", tuple(DTYPES)[:3], default="float32")
    return equation, lengths, index, dtype


def _open(example: EinsumExample) -> None:
    """Write an example into the inputs."""
    ASK.set("equation", example.equation)
    ASK.set("index_axis", example.axis)
    for place, length in enumerate(example.lengths, 1):
        ASK.set(f"index_{place}", length)


def einsum(chosen: Chosen) -> Shown:
    """Show the indices of every tensor, what is summed, and what it costs."""
    equation, lengths, index, dtype = chosen
    run = run_einsum(equation, lengths, dtype)
    rows = [
        IndexRow(
            label=f"{name} {shape}",
            cells=tuple(IndexCell(index=each, length=lengths[each]) for each in dict.fromkeys(own)),
        )
        for name, own, shape in zip(OPERANDS, equation.operands, run.shapes, strict=False)
    ]
    rows.append(IndexRow(label=_result_label(run), cells=_result_cells(run, lengths)))
    alt = _alt(run)
    picture = index_picture(rows, equation.indices, index, alt, look())
    return Shown(
        headline=_headline(run) + _better_order(run, lengths),
        charts=[Chart(picture=picture, file_name="einsum")],
        notes=[_notations(run.equation)],
        below=lambda: _show_cost(run, lengths),
        code=einsum_code(run, dtype, unit_system()),
    )


def _result_label(run: EinsumRun) -> str:
    return _("result {shape}").format(shape=run.result_shape)


def _result_cells(run: EinsumRun, lengths: dict[str, int]) -> tuple[IndexCell, ...]:
    summed = run.equation.summed
    return tuple(
        IndexCell(index=name, length=lengths[name], mark="summed" if name in summed else "here")
        for name in run.equation.indices
    )


def _headline(run: EinsumRun) -> str:
    summed = run.equation.summed
    words = {
        "equation": run.equation.einops,
        "summed": ", ".join(summed),
        "flops": format_flops(run.flops),
        "bytes": format_bytes(run.hidden_bytes, unit_system()),
        "count": run.num_clones,
    }
    if not summed:
        message = _("`{equation}` sums nothing: an outer product, no matrix product")
    elif run.hidden_bytes:
        message = _(
            "`{equation}` sums over {summed}: {flops}, {count} hidden copies, {bytes} together"
        )
    else:
        message = _("`{equation}` sums over {summed}: {flops}, no hidden copy")
    return message.format(**words)


def _better_order(run: EinsumRun, lengths: dict[str, int]) -> str:
    """Return which order of three tensors takes fewer FLOPs than torch's; "" if none does."""
    orders = orders_of(run.equation, lengths)
    best = min(orders, key=lambda order: order.flops, default=None)
    if best is None or best.flops == orders[0].flops:
        return ""
    message = _("; {order} would take {flops}")
    return message.format(order=best.code, flops=format_flops(best.flops))


def _alt(run: EinsumRun) -> str:
    message = _(
        "The indices of {count} tensors of shapes {shapes} and of the result of shape {result}, "
        "one column for each index; summed away: {summed}."
    )
    return message.format(
        count=len(run.shapes),
        shapes=", ".join(map(str, run.shapes)),
        result=run.result_shape,
        summed=", ".join(run.equation.summed) or _("nothing"),
    )


def _notations(equation: Equation) -> str:
    names = ", ".join(OPERANDS[: len(equation.operands)])
    return f'`torch.einsum("{equation.torch}", {names})` · `einsum({names}, "{equation.einops}")`'


def _show_cost(run: EinsumRun, lengths: dict[str, int]) -> None:
    if orders := orders_of(run.equation, lengths):
        show_table(
            {
                _("Order of products"): [each.code for each in orders],
                "FLOPs": [format_flops(each.flops) for each in orders],
                _("Elements in between"): [format_count(each.largest) for each in orders],
                _("Used by"): [_("torch, from left to right"), "–", "–"],
            }
        )
    rows = [row for row in run.aten if row.num_bytes]
    if rows and not presenting():
        show_table(
            {
                _("Underneath"): [row.name.removeprefix("aten.") for row in rows],
                _("What it is"): [
                    _("hidden copy") if is_clone(row) else _("matrix product") for row in rows
                ],
                _("Shape"): [str(row.shapes[0]) for row in rows],
                _("Allocated"): [format_bytes(row.num_bytes, unit_system()) for row in rows],
                "FLOPs": [format_flops(row.flops) if row.flops else "" for row in rows],
            }
        )
