"""One model in every format against devices, or several sizes side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.budget.item import Item, hedged
from core.budget.weights.packed import packed_weights, read_packed
from core.budget.weights.sizes import REASONS, ROUND, SIZES, Cell, source_table
from core.budget.weights.stored import bits_per_value, num_in_format, weights_in
from core.figures.budget.model_sizes.one_model import Line, one_model_picture, verdict
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import GIB, ByteUnit, format_exact
from pages.plan.model_sizes.inputs import (
    ASK,
    DEFAULT_FORMAT,
    Case,
    landmarks,
    several_devices,
    size_label,
)
from pages.plan.model_sizes.question import ask_what_does_not_fit
from pages.shared.answer import forget_caveats
from pages.shared.beside import Compared, shown
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

CODE: Final = """
num_params = {num_params:_}
# Format -> how many weights it holds (the others stay in 16 bits, in 32 beside float32), and the
# bits of each, scales included.
formats = {formats}

for name, (num_in_format, bits) in formats.items():
    other_bits = 32 if name == "float32" else 16
    num_bytes = (num_in_format * bits + (num_params - num_in_format) * other_bits) / 8
    print(f"{{name:18}} {{num_bytes / 2**30:10.2f}} GiB")
"""
_EXPLAINED: Final = ("bfloat16", "int8_channel", "int4_group128")
TABLE_CODE: Final = """
sizes = {sizes}  # parameters, and how many of them are stored in the format
bits_per_weight = {bits}

for model, (num_params, num_in_format) in sizes.items():
    for name, bits in bits_per_weight.items():
        other_bits = 32 if name == "float32" else 16
        num_bytes = (num_in_format * bits + (num_params - num_in_format) * other_bits) / 8
        print(f"{{model:12}} {{name:14}} {{num_bytes / 2**30:7.2f}} GiB")
"""
_NODES: Final = (("rtx-4090", 1), ("h100-sxm", 1), ("h100-sxm", 2))
HEIGHT_PX: Final = 390
PRESENT_HEIGHT_PX: Final = 410
_TOKENS: Final = ("format_a", "format_b", "format_c")
_PATTERNS: Final = ("", "/", ".")
_ROOM: Final = 1.12  # of the highest bar
_GAP: Final = 0.18  # between two groups of bars
_NAME: Final = 7  # times the text's size, to the right of the bars: the name of a line


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


def one_or_several(case: Case, wanted: Several | None) -> Shown:
    return one_model(case) if wanted is None else table(case, wanted)


def one_model(case: Case) -> Shown:
    items = {name: _weights(case, name) for name in case.formats}
    own = dict(items)
    packed, refusal = packed_in(case)
    items |= packed
    picture = one_model_picture(case.size.name, items, case.line, landmarks(), look())
    return Shown(
        headline=sentence(case, own) + as_its_config_says(packed),
        charts=[Chart(picture=picture, file_name="model-bytes")],
        numbers=[(name, items[name]) for name in (*_explained(case), *packed)],
        notes=[*beyond_notes(case), *refusal],
        code=_code(case, case.formats)
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


def _code(case: Case, formats: Sequence[str]) -> str:
    rest = case.rest_in_16_bits
    held = {
        name: (num_in_format(case.size, name, rest_in_16_bits=rest), bits_per_value(name))
        for name in formats
    }
    return CODE.format(num_params=case.size.num_params, formats=held)


def two_models(a: Sequence[Any], b: Sequence[Any]) -> Shown:
    """Show two models, each in its format, then both in the formats of the picture."""
    return shown(*(_side(case, b[0].formats) for case in (a[0], b[0])))


def _side(case: Case, formats: Sequence[str]) -> Compared:
    chosen = _weights(case, case.format)
    rows = [(name, _weights(case, name)) for name in formats]
    return Compared(
        name=_("{model} in {format}").format(model=case.size.name, format=case.format),
        rows=[(_("chosen format"), chosen), *rows],
        verdict=verdict(chosen, case.line),
        code=_code(case, [case.format]),
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
    apart = 0.08 * max(
        cell.item.amount for cell in cells
    )  # names of nearer lines would run together
    others = [several_devices(*each) for each in _NODES]
    lines = [
        case.line,
        *(each for each in others if abs(each.num_bytes - case.line.num_bytes) > apart),
    ]
    return Shown(
        headline=table_sentence(cells),
        charts=[Chart(picture=table_picture(cells, lines, look()), file_name="sizes-and-formats")],
        code=table_code(cells, scales=wanted.scales),
    )


def table_code(cells: Sequence[Cell], *, scales: bool) -> str:
    sizes = {
        cell.size.name: (
            cell.size.num_params,
            num_in_format(cell.size, cell.format_name, rest_in_16_bits=scales),
        )
        for cell in cells
    }
    names = dict.fromkeys(cell.format_name for cell in cells)
    return TABLE_CODE.format(sizes=sizes, bits={name: bits_per_value(name) for name in names})


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

    Args:
        cells: The table, cell by cell.
        lines: Memories to hold the bars against; the table's verdicts speak of the first.
        look: How the reader wants to see.
    """
    layout = look.layout()
    drawing = Drawing()
    rows = list(dict.fromkeys(cell.size.name for cell in cells))
    for number, row in enumerate(rows):
        ours = [cell for cell in cells if cell.size.name == row]
        _draw_row(drawing, ours, (number, len(rows)), look)
    num_groups = len(cells) // len(rows)
    highest = _ROOM * max(cell.item.amount for cell in cells)
    for line in lines:
        if line.num_bytes < highest:
            _draw_memory(drawing, line, look)
    axes = {
        "xaxis": layout["xaxis"]
        | {
            "range": [-0.5, num_groups - 0.5],
            "fixedrange": True,
            "showgrid": False,
        },
        "yaxis": {"visible": False, "range": [0, highest], "fixedrange": True},
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": _NAME * layout["font"]["size"], "t": 32, "b": 8},
    }
    figure = drawing.figure(layout | axes | {"barmode": "group", "bargap": _GAP})
    return Picture(
        figure=figure, alt=_table_alt(cells, look), table=_cells_table(cells, lines[0], look)
    )


