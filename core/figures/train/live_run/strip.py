"""What a model wrote, from gibberish to words: one picture, or a short animation.

SVG without scripts and fonts of its own: every character has its place, so that any monospaced
font of any viewer will do.
"""

import html
import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.figures.theme import CODE_FAMILY, COLORS, FONT_FAMILY
from core.figures.train.live_run.surprise import mean_surprise, shade
from core.language import N_, _
from core.train.run.reader import LEFT_OUT
from core.train.text.pieces import SIGNS, visible

NUM_IN_STRIP: Final = 6
SECONDS_EACH: Final = 0.9  # of the animation
TITLE: Final = N_("What a GPT writes while it learns: {title}")
LABEL: Final = N_("after step {step}")
SURPRISE: Final = N_("mean surprise: {bits} bits per character")
LEGEND: Final = N_("the stronger the color, the more the character surprised the model (-log2 p)")
_CELLS: Final = 64  # of a line
_CELL, _LINE, _EDGE, _HEAD = 14, 34, 30, 84  # pixels

Sample = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cell:
    """A character in its place: column and line, how many columns it takes, how dark it is."""

    sign: str
    column: int
    line: int
    width: int
    shade: float


def chosen_samples(samples: Sequence[Sample], most: int = NUM_IN_STRIP) -> tuple[Sample, ...]:
    """Return at most `most` samples evenly spread, the first and the last among them."""
    if len(samples) <= most:
        return tuple(samples)
    last = len(samples) - 1
    return tuple(samples[round(place * last / (most - 1))] for place in range(most))


def strip_svg(
    samples: Sequence[Sample],
    title: str,
    translate: Callable[[str], str] = _,
    num_left_out: int = 0,
) -> str:
    """Return one picture of a few samples below each other.

    Args:
        samples: Sample events of a run, oldest first; those of an old run stay unshaded.
        title: What the run is called.
        translate: Into the language of the picture.
        num_left_out: How many steps and events of the run are damaged, which is said.

    Raises:
        ValueError: If there is none.
    """
    parts, top = [], _HEAD
    for sample in _known(chosen_samples(samples)):
        part, height = _block(sample, translate)
        parts.append(f'<g transform="translate({_EDGE} {top})">{part}</g>')
        top += height
    return _page(parts, top, title, translate, num_left_out)


def strip_animation(
    samples: Sequence[Sample],
    title: str,
    translate: Callable[[str], str] = _,
    num_left_out: int = 0,
) -> str:
    """Return an animation of all samples, one after the other, without end; see `strip_svg`."""
    blocks = [_block(sample, translate) for sample in _known(samples)]
    parts, count = [], len(blocks)
    for place, (part, _height) in enumerate(blocks):
        # Whoever does not move pictures shows the last sample.
        times = f"0;{place / count:.5f};{(place + 1) / count:.5f}"
        move = (
            f'<animate attributeName="opacity" calcMode="discrete" values="0;1;0" '
            f'keyTimes="{times}" dur="{count * SECONDS_EACH:.2f}s" repeatCount="indefinite"/>'
        )
        seen = int(place == count - 1)
        group = f'<g opacity="{seen}" transform="translate({_EDGE} {_HEAD})">'
        parts.append(f"{group}{part}{move}</g>")
    tallest = max(height for _part, height in blocks)
    return _page(parts, _HEAD + tallest, title, translate, num_left_out)


def _known(samples: Sequence[Sample]) -> Sequence[Sample]:
    if not samples:
        raise ValueError(_("This run has written no sample yet; wait until it has."))
    return samples


def _block(sample: Sample, translate: Callable[[str], str]) -> tuple[str, int]:
    label = translate(LABEL).format(step=f"{sample['step']:,}")
    mean = mean_surprise(sample.get("written") or ())
    if mean is not None:
        label += " · " + translate(SURPRISE).format(bits=f"{mean:.2f}")
    cells = _cells(sample)
    lines = max(cell.line for cell in cells) + 1 if cells else 1
    tint = [_tint(cell) for cell in cells if cell.shade]
    drawn = [f'<text class="label" y="14">{html.escape(label)}</text>', *tint, *_text_lines(cells)]
    return "".join(drawn), 24 + lines * _LINE + 18


def _cells(sample: Sample) -> list[_Cell]:
    """Return prompt and text in lines; an end of a line is a sign, so that all fit."""
    stretches = [[sample["prompt"], None], *(sample.get("written") or [[sample["text"], None]])]
    cells: list[_Cell] = []
    column = line = 0
    for text, bits, *_candidates in stretches:
        for sign in visible(text).replace(SIGNS[" "], " "):
            width = 2 if unicodedata.east_asian_width(sign) in "WF" else 1
            if column + width > _CELLS:
                column, line = 0, line + 1
            cells.append(_Cell(sign=sign, column=column, line=line, width=width, shade=shade(bits)))
            column += width
    return cells


def _tint(cell: _Cell) -> str:
    x, y = cell.column * _CELL, 24 + cell.line * _LINE
    opacity = f"{cell.shade:.3f}"
    size = f'width="{cell.width * _CELL}" height="{_LINE - 4}"'
    return f'<rect class="tint" x="{x}" y="{y}" {size} fill-opacity="{opacity}"/>'


def _text_lines(cells: Sequence[_Cell]) -> list[str]:
    lines: dict[int, list[_Cell]] = {}
    for cell in cells:
        lines.setdefault(cell.line, []).append(cell)
    return [
        f'<text class="code" xml:space="preserve" y="{24 + line * _LINE + 22}" '
        f'x="{" ".join(str(cell.column * _CELL + 1) for cell in row)}">'
        f"{html.escape(''.join(cell.sign for cell in row))}</text>"
        for line, row in lines.items()
    ]


def _page(
    parts: Sequence[str],
    top: int,
    title: str,
    translate: Callable[[str], str],
    num_left_out: int,
) -> str:
    color, width, height = COLORS["light"], _CELLS * _CELL + 2 * _EDGE, top + 44
    written = html.escape(translate(TITLE).format(title=title))
    missing = [translate(LEFT_OUT).format(count=f"{num_left_out:,}")] if num_left_out else []
    legend = html.escape(" · ".join([translate(LEGEND), *missing, "Bits to GPT"]))
    family, code = html.escape(FONT_FAMILY), html.escape(CODE_FAMILY)
    size = f'width="{width}" height="{height}"'
    head = textwrap.dedent(f"""\
        <svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">
        <title>{written}</title>
        <style>
        text {{ fill: {color["text"]}; font-family: {family}; }}
        .title {{ font-size: 26px; font-weight: 600; }}
        .label {{ font-size: 17px; fill: {color["muted"]}; }}
        .code {{ font-size: 22px; font-family: {code}; }}
        .tint {{ fill: {color["surprise"]}; }}
        </style>
        <rect {size} fill="{color["background"]}"/>
        <text class="title" x="{_EDGE}" y="48">{written}</text>
        """)
    foot = f'<text class="label" x="{_EDGE}" y="{height - 18}">{legend}</text></svg>'
    return "".join([head, *parts, foot])
