"""The program of a page, in a field of several lines; what is said where it is refused."""

import re
from collections.abc import Sequence
from typing import Literal

import streamlit as st

from core.expressions import ExpressionError
from core.expressions.limits import MAX_CHARACTERS
from core.language import _
from pages.shared.inputs import Inputs
from pages.shared.settings import is_hidden, locked


def ask_program(
    ask: Inputs,
    default: str,
    *,
    height: int | Literal["content"],
    help: str,  # noqa: A002
) -> str:
    """Ask for a program under the setting `code`; an unseen field holds it for the address."""
    with st.container(key=f"bound_{ask.key('code')}"):
        source = ask.text("code", ask.key("code"), default=default, max_chars=MAX_CHARACTERS)
    if not is_hidden(ask.page, "code"):
        field = ask.key("field")
        st.session_state[field] = source
        st.text_area(
            _("Program"),
            key=field,
            max_chars=MAX_CHARACTERS,
            height=height,
            on_change=lambda: ask.set("code", st.session_state[field]),
            help=help,
            disabled=locked(),
        )
    return source


def show_refusal(ask: Inputs, error: ExpressionError) -> None:
    """Show why a program ended early, and where; the steps before it stay in sight."""
    place = _("line {line}, column {column}").format(line=error.line, column=error.column + 1)
    plain = re.sub(r"([*_`$\[\]~])", r"\\\1", error.message)  # `*shape` is no emphasis
    with st.container(key=ask.key("refused")):
        said = _("{said} ({caveat})").format(said=f"**{plain}**", caveat=place)
        st.markdown(":material/block: " + said)
        if error.torch_message:
            show_verbatim(error.torch_message)


def show_printed(lines: Sequence[str]) -> None:
    """Show what a program prints, as a prompt does."""
    if lines:
        show_verbatim("\n".join(lines))


def show_verbatim(text: str) -> None:
    """Show code, or what torch itself says, word for word."""
    st.code(text.strip(), language=None, wrap_lines=True)


def show_torch(message: str) -> None:
    st.caption(_("What torch says:"))
    show_verbatim(message)
