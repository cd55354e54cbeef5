"""The matrix of models, ways and devices: one plane of it, and the square that is picked out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any, Final
from unicodedata import east_asian_width

import streamlit as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import DeviceSpec
from core.budget.fits.jobs import SERVING_FORMATS
from core.budget.fits.matrix import Cell, row
from core.budget.fits.plane import (
    MOST_DEVICES,
    Plane,
    PlaneName,
    models_devices,
    models_ways,
    ways_devices,
)
from core.budget.fits.solve import Answer, min_devices
from core.budget.item import Item, hedged
from core.budget.planning.settings import NOT_ADAPTED, RELEASED
from core.budget.weights.parameters import counts
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext
from core.models.spec import ModelSpec
from pages.plan.what_fits.detail import show_detail
from pages.plan.what_fits.inputs import Case, note_context, what
from pages.shared.plan.plan import set_plan
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

LETTERS: Final[Mapping[str, str]] = {
    "weights": N_("W"),
    "KV cache": N_("K"),
    "recurrent state": N_("Z"),
    "workspace": N_("S"),
    "gradients": N_("G"),
    "optimizer": N_("O"),
    "activations": N_("A"),
    "logits and loss": N_("L"),
    "temporary": N_("T"),
    "data": N_("D"),
    "communication buffers": N_("B"),
    "allocator reserve": N_("R"),
}
"""Name of an item -> the letter that stands for it in a square."""
_OTHER: Final = "other"
COLORS: Final[Mapping[str, str]] = {
    "weights": "weights",
    "KV cache": "kv_cache",
    "recurrent state": "kv_cache",
    "workspace": "temporary",
    "gradients": "gradients",
    "optimizer": "optimizer",
    "activations": "activations",
    "logits and loss": "activations",
    "temporary": "temporary",
}
"""Name of an item -> the meaning of the colour of squares in which it is the first to fail."""
_SHADES: Final = ("background", "surface", *dict.fromkeys((*COLORS.values(), _OTHER)))
_STRENGTH: Final = 0.55  # of a square's colour: text on it is to be read
_ROW_HEIGHT: Final = 1.75  # of the text's size
_UPRIGHT: Final = 6  # columns whose names have room side by side
_NARROW: Final = 660  # px of the picture on a screen of 1024
_SMALLER: Final = 3  # px that the text of a square may be smaller than all other
_NAME_EM: Final = 0.55  # of a character of a name, on average
# Widest em of a letter of Source Sans, and of any font of Chinese; of a digit and × it is 0.5.
_EM: Final = {"space": 0.25, "digit": 0.5, "letter": 0.8, "wide": 1.0}
_STEEP: Final = 26  # columns from which names stand upright and a square has room for one letter
_STEEP_PRESENTED: Final = 12  # as many on a projector
_TINY: Final = 12  # px of such names and letters, but on a projector
_COUNT: Final = re.compile(r"\d+k?× ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """What the reader sees of a plane: a translated label for each key, and what is picked out."""

    rows: Mapping[str, str]
    columns: Mapping[str, str]
    chosen: tuple[str, str] | None = None


def map_picture(plane: Plane, labels: Labels, look: Look) -> Picture:
    """Return the plane as coloured squares; a click on one carries its row and column."""
    layout, drawing = look.layout(), Drawing()
    _draw_squares(drawing, plane, look)
    _draw_words(drawing, plane, labels, look)
    if labels.chosen and labels.chosen[0] in plane.rows and labels.chosen[1] in plane.columns:
        x, y = plane.columns.index(labels.chosen[1]), plane.rows.index(labels.chosen[0])
        line = {"color": look.color("text"), "width": 3}
        drawing.shape(type="rect", x0=x - 0.5, x1=x + 0.5, y0=y - 0.5, y1=y + 0.5, line=line)
    axes = _axes(plane, labels, look) | {"showlegend": False, "clickmode": "event+select"}
    figure = drawing.figure(layout | axes)
    first = {" ": [labels.rows[key] for key in plane.rows]}
    squares = {
        labels.columns[column]: [
            square_text(plane.cells[row, column], plane.fewest[row, column]) for row in plane.rows
        ]
        for column in plane.columns
    }
    return Picture(figure=figure, alt=_sentence(plane, labels), table={**first, **squares})


def is_steep(plane: Plane, look: Look) -> bool:
    """Return whether there are so many columns that only letters have room in them."""
    return len(plane.columns) >= (_STEEP_PRESENTED if look.present else _STEEP)


def _axes(plane: Plane, labels: Labels, look: Look) -> dict[str, Any]:
    layout, num_rows = look.layout(), len(plane.rows)
    size = layout["font"]["size"]
    upright = size if look.present else _TINY
    names = [labels.columns[key] for key in plane.columns]
    slanted, steep = len(names) > _UPRIGHT, is_steep(plane, look)
    above = round(max(map(len, names)) * upright * 0.62) if steep else (7 if slanted else 2) * size
    still = {"showgrid": False, "zeroline": False, "fixedrange": True}
    across = {"side": "top", "tickvals": list(range(len(names))), "ticktext": names}
    down = {"tickvals": list(range(num_rows)), "ticktext": [labels.rows[key] for key in plane.rows]}
    return {
        "xaxis": layout["xaxis"]
        | still
        | across
        | {"range": [-0.5, len(names) - 0.5]}
        | ({"tickangle": -90, "tickfont": {"size": upright}} if steep else {})
        | ({} if steep else {"tickangle": -40 if slanted else 0}),
        "yaxis": layout["yaxis"] | still | down | {"range": [num_rows - 0.5, -0.5]},
        "height": round(num_rows * size * _ROW_HEIGHT) + above + size,
        "margin": {"l": 8, "r": 5 * size if slanted and not steep else 8, "t": above, "b": 4},
    }


def shade(cell: Cell) -> str:
    """Return the meaning of a square's colour: coloured is what does not fit, by its cause."""
    if cell.reason:
        return COLORS.get(cell.reason, _OTHER)
    return "background" if cell.verdict == "fits" and not cell.sentence else "surface"


