"""The question of This machine: which build of torch does the plain pip line fetch?"""

from core.language import _
from core.machine.install import BUILDS, PYPI, SYSTEMS, install_plan
from pages.shared.questions import Choice, predict_then_reveal
from pages.start.machine.inputs import ASK

_SYSTEM = "linux"


def ask_for_the_plain_line() -> None:
    """Ask on Linux, where most are surprised; the answer is the build that needs no index."""
    offered = [build for build in BUILDS if _SYSTEM in build.indexes]
    plain = next(build for build in offered if build.indexes[_SYSTEM] == PYPI)
    wrong = _("That build needs an index of its own: `{line}`.")
    choices = [
        Choice(
            _(build.label),
            None
            if build is plain
            else wrong.format(line=install_plan(_SYSTEM, build.key).torch_line),
        )
        for build in offered
    ]
    predict_then_reveal(
        ASK.key("plain_line"),
        _("You type `pip install torch` on {system}. Which build arrives?").format(
            system=SYSTEMS[_SYSTEM]
        ),
        choices,
        _(plain.note),
    )
