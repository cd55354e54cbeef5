"""What the first block reads: ids, rows of a table, and positions."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import streamlit as st

from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.lookup import Cosines, Looked, Turned, cosines, look_up, random_cosines, turn
from core.train.config import DEFAULT_BPE_VOCABULARY
from core.train.learning.recording import SMALL_GPT, read_recording
from core.train.text.corpora import load_corpus
from core.train.text.pieces import CHARACTER, Span, all_spans
from core.train.text.tokenizers import BPETokenizer
from pages.models.inside_gpt.inputs import ASK, ONE_PASS, Case, opening
from pages.shared.models.bits_link import show_bits_link
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

VIEWS: Final = {
    "ids": N_("Token ids"),
    "rows": N_("Embedding lookup"),
    "cosines": N_("Cosine similarity"),
    "rotary": N_("Rotary positions (RoPE)"),
}
TABLES: Final = {"model": N_("this model"), "random": N_("random rows")}
WIDTHS: Final = (2, 8, 64, 512, 4096)
MOST_CHARACTERS: Final = 24  # so that each id can be read
PRESENT_MOST: Final = 11
MAX_HEAD: Final = 16
_IDS: Final = """
text = {text!r}
characters = {characters!r}
print(len([characters.index(each) for each in text]), "characters:",
      [characters.index(each) for each in text])
print(len(text.encode()), "bytes:", list(text.encode()))
"""
_ROWS: Final = """import torch

{imports}
model = {opened}.model
ids = torch.tensor([{ids}])
rows = model.tokens.weight[ids]
one_hot = torch.nn.functional.one_hot(ids, {vocab_size}).float()
print(torch.equal(rows, one_hot @ model.tokens.weight), tuple(rows.shape))
"""
_RANDOM: Final = """import torch

table = torch.randn({rows}, {width}, generator=torch.Generator().manual_seed(0))
"""
_TABLE: Final = """import torch

{imports}
table = {opened}.model.tokens.weight.detach()[:{rows}]
"""
_COSINES: Final = """unit = torch.nn.functional.normalize(table, dim=-1)
first, second = torch.triu_indices(len(unit), len(unit), offset=1)
print(f"{{(unit @ unit.T)[first, second].std():.4f}}, random rows: {{table.shape[1] ** -0.5:.4f}}")
"""
_TURN: Final = """
import torch

width, position = {width}, {position}
angles = position * 10_000 ** (-torch.arange(0, width, 2) / width)
print([f"{{angle:.3g}}" for angle in angles.tolist()])
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """What the reader looks at."""

    name: str
    table: str = "model"
    width: int = 64
    head: int = 8
    position: int = 3


def choose_view() -> View:
    name = ASK.selectbox(
        "view", _("Look at"), tuple(VIEWS), default="ids", labels=lambda key: _(VIEWS[key])
    )
    if name == "cosines":
        table = ASK.segmented(
            "table", _("Rows"), tuple(TABLES), default="model", labels=lambda key: _(TABLES[key])
        )
        if table == "random":
            width = ASK.select_slider("width", _("Width"), WIDTHS, default=64)
            return View(name=name, table=table, width=width)
    if name == "rotary":
        head = ASK.slider("head_dim", _("Head width"), 2, MAX_HEAD, default=8, step=1)
        position = ASK.slider("position", _("Position"), 0, 63, default=3, step=1)
        return View(name=name, head=head, position=position)
    return View(name=name)


def tokens(case: Case, view: View) -> Shown:
    return _SHOW[view.name](case, view)


