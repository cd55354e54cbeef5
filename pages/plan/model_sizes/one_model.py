"""One model in every format against devices, or several sizes side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.item import Item, hedged
from core.budget.weights.packed import packed_weights, read_packed
from core.budget.weights.sizes import REASONS, ROUND, SIZES, Cell, source_table
from core.budget.weights.stored import Size, bits_per_value, num_in_format, weights_in
from core.figures.budget.frames import framed, lying_bars, stack, stack_table, text_size
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.units import GIB, ByteUnit, format_exact
from pages.plan.model_sizes.inputs import (
    ASK,
    DEFAULT_FORMAT,
    Case,
    Line,
    landmarks,
    several_devices,
    size_label,
    verdict,
)
from pages.plan.model_sizes.question import ask_what_does_not_fit
from pages.shared.answer import forget_caveats
from pages.shared.beside import Compared, shown
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

CODE: Final = """
# Model -> its parameters; format -> how many weights it holds (the others stay in 16 bits, in 32
# beside float32), and the bits of each, scales included.
models = {models}

for model, (num_params, formats) in models.items():
    for name, (num_in_format, bits) in formats.items():
        other_bits = 32 if name == "float32" else 16
        num_bytes = (num_in_format * bits + (num_params - num_in_format) * other_bits) / 8
        print(f"{{model:14}} {{name:18}} {{num_bytes / 2**30:10.2f}} GiB")
