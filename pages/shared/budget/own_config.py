"""The reader's own model: a Hugging Face config.json, pasted or uploaded, kept in the address."""

from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.catalogue.hf_config import UNKNOWN, compact_config, read_config
from core.budget.weights.parameters import counts
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_count
from pages.shared.inputs import Inputs
from pages.shared.settings import locked

MAX_LINK_CHARS: Final = 4000


def own_model(
    inputs: Inputs, messages: DeltaGenerator | None = None
) -> tuple[ModelSpec, str] | None:
    """Ask for a config.json and return the model with the text that describes it.

    None while there is none; None after a sentence if it cannot be used.

    Args:
        inputs: The page's inputs.
        messages: Where to say what was read or refused; here, if nowhere else.
    """
    _shorten(inputs)
    with st.popover("config.json", icon=":material/data_object:", key=inputs.key("own_model")):
        text = inputs.text(
            "config",
            _("The text of a config.json from Hugging Face"),
            max_chars=MAX_LINK_CHARS,
            help=_("Only its numbers are read; nothing is fetched. A copied link carries it."),
        )
        st.file_uploader(
            _("or the file itself"),
            type="json",
            key=_upload_key(inputs),
            on_change=_keep_upload,
            args=(inputs,),
            max_upload_size=1,
            disabled=locked(),
        )
    with messages or st.container():
        return _read(inputs, text)


def _read(inputs: Inputs, text: str) -> tuple[ModelSpec, str] | None:
    refused = st.session_state.pop(inputs.key("config_refused"), "")
    if refused:
        st.error(refused)
    if not text:
        return None
    try:
        spec = read_config(text)
    except ValueError as error:
        st.error(str(error))
        return None
    _say_what_was_read(spec)
    return spec, text


def _say_what_was_read(spec: ModelSpec) -> None:
    sentence = _("Read: {name}, {count} parameters.").format(
        name=f"`{spec.name}`", count=format_count(counts(spec).total)
    )
    if spec.source == UNKNOWN:
        sentence += " " + _("Its type is not known here: it is counted as if laid out like Llama.")
    st.caption(sentence)


def _shorten(inputs: Inputs) -> None:
    """Keep of a pasted text only what is read, before its field is drawn again."""
    if text := st.session_state.get(inputs.key("config")):
        inputs.write("config", _compact(text) or text)


def _compact(text: str) -> str:
    """Return the text for the address; "" if it cannot be read."""
    try:
        return compact_config(text)
    except ValueError:
        return ""


def _upload_key(inputs: Inputs) -> str:
    return inputs.key("config_file")


def _keep_upload(inputs: Inputs) -> None:
    """Bring an uploaded file to the field that the address is bound to."""
    file = st.session_state[_upload_key(inputs)]
    if file is None:
        return
    try:
        inputs.set("config", _for_link(file.getvalue()))
    except ValueError as error:
        st.session_state[inputs.key("config_refused")] = str(error)


def _for_link(data: bytes) -> str:
    """Return what a link keeps of a file.

    Raises:
        ValueError: If it is no text, no config.json, or one whose fields fill no link.
    """
    try:
        text = compact_config(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(_("The file is no text in UTF-8.")) from error
    if len(text) > MAX_LINK_CHARS:
        raise ValueError(
            _("Its fields take {count} characters; a link holds at most {most}.").format(
                count=len(text), most=MAX_LINK_CHARS
            )
        )
    return text
