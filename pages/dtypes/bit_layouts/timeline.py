"""How the formats of machine learning became narrower, with the documents that say so."""

from typing import Final

from core.dtypes.facts.history import MILESTONES
from core.dtypes.number_formats.table import FORMATS
from core.figures.dtypes.bit_layouts.timeline import timeline_picture
from core.language import _
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

_CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.facts.history import MILESTONES

for each in MILESTONES:
    print(each.year, [f"{name}: {FORMATS[name].bits} bits" for name in each.formats], each.source)
"""


def timeline() -> Shown:
    """Show the milestones as a picture; the table below it has the sources."""
    first, last = MILESTONES[0], MILESTONES[-1]
    said = _("From {wide} bits in {first} to {narrow} bits in {last}").format(
        wide=FORMATS[first.formats[0]].bits,
        first=first.year,
        narrow=FORMATS[last.formats[0]].bits,
        last=last.year,
    )
    picture = timeline_picture(MILESTONES, look())
    chart = Chart(picture=picture, file_name="history-of-number-formats")
    return Shown(headline=said, charts=[chart], code=_CODE)