"""
_EXPLAINED: Final = ("bfloat16", "int8_channel", "int4_group128")
_NODES: Final = (("rtx-4090", 1), ("h100-sxm", 1), ("h100-sxm", 2))
HEIGHT_PX: Final = 390
PRESENT_HEIGHT_PX: Final = 410
_TOKENS: Final = (("format_a", ""), ("format_b", "/"), ("format_c", "."))
_ROOM: Final = 1.12  # of the highest bar
_GAP: Final = 0.18  # between two groups of bars
_NAME: Final = 7  # times the text's size, to the right of the bars: the name of a line

_PARTS: Final[Mapping[str, Sequence[str]]] = {
    N_("codes"): ("codes",),
    N_("scales"): ("scales", "zero points", "scales of the scales", "groups of the inputs"),
    N_("matrices of the layers"): ("matrices of the layers",),
    N_("values and down projections with more bits"): (
        *("values and down projections with more bits", "values that several heads share"),
    ),
    N_("embeddings, head and norms"): ("the rest", "token embedding", "head", "norms and biases"),
}
"""What a bar is cut into -> the names of its items."""
_LOOKS: Final = dict(
    zip(
        _PARTS,
        (
            ("weights", ""),
            ("gradients", "/"),
            ("weights", ""),
            ("gradients", "/"),
            ("kv_cache", "\\"),
        ),
        strict=True,
    )
)
_ROW_HEIGHT: Final = {False: 2.5, True: 2.1}  # of the text's size; on a projector True
_BESIDE: Final = 1.5  # of the longest bar: its number and verdict stand beside it
_PAST: Final = 1.2  # of the chosen memory: half of its name stands beyond its line
_FARTHEST: Final = 3.0  # times the longest bar: a line beyond is told in words
_APART: Final = 0.45  # of the width: names of nearer lines would lie on each other on a phone
Items = Mapping[str, Item]  # format -> the bytes behind it, wide to narrow


def one_model_picture(model: str, items: Items, chosen: Line, look: Look) -> Picture:
    """Return one bar a format, its size and verdict beside it, and a line for each memory.

    The verdicts speak of the chosen memory, whose line is bold.
    """
    drawing, size = Drawing(), text_size(look)
    rows = {name: part_bytes(item) for name, item in items.items()}
    stack(drawing, rows, _LOOKS, look.format_bytes, look, showlegend=True)
    verdicts = {name: verdict(item, chosen) for name, item in items.items()}
    sizes = {name: hedged(look.format_bytes(item.amount), item) for name, item in items.items()}
    for name, item in items.items():
        said = verdicts[name][0] if look.present else verdicts[name]
        drawing.note(
            x=item.amount, y=name, text=f" <b>{sizes[name]}</b>  {said} ", xanchor="left",
            bgcolor=look.color("background"), font={"color": look.color("text")}, borderpad=1,
        )  # fmt: skip
    end = axis_end(items, chosen)
    for line in seen_lines(chosen, landmarks(), end):
        _draw_line(drawing, line, look, bold=line is chosen)
    memory = look.format_bytes(chosen.num_bytes)
    if chosen.num_bytes > end:
        at_edge = {"xref": "paper", "x": 1, "xanchor": "right"}
        text = f"<b>{chosen.name}</b>: {memory} →"
        _note_above(drawing, text, look.color("accent"), **at_edge)
    figure = lying_bars(
        drawing,
        look,
        room=end,
        top=0,
        height=round((len(items) * _ROW_HEIGHT[look.present] + 5.4) * size),
        legend=look.layout()["legend"] | {"y": 0, "yanchor": "top", "traceorder": "normal"},
        margin={"l": 8, "r": 8, "t": round(2.9 * size), "b": round(2.4 * size)},
    )
    parts = [f"{name} {sizes[name]} {said}" for name, said in verdicts.items()]
    alt = _("Weights of {model} against {device} with {memory}: {parts}.").format(
        model=model, device=chosen.name, memory=memory, parts=_(", ").join(parts)
    )
    table = {
        **stack_table(_("weights in"), rows, _LOOKS, look.format_bytes),
        chosen.name: list(verdicts.values()),
        _("formula"): [_joined(item, "formula") for item in items.values()],
        _("with numbers"): [_joined(item, "substituted") for item in items.values()],
    }
    return Picture(figure=figure, alt=alt, table=table)


def axis_end(items: Items, chosen: Line) -> float:
    """Return the bytes at the right edge: room for every number, and for a memory not far off."""
    longest = max(item.amount for item in items.values())
    near = chosen.num_bytes <= _FARTHEST * longest
    return max(_BESIDE * longest, _PAST * chosen.num_bytes if near else 0)


def seen_lines(chosen: Line, others: Sequence[Line], end: float) -> tuple[Line, ...]:
    """Return the lines that have room: the chosen one first, then the others in their order."""
    kept: list[Line] = []
    for line in (chosen, *others):
        inside = 0.04 * end < line.num_bytes <= 0.96 * end
        clear = all(abs(line.num_bytes - other.num_bytes) >= _APART * end for other in kept)
        if inside and clear:
            kept.append(line)
    return tuple(kept)


def part_bytes(item: Item) -> dict[str, float]:
    """Return the bytes of each part of stored weights that there is."""
    found = {
        part: sum(child.num_bytes for child in item.walk() if child.name in names)
        for part, names in _PARTS.items()
    }
    return {part: num_bytes for part, num_bytes in found.items() if num_bytes}


def _draw_line(drawing: Drawing, line: Line, look: Look, *, bold: bool) -> None:
    color = look.color("accent" if bold else "muted")
    drawing.shape(
        type="line", layer="between" if bold else "below", x0=line.num_bytes, x1=line.num_bytes,
        yref="paper", y0=0, y1=1,
        line={"color": color, "width": 3 if bold else 1.5, "dash": "solid" if bold else "dot"},
    )  # fmt: skip
    name = f"<b>{line.name}</b>" if bold else line.name
    text = f"{name}<br>{look.format_bytes(line.num_bytes)}"
    _note_above(drawing, text, color, x=line.num_bytes)


def _note_above(drawing: Drawing, text: str, color: str, **place: object) -> None:
    drawing.note(yref="paper", y=1, yanchor="bottom", text=text, font={"color": color}, **place)


def _joined(item: Item, what: str) -> str:
    parts = [getattr(part, what) for part in item.walk() if part.rule is not None]
    return " + ".join(parts).replace("*", "×")


@dataclass(frozen=True, slots=True)
class Several:
    """Sizes side by side: their words, and whether scales are counted."""

    words: tuple[str, ...]
    scales: bool


def choose_several() -> Several | None:
    """Return the sizes to show side by side; None for the one of the slider."""
    if ASK.used("several") != str(True):
        return None
    words = ASK.several(
        "compared", _("Sizes"), tuple(SIZES), default=ROUND, most=len(_TOKENS), labels=size_label
    )
    scales = ASK.toggle("scales", _("Include scale factors"), default=False)
    return Several(words, scales)


def one_model(case: Case) -> Shown:
    items = {name: _weights(case, name) for name in case.formats}
    own = dict(items)
    packed, refusal = packed_in(case)
    items |= packed
    picture = one_model_picture(case.size.name, items, case.line, look())
    return Shown(
        headline=sentence(case, own) + as_its_config_says(packed),
        charts=[Chart(picture=picture, file_name="model-bytes")],
        numbers=[(name, items[name]) for name in (*_explained(case), *packed)],
        notes=[*beyond_notes(case), *refusal],
        code=_code([case.size], case.formats, rest_in_16_bits=case.rest_in_16_bits)
        + "".join(
            f'print(f"{name:18} {{({item.python}) / 2**30:10.2f}} GiB")\n'
            for name, item in packed.items()
        ),
    )


def _weights(case: Case, name: str) -> Item:
    return weights_in(case.size, name, rest_in_16_bits=case.rest_in_16_bits)


def _explained(case: Case) -> Sequence[str]:
    """Return the formats whose bytes stand beside the picture: three of the usual, or the first."""
    wanted = dict.fromkeys((case.format, *_EXPLAINED))
    return [name for name in wanted if name in case.formats][:3] or case.formats[:3]


def _code(sizes: Sequence[Size], formats: Sequence[str], *, rest_in_16_bits: bool) -> str:
    models = {
        size.name: (
            size.num_params,
            {
                name: (
                    num_in_format(size, name, rest_in_16_bits=rest_in_16_bits),
                    bits_per_value(name),
                )
                for name in formats
            },
        )
        for size in sizes
    }
    return CODE.format(models=models)


def _side(case: Case, formats: Sequence[str]) -> Compared:
    chosen = _weights(case, case.format)
    rows = [(name, _weights(case, name)) for name in formats]
    return Compared(
        name=_("{model} in {format}").format(model=case.size.name, format=case.format),
        rows=[(_("chosen format"), chosen), *rows],
        verdict=verdict(chosen, case.line),
        code=_code([case.size], [case.format], rest_in_16_bits=case.rest_in_16_bits),
    )


def packed_in(case: Case) -> tuple[dict[str, Item], tuple[str, ...]]:
    """Return the weights as the quantization_config of the reader's file says, or why not."""
    if not case.config or case.size.spec is None:
        return {}, ()
    try:
        packed = read_packed(case.config)
        return ({packed.name: packed_weights(case.size.spec, packed)} if packed else {}), ()
    except ValueError as error:
        return {}, (str(error),)