def _draw_squares(drawing: Drawing, plane: Plane, look: Look) -> None:
    stops = [
        [place / len(_SHADES), look.color(meaning)]
        for number, meaning in enumerate(_SHADES)
        for place in (number, number + 1)
    ]
    drawing.trace(
        "heatmap",
        z=[
            [_SHADES.index(shade(plane.cells[row, column])) for column in plane.columns]
            for row in plane.rows
        ],
        zmin=-0.5, zmax=len(_SHADES) - 0.5, colorscale=stops, showscale=False, hoverinfo="skip",
        xgap=2, ygap=2, opacity=_STRENGTH,
    )  # fmt: skip


def _written(plane: Plane, labels: Labels, look: Look) -> tuple[list[str], int]:
    """Return what stands in the squares, and its size: as large and whole as the widest has room.

    A letter alone would say that no number of devices is enough: the counts go from all or none.
    """
    pairs = [(row, column) for row in plane.rows for column in plane.columns]
    words = [square_text(plane.cells[pair], plane.fewest[pair]) for pair in pairs]
    size = look.layout()["font"]["size"]
    sizes = range(size, size - (0 if look.present else _SMALLER) - 1, -1)
    forms = [(px, times) for px in sizes for times in ("× ", "×")] + [(px, "") for px in sizes]
    room = _square_room(plane, labels, size)
    for px, times in [] if is_steep(plane, look) else forms:
        shorter = [each.replace("× ", times) for each in words]
        if max(sum(_EM[_kind(sign)] for sign in each) for each in shorter) * px <= room:
            return shorter, px
    return [_COUNT.sub("", each) for each in words], size if look.present else _TINY


def _square_room(plane: Plane, labels: Labels, size: int) -> float:
    """Return the pixels of a square's width on a narrow screen, beside the longest name."""
    names = max(len(labels.rows[key]) for key in plane.rows) * _NAME_EM * size
    slant = 5 * size if len(plane.columns) > _UPRIGHT else size
    return (_NARROW - names - slant) / len(plane.columns)


def _kind(sign: str) -> str:
    if east_asian_width(sign) in "WF":
        return "wide"
    return "space" if sign == " " else "digit" if sign in "0123456789×" else "letter"


def _draw_words(drawing: Drawing, plane: Plane, labels: Labels, look: Look) -> None:
    where = [(row, column) for row in plane.rows for column in plane.columns]
    color = look.color("text")
    words, small = _written(plane, labels, look)
    drawing.scatter(
        x=[place for _row in plane.rows for place in range(len(plane.columns))],
        y=[place for place in range(len(plane.rows)) for _column in plane.columns],
        mode="markers+text", marker={"size": 24, "opacity": 0}, text=words,
        textfont={"color": color, "size": small},
        customdata=[[*pair, hover_text(plane, labels, pair, look)] for pair in where],
        hovertemplate="%{customdata[2]}<extra></extra>", selected={"textfont": {"color": color}},
        unselected={"textfont": {"color": color}, "marker": {"opacity": 0}},
    )  # fmt: skip


