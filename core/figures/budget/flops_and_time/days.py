"""Days of training over the number of devices, at the chosen MFU and between two others."""

import math
from collections.abc import Sequence
from typing import Final

from core.figures.budget.flops_frame import framed, log_axis, powers
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.units import format_percent, format_seconds

DAY: Final = 86_400
LOW_MFU, HIGH_MFU = 0.3, 0.6
_WIDE: Final = 9  # powers of ten: beyond it every power has one tick
_AROUND: Final = 4  # doublings to either side of the chosen number


def counts_around(num_devices: int) -> list[int]:
    """Return numbers of devices, doubling, around a chosen one.

    >>> counts_around(6)
    [1, 2, 3, 6, 12, 24, 48, 96]
    """
    powers = range(-_AROUND, _AROUND + 1)
    return sorted({max(1, round(num_devices * 2.0**power)) for power in powers})


def days_picture(device_seconds: float, mfu: float, num_devices: int, look: Look) -> Picture:
    """Return the line of the chosen MFU, the band of usual ones, and the chosen point.

    Args:
        device_seconds: Seconds that one device would take at its whole peak.
        mfu: The chosen one.
        num_devices: The chosen number.
        look: How the reader wants to see.
    """
    drawing, counts = Drawing(), counts_around(num_devices)
    here = device_seconds / (mfu * num_devices)
    _draw_band(drawing, counts, device_seconds, look)
    _draw_chosen(drawing, counts, device_seconds, mfu, look)
    drawing.scatter(
        x=[num_devices], y=[here / DAY], mode="markers+text", showlegend=False,
        marker={"color": look.color("forward"), "size": 16, "symbol": "diamond"},
        text=[f"  {format_seconds(here)}"], textposition="top right", hoverinfo="skip",
    )  # fmt: skip
    shown = counts[:: 2 if look.present else 1]
    x = log_axis(shown, "{:,}".format, title=_("devices"))
    y = log_axis(_day_ticks(device_seconds, counts), "{:,.12g}".format, title=_("days"))
    alt = _(
        "Days of training fall in step with the number of devices: {here} with {num_devices}, "
        "{ten} with ten times as many."
    ).format(
        here=format_seconds(here),
        num_devices=f"{num_devices:,}",
        ten=format_seconds(device_seconds / (mfu * num_devices * 10)),
    )
    columns: dict[str, Sequence[object]] = {_("devices"): [f"{count:,}" for count in counts]}
    for share in dict.fromkeys((LOW_MFU, mfu, HIGH_MFU)):
        name = _("time at an MFU of {mfu}").format(mfu=f"{share:g}")
        columns[name] = [format_seconds(device_seconds / (share * count)) for count in counts]
    return Picture(figure=framed(drawing, look, x=x, y=y), alt=alt, table=columns)


def _draw_band(drawing: Drawing, counts: Sequence[int], device_seconds: float, look: Look) -> None:
    """Draw the times between the usual shares of the peak."""
    for share, fill in ((LOW_MFU, None), (HIGH_MFU, "tonexty")):
        drawing.scatter(
            x=counts, y=[device_seconds / (share * count * DAY) for count in counts],
            mode="lines", fill=fill, hoverinfo="skip",
            showlegend=fill is not None, name=_("30 to 60 % MFU"),
            line={"color": look.color("estimated"), "width": 1, "dash": "dot"},
        )  # fmt: skip


def _draw_chosen(
    drawing: Drawing, counts: Sequence[int], device_seconds: float, mfu: float, look: Look
) -> None:
    """Draw the line of the chosen MFU."""
    seconds = [device_seconds / (mfu * count) for count in counts]
    drawing.scatter(
        x=counts, y=[each / DAY for each in seconds], mode="lines+markers",
        name=_("{mfu} MFU").format(mfu=format_percent(mfu)),
        line={"color": look.color("forward"), "width": 3},
        marker={"size": 6}, customdata=[format_seconds(each) for each in seconds],
        hovertemplate="%{x:,}: %{customdata}<extra></extra>",
    )  # fmt: skip


def _day_ticks(device_seconds: float, counts: Sequence[int]) -> list[float]:
    """Return ticks over everything that is drawn, from the fastest time to the slowest."""
    ends = (device_seconds / counts[-1] / DAY, 100 * device_seconds / counts[0] / DAY)
    low, high = (math.floor(math.log10(end)) for end in ends)
    digits = (1, 2, 5) if high - low < _WIDE else (1,)
    return [digit * power for power in powers(low, high + 1) for digit in digits]