def as_its_config_says(packed: Mapping[str, Item]) -> str:
    """Return the bytes of the file that the reader's config.json stands beside, if it is packed."""
    return "".join(
        _("; as its quantization_config says ({format}): {memory}").format(
            format=name, memory=hedged(look().format_bytes(item.amount), item)
        )
        for name, item in packed.items()
    )


def beyond_notes(case: Case) -> list[str]:
    """Return what the published files of the model hold beside what is counted, if anything."""
    spec = case.size.spec
    if spec is None or not spec.beyond:
        return []
    parts = [
        _("{count} for {reason}").format(
            count=format_exact(part.num_params), reason=_(REASONS[part.reason])
        )
        for part in spec.beyond
    ]
    return [
        _(
            "Its published files hold {published} parameters; those not counted here: {parts}."
        ).format(published=format_exact(spec.published), parts=_("; ").join(parts))
    ]


def sentence(case: Case, items: Mapping[str, Item]) -> str:
    """Return the weights in the chosen format, and the widest format that fits."""
    if case.format == DEFAULT_FORMAT:
        first = _("The weights of {model} take {bytes} in {format}: {count} × 2 bytes")
    else:
        first = _("The weights of {model} take {bytes} in {format}")
    weights = _weights(case, case.format)
    first = first.format(
        model=case.size.name,
        format=case.format,
        count=format_exact(case.size.num_params),
        bytes=hedged(look().format_bytes(weights.amount), weights),
    )
    return first + _("; ") + what_fits(case.line, items)


