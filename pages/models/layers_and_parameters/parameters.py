"""The answer: the tree of the model, as wide as its parameters."""

from functools import partial

from core.budget.item import Item, total
from core.figures.models.layers_and_parameters.icicle import PART_TITLES, icicle_picture, shares
from core.language import N_, _
from core.models.describe import by_part
from core.units import format_exact
from pages.models.layers_and_parameters.elsewhere import links
from pages.models.layers_and_parameters.inputs import Case
from pages.models.layers_and_parameters.snippets import tree_snippet
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

_SOURCE = N_("torch's own count of the module on meta: sum(p.numel() for p in m.parameters())")


def parameters(case: Case) -> Shown:
    """Draw the tree, and say which part has how much."""
    picture = icicle_picture(case.title, case.shown, look())
    return Shown(
        headline=_headline(case),
        charts=[Chart(picture=picture, file_name="parameters")],
        numbers=[] if presenting() else _numbers(case),
        notes=[] if presenting() else _notes(case),
        below=None if presenting() else partial(links, case),
        code=tree_snippet(case),
    )


def _headline(case: Case) -> str:
    return _("{model}: {count} parameters: {parts}").format(
        model=case.title, count=format_exact(case.tree.num_params), parts=shares(case.tree)
    )


def _numbers(case: Case) -> list[tuple[str, Item]]:
    parts = [counted(PART_TITLES[part], count) for part, count in by_part(case.tree).items()]
    whole = total("parameters", parts, source=_SOURCE)
    size = counted("weights", case.tree.num_bytes, unit="bytes")
    return [(_("Parameters"), whole), (_("In float32"), size)]


def counted(name: str, amount: int, *, unit: str = "parameters", source: str = _SOURCE) -> Item:
    """Return a number that torch has counted."""
    return Item(
        name=name, amount=amount, unit=unit, low=amount, high=amount, source=source, kind="exact"
    )


def _notes(case: Case) -> list[str]:
    tied = [(path, leaf.tied_to) for path, leaf in case.tree.leaves() if leaf.tied_to]
    said = _("`{name}` is `{other}`: one tensor under two names, counted once.")
    return [said.format(name=path, other=other) for path, other in tied]
