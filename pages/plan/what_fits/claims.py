"""Claims checked: known ones on one scale, and the reader's own in words."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from core.budget.catalogue.devices import DEVICES
from core.budget.claims.bounds import assumed
from core.budget.claims.claim import CLAIMS, Ruling
from core.budget.claims.reading import MAX_CHARS, read_claim
from core.budget.claims.referee import rule
from core.figures.budget.what_fits.claims import VERDICTS, Row, claims_picture
from core.language import _, ngettext
from pages.plan.what_fits.inputs import ASK
from pages.shared.answer import written
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

OWN: Final = "own"
EXAMPLE: Final = "Llama-2 7B in bf16 generates 200 tok/s on one A100 80GB"
CODE: Final = """
from math import ceil

bound = {bound}  # {unit}
stated = {stated}
print(f"{{{above} / {below}:.3g}} times the bound")
"""


def choose_claim() -> tuple[str, str]:
    """Return the key of the chosen claim, and the reader's own in words if it is that."""
    keys = (*CLAIMS, OWN)
    key = ASK.select_slider("claim", _("Claim"), keys, default="matmul-4090", labels=number_of)
    if key != OWN:
        st.markdown(_label(key))
        return key, ""
    return key, ASK.text("words", _("The claim in words"), default=EXAMPLE, max_chars=MAX_CHARS)


def number_of(key: str) -> str:
    """Return the number of a claim in the picture, for the slider."""
    return f"{list(CLAIMS).index(key) + 1}" if key in CLAIMS else _label(OWN)


def _label(key: str) -> str:
    if key == OWN:
        return _("in my own words")
    words = _("Made up: {claim}") if CLAIMS[key].is_made_up else "{claim}"
    return words.format(claim=_(CLAIMS[key].text))


def claims(wanted: tuple[str, str]) -> Shown:
    """Show what the bounds say about the claims, and the chosen one in full."""
    key, words = wanted
    rulings = {name: rule(claim) for name, claim in CLAIMS.items()}
    ruling = _own(words) if key == OWN else rulings[key]
    rows = [
        Row(key=name, number=number_of(name), label=_label(name), ruling=ruled)
        for name, ruled in rulings.items()
    ]
    if key == OWN and ruling is not None:
        # never the words themselves: a link wrote them
        rows.append(Row(key=OWN, number="", label=_label(OWN), ruling=ruling))
    chart = Chart(picture=claims_picture(rows, key, look()), file_name="claims", on_click=take_over)
    if ruling is None:
        return Shown(headline=_("There is no claim to check."), charts=[chart])
    bound = ruling.bound
    parts = [(_(part.name), part) for part in bound.children]
    return Shown(
        headline=sentence(ruling),
        charts=[chart],
        numbers=[(_("Bound"), bound), *parts, (_("Stated"), ruling.stated)],
        beside=partial(_say_source, ruling),
        widths=(3, 1),
        code=write_code(ruling),
    )


def write_code(ruling: Ruling) -> str:
    """Return Python that holds the claim against its bound."""
    is_time = ruling.bound.unit == "s"
    above, below = (
        ("bound", "stated") if is_time or ruling.claim.kind == "fits" else ("stated", "bound")
    )
    return CODE.format(
        bound=ruling.bound.python,
        unit=ruling.bound.unit,
        stated=ruling.stated.python,
        above=above,
        below=below,
    )


def _own(words: str) -> Ruling | None:
    """Return the ruling on a claim in words; None, after a sentence, if it cannot be read."""
    try:
        return rule(read_claim(words))
    except ValueError as error:
        st.error(str(error))
        return None


def _say_source(ruling: Ruling) -> None:
    with st.container():  # one below the other
        st.caption(_("Said in: {source}").format(source=_(ruling.claim.source)))
        st.caption(_("The bound assumes: {what}.").format(what=assumed(ruling.claim)))


def take_over(clicked: Sequence[Any]) -> None:
    """Take over the claim that was clicked."""
    ASK.set("claim", clicked[0])


def sentence(ruling: Ruling) -> str:
    """Return whether the claim can be, and why."""
    verdict = f"**{_(VERDICTS[ruling.verdict])}**"
    return _("The claim is {verdict}: {why}").format(verdict=verdict, why=_why(ruling))


def _why(ruling: Ruling) -> str:
    values = {
        "stated": written(ruling.stated.amount, ruling.stated.unit),
        "bound": written(ruling.bound.amount, ruling.bound.unit),
        "ratio": f"{ruling.ratio:.3g}",
    }
    if ruling.misfit is not None:
        return _("its weights take {bytes}, the memory has {memory}.").format(
            bytes=look().format_bytes(ruling.misfit.amount),
            memory=look().format_bytes(ruling.memory),
        )
    if ruling.claim.kind == "needs":
        if ruling.enough is None:
            return _("the weights take {bound}; nothing smaller in the list holds them.").format(
                **values
            )
        key, count = ruling.enough
        return ngettext(
            "the weights take {bound}; {count} {device} holds them.",
            "the weights take {bound}; {count} {device} hold them.",
            count,
        ).format(bound=values["bound"], count=count, device=DEVICES[key].name)
    if ruling.claim.kind == "fits":
        return _("the weights take {bound} of {stated}.").format(**values)
    if ruling.claim.kind == "decode":
        return _(
            "{stated} are {ratio} times the {bound} that are possible without batching."
        ).format(**values)
    return _("it takes at least {bound}, {ratio} times the {stated} that are claimed.").format(
        **values
    )
