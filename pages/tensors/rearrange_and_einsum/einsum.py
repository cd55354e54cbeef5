"""einsum: which indices are summed, what torch multiplies, and the copies that nobody wrote."""

from collections.abc import Sequence
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.tensors.einsum import EinsumRun, Order, run_einsum
from core.tensors.einsum_equation import indices_in
from core.tensors.examples import DTYPES, EINSUM_LENGTHS, EINSUMS, titles
from core.units import format_exact, format_flops
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.table_cells import aten_columns, size_text
from pages.tensors.rearrange_and_einsum.inputs import (
    ASK,
    axis_color,
    choose_lengths,
    length_settings,
    mixed,
    written,
)

START: Final = EINSUMS["scores"]
ROW_PX: Final = {False: 62, True: 66}  # on a projector True
_MAX_EQUATION: Final = 120
_EINSUM: Final = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

{written}

class Others(TorchDispatchMode):  # hears of every aten operation underneath
    copied = copies = flops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {{}}))
        if func is torch.ops.aten.clone.default:
            self.copied, self.copies = self.copied + result.nbytes, self.copies + 1
        if func.overloadpacket is torch.ops.aten.sum:  # n - 1 additions for n numbers
            self.flops += args[0].numel() - result.numel()
        if func.overloadpacket is torch.ops.aten.mul:  # a product that sums nothing
            self.flops += result.numel()
        return result

tensors = [torch.empty(shape, dtype=torch.{dtype}, device="meta") for shape in {shapes}]
with FlopCounterMode(display=False) as products, Others() as others:
    result = torch.einsum("{equation}", *tensors)
print(tuple(result.shape), work(products.get_total_flops() + others.flops))
print(others.copies, "hidden copies of", size(others.copied)){best}
"""
_BEST: Final = """

{operands} = tensors
with FlopCounterMode(display=False) as products, Others() as others:
    {code}
print("in the best order", work(products.get_total_flops() + others.flops))"""
Chosen = tuple[str, dict[str, int], str, str]


def choose_einsum() -> Chosen:
    """Ask for an equation; return it with the lengths, the index looked at, and the dtype."""
    offer_examples(ASK, "einsum", titles(EINSUMS), _settings)
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
    example = EINSUMS[key]
    return {"equation": example.equation, **length_settings("index", example)}


def einsum(chosen: Chosen) -> Shown:
    """Show the indices of every tensor, what is summed, and what it costs."""
    text, lengths, index, dtype = chosen
    run = run_einsum(text, lengths, dtype)
    return Shown(
        headline=_headline(run),
        charts=[Chart(picture=index_picture(run, index, look()), file_name="einsum")],
        notes=[_notations(run)],
        below=None if presenting() else lambda: _show_cost(run),
        code=_code(run, dtype, unit_system()),
    )


def _headline(run: EinsumRun) -> str:
    left, best, equation = run.plan.left_to_right, run.plan.best, run.plan.equation
    words = {
        "equation": equation.einops,
        "summed": _(", ").join(equation.summed),
        "flops": format_flops(left.flops),
        "best": format_flops(best.flops),
        "bytes": size_text(run.hidden_bytes),
        "count": len(run.copies),
    }
    if not equation.summed:
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


def _notations(run: EinsumRun) -> str:
    equation = run.plan.equation
    names = ", ".join(f"x{at}" for at in range(len(equation.names)))
    return f'`torch.einsum("{equation.torch}", {names})` · `einsum({names}, "{equation.einops}")`'


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


def index_picture(run: EinsumRun, chosen: str, look: Look) -> Picture:
    """Return one row for each tensor, the same index in the same column and colour."""
    drawing, layout, equation = Drawing(), look.layout(), run.plan.equation
    names = equation.indices
    rows = {
        f"x{at} {shape}": own
        for at, (own, shape) in enumerate(zip(equation.names, equation.shapes, strict=True))
    }
    rows[_("result {shape}").format(shape=equation.shape)] = names
    table: dict[str, list[str]] = {_("tensor"): list(rows)}
    table |= {name: ["–"] * len(rows) for name in names}
    for at, own in enumerate(rows.values()):
        for name in dict.fromkeys(own):
            is_summed = at == len(rows) - 1 and name in equation.summed
            text = f"Σ {name}" if is_summed else str(equation.lengths[name])
            table[name][at] = text
            x, color = names.index(name), axis_color(name, names, look)
            drawing.shape(
                type="rect", x0=x - 0.42, x1=x + 0.42, y0=at - 0.36, y1=at + 0.36, layer="below",
                line={"color": color, "width": 2, "dash": "dot" if is_summed else "solid"},
                fillcolor=mixed(color, 0.0 if is_summed else 0.4, look),
            )  # fmt: skip
            drawing.note(x=x, y=at, text=text, font={"size": layout["font"]["size"] + 1})
    if chosen in names:
        frame = {"color": look.color("text"), "width": 2.5, "dash": "dot"}
        x = names.index(chosen)
        drawing.shape(
            type="rect", x0=x - 0.49, x1=x + 0.49, y0=-0.5, y1=len(rows) - 0.5, line=frame
        )
    drawing.scatter(x=[None], y=[None], hoverinfo="skip")
    alt = _(
        "The indices of {count} tensors of shapes {shapes} and of the result of shape {result}, "
        "one column for each index; summed away: {summed}."
    ).format(
        count=len(equation.names),
        shapes=_(", ").join(map(str, equation.shapes)),
        result=equation.shape,
        summed=_(", ").join(equation.summed) or _("nothing"),
    )
    figure = drawing.figure(layout | _axes(names, list(rows), look))
    return Picture(figure=figure, alt=alt, table=table)


def _axes(names: Sequence[str], labels: Sequence[str], look: Look) -> dict[str, Any]:
    layout = look.layout()
    size = layout["font"]["size"]
    fixed = {"fixedrange": True, "showgrid": False, "zeroline": False, "showline": False}
    across = {
        "range": [-0.55, max(len(names), 4) - 0.45],
        "tickvals": list(range(len(names))),
        "ticktext": [
            f'<span style="color:{axis_color(name, names, look)}"><b>{name}</b></span>'
            for name in names
        ],
        "side": "top",
        "tickfont": layout["font"] | {"size": size + 5},
    }
    down = {
        "range": [len(labels) - 0.45, -0.55],
        "tickvals": list(range(len(labels))),
        "ticktext": [f"{label} " for label in labels],
    }
    return {
        "xaxis": layout["xaxis"] | fixed | across,
        "yaxis": layout["yaxis"] | fixed | down,
        "height": len(labels) * ROW_PX[look.present] + 3 * size,
        "margin": {"l": 8, "r": 8, "t": 2.4 * size, "b": 4},
        "showlegend": False,
    }


def _code(run: EinsumRun, dtype: str, unit: str) -> str:
    left, best, equation = run.plan.left_to_right, run.plan.best, run.plan.equation
    operands = ", ".join(f"x{at}" for at in range(len(equation.names)))
    better = _BEST.format(operands=operands, code=best.code.replace("\n", "\n    "))
    return _EINSUM.format(
        written=written(unit),
        dtype=dtype,
        shapes=list(equation.shapes),
        equation=equation.torch,
        best=better if best.flops < left.flops else "",
    )


TAB: Final = Tab(label="einsum", show=einsum, choose=choose_einsum)
