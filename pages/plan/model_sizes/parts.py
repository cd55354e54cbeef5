"""Where the parameters of a model are and how many a token uses; or the bytes of one tensor."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.budget.item import Item, hedged
from core.budget.weights.one_tensor import TENSORS, block_bits, read_shape, shape_text, tensor_bytes
from core.budget.weights.parameters import PART_NAMES, active_parameters, count_parameters, left_out
from core.budget.weights.sizes import nearest_model
from core.figures.budget.frames import lying_bars, text_size
from core.figures.picture import Drawing, Look, Picture
from core.figures.weight_bytes import weight_bytes_picture
from core.language import N_, _
from core.units import format_count, format_exact, format_percent
from pages.plan.model_sizes.inputs import ASK, Case, with_parts
from pages.shared.answer import forget_caveats
from pages.shared.beside import Compared, beside
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

CODE: Final = """
num_params = {{
{lines}
}}
for name, count in num_params.items():
    print(f"{{name:44}} {{count:18,}}")
print(f"{{'all':44}} {{sum(num_params.values()):18,}}")
print(f"active for a token {{{active}:,}}")
"""
TENSOR_CODE: Final = """
from math import ceil, prod

num_values = prod({shape})
formats = {{  # bits of a value, values in a block, bits that a block shares
{formats}
}}
for name, (bits, block, shared_bits) in formats.items():
    num_bytes = ceil(num_values * bits / 8) + ceil(num_values / block) * shared_bits // 8
    print(f"{{name:14}} {{num_bytes / 2**30:8.4f}} GiB = {{num_bytes:,}} bytes")
"""
MODEL: Final = "model"  # in place of a tensor
OWN: Final = "own"
DEFAULT_TENSOR: Final = "gpt3_ffn"
FORMATS_SHOWN: Final = (
    *("float64", "float32", "bfloat16", "float8_e4m3fn"),
    *("mxfp8_e4m3", "nvfp4", "int4_group128"),
)
_EXPLAINED: Final = ("float32", "bfloat16", "nvfp4")
SMALLEST: Final = 0.001  # of all parameters: what is smaller stands together in the last bar
_ROW_HEIGHT: Final = {False: 2.4, True: 1.8}  # of the text's size; on a projector True
_ROOM: Final = {False: 1.25, True: 1.45}  # of the longest bar: its number stands beside it
_MEANING_OF: Final[Mapping[str, str]] = {
    PART_NAMES[part]: meaning
    for meaning, parts in {
        "embedding": ("token_embedding", "layer_embeddings", "positions", "head"),
        "attention": ("attention", "recurrent"),
        "feed_forward": ("layer_inputs", "dense_ffn"),
        "experts": ("experts", "shared_experts"),
    }.items()
    for part in parts
}


@dataclass(frozen=True, slots=True)
class Row:
    """One bar: a translated label, the part of the model, the parameters and what they are."""

    label: str
    part: str
    amount: float
    explained: str


def part_rows(tree: Item) -> tuple[Row, ...]:
    """Return a row for each matrix or table; what is small stands together in the last one."""
    rows = list(_rows(tree))
    large = [row for row in rows if row.amount >= SMALLEST * tree.amount]
    rest = [row for row in rows if row.amount < SMALLEST * tree.amount]
    if not rest:
        return tuple(large)
    label = _("the rest: {parts}").format(parts=_(", ").join(row.label for row in rest))
    amount = sum(row.amount for row in rest)
    short = _("the rest")
    return (*large, Row(short, short, amount, label))


def _rows(tree: Item) -> Iterator[Row]:
    for part in tree.children:
        for line in part.children or (part,):
            explained = f"{line.formula}<br>= {line.substituted}"
            yield Row(_(line.name), part.name, line.amount, explained)


def parts_picture(model: str, tree: Item, idle: Mapping[str, float], look: Look) -> Picture:
    """Return a bar a part; what is not active for a token, as `left_out` says, is hatched."""
    drawing, rows = Drawing(), part_rows(tree)
    size = text_size(look)
    names = {PART_NAMES[part]: amount for part, amount in idle.items()}
    left = [names.get(row.part, 0) for row in rows]
    used = [row.amount - out for row, out in zip(rows, left, strict=True)]
    _draw(drawing, rows, used, "", _("active for a token"), look)
    if idle:
        _draw(drawing, rows, left, "/", _("not active"), look)
    for row in rows:
        share = format_percent(row.amount / tree.amount)
        text = f" <b>{share}</b>  {format_count(row.amount)}"
        drawing.note(x=row.amount, y=row.label, text=text, xanchor="left")
    longest = max(row.amount for row in rows)
    figure = lying_bars(
        drawing,
        look,
        room=_ROOM[look.present] * longest,
        height=round((len(rows) * _ROW_HEIGHT[look.present] + (3 if idle else 1)) * size),
        top=2 * size if idle else 8,
        showlegend=bool(idle),
        bargap=0.25,
    )
    parts = sorted(tree.children, key=lambda part: -part.amount)
    shares = [f"{_(part.name)} {format_percent(part.amount / tree.amount)}" for part in parts]
    alt = _("{count} parameters of {model}: {parts}.").format(
        count=format_exact(round(tree.amount)), model=model, parts=_(", ").join(shares)
    )
    lines = [line for line in tree.walk() if line is not tree]
    table = {
        _("part"): [_(line.name) for line in lines],
        _("parameters"): [format_exact(round(line.amount)) for line in lines],
        _("share"): [format_percent(line.amount / tree.amount) for line in lines],
        _("formula"): [line.formula.replace("*", "×") for line in lines],
        _("with numbers"): [line.substituted.replace("*", "×") for line in lines],
    }
    return Picture(figure=figure, alt=alt, table=table)


def _draw(
    drawing: Drawing,
    rows: Sequence[Row],
    lengths: Sequence[float],
    pattern: str,
    name: str,
    look: Look,
) -> None:
    drawing.bar(
        orientation="h", y=[row.label for row in rows], x=list(lengths), name=name,
        marker={
            "color": [look.color(_MEANING_OF.get(row.part, "norms")) for row in rows],
            "pattern": {"shape": pattern},
        },
        customdata=[[format_exact(round(row.amount)), row.explained] for row in rows],
        hovertemplate="%{y}: %{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )  # fmt: skip


def choose_tensor() -> str:
    """Return `MODEL`, the key of a famous tensor, or the shape as the reader typed it."""
    words = {MODEL: _("all of the model"), OWN: _("a shape of my own")}
    key = ASK.selectbox(
        "tensor",
        _("Model or one tensor"),
        (MODEL, *TENSORS, OWN),
        default=MODEL,
        labels=lambda key: words.get(key) or _(TENSORS[key].name),
    )
    if key != OWN:
        return key
    return ASK.text("shape", _("Shape"), default="32000 x 4096", max_chars=100)


def parts(case: Case, wanted: str) -> Shown:
    """Show where the parameters are, a bar for each matrix; or the bytes of one tensor."""
    if wanted != MODEL:
        forget_caveats()  # it is none of the own model
        return tensor(wanted)
    spec = with_parts(case.size)
    tree, active = count_parameters(spec), active_parameters(spec)
    picture = parts_picture(spec.name, tree, left_out(spec), look())
    return Shown(
        headline=sentence(spec.name, tree, active),
        charts=[Chart(picture=picture, file_name="parameters")],
        numbers=[(_("Parameters"), tree), (_("Active for a token"), active)],
        code=write_code(tree, active),
    )


def parts_side(case: Case, wanted: str) -> Compared:
    """Return all parameters, those that a token passes, and each part; or a tensor's bytes."""
    if wanted != MODEL:
        shape = _shape(wanted)
        rows = [(fmt, tensor_bytes(shape, fmt)) for fmt in FORMATS_SHOWN]
        return Compared(name=shape_text(shape), rows=rows, code=tensor_code(shape))
    spec = nearest_model(case.size)
    tree, active = count_parameters(spec), active_parameters(spec)
    return Compared(
        name=spec.name,
        rows=[
            (_("Parameters"), tree),
            (_("Active for a token"), active),
            *((_(part.name), part) for part in tree.children),
        ],
        code=write_code(tree, active),
    )