def square_text(cell: Cell, fewest: int) -> str:
    """Return what stands in a square: a tick, or why not and how many devices would do."""
    if cell.sentence:
        return "–"
    if not cell.reason:
        return "✓" if cell.verdict == "fits" else "≈"
    if not fewest:
        return f"{'≈' if cell.is_guess else ''}{letter(cell.reason)}"
    count = f"{fewest // 1024}k" if fewest >= 1024 else str(fewest)
    return f"{'≈' if cell.is_guess else ''}{count}× {letter(cell.reason)}"


def letter(reason: str) -> str:
    """Return the letter of an item; an item without one of its own has its first."""
    return _(LETTERS[reason]) if reason in LETTERS else reason[:1].upper()


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign of the picture, what it means, and the meaning of its square's colour."""

    text: str
    name: str
    color: str


def signs(plane: Plane) -> list[Sign]:
    """Return the legend: what fits, what may, and each cause that this picture has."""
    seen = dict.fromkeys(cell.reason for cell in plane.cells.values() if cell.reason)
    causes = [
        Sign(letter(name), _("{item} too large").format(item=_(name)), COLORS.get(name, _OTHER))
        for name in seen
    ]
    guessed = any(cell.is_guess for cell in plane.cells.values())
    close = Sign("≈", _("borderline or guessed") if guessed else _("borderline"), "surface")
    is_close = any(cell.verdict == "close" for cell in plane.cells.values())
    return [Sign("✓", _("fits"), "background"), *([close] if is_close else []), *causes]


def count_sentence(plane: Plane, labels: Labels, look: Look) -> str:
    """Return what the numbers in the squares are, or where to find them."""
    words, _size = _written(plane, labels, look)
    has_counts = any(plane.fewest[pair] for pair, cell in plane.cells.items() if cell.reason)
    if has_counts and not any(map(str.isdigit, "".join(words))):
        return _("how many devices are enough stands in the table and under the pointer")
    return _("2×: two devices are enough")


def hover_text(plane: Plane, labels: Labels, pair: tuple[str, str], look: Look) -> str:
    cell, fewest = plane.cells[pair], plane.fewest[pair]
    head = f"<b>{labels.rows[pair[0]]}</b> · {labels.columns[pair[1]]}"
    if cell.need is None:
        return f"{head}<br>{cell.sentence}"
    sizes = _("{need} of {capacity}").format(
        need=hedged(look.format_bytes(cell.need.amount), cell.need),
        capacity=look.format_bytes(cell.capacity),
    )
    return "<br>".join([head, sizes, *_reason_lines(cell, fewest)])


def _reason_lines(cell: Cell, fewest: int) -> Sequence[str]:
    if cell.is_guess:
        return (_("guessed, or not all of it counted: nothing here is certain"),)
    if not cell.reason:
        return () if cell.verdict == "fits" else (_("fits, but not at the upper end of its band"),)
    first = _("the first that does not fit: {item}").format(item=_(cell.reason))
    if not fewest:
        return first, _("no number of devices is enough")
    enough = ngettext("{count} device is enough", "{count} devices are enough", fewest)
    return first, enough.format(count=fewest)


def _sentence(plane: Plane, labels: Labels) -> str:
    unsure = sum(cell.is_guess for cell in plane.cells.values())
    fitting = [
        pair
        for pair, cell in plane.cells.items()
        if not (cell.reason or cell.sentence or cell.is_guess)
    ]
    per_column = [
        f"{labels.columns[key]} {sum(pair[1] == key for pair in fitting)}" for key in plane.columns
    ]
    said = _("Of {total} squares {count} fit. By column: {columns}.").format(
        total=len(plane.cells), count=len(fitting), columns=_(", ").join(per_column)
    )
    more = _("Guessed: {count}.").format(count=unsure)
    return f"{said} {more}" if unsure else said


