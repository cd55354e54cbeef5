"""Where the parameters are: the tree of the model, or each module's share beside its FLOPs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import streamlit as st

from core.budget.catalogue.as_config import config_of
from core.budget.catalogue.models import MODELS
from core.budget.item import Item, total
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.describe import ModelTree, by_part
from core.models.first_loss import GPT2_SMALL
from core.models.module_flops import TOKENS, ModuleRow, module_rows
from core.models.small import SMALL, first_weight, output_shape
from core.models.spec import GPTShape, ModelSpec
from core.units import format_count, format_exact, format_flops, format_percent
from pages.models.layers_and_parameters.inputs import (
    ASK,
    PART_TITLES,
    Case,
    flops,
    layout_with,
    part_color,
    tree,
)
from pages.shared.models.bits_link import show_bits_link
from pages.shared.page_links import show_link
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

TREE_HEIGHT_PX: Final = 400
MOST_LEVELS: Final = 6
MOST_BARS: Final = {False: 12, True: 6}  # on a projector True
_LUMINANCE: Final = (0.2126, 0.7152, 0.0722)  # of red, green and blue
_SOURCE: Final = N_(
    "torch's own count of the module on meta: sum(p.numel() for p in m.parameters())"
)
_GPT: Final = """
import torch
from torch import nn

V, C, L, T = {vocab_size}, {hidden_dim}, {num_layers}, {seq_len}


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


def block():
    return nn.ModuleDict({{
        "norm_1": nn.LayerNorm(C, bias=False), "qkv": linear(C, 3 * C), "out": linear(C, C),
        "norm_2": nn.LayerNorm(C, bias=False), "up": linear(C, 4 * C), "down": linear(4 * C, C),
    }})


with torch.device("meta"):  # shapes without data: nothing is allocated
    model = nn.ModuleDict({{
        "tokens": nn.Embedding(V, C), "positions": nn.Embedding(T, C),
        "blocks": nn.ModuleList(block() for _ in range(L)),
        "norm": nn.LayerNorm(C, bias=False), "head": linear(C, V),
    }})
model["head"].weight = model["tokens"].weight  # tied: counted once
"""
_SMALL: Final = """
import torch
from torch import nn

model = {code}
"""
_SPEC: Final = """
from core.models.build import build_model
from core.models.spec import LatentAttention, Mixture, ModelSpec

model = build_model({spec!r})
"""
_COUNT: Final = 'print(f"{sum(each.numel() for each in model.parameters()):,}")\n'
_NAMES: Final = """
for name, parameter in model.named_parameters():
    print(f"{name:36} {tuple(parameter.shape)!s:18} {parameter.numel():>14,}")
"""


def choose_flops() -> bool:
    """Ask whether each module's FLOPs stand beside its parameters."""
    return ASK.toggle(
        "flops",
        _("FLOPs by module"),
        default=False,
        help=_("Each module's share of the parameters beside its share of the FLOPs."),
    )


def parameters(case: Case, with_flops: bool) -> Shown:
    if with_flops:
        return _modules(case)
    picture = icicle_picture(case.title, case.shown, look())
    parts = [counted(PART_TITLES[part], count) for part, count in by_part(case.tree).items()]
    numbers = [
        (_("Parameters"), total("parameters", parts, source=_SOURCE)),
        (_("In float32"), counted("weights", case.tree.num_bytes, unit="bytes")),
    ]
    tied = _("`{name}` is `{other}`: one tensor under two names, counted once.")
    notes = [
        tied.format(name=path, other=leaf.tied_to)
        for path, leaf in case.tree.leaves()
        if leaf.tied_to
    ]
    return Shown(
        headline=_("{model}: {count} parameters: {parts}").format(
            model=case.title, count=format_exact(case.tree.num_params), parts=shares(case.tree)
        ),
        charts=[Chart(picture=picture, file_name="parameters")],
        numbers=[] if presenting() else numbers,
        notes=[] if presenting() else notes,
        below=None if presenting() else partial(_links, case),
        code=_code_of(case) + _COUNT,
    )


def counted(name: str, amount: int, *, unit: str = "parameters") -> Item:
    return Item(
        name=name, amount=amount, unit=unit, low=amount, high=amount, source=_SOURCE, kind="exact"
    )


def _links(case: Case) -> None:
    """Lead on to the bytes of this model, or to the bits of its first weight."""
    with st.container(horizontal=True, key=ASK.key("elsewhere")):
        if isinstance(case.source, str):
            label = _("The bits of its first weight, {value} →")
            show_bits_link(label, first_weight(case.source))
            return
        # Our GPT is known there as a GPT-2 with biases.
        is_gpt = isinstance(case.source, GPTShape)
        label = _("The bytes of {model} in every format →").format(
            model=_("a GPT-2 of these sizes") if is_gpt else case.title
        )
        is_listed = case.key in MODELS
        query = (
            {"plan_model": case.key}
            if is_listed
            else {"plan_model": "own", "plan_config": config_of(case.source)}
        )
        show_link("plan/model_sizes", label, query)