def _draw_row(drawing: Drawing, cells: Sequence[Cell], place: tuple[int, int], look: Look) -> None:
    number, num_rows = place
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
        marker={"color": look.color(_TOKENS[number]), "pattern": {"shape": _PATTERNS[number]}},
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
        type="line",
        layer="below",
        xref="paper",
        x0=0,
        x1=1,
        y0=line.num_bytes,
        y1=line.num_bytes,
        line={"color": color, "width": 1.5, "dash": "dot"},
    )
    drawing.note(
        xref="paper",
        x=1,
        y=line.num_bytes,
        xanchor="left",
        align="left",
        text=f" {line.name}<br> {look.format_bytes(line.num_bytes)}",
        font={"color": color},
    )


def _table_alt(cells: Sequence[Cell], look: Look) -> str:
    parts = [
        f"{cell.size.name} {cell.format_name} {two_decimals(cell.item.amount, look.unit)}"
        for cell in cells
    ]
    return _("Weights side by side: {parts}.").format(parts=_(", ").join(parts))


def _cells_table(cells: Sequence[Cell], chosen: Line, look: Look) -> Table:
    return {
        _("model"): [cell.size.name for cell in cells],
        _("format"): [cell.format_name for cell in cells],
        _("weights"): [two_decimals(cell.item.amount, look.unit) for cell in cells],
        _("printed in the tutorial"): [_printed(cell) for cell in cells],
        chosen.name: [verdict(cell.item, chosen) for cell in cells],
    }


def _printed(cell: Cell) -> str:
    if cell.printed is None:
        return "–"
    printed = f'{cell.printed:.2f} "GB"'
    return f"✗ {printed}" if cell.was_wrong else printed


TAB: Final = Tab(
    label=N_("One model"),
    show=one_or_several,
    choose=choose_several,
    question=ask_what_does_not_fit,
    compare=two_models,
)
