"""The proof that the codec is exact, run again on this machine at the push of a button."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.dtypes import FORMATS
from core.dtypes.libraries.proof_rows import ProofRow, ProofSummary, summary_of
from core.figures.dtypes.rounding_and_overflow.proof import proof_picture
from core.language import N_, _
from core.machine.kept_library import run_proof
from core.units import format_seconds
from pages.shared.job import run_job
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

ARGUMENT: Final = N_(
    "Rounding looks at the sign, the exponent, the bits that are kept, one more, and whether "
    "anything follows. Three numbers of each such class stand for all 4,294,967,296 float32."
)


@dataclass
class Shared:
    """The proof that every session of this server sees: rows so far, and the last whole proof."""

    running: list[ProofRow] = field(default_factory=list)
    last: tuple[ProofRow, ...] = ()


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return this server's proof."""
    return Shared()


def proof() -> Shown:
    """Show the button, the proof while it runs, and what the last one found."""
    rows = shared().last
    verdict = _verdict(summary_of(rows))
    # A projector has room for the picture only: the sentences go below it.
    shares = ([1] if presenting() else [5, 5, 2]) if rows else [5, 2]
    *words, button = st.columns(shares, vertical_alignment="center", gap="small")
    if len(words) > 1:
        words[1].markdown(verdict)
    if words:
        words[0].markdown(_(ARGUMENT))
    with button:
        pushed = st.button(
            _("Prove it again") if rows else _("Prove it on this machine"),
            key="rounding_prove",
            icon=":material/verified:",
            type="primary",
            width="stretch",
        )
    if pushed and run_job(
        "proof",
        _run,
        doing=_("Proving, in a separate process …"),
        failed=_("The proof did not run"),
        tell=tell,
    ):
        st.rerun()
    if not rows:
        return Shown(headline=sentence(rows))

    def say_verdict() -> None:
        st.markdown(verdict)

    return Shown(
        headline=sentence(rows),
        charts=[Chart(picture=proof_picture(rows, look()), file_name="proof")],
        below=say_verdict if presenting() else None,
    )


def sentence(rows: Sequence[ProofRow]) -> str:
    """Return what the last proof on this server found."""
    if not rows:
        return _("Every code and every float32 against torch and ml_dtypes: not run here yet")
    found = summary_of(rows)
    return _(
        "{mismatches} mismatches in {comparisons} comparisons of {formats} formats, in {seconds}"
    ).format(
        mismatches=found.num_mismatches,
        comparisons=found.num_comparisons,
        formats=found.num_formats,
        seconds=format_seconds(found.seconds),
    )


def _run() -> None:
    """Run the proof in a thread of the pool; the rows of a failed one are forgotten."""
    kept = shared()
    kept.running = []
    kept.last = run_proof(kept.running.append)


def tell(place: DeltaGenerator) -> None:
    """Write how far the proof is that runs."""
    if rows := shared().running:
        names = list(FORMATS)
        place.progress(
            names.index(rows[-1].format) / len(names),
            _("{count} comparisons done, now {format} …").format(
                count=len(rows), format=rows[-1].format
            ),
        )


def _verdict(found: ProofSummary) -> str:
    if found.num_mismatches or found.num_missed_controls:
        return _(
            "**The proof failed.** {mismatches} mismatches; {missed} deliberate errors were missed."
        ).format(mismatches=found.num_mismatches, missed=found.num_missed_controls)
    return _(
        "**0 mismatches.** {tried} numbers and codes were really tried. The proof can fail: a "
        "codec with a wrong bias, a wrong NaN or flushed subnormals was caught {controls} times."
    ).format(tried=f"{found.num_tried:,}", controls=found.num_controls)
