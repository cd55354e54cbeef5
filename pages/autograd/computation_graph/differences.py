"""The gradient of each leaf beside what two runs of the program nearby say."""

from core.autograd.built_graphs import BUILT_GRAPHS
from core.autograd.differences import Difference, finite_differences
from core.autograd.program import function_of
from core.language import _, ngettext
from pages.autograd.computation_graph.inputs import Case
from pages.autograd.computation_graph.snippets import snippet
from pages.shared.charts import show_table
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown

_FEW = 6  # elements of one leaf in the table


def differences(case: Case) -> Shown:
    """Compare autograd with central differences in float64."""
    if case.capture.error is not None:
        return Shown(headline=_("There is no gradient to check: the program was refused"))
    found = _compared(case)
    if not found:
        words = _("Checked are graphs without modules, where every leaf can be changed by itself")
        return Shown(headline=words)
    _show(found)
    return Shown(headline=_headline(found), notes=_notes(found), code=snippet(case))


def _compared(case: Case) -> dict[str, Difference]:
    if case.run is not None:
        return {}
    if case.built is None:
        return dict(finite_differences(function_of(case.source), case.leaves))
    made = BUILT_GRAPHS[case.built.key].make(case.number)
    if made.module is not None:
        return {}
    return dict(finite_differences(made.function, made.leaves))


def _headline(found: dict[str, Difference]) -> str:
    wrong = [name for name, each in found.items() if not each.agrees and not each.at_kink]
    if wrong:
        message = _("The backward pass of {names} is wrong: nearby values of the function disagree")
        return message.format(names=", ".join(f"`{name}`" for name in wrong))
    kinks = [name for name, each in found.items() if each.at_kink]
    if kinks:
        message = _(
            "{names} sits at a kink: the slopes to both sides differ, and autograd chose one"
        )
        return message.format(names=", ".join(f"`{name}`" for name in kinks))
    count = sum(each.num_checked for each in found.values())
    worst = max(each.relative_error for each in found.values())
    message = ngettext(
        "{count} slope measured nearby agrees with autograd to {error}",
        "{count} slopes measured nearby agree with autograd to {error}",
        count,
    )
    return message.format(count=count, error=f"{worst:.1g}")


def _show(found: dict[str, Difference]) -> None:
    table: dict[str, list[str]] = {
        _("Leaf"): list(found),
        _("Autograd"): [_numbers(each.gradient) for each in found.values()],
        _("Finite differences"): [_numbers(each.estimate) for each in found.values()],
        _("Relative error"): [f"{each.relative_error:.1g}" for each in found.values()],
        _("Agrees"): [
            _("kink") if each.at_kink else "✓" if each.agrees else "✗" for each in found.values()
        ],
    }
    if presenting():
        table.pop(_("Relative error"))
    show_table(table)


def _numbers(values: tuple[float, ...]) -> str:
    text = ", ".join(f"{value:.6g}" for value in values[:_FEW])
    return f"{text}, …" if len(values) > _FEW else text


def _notes(found: dict[str, Difference]) -> list[str]:
    rule = _(
        "Each element is moved by a small h to both sides: (y(x + h) − y(x − h)) / 2h, in float64."
    )
    along = _("A leaf of more than 64 elements is checked along one random direction.")
    return [rule, *([along] if any(each.is_directional for each in found.values()) else [])]