OWN: Final = "own"  # the reader's own model or device in a picture
_FEW_MODELS: Final = (
    *("gpt2-xl", "llama-3.2-3b", "llama-2-7b", "llama-3.1-8b", "llama-2-13b", "qwen2.5-32b"),
    *("mixtral-8x7b", "llama-2-70b", "llama-3.1-405b", "deepseek-v3"),
)
_FEWEST_MODELS: Final = (
    *("llama-2-7b", "llama-2-13b", "qwen2.5-32b", "llama-2-70b", "llama-3.1-405b"),
    "deepseek-v3",
)
_FEW_DEVICES: Final = (
    *("t4", "l4", "rtx-4090", "rtx-5090", "a100-40gb", "l40s", "h100-sxm", "m4-max"),
    *("h200-sxm", "b200", "mi300x", "mi355x"),
)
_FEWEST_DEVICES: Final = (
    *("rtx-4090", "rtx-5090", "a100-40gb", "h100-sxm", "h200-sxm", "b200", "mi300x"),
)
_MEMORY_IN_NAME: Final = re.compile(r" \d+ GB$")
_RECOMPUTE: Final = N_("Every device holds activations of its own: recompute them (Settings).")
_FEWER: Final = N_("Every device works on sequences of its own: fewer or shorter ones do.")
_WAYS_OUT: Final[Mapping[str, str]] = {
    "activations": _FEWER,
    "logits and loss": _FEWER,
    "KV cache": N_("The cache does not shrink with more devices than key heads: fewer tokens do."),
}
"""Name of what fails on any number of devices -> what helps."""


def fits_map(case: Case) -> Shown:
    """Show one plane of the matrix, and below it the square that is picked out."""
    name = case.axes
    (cell,) = row(case.plan.spec, case.job, [case.chosen.device.device])
    fewest = min_devices(case.plan.spec, case.job, case.chosen.device.device, MOST_DEVICES)
    note_context(case)
    models, devices = models_of(case), devices_of(case)
    plane = {
        "models_devices": partial(models_devices, models, case.job, devices),
        "ways_devices": partial(ways_devices, case.plan.spec, case.ways, devices),
        "models_ways": partial(models_ways, models, case.ways, case.chosen.device.device),
    }[name]()
    model, device = case.chosen.model.key or OWN, case.chosen.device.key or OWN
    model_names = {key: spec.name for key, spec in models.items()}
    device_names = {key: device_name(spec) for key, spec in devices.items()}
    ways = {key: key for key in case.ways}
    rows, columns, chosen = {
        "models_devices": (model_names, device_names, (model, device)),
        "ways_devices": (ways, device_names, (case.way, device)),
        "models_ways": (model_names, ways, (model, case.way)),
    }[plane.name]
    labels = Labels(rows=rows, columns=columns, chosen=chosen)
    chart = Chart(
        picture=map_picture(plane, labels, look()),
        file_name="what-fits",
        on_click=partial(take_over, case),
    )
    fewer = note_fewer(devices) if case.all_in_picture and name != "models_ways" else ""
    said = [others_note(models.values(), case.tokens, name), fewer]
    st.html(legend_html(plane, labels))
    helps = "" if fewest.amount or cell.need is None else way_out(case, fewest.reason)
    return Shown(
        headline=verdict(case, cell, fewest),
        charts=[chart],
        notes=[*filter(None, [helps, " · ".join(filter(None, said))])],
        below=partial(show_detail, case),
    )


def legend_html(plane: Plane, labels: Labels) -> str:
    parts = [
        f'<span><b style="--cause:var(--b2g-{sign.color.replace("_", "-")})">'
        f"{escape(sign.text)}</b> {escape(sign.name)}</span>"
        for sign in signs(plane)
    ]
    return f"""<div class="fits-legend">{"".join(parts)}<span>· {
        escape(count_sentence(plane, labels, look()))
    }</span></div>"""


def models_of(case: Case) -> dict[str, ModelSpec]:
    keys = MODELS if case.all_in_picture else _FEWEST_MODELS if presenting() else _FEW_MODELS
    found = {key: MODELS[key] for key in keys} | {case.chosen.model.key or OWN: case.plan.spec}
    return dict(sorted(found.items(), key=lambda pair: counts(pair[1]).total))


def devices_of(case: Case) -> dict[str, DeviceSpec]:
    """Return the devices of the picture, small to large; a projector has no room for all."""
    many, few = (_FEW_DEVICES, _FEWEST_DEVICES) if presenting() else (DEVICES, _FEW_DEVICES)
    keys = many if case.all_in_picture else few
    found = {key: DEVICES[key] for key in keys} | {
        case.chosen.device.key or OWN: case.chosen.device.device
    }
    return dict(sorted(found.items(), key=lambda pair: pair[1].memory_usable))


