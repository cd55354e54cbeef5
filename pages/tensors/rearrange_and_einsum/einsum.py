"""einsum: which indices are summed, what torch multiplies, and the copies that nobody wrote."""

from typing import Final

from core.figures.tensors.rearrange_and_einsum.indices import IndexCell, IndexRow, index_picture
from core.language import _
from core.tensors.einsum import Order
from core.tensors.einsum_run import EinsumRun, indices_in, run_einsum
from core.tensors.pattern_examples import EINSUM_BY_KEY, EINSUM_LENGTHS, EINSUMS
from core.tensors.presets import DTYPES
from core.units import format_exact, format_flops
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.table_cells import aten_columns, size_text
from pages.tensors.rearrange_and_einsum.inputs import ASK, choose_lengths, length_settings
from pages.tensors.rearrange_and_einsum.snippets import einsum_code

START: Final = EINSUMS[0]
_MAX_EQUATION: Final = 120
Chosen = tuple[str, dict[str, int], str, str]


def choose_einsum() -> Chosen:
    """Ask for an equation; return it with the lengths, the index looked at, and the dtype."""
    titles = {each.key: _(each.title) for each in EINSUMS}
    offer_examples(ASK, "einsum", titles, _settings)
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
    index, lengths, settings = choose_lengths(
        "index", _("Index"), indices_in(text), EINSUM_LENGTHS, looked_at=START.axis
    )
    with settings:
        dtype = ASK.selectbox("einsum_dtype", "dtype", tuple(DTYPES)[:3], default="float32")
    return text, lengths, index, dtype


def _settings(key: str) -> dict[str, object]:
    example = EINSUM_BY_KEY[key]
    return {"equation": example.equation, **length_settings("index", example)}


def einsum(chosen: Chosen) -> Shown:
    """Show the indices of every tensor, what is summed, and what it costs."""
    text, lengths, index, dtype = chosen
    run = run_einsum(text, lengths, dtype)
    picture = index_picture(_rows(run, lengths), run.indices, index, _alt(run), look())
    return Shown(
        headline=_headline(run),
        charts=[Chart(picture=picture, file_name="einsum")],
        notes=[_notations(run)],
        below=None if presenting() else lambda: _show_cost(run),
        code=einsum_code(run, dtype, unit_system()),
    )


def _rows(run: EinsumRun, lengths: dict[str, int]) -> list[IndexRow]:
    """Return the tensors, and the result with the indices that were summed away."""
    rows = [
        IndexRow(
            label=f"x{at} {shape}",
            cells=tuple(IndexCell(index=each, length=lengths[each]) for each in dict.fromkeys(own)),
        )
        for at, (own, shape) in enumerate(zip(run.names, run.plan.equation.shapes, strict=True))
    ]
    cells = tuple(
        IndexCell(index=name, length=lengths[name], mark="summed" if name in run.summed else "here")
        for name in run.indices
    )
    label = _("result {shape}").format(shape=run.plan.shape)
    return [*rows, IndexRow(label=label, cells=cells)]


def _headline(run: EinsumRun) -> str:
    left, best = run.plan.left_to_right, run.plan.best
    words = {
        "equation": run.einops,
        "summed": _(", ").join(run.summed),
        "flops": format_flops(left.flops),
        "best": format_flops(best.flops),
        "bytes": size_text(run.hidden_bytes),
        "count": len(run.copies),
    }
    if not run.summed:
        message = _("`{equation}` sums nothing: an outer product, no matrix product")
    elif best.flops < left.flops:
        message = _("`{equation}` sums over {summed}: {flops}, in the best order {best}")
    elif run.copies:
        message = _(
            "`{equation}` sums over {summed}: {flops}, {count} hidden copies, {bytes} together"
        )
    else:
        message = _("`{equation}` sums over {summed}: {flops}, no hidden copy")
    return message.format(**words)


def _alt(run: EinsumRun) -> str:
    message = _(
        "The indices of {count} tensors of shapes {shapes} and of the result of shape {result}, "
        "one column for each index; summed away: {summed}."
    )
    return message.format(
        count=len(run.names),
        shapes=_(", ").join(map(str, run.plan.equation.shapes)),
        result=run.plan.shape,
        summed=_(", ").join(run.summed) or _("nothing"),
    )


def _notations(run: EinsumRun) -> str:
    names = ", ".join(f"x{at}" for at in range(len(run.names)))
    torch = f'torch.einsum("{run.plan.equation.torch}", {names})'
    return f'`{torch}` · `einsum({names}, "{run.einops}")`'


def _show_cost(run: EinsumRun) -> None:
    """List the products in torch's order and in the best one, and what ran underneath."""
    orders: dict[str, Order] = {_("left to right, as torch does"): run.plan.left_to_right}
    if run.plan.best.flops < run.plan.left_to_right.flops:
        orders[_("fewest FLOPs")] = run.plan.best
    show_table(
        {
            _("Order of products"): list(orders),
            _("The same in torch"): [order.code.replace("\n", "; ") for order in orders.values()],
            "FLOPs": [format_flops(order.flops) for order in orders.values()],
            _("Largest intermediate, elements"): [
                format_exact(order.largest_intermediate) for order in orders.values()
            ],
        }
    )
    rows = [row for row in run.aten if row.num_bytes]
    kinds = [_("hidden copy") if row in run.copies else _("operation") for row in rows]
    show_table(aten_columns(rows) | {_("What it is"): kinds})
