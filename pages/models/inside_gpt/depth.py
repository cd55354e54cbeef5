"""The answer: what the model would say after each block, and which tokens look at which."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from core.language import N_, _
from core.models.depth import Depth
from core.models.depth import depth as look_inside
from core.models.generation import forward_flops
from core.train.learning.opened import Opened
from core.train.text.pieces import SIGNS, SIGNS_TOLD, visible, vocabulary_signs
from core.units import format_percent
from pages.components.gpt_depth.gpt_depth import Panel, Typed, gpt_depth, used_tokens
from pages.models.inside_gpt.inputs import ASK, MAX_CHARS, Case, at_the_start, opening, title_of
from pages.models.inside_gpt.models import opened_fresh
from pages.shared.charts import show_table
from pages.shared.job import in_turn
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import is_hidden, presenting
from pages.shared.tabbed_page import Part, Shown, Tab

ROOM: Final = 330  # pixels of the picture
PRESENT_ROOM: Final = 300
_LENS = """import torch

{imports}
opened = {opened}
model, ids = opened.model, torch.tensor([{ids}])
after = []  # the chances of the next token, after the embedding and after each block
with torch.no_grad():
    x = model.tokens(ids) + model.positions.weight[: len(ids)]  # (T, C)
    after.append(model.head(model.norm(x[-1])).softmax(-1))
    for block in model.blocks:
        x = block(x[None])[0]
        after.append(model.head(model.norm(x[-1])).softmax(-1))
