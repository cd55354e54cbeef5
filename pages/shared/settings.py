"""What the reader has chosen for every page: language, units, projector, hidden and locked inputs.

Each lives in the address under a fixed name (`lang`, `units`, `present`, `hide`, `lock`), so that a
menu click and a copied link keep it. The address never holds translated words.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, cast

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.figures.picture import Look
from core.figures.theme import Mode
from core.language import LANGUAGES, _
from core.units import BYTE_UNITS, ByteUnit
from pages.shared import link

DEFAULTS: Final = {"lang": "en", "units": "GiB", "present": "0", "hide": "", "lock": "0"}
_ON_OFF: Final = ("0", "1")
_ALLOWED: Final[dict[str, Sequence[str]]] = {
    "lang": tuple(LANGUAGES),
    "units": BYTE_UNITS,
    "present": _ON_OFF,
    "lock": _ON_OFF,
}
_MAX_HIDE: Final = 500
_RUN: Final = threading.local()  # a run has a thread of its own; it asks some 300 times


def bind_settings() -> None:
    """Read the settings from the address and keep the address in step with them.

    The inputs that do this are text fields which nobody sees: the visible switches show translated
    words, and Streamlit would write those into the address.
    """
    with st.container(key="frame_bound"):
        for name, default in DEFAULTS.items():
            raw = link.raw_value(name)
            if raw == default:  # as pages.shared.inputs does
                st.session_state[name] = default
            elif raw is None and (standing := setting(name)) != default:
                # A click before the page had come has left the address without it: it returns.
                st.session_state[name] = standing
            written = st.text_input(
                name,
                default,
                key=name,
                max_chars=_MAX_HIDE,
                label_visibility="collapsed",
                bind="query-params",
                persist_state="session",
            )
            _check(name, written)


@contextmanager
def held_for_run() -> Iterator[None]:
    """Read the settings once for what is drawn inside; what is clicked next is asked anew."""
    _RUN.settings = {name: setting(name) for name in DEFAULTS}
    try:
        yield
    finally:
        _RUN.settings = None


def _check(name: str, written: str) -> None:
    allowed = _ALLOWED.get(name)
    used = setting(name)
    link.register(name, used, default=DEFAULTS[name])
    if allowed is not None and written not in allowed:
        link.refuse(name, written, allowed=choices_text(allowed), used=used)


def choices_text(choices: Sequence[str]) -> str:
    """Return the words that may stand in the address, for a sentence."""
    return _("one of {choices}").format(choices=_(", ").join(f"`{each}`" for each in choices))


def setting(name: str) -> str:
    """Return a setting; what the address asks for and nobody knows counts as the default."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return DEFAULTS[name]
    if held := getattr(_RUN, "settings", None):
        return str(held[name])
    value = str(st.session_state.get(name, DEFAULTS[name]))
    return value if value in _ALLOWED.get(name, (value,)) else DEFAULTS[name]


def language() -> str:
    """Return "en" or "zh": what `core.language` asks at every call."""
    return setting("lang")


def unit_system() -> ByteUnit:
    return cast("ByteUnit", setting("units"))


def presenting() -> bool:
    """Return whether the page is on a projector: no chrome, large text."""
    return setting("present") == "1"


def locked() -> bool:
    """Return whether a teacher's link has locked the inputs of the page."""
    return setting("lock") == "1"


def is_hidden(page: str, name: str) -> bool:
    """Return whether a teacher's link hides an input; `hide=size` and `hide=lr_size` both do."""
    hidden = {each.strip() for each in setting("hide").split(",")}
    return name in hidden or f"{page}_{name}" in hidden


def theme_mode() -> Mode:
    """Return the theme that the browser shows; light until the browser has said so."""
    return "dark" if st.context.theme.type == "dark" else "light"


def look() -> Look:
    """Return how the reader wants to see pictures: theme, projector, memory unit."""
    return Look(mode=theme_mode(), present=presenting(), unit=unit_system())
