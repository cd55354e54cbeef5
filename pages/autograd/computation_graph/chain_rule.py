"""The chain rule of this very graph: each node's formula with its numbers, and its check."""

from functools import partial
from typing import Final

import streamlit as st

from core.autograd.built_graphs import BUILT_GRAPHS
from core.autograd.differences import Difference, Reason, finite_differences, module_differences
from core.autograd.formulas import described, formula_of, substituted
from core.autograd.graph import Node
from core.autograd.program import function_of
from core.expressions import ExpressionError
from core.language import N_, _, ngettext
from pages.autograd.computation_graph.inputs import ASK, Case
from pages.autograd.computation_graph.snippets import snippet
from pages.server.background import jobs
from pages.shared.charts import show_table
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown, Tab

MOST: Final = 24  # formulas in sight
_MOST_ELEMENTS: Final = 6  # elements of one leaf in the table
_REASONS: Final[dict[Reason, str]] = {
    "cut": N_(
        "The graph is cut between {names} and the result: autograd takes the value there as a "
        "constant, finite differences move it too; both numbers are right"
    ),
    "hook": N_("A hook changes the gradient on the way to {names}: what arrives is not the slope"),
    "edge": N_(
        "At {names} there is no finite slope to compare: the domain ends, the function jumps, or "
        "the slope is infinite"
    ),
    "kink": N_("{names} sits at a kink: the slopes to both sides differ, and autograd chose one"),
}
_SHORT: Final[dict[Reason, str]] = {
    "cut": N_("cut"), "hook": N_("hook"), "edge": N_("no finite slope"), "kink": N_("kink"),
}  # fmt: skip


def choose_check() -> bool:
    """Ask whether nearby values of the function are compared with the gradients."""
    return ASK.toggle(
        "check",
        _("Check by finite differences"),
        default=False,
        help=_("Each leaf is moved a little to both sides, and the program runs again in float64."),
    )


