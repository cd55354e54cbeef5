"""What the page asks for: a program and its tensors, or a graph that is built; what is changed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import streamlit as st

from core.autograd.built_graphs import BUILT_GRAPHS, BuiltGraph, capture_built
from core.autograd.differences import Nudge, nudge
from core.autograd.errors import Explanation, explain_error, explain_warnings
from core.autograd.graph import Capture
from core.autograd.leaves import leaves_in, written_leaves
from core.autograd.not_finite import explain_not_finite
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program, function_of
from core.language import _, current_language
from pages.autograd.computation_graph.run_step import RunStep, captured_step, newest_step, show_run
from pages.shared.inputs import Inputs
from pages.shared.settings import presenting
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.program import ask_program

ASK: Final = Inputs("graph")
START: Final = PRESETS["square"]
PROGRAM: Final = "program"
PRESENT_HEIGHT: Final = 122  # pixels of the field, so that the slider below stays in sight
_MAX_LEAVES: Final = 400  # letters
Explanations = tuple[Explanation | None, tuple[Explanation, ...]]
_MAX_NAME: Final = 80  # letters of a run's name, and some more, so that a wrong one is told


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What was captured."""

    source: str  # the program; "" of a graph that is built
    leaves: Mapping[str, Any]  # torch tensors
    capture: Capture  # what ran
    explanations: Explanations = (None, ())  # why it ended early or made NaN; torch's warnings
    as_tensors: bool = False  # whether values are drawn as nodes, and operations between them
    is_heated: bool = False  # whether nodes are coloured by their gradient's norm
    built: BuiltGraph | None = None  # the row of a graph that is built, and its number
    run: RunStep | None = None
    number: int = 0
    leaf: str = ""  # the leaf that is changed; "" if there is none
    delta: float = 0.0  # by how much

    @property
    def changed(self) -> str:
        """What is changed: "w", or of a larger tensor its first element, "w[0, 0]"."""
        rank = self.leaves[self.leaf].ndim
        return f"{self.leaf}[{', '.join('0' * rank)}]" if rank else self.leaf

    @property
    def nudged(self) -> Nudge | None:
        """What the change of the leaf does; None where there is no scalar result to compare."""
        if not self.leaf or self.capture.error is not None:
            return None
        try:
            function, first = function_of(self.source), (0,) * self.leaves[self.leaf].ndim
            return nudge(function, self.leaves, self.leaf, self.delta, first)
        except (ValueError, RuntimeError, TypeError):  # a vector, or a gradient read back
            return None


def choose_case() -> Case:
    titles = {key: _(row.title) for key, row in PRESETS.items()}
    titles |= {key: _(row.title) for key, row in BUILT_GRAPHS.items()}
    offer_examples(ASK, "preset", titles, _settings)
    with st.container(key=f"bound_{ASK.key('of')}"):  # a field that nobody sees
        of = ASK.text("of", ASK.key("of"), default=PROGRAM, max_chars=30)
        run = ASK.text("run", ASK.key("run"), max_chars=_MAX_NAME)
    if of != PROGRAM and of not in BUILT_GRAPHS:
        message = _("{name} is no graph of this page; choose one under Examples.")
        raise ValueError(message.format(name=of))
    if run:
        case = _of_run(run)
    else:
        case = _built(BUILT_GRAPHS[of]) if of in BUILT_GRAPHS else _programmed()
    as_tensors, is_heated = _looks()
    return replace(case, as_tensors=as_tensors, is_heated=is_heated)


def _built(row: BuiltGraph) -> Case:
    st.markdown(f"**{_(row.title)}**")
    number = ASK.slider("number", _(row.number), row.low, row.high, default=row.default, step=1)
    st.button(_("Write a program"), key=ASK.key("to_program"), on_click=_to_program)
    capture = captured_built(row.key, number, current_language())
    why = explain_error(capture), explain_warnings(capture)
    return Case(source="", leaves={}, capture=capture, explanations=why, built=row, number=number)


