"""A trace of torch.profiler: what its step is bound by."""

from core.figures.train.icicle import icicle_picture
from core.language import _
from core.train.profiler.trace import Profile
from core.train.profiler.verdict import trace_sentence, verdict_of
from pages.shared.page_links import show_link
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown


def show_trace(profile: Profile) -> Shown:
    """Show the verdict over the tree of operators; the table of these is on Step profiler."""
    label = _("Self and total time of every operator, on Step profiler →")
    return Shown(
        headline=trace_sentence(profile),
        line=verdict_of(profile.spans)[1],
        charts=[Chart(picture=icicle_picture(profile, look()), file_name="operators")],
        below=lambda: show_link("train/step_profiler", label, {"profile_tab": "operators"}),
    )
