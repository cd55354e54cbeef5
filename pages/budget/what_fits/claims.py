"""The referee: known claims on one scale, and the reader's own in words."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from core.budget.catalogue.devices import DEVICES
from core.budget.claims.bounds import assumed
from core.budget.claims.claim import CLAIMS, Ruling
from core.budget.claims.reading import MAX_CHARS, read_claim
from core.budget.claims.referee import rule
from core.figures.budget.what_fits.claims import VERDICTS, claims_picture
from core.language import _, ngettext
from pages.budget.what_fits.inputs import ASK
from pages.shared.answer import written
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

OWN: Final = "own"
EXAMPLE: Final = "Llama-2 7B in bf16 answers with 200 tok/s on one A100 80GB"
CODE: Final = """
from core.budget.claims.bounds import assumed
from core.budget.claims.referee import rule
from core.budget.claims.claim import CLAIMS
from core.budget.claims.reading import read_claim

ruling = rule({claim})
print(ruling.verdict, f"{{ruling.ratio:.3g}} times the bound")
print(ruling.bound.substituted, ruling.bound.amount, ruling.bound.unit)
print("assumes", assumed(ruling.claim))
"""


def choose_claim() -> tuple[str, str]:
    """Return the key of the chosen claim, and the reader's own in words if it is that."""
    key = ASK.selectbox("claim", _("Claim"), (*CLAIMS, OWN), default="matmul-4090", labels=_label)
    if key != OWN:
        return key, ""
    return key, ASK.text("words", _("The claim in words"), default=EXAMPLE, max_chars=MAX_CHARS)


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
    rows = [(name, _label(name), ruled) for name, ruled in rulings.items()]
    if key == OWN and ruling is not None:
        rows.insert(0, (OWN, _label(OWN), ruling))  # never the words themselves: a link wrote them
    chart = Chart(picture=claims_picture(rows, key, look()), file_name="claims", on_click=take_over)
    code = CODE.format(claim=f"read_claim({words!r})" if key == OWN else f'CLAIMS["{key}"]')
    if ruling is None:
        said = _("The referee has no claim to rule on.")
        return Shown(headline=said, charts=[chart], code=code)
    bound = ruling.bound
    parts = [(_(part.name), part) for part in bound.children]
    return Shown(
        headline=sentence(ruling),
        charts=[chart],
        numbers=[(_("Bound"), bound), *parts, (_("Stated"), ruling.stated)],
        beside=partial(_say_source, ruling),
        widths=(3, 1),
        code=code,
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
    """Return what the referee says."""
    verdict = f"**{_(VERDICTS[ruling.verdict])}**"
    return _("The referee: {verdict}; {why}").format(verdict=verdict, why=_why(ruling))


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
            "{stated} are {ratio} times the {bound} that are possible with one token a pass."
        ).format(**values)
    return _("it takes at least {bound}, {ratio} times the {stated} that are claimed.").format(
        **values
    )
