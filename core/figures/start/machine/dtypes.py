"""What each dtype of torch can do on a device: a column a dtype, a row an operation."""

from collections.abc import Sequence
from typing import Final

from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.machine import Device, DtypeVerdict

OPERATIONS: Final = {
    "create": N_("create"),
    "convert": N_("convert"),
    "add": N_("add"),
    "matmul": N_("matmul"),
}
_FEWEST: Final = 2  # operations that work, of a dtype that is more than a name
_MARKS: Final = {True: "✓", False: "✗", None: ""}
_NAME_CHARS: Final = 15  # of the longest dtype that can do something
_ROWS: Final = 8  # lines of text: two an operation


def told_dtypes(device: Device) -> tuple[DtypeVerdict, ...]:
    """Return the dtypes that can do more than exist, those first that can do everything."""
    told = [each for each in device.dtypes if sum(trial.works for trial in each.trials) >= _FEWEST]
    return tuple(sorted(told, key=lambda each: (-sum(t.works for t in each.trials), each.name)))


def dtypes_picture(device: Device, look: Look) -> Picture:
    """Return which operations of which dtypes torch could do on a device.

    Args:
        device: With its dtypes tried.
        look: How the reader wants to see.
    """
    told, drawing, layout = told_dtypes(device), Drawing(), look.layout()
    verdicts = [[_verdict(dtype, operation) for dtype in told] for operation in OPERATIONS]
    drawing.trace(
        "heatmap",
        x=[dtype.name for dtype in told],
        y=[_(name) for name in OPERATIONS.values()],
        z=[[None if works is None else int(works) for works in row] for row in verdicts],
        text=[[_MARKS[works] for works in row] for row in verdicts],
        texttemplate="%{text}",
        textfont={"color": look.color("background"), "size": layout["font"]["size"]},
        customdata=[[_message(dtype, operation) for dtype in told] for operation in OPERATIONS],
        hovertemplate="%{x} · %{y}<br>%{customdata}<extra></extra>",
        zmin=0, zmax=1, xgap=2, ygap=2, showscale=False,
        colorscale=[[0, look.color("refused")], [1, look.color("works")]],
    )  # fmt: skip
    size = layout["font"]["size"]
    fixed = {"fixedrange": True, "showgrid": False, "automargin": True}
    axes = {
        "xaxis": layout["xaxis"] | fixed | {"tickangle": -90, "side": "bottom", "type": "category"},
        "yaxis": layout["yaxis"] | fixed | {"autorange": "reversed"},
        "height": round((_ROWS + 0.6 * _NAME_CHARS) * size),
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
    }
    figure = drawing.figure(layout | axes)
    return Picture(figure=figure, alt=_sentence(device, told), table=_table(told))


def _verdict(dtype: DtypeVerdict, operation: str) -> bool | None:
    """Return whether an operation worked; None if it was not tried."""
    return {trial.operation: trial.works for trial in dtype.trials}.get(operation)


def _message(dtype: DtypeVerdict, operation: str) -> str:
    said = {trial.operation: trial.message for trial in dtype.trials}.get(operation, "")
    return said.splitlines()[0][:90] if said else _("works")


def _sentence(device: Device, told: Sequence[DtypeVerdict]) -> str:
    able = [dtype.name for dtype in told if dtype.works]
    return _(
        "On {device} {count} dtypes can be created, converted, added and multiplied: {names}. "
        "{others} others can do a part of it."
    ).format(
        device=device.torch_name,
        count=len(able),
        names=_(", ").join(able),
        others=len(told) - len(able),
    )


def _table(told: Sequence[DtypeVerdict]) -> Table:
    columns = {
        _(word): [_MARKS[_verdict(dtype, operation)] for dtype in told]
        for operation, word in OPERATIONS.items()
    }
    said = [next((each.message for each in dtype.trials if each.message), "") for dtype in told]
    return {
        _("dtype"): [dtype.name for dtype in told],
        **columns,
        _("PyTorch says"): [message.splitlines()[0][:90] if message else "" for message in said],
    }