def note_fewer(devices: Mapping[str, DeviceSpec]) -> str:
    """Return that a projector shows not all devices; "" where they are all there."""
    if len(devices) >= len(DEVICES):
        return ""
    return _("{count} of {all} devices: more have no room on a projector").format(
        count=len(devices), all=len(DEVICES)
    )


def device_name(device: DeviceSpec) -> str:
    """Return a device's name and memory where there is little room: "A100 SXM, 80 GiB"."""
    number, unit = look().format_bytes(device.memory_sold).split(" ")
    name = _MEMORY_IN_NAME.sub("", device.name.partition(" (")[0])
    return f"{name}, {round(float(number))} {unit}"


def others_note(models: Iterable[ModelSpec], tokens: int, plane: PlaneName) -> str:
    """Return that models of the picture are counted up to their own context; "" if none is cut."""
    cut = any(spec.seq_len < tokens for spec in models)
    return _("every model up to its own context") if cut and plane != "ways_devices" else ""


def take_over(case: Case, clicked: Sequence[Any]) -> None:
    """Take over the square that was clicked: a model, a device, a way."""
    row_name, column_name = case.axes.split("_")
    changed: dict[str, object] = {}
    for name, key in zip((row_name, column_name), clicked[:2], strict=True):
        changed |= _of_way(case, key) if name == "ways" else {name.removesuffix("s"): key}
    set_plan(changed)


def _of_way(case: Case, way: str) -> dict[str, object]:
    """Return what the inputs of the plan say of a format of the weights, or way of training."""
    if case.plan.work == "serve":
        return {"weights": SERVING_FORMATS.get(way, RELEASED)}
    recipe = case.ways[way].plan.recipe
    return {
        "precision": recipe.precision,
        "optimizer": recipe.optimizer,
        "lora": recipe.lora.base_format if recipe.lora else NOT_ADAPTED,
    }


def verdict(case: Case, cell: Cell, fewest: Answer) -> str:
    """Return whether it fits, with the numbers and the reason."""
    if cell.need is None:
        return cell.sentence
    values = {
        "what": _one_group(case),
        "need": look().format_bytes(cell.need.amount),
        "about": _hedged(cell.need),
        "capacity": look().format_bytes(cell.capacity),
        "item": _(cell.reason),
    }
    if not cell.reason:
        if cell.verdict == "close":
            return _("{what} may fit: {about} needed, {capacity} usable.").format(**values)
        return _("{what} fits: {need} needed, {capacity} usable.").format(**values)
    said = {
        "close": _(
            "{what} may not fit: {about} needed, {capacity} usable; first to fail: **{item}**."
        ),
        "too_big": _(
            "{what} does not fit: {need} needed, {capacity} usable; first to fail: **{item}**."
        ),
    }[cell.verdict].format(**values)
    return _("{verdict} {enough}").format(
        verdict=said, enough=enough(fewest, is_guess=cell.is_guess)
    )


def _one_group(case: Case) -> str:
    """Return the job on as few devices as the plan can be split over."""
    number, device = case.job.plan.num_devices, case.chosen.device.device.name
    if number == 1:
        return _("{what} on one {device}").format(what=what(case), device=device)
    return ngettext("{what} on {count} {device}", "{what} on {count} {device}", number).format(
        what=what(case), count=number, device=device
    )


def _hedged(need: Item) -> str:
    """Return what is needed as one says it of a borderline case or a guess."""
    text = look().format_bytes(need.amount)
    return hedged(text, need) if need.guess else _("about {amount}").format(amount=text)


def enough(fewest: Answer, *, is_guess: bool = False) -> str:
    if is_guess and fewest.amount:
        return ngettext(
            "{count} device may be enough.", "{count} devices may be enough.", fewest.amount
        ).format(count=fewest.amount)
    words = {"most": f"{fewest.tried:,}", "reason": f"**{_(fewest.reason)}**"}
    if is_guess:
        return _("Perhaps no number of devices up to {most} is enough.").format(**words)
    if not fewest.amount:
        return _("No number up to {most} is enough; what fails then: {reason}").format(**words)
    return ngettext(
        "{count} device is enough.", "{count} devices are enough.", fewest.amount
    ).format(count=fewest.amount)


def way_out(case: Case, reason: str) -> str:
    """Return what helps where no number of devices does; "" if nothing is known to."""
    plan = case.plan
    if reason == "activations" and plan.work == "train" and plan.recipe.checkpointing != "full":
        return _(_RECOMPUTE)
    return _(_WAYS_OUT[reason]) if reason in _WAYS_OUT else ""
