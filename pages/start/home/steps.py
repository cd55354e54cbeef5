"""The course in five steps: each a picture of what a lesson shows, and the way to that lesson.

A picture is an SVG of a kilobyte or a few, drawn in the time of a glance: Home waits for no chart.
It holds no words: those stand below it. `benchmarks.record_home_pictures` computes its numbers.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import streamlit as st

from core.figures.picture import Look
from core.language import N_, _
from core.units import format_percent
from pages.shared.lessons import lesson_link, lessons_of
from pages.shared.navigation import page_row
from pages.shared.settings import look, presenting
from pages.shared.start.course_map import find

FIRST_LEVEL: Final = 1
_FORMAT: Final = "bfloat16"
Numbers = Mapping[str, Any]

STEPS_FILE: Final = Path(__file__).with_name("steps.json")
WIDTH: Final = 240
HEIGHT: Final = 132
_GAP: Final = 2
_MEANINGS: Final = {
    "gathered weights": "weights",
    "logits and loss": "activations",
    "data": "other",
    "communication buffers": "other",
    "allocator reserve": "other",
}


STEPS: Final = {  # picture -> the lesson that shows the same
    "bits": "bits-bf16-half",
    "place": "transpose-is-a-view",
    "graph": "what-a-gradient-says",
    "next_token": "from-text-to-the-next-token",
    "memory": "training-five-residents",
}
_SENTENCES: Final = {
    "bits": N_("π in {format} is {value}"),
    "place": N_("In the transposed tensor, [{row}, {column}] is stored at {address}"),
    "graph": N_("The gradient of {leaf} is {gradient}"),
    "next_token": N_("After “{text}” comes “{token}”: {chance}"),
    "memory": N_("{model} takes {total} on each of {num_devices} {device}, which has {capacity}"),
}


def show_steps() -> None:
    with st.container(key="home_steps", horizontal=True):
        for number, (picture, slug) in enumerate(STEPS.items(), start=1):
            with st.container(key=f"home_step_{number}", gap=None):
                sentence = _sentence(picture)
                st.html(_picture(picture, sentence))
                lesson = find(slug)
                lesson_link(lesson, f"**{number} · {_(page_row(lesson.page).section)}**")
                if not presenting():
                    st.caption(sentence)


def num_first_lessons() -> int:
    """Return how many lessons of the first level the pages of the steps have."""
    pages = {find(slug).page for slug in STEPS.values()}
    return sum(each.level == FIRST_LEVEL for page in pages for each in lessons_of(page))


def _picture(name: str, alt: str) -> str:
    source = f"data:image/svg+xml,{quote(drawn(name, look()))}"
    return f'<img src="{source}" alt="{escape(alt)}" data-picture="{name}">'


def _sentence(picture: str) -> str:
    return _(_SENTENCES[picture]).format(**_words(picture))


def _words(picture: str) -> dict[str, Any]:
    numbers = load_steps()[picture]
    if picture == "bits":
        return next(each for each in numbers["rows"] if each["format"] == _FORMAT)
    if picture == "place":
        row, column = numbers["index"]
        return {"row": row, "column": column, "address": numbers["address"]}
    if picture == "graph":
        return {"leaf": numbers["leaf"], "gradient": f"{numbers['gradient']:g}"}
    if picture == "next_token":
        text = "".join(numbers["tokens"]).split()[-1]
        token, chance = numbers["candidates"][0], numbers["chances"][0]
        return {"text": text, "token": token, "chance": format_percent(chance)}
    size = look().format_bytes
    return {
        **{name: numbers[name] for name in ("model", "device", "num_devices")},
        **{name: size(numbers[name]) for name in ("total", "capacity")},
    }


@cache
def load_steps() -> Mapping[str, Numbers]:
    """Return the numbers of all pictures by the name of the picture."""
    steps: dict[str, Numbers] = json.loads(STEPS_FILE.read_text(encoding="utf-8"))
    return steps


def drawn(name: str, look: Look) -> str:
    """Return one of the pictures of `load_steps` as SVG."""
    parts = _DRAW[name](load_steps()[name], look)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'


def _rect(box: Sequence[float], fill: str, more: str = "") -> str:
    x, y, width, height = (f"{each:.2f}" for each in box)
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" style="fill:{fill}" {more}/>'


def _pale(look: Look, meaning: str, share: float) -> str:
    """Return a colour of the theme of which only a share is left, the rest being the page."""
    return f"color-mix(in srgb, {look.color(meaning)} {share:.0%}, {look.color('background')})"


def _draw_bits(numbers: Numbers, look: Look) -> list[str]:
    """Draw a row for each format, a cell for each bit: full where it is 1, pale where it is 0."""
    rows = numbers["rows"]
    width = WIDTH / max(len(row["bits"]) for row in rows)
    height = HEIGHT / len(rows)
    cells = []
    for number, row in enumerate(rows):
        for place, bit in enumerate(row["bits"]):
            field = _field(place, row["exponent_bits"])
            box = (place * width, number * height + _GAP, width - 1, height - 3 * _GAP)
            cells.append(_rect(box, look.color(field) if bit == "1" else _pale(look, field, 0.25)))
    return cells


def _field(place: int, exponent_bits: int) -> str:
    if place == 0:
        return "sign"
    return "exponent" if place <= exponent_bits else "mantissa"


def _draw_place(numbers: Numbers, look: Look) -> list[str]:
    """Draw a transposed tensor above its storage; a shade is a place in the storage."""
    rows, numel = numbers["addresses"], numbers["numel"]
    side, cell = 20, WIDTH / numel
    left = (WIDTH - side * len(rows[0])) / 2
    chosen = tuple(numbers["index"])
    parts = []
    for row, addresses in enumerate(rows):
        for column, address in enumerate(addresses):
            box = (left + column * side, row * side, side - _GAP, side - _GAP)
            parts.append(
                _rect(box, _shade(look, address / (numel - 1), is_chosen=(row, column) == chosen))
            )
    top = HEIGHT - cell - 2
    for address in range(numel):
        box = (address * cell, top, cell - _GAP, cell)
        parts.append(
            _rect(box, _shade(look, address / (numel - 1), is_chosen=address == numbers["address"]))
        )
    x, y = left + (chosen[1] + 0.5) * side - 1, (chosen[0] + 1) * side - 2
    end = (numbers["address"] + 0.5) * cell - 1
    way = f"M{x:.1f} {y:.1f}C{x:.1f} {top:.1f} {end:.1f} {y:.1f} {end:.1f} {top:.1f}"
    return [
        *parts,
        f'<path d="{way}" style="fill:none;stroke:{look.color("text")};stroke-width:2"/>',
    ]


def _shade(look: Look, share: float, *, is_chosen: bool) -> str:
    if is_chosen:
        return look.color("axis_2")
    return _pale(look, "axis_1", 0.15 + 0.7 * share)


def _draw_graph(numbers: Numbers, look: Look) -> list[str]:
    """Draw the boxes of a graph and the way of each gradient, as the page draws them."""
    width, height = numbers["size"]
    scale = min((WIDTH - 4) / width, (HEIGHT - 4) / height)
    left, top = (WIDTH - width * scale) / 2, (HEIGHT - height * scale) / 2
    links = [_link(each, look) for each in numbers["links"]]
    boxes = [_box(each, look) for each in numbers["boxes"]]
    place = f"translate({left:.2f} {top:.2f}) scale({scale:.4f})"
    return [f'<g transform="{place}">', *links, *boxes, "</g>"]


def _link(link: Numbers, look: Look) -> str:
    (x, y), *others = link["points"]
    way = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in others:
        middle = (x + to_x) / 2
        way.append(f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    line = f"stroke:{look.color('muted')};stroke-dasharray:5 4" if link["is_cut"] else (
        f"stroke:{look.color('backward')}"
    )  # fmt: skip
    return f'<path d="{"".join(way)}" style="fill:none;stroke-width:3;{line}"/>'


def _box(box: Numbers, look: Look) -> str:
    kind = box["kind"]
    stroke = "muted" if kind == "ghost" else "backward"
    fill = {"leaf": _pale(look, "activations", 0.25), "ghost": "none"}.get(kind)
    dashes = ";stroke-dasharray:5 4" if kind == "ghost" else ""
    line = (
        f"{fill or _pale(look, 'forward', 0.15)};stroke:{look.color(stroke)};stroke-width:3{dashes}"
    )
    return _rect(box["at"], line, f'rx="{16 if kind == "leaf" else 5}"')


def _draw_next_token(numbers: Numbers, look: Look) -> list[str]:
    """Draw where the last token looks, and how likely each of the next ones is."""
    weights, chances = numbers["attention"], numbers["chances"]
    split = WIDTH * 0.68
    cell = split / len(weights)
    end, bottom = split - cell / 2, HEIGHT - cell
    arcs, cells = [], []
    for place, weight in enumerate(weights):
        x, width = (place + 0.5) * cell, 8 * weight
        way = (
            f"M{x:.1f} {cell:.1f}C{x:.1f} {bottom:.1f} {end:.1f} {cell:.1f} {end:.1f} {bottom:.1f}"
        )
        line = f"stroke:{look.color('attention')};stroke-width:{max(width, 0.4):.2f}"
        arcs.append(f'<path d="{way}" style="fill:none;{line}"/>')
        cells.append(_rect((place * cell, 0, cell - _GAP, cell), _pale(look, "embedding", 0.6)))
    cells.append(_rect((split - cell, bottom, cell - _GAP, cell), look.color("embedding")))
    high = HEIGHT / len(chances)
    room = WIDTH - split - 10
    bars = [
        _rect(
            (split + 10, row * high + 3, max(chance * room, 1.5), high - 6),
            look.color("feed_forward"),
        )
        for row, chance in enumerate(chances)
    ]
    return [*arcs, *cells, *bars]


def _draw_memory(numbers: Numbers, look: Look) -> list[str]:
    """Draw what training holds as one bar, and above it what the device has."""
    scale = WIDTH / max(numbers["total"], numbers["capacity"])
    parts, x = [], 0.0
    for name, amount in numbers["parts"]:
        meaning = _MEANINGS.get(name, name)
        parts.append(_rect((x, 34, amount * scale, 64), look.color(meaning)))
        x += amount * scale
    full = numbers["capacity"] * scale
    line = f"stroke:{look.color('text')};stroke-width:2.5;stroke-dasharray:7 4"
    parts.append(f'<path d="M{full:.1f} 14V118" style="fill:none;{line}"/>')
    return parts


_DRAW: Final = {
    "bits": _draw_bits,
    "place": _draw_place,
    "graph": _draw_graph,
    "next_token": _draw_next_token,
    "memory": _draw_memory,
}