def what_fits(line: Line, items: Mapping[str, Item]) -> str:
    """Return which formats a memory holds, and the widest of them; of a guess, what it may."""
    widest_first = sorted(items.items(), key=lambda each: -each[1].amount)
    fitting = [name for name, item in widest_first if item.amount <= line.num_bytes]
    is_guess = any(line.holds(item) == "close" for item in items.values())
    if not fitting and is_guess:
        fits = _("{device} ({memory}) may hold none of these formats")
    elif not fitting:
        fits = _("{device} ({memory}) holds none of these formats")
    elif is_guess:
        fits = _("{device} ({memory}) may hold {format} and narrower")
    elif len(fitting) == len(items):
        fits = _("{device} ({memory}) holds every format")
    else:
        fits = _("{device} ({memory}) holds {format} and narrower")
    return fits.format(
        device=line.name,
        memory=look().format_bytes(line.num_bytes),
        format=fitting[0] if fitting else "",
    )


def table(case: Case, wanted: Several) -> Shown:
    """Show sizes in five formats as bars, against the device and well-known memories."""
    forget_caveats()  # the own model is none of them
    cells = source_table(wanted.words, scales=wanted.scales)
    # Names of nearer lines would run together.
    apart = 0.08 * max(cell.item.amount for cell in cells)
    others = [several_devices(*each) for each in _NODES]
    lines = [
        case.line,
        *(each for each in others if abs(each.num_bytes - case.line.num_bytes) > apart),
    ]
    return Shown(
        headline=table_sentence(cells),
        charts=[Chart(picture=table_picture(cells, lines, look()), file_name="sizes-and-formats")],
        code=_code(
            [SIZES[word] for word in wanted.words],
            list(dict.fromkeys(cell.format_name for cell in cells)),
            rest_in_16_bits=wanted.scales,
        ),
    )


def table_sentence(cells: Sequence[Cell]) -> str:
    """Return the largest model in its formats, and the errors of the tutorial."""
    last = [cell for cell in cells if cell.size is cells[-1].size]
    said = _("{model} takes {wide} in {first}, {narrow} in {last}").format(
        model=last[0].size.name,
        wide=two_decimals(last[0].item.amount, look().unit),
        narrow=two_decimals(last[-1].item.amount, look().unit),
        first=last[0].format_name,
        last=last[-1].format_name,
    )
    wrong = sum(cell.was_wrong for cell in cells)
    if not wrong:
        return said
    return said + _("; {wrong} of {all} printed figures were wrong").format(
        wrong=wrong, all=sum(cell.printed is not None for cell in cells)
    )


def two_decimals(num_bytes: float, unit: ByteUnit) -> str:
    """Return bytes in GiB or GB with two decimals, as tables print them.

    >>> two_decimals(28e9, "GiB"), two_decimals(28e9, "GB")
    ('26.08 GiB', '28.00 GB')
    """
    return f"{num_bytes / (GIB if unit == 'GiB' else 1e9):,.2f} {unit}"


