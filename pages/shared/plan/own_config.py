"""The reader's own model: a Hugging Face config.json, pasted or uploaded, kept in the address.

What is pasted and what is uploaded go the same way: as much as core reads is taken, and of that
the fields that count are kept. The address carries them up to a limit; beyond it the session does.
"""

import json
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.catalogue.hf_config import MAX_CHARS, compact_config, language_part, read_config
from core.budget.item import hedged
from core.budget.weights.config_notes import config_notes, fields_named, guess_words
from core.budget.weights.parameters import count_parameters
from core.language import _
from core.language.listing import followed_by
from core.models.spec import ModelSpec
from core.units import format_count
from pages.shared import link, sides
from pages.shared.answer import beside_headline
from pages.shared.inputs import Inputs
from pages.shared.settings import is_hidden, locked

MAX_LINK_CHARS: Final = 4000
_LEFT: Final = "own_config_left"  # text -> fields that were left out of it
_LONG: Final = "own_config_long"  # for all pages: what no link between them can carry


def own_model(
    inputs: Inputs, messages: DeltaGenerator | None = None
) -> tuple[ModelSpec, str] | None:
    """Ask for a config.json and return the model with the text that describes it.

    None while there is none; None after a sentence if it cannot be used.

    Args:
        inputs: The page's inputs.
        messages: Where to say what was read or refused; here, if nowhere else.
    """
    if sides.reading():
        return _read(inputs, inputs.text("config", "", max_chars=MAX_LINK_CHARS))
    _shorten(inputs)
    with st.container(key=f"bound_{inputs.key('config')}"):
        linked = inputs.text("config", inputs.key("config"), max_chars=MAX_LINK_CHARS)
    text = linked or str(st.session_state.get(_LONG, ""))
    # Its fields are made only when it is opened: a slider that moves does not wait for them.
    menu = st.popover(
        "config.json", icon=":material/data_object:", key=inputs.key("own_model"), on_change="rerun"
    )
    if menu.open:
        with menu:
            _show_fields(inputs, text)
    with messages or st.container():
        return _read(inputs, text)


def _show_fields(inputs: Inputs, text: str) -> None:
    if not is_hidden(inputs.page, "config"):
        _show_field(inputs, text)
    label, keep = _("or the file itself"), _keep_upload
    inputs.file("config_file", label, 1, type="json", on_change=keep, args=(inputs,))


def _show_field(inputs: Inputs, text: str) -> None:
    """Show the text in use in a field of several lines, which writes what is pasted there."""
    key = inputs.key("config_text")
    st.session_state[key] = text
    st.text_area(
        _("The text of a config.json from Hugging Face"),
        key=key,
        max_chars=MAX_CHARS,
        height=160,
        on_change=_keep_pasted,
        args=(inputs,),
        help=_(
            "Only what counts is read and kept; nothing is fetched. At most {most} characters can "
            "be pasted or uploaded. A copied link carries what is kept, up to {link} characters."
        ).format(most=f"{MAX_CHARS:,}", link=f"{MAX_LINK_CHARS:,}"),
        disabled=locked(),
    )


def _read(inputs: Inputs, text: str) -> tuple[ModelSpec, str] | None:
    refused = st.session_state.pop(inputs.key("config_refused"), "")
    if refused:
        st.error(refused)
    if not text:
        return None
    try:
        spec, notes = read_config(text), config_notes(text)
    except ValueError as error:
        st.error(str(error))
        return None
    beside_headline(guess_words(spec))
    _say_what_was_read(spec, notes, text)
    return spec, text


def _say_what_was_read(spec: ModelSpec, notes: tuple[str, ...], text: str) -> None:
    is_beyond = len(text) > MAX_LINK_CHARS
    found = count_parameters(spec)
    sentence = _("Read: {name}, {count} parameters.").format(
        name=f"`{spec.name}`", count=hedged(format_count(found.amount), found)
    )
    beyond = _(
        "Its fields take {count} characters; a link holds at most {most}: this model stays in "
        "this session, and a copied link opens without it."
    ).format(count=f"{len(text):,}", most=f"{MAX_LINK_CHARS:,}")
    link.book().beyond = beyond if is_beyond else ""
    left = _left_out_said(text)
    st.caption(followed_by(sentence, *notes, *left, beyond if is_beyond else ""))


def _left_out_said(text: str) -> list[str]:
    """Return what the text in use has lost on its way here, a sentence or none."""
    names = st.session_state.get(_LEFT, {}).get(text)
    said = _("Left out, for they change no count: {fields}.")
    return [said.format(fields=fields_named(names))] if names else []


def _shorten(inputs: Inputs) -> None:
    """Keep of a link's text only what is read, before its field is drawn again."""
    if text := st.session_state.get(inputs.key("config")):
        inputs.write("config", _compact(text) or text)


def _compact(text: str) -> str:
    """Return the text for the address, and keep what it lost; "" if it cannot be read."""
    try:
        kept = compact_config(text)
    except ValueError:
        return ""
    if lost := sorted(_fields(text) - _fields(kept)):
        st.session_state[_LEFT] = {kept: lost}
    return kept


def _fields(text: str) -> set[str]:
    return {key for key, value in language_part(json.loads(text)).items() if value is not None}


def _keep_pasted(inputs: Inputs) -> None:
    """Bring what was pasted to where the address or the session keeps it."""
    keep_config(inputs, str(st.session_state[inputs.key("config_text")]))


def keep_config(inputs: Inputs, text: str) -> None:
    """Make a config.json the reader's own model, as if it had been pasted."""
    _keep(inputs, _compact(text) or text)


def _keep_upload(inputs: Inputs) -> None:
    file = st.session_state[inputs.key("config_file")]
    if file is None:
        return
    try:
        text = file.getvalue().decode("utf-8-sig")
        _keep(inputs, _compact(text) or compact_config(text))  # which says why there is none
    except UnicodeDecodeError:
        st.session_state[inputs.key("config_refused")] = _("The file is no text in UTF-8.")
    except ValueError as error:
        st.session_state[inputs.key("config_refused")] = str(error)


def _keep(inputs: Inputs, text: str) -> None:
    """Let the address carry a text that a link can hold, and the session a longer one."""
    if locked():
        return
    fits = len(text) <= MAX_LINK_CHARS
    inputs.set("config", text if fits else "")
    st.session_state[_LONG] = "" if fits else text