def _of_run(name: str) -> Case:
    st.button(_("Write a program"), key=ASK.key("to_program"), on_click=_to_program)
    run = newest_step(name)
    show_run(run)
    capture = captured_step(run)
    return Case(source="", leaves={}, capture=capture, explanations=_explained(capture), run=run)


def _programmed() -> Case:
    source = ask_program(
        ASK,
        START.source,
        height=PRESENT_HEIGHT if presenting() else "content",
        help=_("PyTorch as you would type it. Without a call of backward(), it is called on the "
               "last value. Ctrl + Enter runs it."),
    )  # fmt: skip
    text = ASK.text(
        "leaves",
        _("Tensors"),
        default=written_leaves(START.tensors()),
        max_chars=_MAX_LEAVES,
        help=_("Names with a number or a list: w = 2.0; x = [1.0, 2.0] (data). Data requires no "
               "gradient."),
    )  # fmt: skip
    leaves = leaves_in(text)
    capture = captured_program(source, text, current_language())
    case = Case(
        source=source,
        leaves=leaves,
        capture=capture,
        explanations=explanations(source, text, current_language()),
    )
    names = [name for name, x in leaves.items() if x.requires_grad]
    if not names:
        return case
    leaf = ASK.selectbox("leaf", _("Change"), tuple(names), default=names[0])
    delta = ASK.slider(
        "by", _("Change of {name}").format(name=leaf), -1.0, 1.0, default=0.1, step=0.05
    )
    return replace(case, leaf=leaf, delta=delta)


def _looks() -> tuple[bool, bool]:
    """Ask how the graph is drawn: tensors as nodes, colors by gradient norm."""
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("settings")):
        as_tensors = ASK.toggle(
            "tensors",
            _("Tensors as nodes"),
            default=False,
            help=_("PyTorch's graph has operations as nodes; textbooks often draw tensors."),
        )
        heated = ASK.toggle(
            "heat",
            _("Color by gradient norm"),
            default=False,
            help=_("Where gradients vanish or explode shows in the color of the nodes."),
        )
    return as_tensors, heated


def _settings(key: str) -> dict[str, object]:
    fresh: dict[str, object] = {"at": "", "step": "", "open": "", "run": ""}
    if key in BUILT_GRAPHS:
        return fresh | {"of": key, "number": BUILT_GRAPHS[key].default}
    preset = PRESETS[key]
    words = {"code": preset.source, "leaves": written_leaves(preset.tensors())}
    return fresh | words | {"of": PROGRAM, "leaf": preset.nudged, "by": 0.1}


def _to_program() -> None:
    ASK.set("of", PROGRAM)
    for name in ("at", "step", "open", "run"):
        ASK.set(name, "")


# A capture is plain data that nobody changes; its errors are sentences in one language.
_cached = partial(st.cache_resource, max_entries=64, show_spinner=False)


@_cached()
def captured_program(source: str, leaves: str, language: str) -> Capture:  # noqa: ARG001
    """Return a program's capture; sessions share it."""
    return capture_program(source, leaves_in(leaves))


@_cached()
def explanations(source: str, leaves: str, language: str) -> Explanations:
    """Return why a program's capture ended early, and its warnings; sessions share them."""
    capture, tensors = captured_program(source, leaves, language), leaves_in(leaves)
    return _explained(capture, source, tensors)


def _explained(
    capture: Capture, source: str = "", tensors: Mapping[str, Any] | None = None
) -> Explanations:
    why = explain_error(capture, source, tensors) or explain_not_finite(capture, source, tensors)
    return why, explain_warnings(capture, source, tensors)


@_cached()
def captured_built(key: str, number: int, language: str) -> Capture:  # noqa: ARG001
    """Return the capture of a graph that is built; sessions share it."""
    return capture_built(BUILT_GRAPHS[key], number)
