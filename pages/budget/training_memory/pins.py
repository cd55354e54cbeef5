"""The pinned scenarios A to D of the memory page, kept in the session and in the address."""

from collections.abc import Mapping
from typing import Final, cast

import streamlit as st

from core.budget.training.scenario import Scenario, read_scenario, write_scenario
from core.language import _
from pages.shared import pickers
from pages.shared.settings import locked

PAGE: Final = "memory"
SLOTS: Final = ("A", "B", "C", "D")
NOW: Final = "now"
MARK: Final = "|"
MAX_CHARS: Final = 1500
_EXAMPLE: Final = (
    "llama-3.1-8b;h100-sxm;num_devices=8;zero_stage=3;batch_size=2;seq_len=8192;precision=fsdp2"
)
EXAMPLES: Final = MARK.join(
    [
        f"{_EXAMPLE};profile=hf_eager",
        f"{_EXAMPLE};checkpointing=full;profile=hf_eager",
        f"{_EXAMPLE};checkpointing=full;profile=hf_eager;loss_chunks=8",
    ]
)
_KEY: Final = f"{PAGE}_pins"
_OWN: Final = f"{PAGE}_pins_own"  # word -> scenario with a model or a device of the reader's own


def read_pins(now: Scenario) -> Mapping[str, Scenario]:
    """Return the pinned scenarios by letter, and the setting of the page as "now".

    A pin that cannot be read is named in a sentence and left out.
    """
    words = _words()
    found = {slot: _read(slot, word) for slot, word in zip(SLOTS, words, strict=False)}
    return {slot: each for slot, each in found.items() if each is not None} | {NOW: now}


def show_pin_buttons(now: Scenario) -> None:
    """Show the button that pins the setting of the page, and those that unpin."""
    words = [word for word in str(st.session_state.get(f"{_KEY}_used", "")).split(MARK) if word]
    words = words[: len(SLOTS)]
    _pin_button(words, now)
    if words:
        with st.popover(_("Unpin"), icon=":material/keep_off:", key=f"{PAGE}_unpin"):
            for slot, word in zip(SLOTS, words, strict=False):
                _unpin_button(slot, word)


def _words() -> list[str]:
    """Show the unseen field that the address is bound to, and return its words."""
    with st.container(key=f"bound_{_KEY}"):
        text = pickers.text(PAGE, "pins", _KEY, default=EXAMPLES, max_chars=MAX_CHARS)
    return [word for word in text.split(MARK) if word][: len(SLOTS)]


def _pin_button(words: list[str], now: Scenario) -> None:
    full = len(words) == len(SLOTS)
    free = SLOTS[min(len(words), len(SLOTS) - 1)]
    st.button(
        _("All four are pinned") if full else _("Pin as {slot}").format(slot=free),
        key=f"{PAGE}_pin",
        icon=":material/keep:",
        help=_("Keeps the setting above for a comparison, also in the link."),
        on_click=_pin,
        args=(words, now),
        disabled=full or locked(),
    )


def _unpin_button(slot: str, word: str) -> None:
    st.button(
        _("Unpin {slot}").format(slot=slot),
        key=f"{PAGE}_unpin_{slot}",
        help=f"`{word}`",
        on_click=_unpin,
        args=(SLOTS.index(slot),),
        disabled=locked(),
    )


def _pin(words: list[str], scenario: Scenario) -> None:
    word = write_scenario(scenario)
    if not word or len(MARK.join([*words, word])) > MAX_CHARS:
        word = f"own{len(_own()) + 1}"
        _own()[word] = scenario
    st.session_state[_KEY] = MARK.join([*words, word])


def _unpin(place: int) -> None:
    words = st.session_state[_KEY].split(MARK)
    st.session_state[_KEY] = MARK.join(words[:place] + words[place + 1 :])


def _read(slot: str, word: str) -> Scenario | None:
    if word in _own():
        return _own()[word]
    try:
        return read_scenario(word)
    except ValueError as error:
        st.caption(_("Pin {slot} is left out. {why}").format(slot=slot, why=error))
        return None


def _own() -> dict[str, Scenario]:
    return cast("dict[str, Scenario]", st.session_state.setdefault(_OWN, {}))
