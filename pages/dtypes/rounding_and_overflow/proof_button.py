"""The proof that the codec is exact, run again on this machine at the push of a button."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.dtypes import FORMATS
from core.dtypes.libraries.proof_rows import ProofRow, ProofSummary, proof_table, summary_of
from core.figures.dtypes.rounding_and_overflow.proof_matrix import proof_alt, proof_matrix
from core.language import N_, _
from core.machine.kept_library import run_proof
from core.units import format_seconds
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared.charts import show_chart
from pages.shared.settings import presenting, theme_mode

JOB: Final = "proof"
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


def proof_headline() -> str:
    """Return what the last proof on this server found; never waits."""
    rows = shared().last
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


def show_proof() -> None:
    """Show the button, the proof while it runs, and what the last one found."""
    last = shared().last
    # A projector has room for the picture only: the sentences go below it.
    *words, button = st.columns(_shares(last), vertical_alignment="center", gap="small")
    if len(words) > 1:
        words[1].markdown(_verdict(summary_of(last)))
    if words:
        words[0].markdown(_(ARGUMENT))
    with button:
        label = _("Prove it again") if last else _("Prove it on this machine")
        pushed = st.button(
            label, key="rounding_prove", icon=":material/verified:", type="primary", width="stretch"
        )
    if pushed:
        _prove()
    if rows := shared().last:
        _show_rows(rows)


def _shares(last: Sequence[ProofRow]) -> list[int]:
    """Return the widths of what stands above the picture; the last one is the button's."""
    if not last:
        return [5, 2]
    return [1] if presenting() else [5, 5, 2]


def _prove() -> None:
    with st.status(_("Proving, in a process of its own …"), expanded=True) as status:
        place = st.empty()
        try:
            take_turn("measure")
            jobs().finish(JOB, _run, lambda waiting: _tell(place, waiting))
        except ValueError as error:
            status.update(label=_("The proof did not run"), state="error")
            st.write(str(error))
            return
    st.rerun()


def _run() -> None:
    """Run the proof in a thread of the pool; the rows of a failed one are forgotten."""
    kept = shared()
    kept.running = []
    kept.last = run_proof(kept.running.append)


def _tell(place: DeltaGenerator, waiting: int) -> None:
    if waiting:
        place.write(_("{count} measurements come first …").format(count=waiting))
    elif rows := shared().running:
        names = list(FORMATS)
        place.progress(
            names.index(rows[-1].format) / len(names),
            _("{count} comparisons done, now {format} …").format(
                count=len(rows), format=rows[-1].format
            ),
        )


def _show_rows(rows: Sequence[ProofRow]) -> None:
    real = [row for row in rows if not row.is_control]
    show_chart(
        proof_matrix(real, theme_mode(), present=presenting()),
        key="rounding_proof",
        alt=proof_alt(real),
        table=proof_table(rows),
        file_name="proof",
    )
    if presenting():
        st.markdown(_verdict(summary_of(rows)))


def _verdict(found: ProofSummary) -> str:
    if found.num_mismatches or found.num_missed_controls:
        return _(
            "**The proof failed.** {mismatches} mismatches; {missed} deliberate errors were missed."
        ).format(mismatches=found.num_mismatches, missed=found.num_missed_controls)
    return _(
        "**0 mismatches.** {tried} numbers and codes were really tried. The proof can fail: a "
        "codec with a wrong bias, a wrong NaN or flushed subnormals was caught {controls} times."
    ).format(tried=f"{found.num_tried:,}", controls=found.num_controls)