def _ids(case: Case, _view: View) -> Shown:
    text = case.text[-(PRESENT_MOST if presenting() else MOST_CHARACTERS) :]
    if not text:
        return Shown(headline=_("Write a text: the model reads it token by token."))
    spans = all_spans(text, case.opened.tokenizer, _bpe())
    counts = [
        _("{tokenizer} {count}").format(tokenizer=_(name), count=len(found))
        for name, found in spans.items()
    ]
    if missing := len(text) - len(spans[CHARACTER]):
        message = _("{count} ({missing} of {all} characters have no token)")
        counts[0] = message.format(count=counts[0], missing=missing, all=len(text))
    picture = ids_picture({_(name): found for name, found in spans.items()}, look())
    known = case.opened.tokenizer.to_json().get("characters") or "".join(sorted(set(text)))
    return Shown(
        headline=_("“{text}” as tokens: {counts}").format(
            text=text.strip(), counts=_(", ").join(counts)
        ),
        charts=[Chart(picture=picture, file_name="tokens")],
        notes=[
            _("A model never sees letters, only these numbers. A character that the vocabulary "
              "lacks has no number at all; bytes can spell every text, but need more tokens.")
        ],
        code=_IDS.format(text="".join(each for each in text if each in known), characters=known),
    )  # fmt: skip


@st.cache_resource(max_entries=1, show_spinner=False)
def _bpe() -> BPETokenizer:
    """Return byte-pair encoding learnt from the text that the small model learned from."""
    return BPETokenizer.of(
        load_corpus(read_recording(SMALL_GPT).config.corpus), DEFAULT_BPE_VOCABULARY
    )


def _rows(case: Case, _view: View) -> Shown:
    if not case.token_ids:
        return Shown(headline=_("Write a text: the model reads it token by token."))
    model, number = case.opened.model, case.token_ids[case.at]
    looked = look_up(model, case.token_ids, case.at)
    names = (
        _("row {id} of the embedding").format(id=number),
        _("row {at} of the positions").format(at=case.at),
        _("their sum"),
    )
    verdict = _("equal bit for bit") if looked.same_bits else _("not equal")
    return Shown(
        headline=_(
            "“{token}” is row {id} of {count}: {width} numbers. Row pick and one-hot times the "
            "matrix are {verdict}"
        ).format(
            token=case.pieces[case.at], id=number, count=model.shape.vocab_size,
            width=model.shape.hidden_dim, verdict=verdict,
        ),
        charts=[Chart(picture=rows_picture(looked, names, look()), file_name="embedding")],
        notes=[
            _("The embedding is a matrix, and the lookup a matrix product with rows that are 1 at "
              "one place and 0 elsewhere; picking the row spares the multiplications. The row of "
              "the position is added, so that equal tokens at two places differ.")
        ],
        below=None if presenting() else partial(_first_bits, looked),
        code=_ROWS.format(
            vocab_size=model.shape.vocab_size, **opening(case),
        ),
    )  # fmt: skip


def _first_bits(looked: Looked) -> None:
    show_bits_link(_("The bits of its first number, {value} →"), float(looked.token[0]))


def _cosines(case: Case, view: View) -> Shown:
    found = _found(case, view)
    rows = len(case.opened.model.tokens.weight) if view.table == "model" else 256
    made = (_TABLE if view.table == "model" else _RANDOM).format(
        rows=min(rows, 256), width=view.width, **opening(case)
    )
    return Shown(
        headline=_(
            "Cosines of rows of {width} numbers spread by {std}; random rows by 1/√{width} = {own}"
        ).format(width=found.width, std=f"{found.std:.4f}", own=f"{found.expected_std:.4f}"),
        charts=[Chart(picture=cosines_picture(found, look()), file_name="cosines")],
        notes=[
            _("In many dimensions two random directions are nearly at right angles: the cosine is "
              "about N(0, 1/d). A trained table is wider: tokens that are used alike have "
              "become alike. Drag the training step to see it.")
        ],
        code=made + _COSINES,
    )  # fmt: skip


def _found(case: Case, view: View) -> Cosines:
    if view.table == "random":
        return random_cosines(view.width)
    return cosines(case.opened.model.tokens.weight)


def _rotary(_case: Case, view: View) -> Shown:
    turned = turn(view.head, view.position)
    same = abs(turned.products - turned.products_at_0).max()
    return Shown(
        headline=_(
            "Position {position} turns {count} pairs of channels, the first by {first} radians, "
            "the last by {last}"
        ).format(
            position=view.position, count=len(turned.angles),
            first=f"{turned.angles[0]:.3g}", last=f"{turned.angles[-1]:.3g}",
        ),
        charts=[Chart(picture=turn_picture(turned, view.position, look()), file_name="rotary")],
        notes=[
            _("Channel i and channel i + d/2 are one pair. Queries and keys are turned, so that "
              "their product depends only on how far apart they stand: moved by {position} "
              "positions, sixteen products change by at most {change}.").format(
                position=view.position, change=f"{same:.1e}")
        ],
        code=_TURN.format(width=view.head, position=view.position),
    )  # fmt: skip


