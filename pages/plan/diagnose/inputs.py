"""What the page is told: a text or a file, and the plan that it belongs to."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.budget.diagnosis.recognise import Told, UnknownError, recognise
from core.language import _, current_language
from core.train.profiler.trace import Profile, is_trace, read_trace
from pages.shared.inputs import Inputs
from pages.shared.plan.plan import SPREAD, TRAINING, Chosen, choose_plan
from pages.shared.settings import is_hidden, locked

ASK: Final = Inputs("diagnose")
MAX_CHARS: Final = 4000
MAX_MEGABYTES: Final = 5
# An example, of which one number is known: 1002.00 MiB are the token embedding or the head of
# Llama 3 8B in 16 bits. The others are made up; the words are those of torch since 2.2.
EXAMPLE: Final = (
    "CUDA out of memory. Tried to allocate 1002.00 MiB. GPU 0 has a total capacity of 79.10 GiB. "
    "Of the allocated memory 76.40 GiB is allocated by PyTorch, and 1.52 GiB is reserved by "
    "PyTorch but unallocated."
)
_TEXT_PX: Final = 100  # more than three lines


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A file of the reader's own; no link carries it."""

    name: str
    content: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A text or a file, and the plan of the reader."""

    text: str
    file: File | None
    chosen: Chosen

    def told(self) -> Told | Profile:
        """Return what the file says, or without one the text; a snapshot needs neither.

        Raises:
            UnknownError: If it is of no kind that is read here.
            UntoldRequestError: If it is an out-of-memory text that names no request.
        """
        file = self.file or File(name="", content=self.text.encode())
        return _recognised(file.content, file.name, current_language())


@st.cache_resource(max_entries=32, show_spinner=False)
def _recognised(content: bytes, name: str, language: str) -> Told | Profile:
    """Read it once for all reruns; what is noted of it is said in the reader's language."""
    del language  # of the key
    if not is_trace(content):
        return recognise(content, name)
    try:
        return read_trace(content)
    except ValueError as error:
        raise UnknownError(str(error)) from error


def choose_case() -> Case:
    text = ASK.text(
        "text",
        _("Paste an error, a recipe or a log"),
        default=EXAMPLE,
        max_chars=MAX_CHARS,
        height=_TEXT_PX,
        help=_(
            "An out-of-memory error of torch; a config.json, the settings of a training or of a "
            "server; lines that a training or a server printed; as a file also a Chrome trace of "
            "torch.profiler. What it is, is recognised. At first an example stands here."
        ),
    )
    file = _choose_file()
    settings = {_("Training"): ("length", *TRAINING), _("Devices"): SPREAD}
    chosen = choose_plan(("model", "device", "devices"), settings)
    return Case(text=text, file=file, chosen=chosen)


def _choose_file() -> File | None:
    """Show the place for a file and return the file that lies there, instead of the text."""
    if is_hidden(ASK.page, "file") or locked():
        return None
    label = _("A file: a recipe, a config.json, a log, a trace, the beginning of a checkpoint")
    file = ASK.file("file", label, MAX_MEGABYTES, label_visibility="collapsed")
    return File(name=file.name, content=file.getvalue()) if file else None
