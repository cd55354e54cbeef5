"""The referee: known claims on one scale, and the reader's own in words."""

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from core.budget.catalogue.devices import DEVICES
from core.budget.claims.claim import CLAIMS, Ruling
from core.budget.claims.reading import MAX_CHARS, read_claim
from core.budget.claims.referee import rule
from core.figures.budget.what_fits.claims_chart import (
    VERDICTS,
    Rows,
    claims_alt,
    claims_chart,
    claims_table,
)
from core.language import _, ngettext
from core.units import format_bytes
from pages.budget.what_fits.inputs import PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.inputs import Inputs
from pages.shared.numbers import explained_number, written
from pages.shared.settings import presenting, theme_mode, unit_system

OWN: Final = "own"
EXAMPLE: Final = "Llama-2 7B in bf16 answers with 200 tok/s on one A100 80GB"
CODE: Final = """
from core.budget.claims.referee import rule
from core.budget.claims.claim import CLAIMS
from core.budget.claims.reading import read_claim

ruling = rule({claim})
print(ruling.verdict, f"{{ruling.ratio:.3g}} times the bound")
print(ruling.bound.substituted, ruling.bound.amount, ruling.bound.unit)
"""
_CHART: Final = f"{PAGE}_referee"


def show_claims() -> None:
    """Show what the bounds say about the claims, and the chosen one in full."""
    head = st.container()
    if presenting():
        picture, numbers = st.container(), st.container()
    else:
        picture, numbers = st.columns([3, 1])
    rulings = {key: rule(claim) for key, claim in CLAIMS.items()}
    with numbers:
        chosen = pickers.selectbox(
            PAGE, "claim", _("Claim"), (*CLAIMS, OWN), default="matmul-4090", labels=_label
        )
        ruling = _own() if chosen == OWN else rulings[chosen]
        if ruling is not None:
            _show_numbers(ruling)
    rows = [(key, _(CLAIMS[key].text), ruled) for key, ruled in rulings.items()]
    if chosen == OWN and ruling is not None:
        rows.insert(0, (OWN, _label(OWN), ruling))  # never the words themselves: a link wrote them
    with head:
        headline(sentence(ruling) if ruling else _("The referee has no claim to rule on."))
    with picture:
        _show_scale(rows, chosen)


def _label(key: str) -> str:
    return _("in my own words") if key == OWN else _(CLAIMS[key].text)


def _own() -> Ruling | None:
    """Ask for a claim in words; None, after a sentence, if it cannot be read."""
    text = pickers.text(
        PAGE, "words", _("The claim in words"), default=EXAMPLE, max_chars=MAX_CHARS
    )
    try:
        return rule(read_claim(text))
    except ValueError as error:
        st.error(str(error))
        return None


def claim_snippet() -> str:
    """Return Python that rules on the chosen claim."""
    key = st.session_state.get(f"{PAGE}_claim")
    words = st.session_state.get(f"{PAGE}_words", EXAMPLE)
    claim = f"read_claim({words!r})" if key == OWN else f'CLAIMS["{key}"]'
    return CODE.format(claim=claim)


def _show_scale(rows: Rows, chosen: str) -> None:
    show_chart(
        claims_chart(rows, chosen, theme_mode(), present=presenting()),
        key=_CHART,
        alt=claims_alt(rows),
        table=claims_table(rows),
        file_name="claims",
        on_click=take_over,
    )


def _show_numbers(ruling: Ruling) -> None:
    explained_number(_("Bound"), ruling.bound)
    for part in ruling.bound.children:
        explained_number(_(part.name), part)
    explained_number(_("Stated"), ruling.stated)
    st.caption(_("Said in: {source}").format(source=_(ruling.claim.source)))


def take_over(clicked: Sequence[Any]) -> None:
    """Take over the claim that was clicked."""
    Inputs(PAGE).set("claim", clicked[0])


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
            bytes=format_bytes(ruling.misfit.amount, unit_system()),
            memory=format_bytes(ruling.memory, unit_system()),
        )
    if ruling.claim.kind == "needs":
        return _needed(ruling, values)
    if ruling.claim.kind == "fits":
        return _("the weights take {bound} of {stated}.").format(**values)
    if ruling.claim.kind == "decode":
        return _("{stated} are {ratio} times the {bound} that are possible.").format(**values)
    return _("it takes at least {bound}, {ratio} times the {stated} that are claimed.").format(
        **values
    )


def _needed(ruling: Ruling, values: dict[str, str]) -> str:
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