def table_picture(cells: Sequence[Cell], lines: Sequence[Line], look: Look) -> Picture:
    """Return a group of bars for each format, one bar for each size, and a line for each memory.

    The verdicts of its table speak of the first memory.
    """
    drawing = Drawing()
    rows = list(dict.fromkeys(cell.size.name for cell in cells))
    for number, row in enumerate(rows):
        ours = [cell for cell in cells if cell.size.name == row]
        _draw_row(drawing, ours, (number, len(rows)), look)
    highest = _ROOM * max(cell.item.amount for cell in cells)
    for line in lines:
        if line.num_bytes < highest:
            _draw_memory(drawing, line, look)
    figure = framed(
        drawing,
        look,
        x={"range": [-0.5, len(cells) // len(rows) - 0.5], "showgrid": False},
        y={"visible": False, "range": [0, highest]},
        height=PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        margin={"l": 8, "r": _NAME * look.layout()["font"]["size"], "t": 32, "b": 8},
        barmode="group",
        bargap=_GAP,
    )
    weights = [two_decimals(cell.item.amount, look.unit) for cell in cells]
    parts = [
        f"{cell.size.name} {cell.format_name} {amount}"
        for cell, amount in zip(cells, weights, strict=True)
    ]
    table = {
        _("model"): [cell.size.name for cell in cells],
        _("format"): [cell.format_name for cell in cells],
        _("weights"): weights,
        _("printed in the tutorial"): [_printed(cell) for cell in cells],
        lines[0].name: [verdict(cell.item, lines[0]) for cell in cells],
    }
    alt = _("Weights side by side: {parts}.").format(parts=_(", ").join(parts))
    return Picture(figure=figure, alt=alt, table=table)


def _draw_row(drawing: Drawing, cells: Sequence[Cell], place: tuple[int, int], look: Look) -> None:
    number, num_rows = place
    color, pattern = _TOKENS[number]
    width = (1 - _GAP) / num_rows
    texts = [_short(look.in_unit(cell.item.amount)) for cell in cells]
    for group, (cell, text) in enumerate(zip(cells, texts, strict=True)):
        drawing.note(  # on the ground's colour: no line of a device runs through a number
            x=group + (number - (num_rows - 1) / 2) * width,
            y=cell.item.amount,
            yanchor="bottom",
            yshift=2,
            borderpad=0,
            bgcolor=look.color("background"),
            text=text,
        )
    drawing.bar(
        x=[cell.format_name for cell in cells],
        y=[cell.item.amount for cell in cells],
        name=cells[0].size.name,
        marker={"color": look.color(color), "pattern": {"shape": pattern}},
        customdata=[two_decimals(cell.item.amount, look.unit) for cell in cells],
        hovertemplate="%{x}: %{customdata}<extra>%{fullData.name}</extra>",
    )


def _short(amount: float) -> str:
    """Return a number with three digits, as it stands above a bar.

    >>> _short(260.77), _short(13.039), _short(3.26)
    ('261', '13.0', '3.26')
    """
    return f"{amount:.{2 if amount < 9.995 else 1 if amount < 99.95 else 0}f}"


def _draw_memory(drawing: Drawing, line: Line, look: Look) -> None:
    color = look.color("muted")
    drawing.shape(
        type="line", layer="below", xref="paper", x0=0, x1=1, y0=line.num_bytes, y1=line.num_bytes,
        line={"color": color, "width": 1.5, "dash": "dot"},
    )  # fmt: skip
    drawing.note(
        xref="paper", x=1, y=line.num_bytes, xanchor="left", align="left",
        text=f" {line.name}<br> {look.format_bytes(line.num_bytes)}", font={"color": color},
    )  # fmt: skip


def _printed(cell: Cell) -> str:
    if cell.printed is None:
        return "–"
    printed = f'{cell.printed:.2f} "GB"'
    return f"✗ {printed}" if cell.was_wrong else printed


TAB: Final = Tab(
    label=N_("One model"),
    show=lambda case, wanted: one_model(case) if wanted is None else table(case, wanted),
    choose=choose_several,
    question=ask_what_does_not_fit,
    # each in its format, then both in the formats of the picture
    compare=lambda a, b: shown(*(_side(case, b[0].formats) for case in (a[0], b[0]))),
)