def chain_rule(case: Case, is_checked: bool) -> Shown:
    """List the nodes that ran with what each multiplies its incoming gradient by."""
    by_id = {node.id: node for node in case.capture.nodes}
    ran = [by_id[key] for key in case.capture.order if not by_id[key].leaf]
    headline, notes = _check(case) if is_checked else (_headline(ran), [])
    with st.container(key=ASK.key("formulas")):
        for number, node in enumerate(ran[: MOST // 4 if presenting() else MOST], start=1):
            _show(case, number, node)
    left = len(ran) - MOST
    more = ngettext("{count} further node is not listed.", "{count} further nodes are not listed.",
                    max(left, 0))  # fmt: skip
    if left > 0:
        notes = [*notes, more.format(count=left)]
    return Shown(headline=headline, notes=notes, code=snippet(case))


def _headline(ran: list[Node]) -> str:
    if not ran:
        return _("No node ran: there is no gradient to follow")
    known = sum(formula_of(node) is not None for node in ran)
    message = ngettext(
        "{count} derivative, one after another, gives every gradient",
        "{count} derivatives, one after another, give every gradient",
        len(ran),
    )
    if known < len(ran):
        message += " " + _("({known} of them written out here)")
    return message.format(count=len(ran), known=known)


def _show(case: Case, number: int, node: Node) -> None:
    formula = formula_of(node)
    if presenting():  # letters are larger: one stands below the other
        label = rule = numbers = st.container()
    else:
        label, rule, numbers = st.columns([2, 3, 4])
    label.markdown(f"{number}. `{node.label}`")
    if formula is None:
        rule.caption(described(node))
    else:
        rule.latex(formula.latex)
        if formula.departs:
            rule.caption(_(formula.remark))
    if text := substituted(node, case.capture.edges):
        numbers.latex(text)


def _check(case: Case) -> tuple[str, list[str]]:
    """Show gradients beside central differences in float64; return a verdict and notes."""
    if case.capture.error is not None:
        return _("There is no gradient to check: the program was refused"), []
    try:
        found = _compared(case)
    except ValueError as error:  # no tensor at the end, or a program that runs in float32 alone
        words = error.torch_message if isinstance(error, ExpressionError) else ""
        message = _("Finite differences cannot be taken here: {reason}")
        in_float64 = _(
            "They need float64, and only the tensors that the program begins with become float64, "
            "not those that it makes itself."
        )
        return message.format(reason=words or error), [in_float64] if words else []
    if not found:
        return _why_not(case), []
    _show_check(found)
    return _verdict_on(found), _notes(case, found)


def _why_not(case: Case) -> str:
    if case.built is not None:
        return _(case.built.unchecked)
    if case.run is not None:
        return _("The step of a run is not checked; the small GPT under Examples is")
    return _("There is no gradient to check: no leaf requires one")


def _compared(case: Case) -> dict[str, Difference]:
    if case.run is not None:
        return {}
    if case.built is None:
        function = function_of(case.source, is_weighted=True)
        return dict(finite_differences(function, case.leaves))
    return {} if case.built.unchecked else _compared_built(case.built.key, case.number)


@st.cache_data(max_entries=64, show_spinner=False)
def _compared_built(key: str, number: int) -> dict[str, Difference]:
    """Compare a graph that is built; of a large one, in the pool that all sessions share."""
    made = BUILT_GRAPHS[key].made(number)
    if made.module is None:
        return dict(finite_differences(made.function, made.leaves))
    with st.spinner(_("Running the model again beside each of its parameters…")):
        work = partial(module_differences, made)
        return dict(jobs().finish(f"differences {key} {number}", work))


def _verdict_on(found: dict[str, Difference]) -> str:
    wrong = [name for name, each in found.items() if each.is_wrong]
    if wrong:
        message = _("The backward pass of {names} is wrong: nearby values of the function disagree")
        return _naming(wrong, message)
    for reason, message in _REASONS.items():
        names = [name for name, each in found.items() if each.reason == reason]
        if names:
            return _naming(names, _(message))
    count = sum(each.num_checked for each in found.values())
    worst = max(each.relative_error for each in found.values())
    message = ngettext(
        "{count} slope measured nearby agrees with autograd to {error}",
        "{count} slopes measured nearby agree with autograd to {error}",
        count,
    )
    return message.format(count=count, error=f"{worst:.1g}")


def _naming(names: list[str], message: str) -> str:
    return message.format(names=_(", ").join(f"`{name}`" for name in names))


def _show_check(found: dict[str, Difference]) -> None:
    table: dict[str, list[str]] = {
        _("Leaf"): list(found),
        _("Autograd"): [_numbers(each.gradient) for each in found.values()],
        _("Finite differences"): [_numbers(each.estimate) for each in found.values()],
        _("Relative error"): [_numbers((each.relative_error,), ".1g") for each in found.values()],
        _("Agrees"): [_verdict(each) for each in found.values()],
    }
    if presenting():
        table.pop(_("Relative error"))
    show_table(table)


def _verdict(each: Difference) -> str:
    return _(_SHORT[each.reason]) if each.reason else "✓" if each.agrees else "✗"


def _numbers(values: tuple[float, ...], digits: str = ".6g") -> str:
    text = ", ".join(format(value, digits).replace("inf", "∞") for value in values[:_MOST_ELEMENTS])
    return f"{text}, …" if len(values) > _MOST_ELEMENTS else text


def _notes(case: Case, found: dict[str, Difference]) -> list[str]:
    rule = _(
        "Each element is moved by a small h to both sides: (y(x + h) − y(x − h)) / 2h, in float64. "
        "Of two steps h, the one that comes closer to autograd is shown."
    )
    along = _(
        "A leaf of more than 64 elements, and each parameter of a module, is moved along one "
        "random direction."
    )
    num_backwards = sum(each.kind == "seed" for each in case.capture.events)
    first = _("The program calls backward() more than once; the first call is checked.")
    return [
        rule,
        *([along] if any(each.is_directional for each in found.values()) else []),
        *([first] if num_backwards > 1 else []),
    ]


TAB: Final = Tab(label=N_("Chain rule"), show=chain_rule, choose=choose_check)
