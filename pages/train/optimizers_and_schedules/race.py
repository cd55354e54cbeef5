"""The answer: who came nearest to the minimum, and by which way."""

import math
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.train.optimizers.surfaces import Path, Surface, nearest, race
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.optimizers_and_schedules.inputs import SWITCHES, Case

# The optimizer in plain torch; x and y of Muon are the diagonal of a matrix.
_MADE: Final = {
    "SGD": "optim.SGD(p, lr={lr})",
    "Momentum": "optim.SGD(p, lr={lr}, momentum={beta1})",
    "AdaGrad": "optim.Adagrad(p, lr={lr})",
    "RMSProp": "optim.RMSprop(p, lr={lr}, alpha={beta2})",
    "Adam": "optim.Adam(p, lr={lr}, betas=({beta1}, {beta2}))",
    "AdamW": "optim.AdamW(p, lr={lr}, betas=({beta1}, {beta2}), weight_decay={decay})",
    "Muon": "optim.Muon(p, lr={lr}, momentum={beta1}, weight_decay={decay})",
}
_CODE: Final = """
import torch
from torch import optim

minima = torch.tensor({minima}, dtype=torch.float64)
p = torch.tensor({start}, dtype=torch.float64).requires_grad_()
optimizer = {made}
for _ in range({steps}):
    x, y = {unpacked}
    loss = {formula}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
distances = ({point} - minima).norm(dim=1)
print("{name}:", f"{{distances.min().item():.3g}}", "from the minimum")
"""


def race_tab(case: Case) -> Shown:
    if not case.rules:
        raise ValueError(_("Nobody runs: switch at least one optimizer on."))
    paths = race(case.surface, case.rules, case.num_steps)
    notes = [
        _("Each begins at {start} with the same learning rate. The loss is {formula}.").format(
            start=case.surface.start, formula=f"`{case.surface.formula}`"
        )
    ]
    if "Muon" in paths:
        notes.append(
            _("Muon steps matrices: here x and y are the diagonal of one. It makes both singular "
              "values of the momentum about 1, so both move at about the same pace.")
        )  # fmt: skip
    return Shown(
        headline=_headline(paths, case.num_steps),
        charts=[Chart(picture=race_picture(case.surface, paths, look()), file_name="race")],
        notes=notes,
        code=_code(case, nearest(paths) or next(iter(paths))),
    )


def _headline(paths: dict[str, Path], num_steps: int) -> str:
    first = nearest(paths)
    gone = _(", ").join(name for name, path in paths.items() if path.diverged)
    if not first:
        return _("All diverge at this learning rate: {names}").format(names=gone)
    said = _("After {steps} steps {name} is nearest to the minimum: {distance} away").format(
        steps=num_steps, name=first, distance=f"{paths[first].distance:.3g}"
    )
    return said + (_("; diverging: {names}").format(names=gone) if gone else "")


def _code(case: Case, name: str) -> str:
    is_matrix = case.rules[name].orthogonalize
    x, y = case.surface.start
    made = _MADE[name].format(
        lr=case.lr, beta1=case.beta1, beta2=case.beta2, decay=case.weight_decay
    )
    return _CODE.format(
        minima=list(map(list, case.surface.minima)),
        start=[[x, 0.0], [0.0, y]] if is_matrix else [x, y],
        made=made.replace("(p,", "([p],"),
        steps=case.num_steps,
        unpacked="p.diag()" if is_matrix else "p",
        formula=case.surface.formula,
        point="p.diag()" if is_matrix else "p",
        name=name,
    )


HEIGHT_PX: Final = 430
PRESENT_HEIGHT_PX: Final = 400
NUM_CELLS: Final = 70
NUM_LINES: Final = 14
MOST_POINTS: Final = 200  # drawn of a path
# Colour, dash and mark of each: no path is known by its colour alone.
STYLES: Final[Mapping[str, tuple[str, str, str]]] = {
    "SGD": ("axis_6", "solid", "circle"),
    "Momentum": ("axis_2", "solid", "square"),
    "AdaGrad": ("axis_3", "dash", "diamond"),
    "RMSProp": ("axis_4", "dash", "triangle-up"),
    "Adam": ("axis_1", "solid", "cross"),
    "AdamW": ("text", "dot", "x"),
    "Muon": ("axis_5", "dashdot", "star"),
}