def _code_of(case: Case) -> str:
    source = case.source
    if isinstance(source, GPTShape):
        return _GPT.format(
            vocab_size=source.vocab_size,
            hidden_dim=source.hidden_dim,
            num_layers=source.num_layers,
            seq_len=source.seq_len,
        )
    if isinstance(source, ModelSpec):
        return _SPEC.format(spec=source)
    return _SMALL.format(code=SMALL[source].code)


def _modules(case: Case) -> Shown:
    rows = module_rows(case.tree, flops(case.source))
    largest = max(rows, key=lambda row: row.num_params)
    all_flops = sum(row.flops for row in rows)
    headline = _("`{name}` holds {params} of the parameters and does {flops} of the FLOPs")
    if isinstance(case.source, str):
        note = _("{flops} for an input of the shape {input}; the output has the shape {output}.")
        shapes: dict[str, object] = {
            "input": SMALL[case.key].input_shape,
            "output": output_shape(case.key),
        }
    else:
        note = _(
            "{flops} for {tokens} tokens, as torch counts them: products alone. An embedding is "
            "looked up and costs none; `attention` itself has no parameters but multiplies scores."
        )
        shapes = {"tokens": TOKENS}
    return Shown(
        headline=headline.format(
            name=largest.path or largest.node.type,
            params=format_percent(largest.num_params / case.tree.num_params),
            flops=format_percent(largest.flops / all_flops),
        ),
        charts=[Chart(picture=modules_picture(rows, look()), file_name="modules", key="modules")],
        notes=[] if presenting() else [note.format(flops=format_flops(all_flops), **shapes)],
        code=_code_of(case) + _NAMES,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """A rectangle: `path` names it, `above` the one that holds it."""

    path: str
    above: str
    label: str
    node: ModelTree


def icicle_picture(title: str, tree: ModelTree, look: Look) -> Picture:
    """Return the tree from top to bottom, as wide as its parameters; a click opens a module."""
    rows, drawing, layout = list(_rows(tree, title)), Drawing(), look.layout()
    size = layout["font"]["size"]
    colors = [part_color(row.node.part, look) for row in rows]
    drawing.trace(
        "icicle",
        ids=[row.path for row in rows], parents=[row.above for row in rows],
        labels=[row.label for row in rows], values=[row.node.num_params for row in rows],
        branchvalues="total", sort=False, maxdepth=MOST_LEVELS,
        tiling={"orientation": "v", "pad": 2}, pathbar={"visible": False},
        marker={"colors": colors, "line": {"width": 1, "color": look.color("background")}},
        textfont={"size": size, "color": [_ink(each) for each in colors]},
        leaf={"opacity": 1},
        texttemplate="%{label}<br>%{customdata[" + ("3" if look.present else "0") + "]}",
        customdata=[_words(row.node, tree.num_params) for row in rows],
        hovertemplate="%{id}<br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
    )  # fmt: skip
    fields = {
        "height": TREE_HEIGHT_PX + 10 * look.present,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "uniformtext": {"mode": "hide", "minsize": size if look.present else size - 3},
        "meta": "parameters",
    }
    alt = _("{count} parameters of {model}: {parts}.").format(
        count=format_exact(tree.num_params), model=title, parts=shares(tree, least=0)
    )
    return Picture(figure=drawing.figure(layout | fields), alt=alt, table=_tree_table(tree))


def _ink(ground: str) -> str:
    """Return the color of letters on a ground: black or white, as reads better.

    Left to itself plotly writes in a grey that has too little contrast on the dark theme's colors.
    One of the two always has a contrast of more than 4.5 (WCAG 2.2, relative luminance).
    """
    values = [int(ground[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    luminance = sum(weight * v for weight, v in zip(_LUMINANCE, linear, strict=True))
    return "#000000" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "#ffffff"


def shares(tree: ModelTree, least: float = 0.001) -> str:
    """Return the parts with their shares as words, large to small, without the smallest."""
    parts = sorted(by_part(tree).items(), key=lambda each: -each[1])
    return _(", ").join(
        f"{_(PART_TITLES[part])} {format_percent(count / tree.num_params)}"
        for part, count in parts
        if count >= least * tree.num_params
    )


def _rows(node: ModelTree, label: str, path: str = "", above: str = "") -> Iterator[_Row]:
    """Yield rectangles; a module with nothing but one tensor is drawn as that tensor."""
    own = path or label
    yield _Row(path=own, above=above, label=label, node=node)
    for child in (each for each in node.children if each.num_params):
        name, below = child.name, [each for each in child.children if each.num_params]
        while len(below) == 1 and below[0].is_leaf:
            child, name = below[0], f"{name}.{below[0].name}"  # noqa: PLW2901  the tensor for it
            below = []
        is_block = child.count > node.count
        text = f"{child.type} × {child.count // node.count}" if is_block else name
        yield from _rows(child, text, f"{path}.{name}" if path else name, own)


def _words(node: ModelTree, num_params: int) -> tuple[str, ...]:
    count, share = format_count(node.num_params), format_percent(node.num_params / num_params)
    shape = " × ".join(map(format_exact, node.shape))
    each = f"{node.count} × ({shape})" if node.count > 1 else shape
    return (
        f"{count} · {share}",
        _("{count} parameters, {share}").format(count=format_exact(node.num_params), share=share),
        each if node.shape else node.type,
        share,
    )


def _tree_table(tree: ModelTree) -> dict[str, list[object]]:
    rows = list(tree.leaves())
    return {
        _("name"): [path for path, _leaf in rows],
        _("shape"): [str(leaf.shape) for _path, leaf in rows],
        _("how many"): [leaf.count for _path, leaf in rows],
        _("parameters"): [format_exact(leaf.num_params) for _path, leaf in rows],
        _("trainable"): [format_exact(leaf.trainable) for _path, leaf in rows],
        _("bytes"): [format_exact(leaf.num_bytes) for _path, leaf in rows],
        _("first values"): [leaf.init for _path, leaf in rows],
        _("tied to"): [leaf.tied_to for _path, leaf in rows],
    }


def modules_picture(rows: Sequence[ModuleRow], look: Look) -> Picture:
    """Return for each module its share of the parameters and of the FLOPs, the largest first."""
    params, flops = sum(row.num_params for row in rows), sum(row.flops for row in rows) or 1
    shared = {row.path: (row.num_params / params, row.flops / flops) for row in rows}
    largest = sorted(rows, key=lambda row: -max(shared[row.path]))[: MOST_BARS[look.present]]
    shown = [row for row in rows if row in largest]
    # On a projector without the list that all blocks are in.
    prefix = "blocks." if look.present else ""
    names = [row.path.removeprefix(prefix) or row.node.type for row in shown]
    drawing, colors = Drawing(), [part_color(row.node.part, look) for row in shown]
    for place, (title, pattern) in enumerate(((_("parameters"), ""), (_("FLOPs"), "/"))):
        drawing.bar(
            orientation="h", y=names, x=[shared[row.path][place] for row in shown], name=title,
            marker={"color": colors, "pattern": {"shape": pattern}},
            hovertemplate="%{y}: %{x:.1%}<extra>" + title + "</extra>",
        )  # fmt: skip
    parts = [
        _("{name} {params} and {flops}").format(
            name=name, params=format_percent(one), flops=format_percent(other)
        )
        for name, (one, other) in zip(names, (shared[row.path] for row in shown), strict=True)
    ]
    table: dict[str, list[Any]] = {
        _("module"): [row.path for row in rows],
        _("type"): [row.node.type for row in rows],
        _("how many"): [row.node.count for row in rows],
        _("parameters"): [format_exact(row.num_params) for row in rows],
        _("bytes"): [
            format_exact(sum(each.num_bytes for each in row.node.children if each.is_leaf))
            for row in rows
        ],
        "FLOPs": [format_exact(row.flops) for row in rows],
    }
    return Picture(
        figure=drawing.figure(
            layout_with(look, xaxis={"tickformat": ".3~%"}, yaxis={"autorange": "reversed"})
        ),
        alt=_("Shares of parameters and FLOPs: {parts}.").format(parts=_("; ").join(parts)),
        table=table,
    )


def _ask() -> None:
    _ask_heads() if ASK.used("flops", "false") == "true" else _ask_width()


def _ask_width() -> None:
    """Ask what twice the width does to the blocks; counted."""
    before, after = (
        next(each.num_params for each in tree(shape).children if each.name == "blocks")
        for shape in (GPT2_SMALL, replace(GPT2_SMALL, hidden_dim=2 * GPT2_SMALL.hidden_dim))
    )
    choices = [
        Choice(_("2 times"), _("So it is with the embedding: one side of it grows, not both.")),
        Choice(_("about 4 times")),
        Choice(_("about 8 times"), _("A matrix has two sides, not three.")),
    ]
    predict_then_reveal(
        ASK.key("twice_the_width"),
        _("The width of a GPT goes from 768 to 1536. How many times as many parameters have its "
          "blocks?"),
        choices,
        _("{before} become {after}, {ratio} times: both sides of every matrix grow with the "
          "width.").format(
            before=format_exact(before), after=format_exact(after), ratio=f"{after / before:.3f}"
        ),
    )  # fmt: skip


def _ask_heads() -> None:
    """Ask what twice the heads do; counted."""
    few, many = tree(GPT2_SMALL), tree(replace(GPT2_SMALL, num_heads=2 * GPT2_SMALL.num_heads))
    choices = [
        Choice(_("It doubles"), _("Then each head would have its own full width.")),
        Choice(_("Nothing")),
        Choice(_("It halves"), _("Each head is half as wide, but there are twice as many.")),
    ]
    predict_then_reveal(
        ASK.key("twice_the_heads"),
        _("A GPT of width 768 has 24 heads in place of 12. What happens to the parameters of "
          "attention?"),
        choices,
        _("{few} and {many}: heads only divide the width among themselves.").format(
            few=format_exact(few.num_params), many=format_exact(many.num_params)
        ),
    )  # fmt: skip


TAB: Final = Tab(label=N_("Parameters"), show=parameters, choose=choose_flops, question=_ask)
