"""How the formats of machine learning became narrower, with the documents that say so."""

from streamlit.delta_generator import DeltaGenerator

from core.dtypes.facts.history import MILESTONES
from core.dtypes.number_formats.table import FORMATS
from core.language import _
from pages.dtypes.bit_layouts.snippets import TIMELINE
from pages.shared import settings
from pages.shared.charts import show_chart
from pages.shared.header import headline


def show_timeline(_bar: DeltaGenerator) -> str:
    """Show the milestones as a picture; the table below it has the sources."""
    from core.figures.dtypes.bit_layouts.format_timeline import (
        timeline_alt,
        timeline_figure,
        timeline_table,
    )

    first, last = MILESTONES[0], MILESTONES[-1]
    headline(
        _("From {wide} bits in {first} to {narrow} bits in {last}").format(
            wide=FORMATS[first.formats[0]].bits,
            first=first.year,
            narrow=FORMATS[last.formats[0]].bits,
            last=last.year,
        )
    )
    show_chart(
        timeline_figure(MILESTONES, settings.theme_mode(), present=settings.presenting()),
        key="bits_timeline",
        alt=timeline_alt(MILESTONES),
        table=timeline_table(MILESTONES),
        file_name="history-of-number-formats",
    )
    return TIMELINE