_SHOW: Final[Mapping[str, Callable[[Case, View], Shown]]] = {
    "ids": _ids,
    "rows": _rows,
    "cosines": _cosines,
    "rotary": _rotary,
}


HEIGHT_PX = 360
_NUM_BINS = 60


def ids_picture(rows: Mapping[str, Sequence[Span]], look: Look) -> Picture:
    """Return the tokens of one text as boxes, a row a tokenizer; as wide as what they stand for."""
    drawing, names = Drawing(), list(rows)
    for number, spans in enumerate(rows.values()):
        fills = [look.color("surface"), look.color("background")]
        for place, span in enumerate(spans):
            drawing.shape(
                type="rect", x0=span.start, x1=span.end, y0=number - 0.38, y1=number + 0.38,
                fillcolor=fills[place % 2], line={"color": look.color("border"), "width": 1},
                layer="below",
            )  # fmt: skip
        drawing.scatter(
            x=[(span.start + span.end) / 2 for span in spans], y=[number] * len(spans),
            text=[f"<b>{span.sign}</b><br>{span.id}" for span in spans], mode="text",
            textfont={"size": look.layout()["font"]["size"] - 3 * (not look.present)},
            hovertemplate="%{text}<extra></extra>", showlegend=False,
        )  # fmt: skip
    axis = look.layout()["yaxis"]
    layout = {
        "height": HEIGHT_PX, "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "xaxis": {"visible": False},
        "yaxis": axis | {
            "tickvals": list(range(len(names))), "ticktext": names, "showgrid": False,
            "zeroline": False, "range": [len(names) - 0.5, -0.5],
        },
    }  # fmt: skip
    counts = [f"{name} {len(spans)}" for name, spans in rows.items()]
    return Picture(
        figure=drawing.figure(look.layout() | layout),
        alt=_("The same text as tokens. {counts}.").format(counts=_(", ").join(counts)),
        table=_ids_table(rows),
    )


def _ids_table(rows: Mapping[str, Sequence[Span]]) -> dict[str, list[object]]:
    flat = [(name, span) for name, spans in rows.items() for span in spans]
    return {
        _("tokenizer"): [name for name, _span in flat],
        _("token"): [span.sign for _name, span in flat],
        _("id"): [span.id for _name, span in flat],
    }