best = int(after[-1].argmax())
print(repr(opened.tokenizer.decode([best])), [f"{{float(each[best]):.1%}}" for each in after])
"""


def depth(case: Case) -> Shown:
    models = [each for each in (case.opened, case.other) if each] if case.token_ids else []
    panels = [_panel(case, each) for each in models]
    used = used_tokens(panels, case.token_ids) if panels else []
    signs = dict(zip(used, vocabulary_signs(case.opened.tokenizer, used), strict=True))
    gpt_depth(
        panels,
        case.token_ids,
        signs,
        Typed(
            text=case.text,
            most=MAX_CHARS,
            at=case.at if case.at < len(case.token_ids) - 1 else None,
            layer=case.layer,
            is_hidden=is_hidden(ASK.page, "text"),
        ),
        key=ASK.key("picture"),
        on_choice=_choose,
        room=PRESENT_ROOM if presenting() else ROOM,
    )
    if not panels:
        headline = _("Type a text: the model says which token comes next")
        if case.unknown:
            headline = _("The model has no token for any of these characters: type others")
        return Shown(headline=headline, notes=_notes(case))
    return Shown(
        headline=_headline(panels, signs),
        part=Part(key=ASK.key("picture"), file_name="inside-gpt"),
        notes=_notes(case),
        below=lambda: _numbers(case, panels[0].inside),
        code=_LENS.format(**opening(case)),
    )


def _choose(name: str, value: object) -> None:
    if isinstance(value, str):  # half of an emoji is no text that can be sent back
        value = value.encode(errors="replace").decode()
    if name == "at":  # what is pointed at changes nothing else: on a locked page, too
        ASK.write(name, value)
    else:
        ASK.set(name, value)


def _panel(case: Case, opened: Opened) -> Panel:
    inside = _looked(case, opened)
    heads = _("mean") if case.head is None else _("head {number}").format(number=case.head + 1)
    names = row_names(len(inside.chances))
    layers = range(1, len(names))
    message = _("layer {layer}, {heads}")
    return Panel(
        title=title_of(opened),
        label=depth_alt(inside, case.pieces, _said(opened, inside)),
        names=names,
        attention=[message.format(layer=layer, heads=heads) for layer in layers],
        inside=inside,
    )


def _looked(case: Case, opened: Opened) -> Depth:
    count = len(case.token_ids)
    return in_turn(
        f"inside {id(opened.model)} {case.head} {case.token_ids}",
        partial(look_inside, opened.model, case.token_ids, case.head),
        forward_flops(opened.model.shape, count, count),
        doing=_("Reading the text …"),
    )


def _said(opened: Opened, inside: Depth) -> list[tuple[str, ...]]:
    return [vocabulary_signs(opened.tokenizer, row) for row in inside.candidates[:, :, 0]]


def _headline(panels: list[Panel], signs: dict[int, str]) -> str:
    """Return how the answer grows with depth, or what it is in each of two models."""
    first = panels[0].inside
    token = int(first.candidates[-1, -1, 0])
    if len(panels) > 1:
        steps = _(", ").join(
            _("{share} for {model}").format(
                share=chance_text(float(each.inside.output[token])), model=each.title
            )
            for each in panels
        )
    else:
        shares, names = first.settling[:, -1].tolist(), row_names(len(first.settling))
        rows = sorted({0, (len(names) - 1) // 2, len(names) - 1})
        steps = _(", ").join(
            _("{share} after {row}").format(share=chance_text(shares[row]), row=names[row])
            for row in rows
        )
    message = _("The next token is “{token}”: {steps}")
    return message.format(token=f"`{signs[token]}`", steps=steps)


def _notes(case: Case) -> list[str]:
    notes = []
    if case.unknown:
        message = _(
            "{characters} are not among the {count} tokens of this model: it learned from a text "
            "without them. They are left out here; a byte model reads every text."
        )
        shown = " ".join(f"`` {visible(each)} ``" for each in case.unknown[:10])
        notes.append(message.format(characters=shown, count=case.opened.tokenizer.vocab_size))
    if case.num_all > len(case.token_ids):
        message = _("The model reads the last {count} tokens of your text.")
        notes.append(message.format(count=len(case.token_ids)))
    if not presenting() and set("".join(case.pieces)) & set(SIGNS.values()):
        notes.append(_(SIGNS_TOLD))
    return notes


def _numbers(case: Case, inside: Depth) -> None:
    """Show the sentence and the table of the picture, made only when they are opened."""
    place = st.expander(
        _("The numbers of this picture"),
        key=ASK.key("numbers"),
        icon=":material/table:",
        on_change="rerun",
    )
    if place.open:
        with place:
            said = _said(case.opened, inside)
            st.caption(depth_alt(inside, case.pieces, said))
            show_table(depth_table(inside, case.pieces, said))


SMALLEST: Final = 1e-4  # probability that is written out


def row_names(num_rows: int) -> list[str]:
    """Return after what each row comes: the embedding, then each block.

    >>> row_names(3)
    ['embedding', 'block 1', 'block 2']
    """
    blocks = [_("block {number}").format(number=number) for number in range(1, num_rows)]
    return [_("embedding"), *blocks]


def chance_text(chance: float) -> str:
    """Return a probability with three digits; one that no bar shows is only bounded.

    >>> chance_text(0.254), chance_text(3e-7)
    ('25.4 %', '< 0.01 %')
    """
    return format_percent(chance) if chance >= SMALLEST else f"< {format_percent(SMALLEST)}"


def depth_alt(inside: Depth, pieces: Sequence[str], said: Sequence[Sequence[str]]) -> str:
    steps = _(", ").join(
        _("{row}: {token} {share}").format(
            row=name, token=row[-1], share=chance_text(float(inside.chances[number, -1, 0]))
        )
        for number, (name, row) in enumerate(zip(row_names(len(said)), said, strict=True))
    )
    message = _(
        "The likeliest next token after each of {count} tokens. After the last one, {steps}."
    )
    return message.format(count=len(pieces), steps=steps)


def depth_table(
    inside: Depth, pieces: Sequence[str], said: Sequence[Sequence[str]]
) -> dict[str, list[object]]:
    """Return a row a token: what would come next, and how likely, after each block."""
    table: dict[str, list[object]] = {_("token"): list(pieces)}
    for number, (name, row) in enumerate(zip(row_names(len(said)), said, strict=True)):
        shares = inside.chances[number, :, 0].tolist()
        table[name] = [
            f"{token} {chance_text(share)}" for token, share in zip(row, shares, strict=True)
        ]
    return table


def ask_for_the_first_chance() -> None:
    """Ask what a fresh model gives its favourite token; all percentages are computed."""
    trained, token_ids = at_the_start()
    fresh, taught = (
        look_inside(model.model, token_ids, None) for model in (opened_fresh(trained), trained)
    )
    sure, first = taught.chances[-1, -1, 0], fresh.chances[-1, -1, 0]
    vocab_size = fresh.vocab_size
    choices = [
        Choice(
            format_percent(sure),
            _("So sure is the trained model. Nothing has told the fresh one which token follows."),
        ),
        Choice(_("About {share}, as any other token").format(share=format_percent(first))),
        Choice(
            format_percent(0.0),
            _("Softmax gives every token more than 0, and all of them together 1."),
        ),
    ]
    predict_then_reveal(
        ASK.key("first_chance"),
        _(
            "A model with {count} tokens in its vocabulary has learned nothing. Which probability "
            "does its likeliest next token get?"
        ).format(count=vocab_size),
        choices,
        _(
            "Its weights are small and random, so all logits are nearly equal: {share} is about "
            "1 / {count}. Its loss is about ln {count} = {loss} nats."
        ).format(share=format_percent(first), count=vocab_size, loss=f"{fresh.uniform_loss:.2f}"),
    )


TAB: Final = Tab(label=N_("From text to token"), show=depth)
