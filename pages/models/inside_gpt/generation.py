"""The model goes on writing: temperature, top-k, and a KV cache that grows with the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.by_hand.gpt import kv_cache
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.generation import GeneratedToken, forward_flops, generate
from core.models.held_bytes import held_bytes
from core.models.spec import GPTShape
from core.train.text.pieces import vocabulary_signs
from core.units import format_bytes, format_count, format_percent
from pages.models.inside_gpt.inputs import ASK, ONE_PASS, Case, opening
from pages.models.inside_gpt.kept import kept
from pages.models.inside_gpt.models import SMALL
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

MAX_NEW: Final = 48
START_NEW: Final = 12
MAX_TOP_K: Final = 20
_CODE: Final = """from core.models.generation import generate
{imports}
opened = {opened}
for use_cache in (True, False):
    written = list(generate(opened.model, [{ids}], {num_new},
                            temperature={temperature}, top_k={top_k}, use_cache=use_cache))
    print(repr(opened.tokenizer.decode([each.id for each in written])),
          f"{{written[-1].flops / 1e6:.3g}} M FLOPs", written[-1].cache_bytes, "bytes")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """How tokens are drawn, and how many."""

    temperature: float
    top_k: int
    num_new: int


def choose_drawn() -> Drawn:
    temperature = ASK.slider(
        "temperature", _("Temperature"), 0.0, 2.0, default=0.8, step=0.1,
        help=_("Divides the logits before softmax: 0 always takes the likeliest token, 1 draws "
               "with the model's own probabilities, above 1 the unlikely come more often."),
    )  # fmt: skip
    top_k = ASK.slider(
        "top_k",
        "Top-k",
        0,
        MAX_TOP_K,
        default=0,
        step=1,
        help=_("Only the k likeliest tokens may be drawn; 0 allows all."),
    )
    num_new = ASK.slider("new", _("Generated tokens"), 1, MAX_NEW, default=START_NEW, step=1)
    return Drawn(temperature=temperature, top_k=top_k, num_new=num_new)


def generation(case: Case, drawn: Drawn) -> Shown:
    """Show what the model writes after the text, and what each token costs."""
    if not case.token_ids:
        return Shown(headline=_("Type a text in the first tab: the model goes on from it"))
    model, tokenizer = case.opened.model, case.opened.tokenizer
    top_k = min(drawn.top_k, model.shape.vocab_size)
    written = _written(case, drawn)
    signs = vocabulary_signs(tokenizer, [each.id for each in written])
    vocabulary = vocabulary_signs(tokenizer, range(tokenizer.vocab_size))
    last = written[-1]
    whole = forward_flops(model.shape, last.num_seen, last.num_seen)
    return Shown(
        headline=_(
            "The model writes “{text}”, {likeliest} of {count} tokens the likeliest ones; token "
            "{count} takes {cached} FLOPs with the KV cache and {whole} without"
        ).format(
            likeliest=sum(int(each.logits.argmax()) == each.id for each in written),
            text="`" + "".join(signs).replace("`", "'") + "`", count=len(written),
            cached=format_count(last.flops), whole=format_count(whole),
        ),
        charts=[
            Chart(
                picture=generation_picture(written, signs, vocabulary, model.shape, look()),
                file_name="generation",
            )
        ],
        # the newest token of all is not read yet
        numbers=[(_("KV cache"), kv_cache(model.shape, last.num_seen))],
        notes=_notes(case, drawn, written),
        code=_CODE.format(
            **opening(case), num_new=drawn.num_new,
            temperature=drawn.temperature, top_k=top_k,
        ),
    )  # fmt: skip


def _notes(case: Case, drawn: Drawn, written: Sequence[GeneratedToken]) -> list[str]:
    seq_len = case.opened.model.shape.seq_len
    grown = _("The KV cache grows with the text: {first} with token 1, {last} with token {count}.")
    first, last = (look().format_bytes(each.cache_bytes) for each in (written[0], written[-1]))
    notes = [
        _("Keys and values of earlier tokens stay as they are, so a cache leaves only the newest "
          "token to compute; without one, all are computed again for each new token."),
        grown.format(first=first, last=last, count=len(written)),
    ]  # fmt: skip
    if len(case.token_ids) + drawn.num_new - 1 > seq_len:
        words = _(
            "The context holds {seq_len} tokens. Beyond it the window slides, every token gets a "
            "new position, and the cache has to be computed anew."
        )
        notes.append(words.format(seq_len=seq_len))
    return notes


def _written(case: Case, drawn: Drawn) -> tuple[GeneratedToken, ...]:
    opened, top_k = case.opened, min(drawn.top_k, case.opened.model.shape.vocab_size)

    def write() -> tuple[GeneratedToken, ...]:
        temperature = drawn.temperature
        return tuple(
            generate(
                opened.model, case.token_ids, drawn.num_new, temperature=temperature, top_k=top_k
            )
        )

    return kept().get(
        ("written", ASK.used("run", SMALL), opened.step, case.token_ids, drawn),
        write,
        lambda tokens: held_bytes(held for each in tokens for held in (each.logits, each.chances)),
    )