def race_picture(surface: Surface, paths: Mapping[str, Path], look: Look) -> Picture:
    """Return the contour lines of a loss with the way that each optimizer took."""
    layout, drawing = look.layout(), Drawing()
    _draw_contours(drawing, surface, look)
    for name, path in paths.items():
        _draw_path(drawing, name, path, look)
    drawing.scatter(
        x=[x for x, _y in surface.minima], y=[y for _x, y in surface.minima], mode="markers",
        name=_("minimum"), hovertemplate=_("minimum") + " (%{x}, %{y})<extra></extra>",
        marker={"symbol": "star-open", "size": 18, "color": look.color("text"),
                "line": {"width": 2}},
    )  # fmt: skip
    left, right, bottom, top = surface.window
    still = {"zeroline": False, "showgrid": False}
    fields = {
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": layout["font"]["size"] * 4, "b": 8},
        "xaxis": layout["xaxis"] | still | {"range": [left, right], "title": {"text": "x"}},
        "yaxis": layout["yaxis"] | still | {"range": [bottom, top], "title": {"text": "y"}},
        "meta": surface.formula,
    }
    return Picture(
        figure=drawing.figure(layout | fields), alt=_sentence(surface, paths), table=_table(paths)
    )


def _draw_contours(drawing: Drawing, surface: Surface, look: Look) -> None:
    left, right, bottom, top = surface.window
    xs = [left + (right - left) * i / NUM_CELLS for i in range(NUM_CELLS + 1)]
    ys = [bottom + (top - bottom) * i / NUM_CELLS for i in range(NUM_CELLS + 1)]
    lowest = min(surface.loss(x, y) for x, y in surface.minima)
    # Equal steps of the logarithm: the valleys would be one flat colour otherwise.
    heights = [[round(math.log10(surface.loss(x, y) - lowest + 0.01), 3) for x in xs] for y in ys]
    low, high = min(map(min, heights)), max(map(max, heights))
    drawing.trace(
        "contour", x=xs, y=ys, z=heights, showscale=False, hoverinfo="skip", autocontour=False,
        contours={"start": low, "end": high, "size": (high - low) / NUM_LINES},
        colorscale=[[0, look.color("background")], [1, look.color("surface")]],
        line={"width": 1, "color": look.color("border")},
    )  # fmt: skip


def _draw_path(drawing: Drawing, name: str, path: Path, look: Look) -> None:
    color, dash, symbol = STYLES[name]
    every = max(len(path.points) // MOST_POINTS, 1)
    last = len(path.points) - 1
    steps = [*islice(range(last), 0, None, every), last]
    seen = [step for step in steps if all(map(math.isfinite, path.points[step]))]
    drawing.scatter(
        x=[path.points[step][0] for step in seen], y=[path.points[step][1] for step in seen],
        customdata=seen, mode="lines+markers",
        name=_("{name} (diverges)").format(name=name) if path.diverged else name,
        line={"color": look.color(color), "width": 3 if look.present else 2, "dash": dash},
        marker={"symbol": symbol, "color": look.color(color),
                "size": [4] * (len(seen) - 1) + [12]},
        hovertemplate=name + " · " + _("step %{customdata}") + ": (%{x:.3g}, %{y:.3g})"
        "<extra></extra>",
    )  # fmt: skip


def _sentence(surface: Surface, paths: Mapping[str, Path]) -> str:
    here = _("{name} ends {distance} from the minimum after {steps} steps")
    gone = _("{name} diverges at step {steps}")
    parts = [
        (gone if path.diverged else here).format(
            name=name, distance=f"{path.distance:.3g}", steps=len(path.points) - 1
        )
        for name, path in paths.items()
    ]
    return _("Contour lines of {formula}, from the start {start}: {parts}.").format(
        formula=surface.formula, start=surface.start, parts=_("; ").join(parts)
    )


def _table(paths: Mapping[str, Path]) -> dict[str, Any]:
    return {
        _("optimizer"): list(paths),
        _("steps"): [len(path.points) - 1 for path in paths.values()],
        "x": [float(path.points[-1][0]) for path in paths.values()],
        "y": [float(path.points[-1][1]) for path in paths.values()],
        _("loss"): [path.loss for path in paths.values()],
        _("distance to the minimum"): [path.distance for path in paths.values()],
        _("diverges"): [_("yes") if path.diverged else _("no") for path in paths.values()],
    }


TAB: Final = Tab(label=N_("Trajectories"), show=race_tab, unseen=SWITCHES)