def sentence(name: str, tree: Item, active: Item) -> str:
    largest = max(tree.children, key=lambda part: part.amount)
    said = _("{model}: {count} parameters, {share} of them in {part}").format(
        model=name,
        count=hedged(format_exact(round(tree.amount)), tree),
        share=format_percent(largest.amount / tree.amount),
        part=_(largest.name),
    )
    if active.amount == tree.amount:
        return said
    return said + _("; {active} active for a token").format(
        active=hedged(format_count(active.amount), active)
    )


def write_code(tree: Item, active: Item) -> str:
    parts = [line for line in tree.walk() if not line.children]
    lines = [f'    "{part.name}": {part.python},' for part in parts]
    return CODE.format(lines="\n".join(lines), active=active.python)


def tensor(wanted: str) -> Shown:
    """Show the bytes of one tensor; a text that is no shape is told."""
    shape = _shape(wanted)
    items = {fmt: tensor_bytes(shape, fmt) for fmt in FORMATS_SHOWN}
    picture = weight_bytes_picture(list(items.items()), look())
    return Shown(
        headline=tensor_sentence(shape),
        charts=[Chart(picture=picture, file_name="tensor-bytes")],
        numbers=[(fmt, _only_part(items[fmt])) for fmt in _EXPLAINED],
        code=tensor_code(shape),
    )


def _shape(wanted: str) -> tuple[int, ...]:
    try:
        return TENSORS[wanted].shape if wanted in TENSORS else read_shape(wanted)
    except ValueError as error:
        st.error(str(error))
        return TENSORS[DEFAULT_TENSOR].shape


def _only_part(whole: Item) -> Item:
    """Return the codes where there is nothing else: their formula says more than a sum of one."""
    return whole.children[0] if len(whole.children) == 1 else whole


def tensor_code(shape: tuple[int, ...]) -> str:
    lines = [f'    "{name}": {block_bits(name)},' for name in FORMATS_SHOWN]
    return TENSOR_CODE.format(shape=shape, formats="\n".join(lines))


def tensor_sentence(shape: tuple[int, ...]) -> str:
    """Return the shape, and its bytes in 32 and 16 bits."""
    fp32, bf16 = (
        look().format_bytes(tensor_bytes(shape, fmt).amount) for fmt in ("float32", "bfloat16")
    )
    if math.prod(shape) == 1:
        return _("One number is {fp32} in float32, {bf16} in bfloat16").format(fp32=fp32, bf16=bf16)
    return _("{shape} numbers are {fp32} in float32, {bf16} in bfloat16").format(
        shape=shape_text(shape), fp32=fp32, bf16=bf16
    )


TAB: Final = Tab(
    label=N_("Breakdown"),
    show=parts,
    choose=choose_tensor,
    unseen=["formats"],
    compare=beside(parts_side),
)