HEIGHT_PX: Final = 330
PRESENT_HEIGHT_PX: Final = 300
NUM_BARS: Final = 8
PRESENT_BARS: Final = 5  # whose signs do not touch on a projector


def generation_picture(
    written: Sequence[GeneratedToken], signs: Sequence[str], vocabulary: Sequence[str],
    shape: GPTShape, look: Look,
) -> Picture:  # fmt: skip
    """Return the chances of the first token on the left, the work for each token on the right."""
    drawing = Drawing()
    plain = written[0].logits.float().softmax(0)
    best = plain.topk(min(PRESENT_BARS if look.present else NUM_BARS, len(plain))).indices.tolist()
    _draw_chances(drawing, written[0], best, vocabulary, look)
    uncached = [forward_flops(shape, each.num_seen, each.num_seen) for each in written]
    _draw_work(drawing, written, uncached, signs, look)
    first, last = written[0], written[-1]
    alt = _(
        "The likeliest next token is {token} with {plain}; at this temperature and top-k it is "
        "drawn with {chance}. Token {count} costs {cached} FLOPs with the KV cache, which then "
        "holds {memory}, and {whole} FLOPs without."
    ).format(
        token=vocabulary[best[0]], plain=format_percent(float(plain[best[0]])),
        chance=format_percent(float(first.chances[best[0]])), count=len(written),
        cached=format_count(last.flops), memory=format_bytes(last.cache_bytes),
        whole=format_count(uncached[-1]),
    )  # fmt: skip
    return Picture(
        figure=drawing.figure(_layout(look, [vocabulary[each] for each in best])),
        alt=alt,
        table=_table(written, uncached, signs),
    )


def _draw_chances(
    drawing: Drawing, first: GeneratedToken, best: Sequence[int], vocabulary: Sequence[str],
    look: Look,
) -> None:  # fmt: skip
    """Draw what is drawn from as bars, and what the model says at temperature 1 as marks."""
    plain = first.logits.float().softmax(0)
    places, names = list(range(len(best))), [vocabulary[each] for each in best]
    drawing.bar(
        x=[float(first.chances[each]) for each in best], y=places, orientation="h",
        marker={"color": look.color("forward")}, name=_("drawn with"), customdata=names,
        hovertemplate="%{customdata}: %{x:.2%}<extra></extra>",
    )  # fmt: skip
    drawing.scatter(
        x=[float(plain[each]) for each in best], y=places, mode="markers",
        marker={"symbol": "line-ns-open", "size": 18, "line": {"width": 3},
                "color": look.color("reference")},
        name=_("at temperature 1"), customdata=names,
        hovertemplate="%{customdata}: %{x:.2%}<extra></extra>",
    )  # fmt: skip


def _draw_work(
    drawing: Drawing, written: Sequence[GeneratedToken], uncached: Sequence[int],
    signs: Sequence[str], look: Look,
) -> None:  # fmt: skip
    steps = list(range(1, len(written) + 1))
    lines = (
        (_("without a cache"), list(uncached), look.color("backward"), "dash"),
        (_("with the KV cache"), [each.flops for each in written], look.color("kv_cache"), "solid"),
    )
    for name, flops, color, dash in lines:
        drawing.scatter(
            x=steps, y=flops, name=name, mode="lines+markers", xaxis="x2", yaxis="y2",
            line={"color": color, "width": 3, "dash": dash}, marker={"size": 6},
            customdata=list(signs), hovertemplate="%{customdata}: %{y:.3s} FLOPs<extra></extra>",
        )  # fmt: skip


def _layout(look: Look, names: Sequence[str]) -> dict[str, object]:
    layout = look.layout()
    plain = {"showgrid": False, "zeroline": False}
    axes = {
        "xaxis": layout["xaxis"] | plain | {
            "nticks": 4,
            "domain": [0, 0.36], "tickformat": ".3~%", "rangemode": "tozero",
            "title": {"text": _("probability")},
        },
        "yaxis": layout["yaxis"] | plain | {
            "autorange": "reversed", "tickvals": list(range(len(names))), "ticktext": list(names),
            "title": {"text": "" if look.present else _("next token")},
        },
        "xaxis2": layout["xaxis"] | plain | {
            "domain": [0.5, 1], "anchor": "y2", "title": {"text": _("generated token")},
        },
        "yaxis2": layout["yaxis"] | {
            "anchor": "x2", "type": "log", "exponentformat": "SI", "dtick": 1,
            "title": {"text": _("FLOPs per token")},
        },
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }  # fmt: skip
    return layout | axes


def _table(
    written: Sequence[GeneratedToken], uncached: Sequence[int], signs: Sequence[str]
) -> dict[str, list[object]]:
    return {
        _("generated token"): list(signs),
        _("drawn with"): [format_percent(float(each.chances[each.id])) for each in written],
        _("tokens computed"): [each.num_computed for each in written],
        _("FLOPs with the KV cache"): [each.flops for each in written],
        _("FLOPs without a cache"): list(uncached),
        _("bytes of the KV cache"): [each.cache_bytes for each in written],
    }


TAB: Final = Tab(
    label=N_("Generation"),
    show=generation,
    choose=choose_drawn,
    unseen=ONE_PASS,
    reading="generation",
)