def rows_picture(looked: Looked, names: Sequence[str], look: Look) -> Picture:
    """Return the token's row, the position's row and their sum as three strips of colour."""
    values = np.stack([looked.token, looked.position, looked.total])
    most = float(np.abs(values).max()) or 1.0
    drawing = Drawing()
    drawing.trace(
        "heatmap", z=values.tolist(), y=list(names), zmin=-most, zmax=most, xgap=1, ygap=8,
        colorscale=[
            [0, look.color("candidate_high")], [0.5, look.color("background")],
            [1, look.color("candidate_low")],
        ],
        colorbar={"thickness": 12}, hovertemplate="%{x}: %{z:.4f}<extra>%{y}</extra>",
    )  # fmt: skip
    layout, plain = look.layout(), {"showgrid": False, "zeroline": False}
    axes = {
        "xaxis": layout["xaxis"] | plain | {"title": {"text": _("channel")}},
        "yaxis": layout["yaxis"] | plain | {"autorange": "reversed"},
        "height": HEIGHT_PX, "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }  # fmt: skip
    said = _("{token} plus {place} makes {total}: the first channel {a} + {b} = {c}.")
    first = values[:, 0].tolist()
    return Picture(
        figure=drawing.figure(layout | axes),
        alt=said.format(
            token=names[0], place=names[1], total=names[2],
            a=f"{first[0]:.4f}", b=f"{first[1]:.4f}", c=f"{first[2]:.4f}",
        ),
        table={_("channel"): list(range(values.shape[1]))}
        | {name: row.tolist() for name, row in zip(names, values, strict=True)},
    )  # fmt: skip


def cosines_picture(found: Cosines, look: Look) -> Picture:
    """Return how often each cosine occurs, and the bell curve of random rows."""
    counts, edges = np.histogram(found.values, bins=_NUM_BINS, density=True)
    middles = ((edges[1:] + edges[:-1]) / 2).tolist()
    scale = found.expected_std * math.sqrt(2 * math.pi)
    bell = [math.exp(-((x / found.expected_std) ** 2) / 2) / scale for x in middles]
    drawing = Drawing()
    drawing.bar(
        x=middles, y=counts.tolist(), name=_("pairs of rows"),
        marker={"color": look.color("embedding")},
        hovertemplate="%{x:.3f}: %{y:.3g}<extra></extra>",
    )  # fmt: skip
    drawing.scatter(
        x=middles, y=bell, mode="lines", name=f"N(0, 1/{found.width})",
        line={"color": look.color("text"), "width": 3, "dash": "dash"}, hoverinfo="skip",
    )  # fmt: skip
    layout = look.layout()
    axes = {
        "xaxis": layout["xaxis"] | {"title": {"text": _("cosine of two rows")}},
        "yaxis": layout["yaxis"] | {"title": {"text": _("density")}},
        "height": HEIGHT_PX, "bargap": 0,
        "margin": {"l": 8, "r": 8, "t": layout["font"]["size"] * 2.6, "b": 8},
    }  # fmt: skip
    said = _(
        "{count} cosines with mean {mean} and standard deviation {std}; random rows have {own}."
    )
    return Picture(
        figure=drawing.figure(layout | axes),
        alt=said.format(
            count=len(found.values), mean=f"{found.mean:.3f}", std=f"{found.std:.4f}",
            own=f"{found.expected_std:.4f}",
        ),
        table={_("cosine"): middles, _("density"): counts.tolist(), f"N(0, 1/{found.width})": bell},
    )  # fmt: skip


def turn_picture(turned: Turned, position: int, look: Look) -> Picture:
    """Return each pair of channels as the hand of a clock, turned by its position."""
    drawing, layout = Drawing(), look.layout()
    for number, (x, y) in enumerate(turned.pairs.tolist()):
        middle = 2.4 * number
        drawing.shape(
            type="circle", x0=middle - 1, x1=middle + 1, y0=-1, y1=1,
            line={"color": look.color("border"), "width": 2},
        )  # fmt: skip
        drawing.scatter(
            x=[middle, middle + x], y=[0, y], mode="lines+markers", showlegend=False,
            line={"color": look.color("attention"), "width": 4}, marker={"size": [1, 11]},
            hovertemplate=f"{turned.angles[number]:.4g} rad<extra></extra>",
        )  # fmt: skip
        drawing.note(x=middle, y=-1.5, text=f"{number}, {number + len(turned.pairs)}")
        drawing.note(x=middle, y=1.45, text=f"{turned.angles[number]:.3g} rad")
    hidden = {"visible": False}
    axes = {
        "xaxis": hidden, "yaxis": hidden | {"scaleanchor": "x", "range": [-1.9, 1.8]},
        "height": HEIGHT_PX, "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }  # fmt: skip
    said = _(
        "At position {position} the first pair is turned by {first} radians, the last by {last}."
    )
    angles = turned.angles.tolist()
    return Picture(
        figure=drawing.figure(layout | axes),
        alt=said.format(position=position, first=f"{angles[0]:.4g}", last=f"{angles[-1]:.4g}"),
        table={
            _("pair"): list(range(len(angles))), _("angle, radians"): angles,
            "x": turned.pairs[:, 0].tolist(), "y": turned.pairs[:, 1].tolist(),
        },
    )  # fmt: skip


TAB: Final = Tab(
    label=N_("Tokens and embeddings"),
    show=tokens,
    choose=choose_view,
    unseen=ONE_PASS,
    reading="tokens",
)
