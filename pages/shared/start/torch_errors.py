"""Error texts of torch: what raises each, why, and what to do."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import shorten
from typing import Final

import streamlit as st

from core.language import N_, _
from pages.shared import page_links
from pages.shared.lessons import in_language
from pages.shared.navigation import page_row

LINE_CHARS: Final = 110
_NUMBERS: Final = r"-?\d+(?:\.\d+)?(?:, -?\d+)*"
_MAY_DIFFER: Final = {
    "…": ".{0,80}?",
    "<float>": "(?:c10::)?(?:BFloat16|Float|Double|Half)",
    "<integer>": "(?:long int|unsigned char|Long|Int|Short|Char|Byte|Bool)",
    "<gpu>": r"(?:cuda|mps|xpu)(?::\d+)?",
}
_PIECE: Final = re.compile(f"({_NUMBERS}|{'|'.join(_MAY_DIFFER)})")
_QUOTES: Final = dict.fromkeys(map(ord, "`'\"‘’“”"))
_FILE: Final = Path(__file__).with_name("torch_errors.toml")
FAMILIES: Final = {
    "autograd": N_("{count} errors of autograd: this one, and"),
    "scaler": N_("{count} errors of the gradient scaler: this one, and"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TorchError:
    """One error text, word for word; `code` raises it, `why` and `fix` are in both languages.

    `known_by` are the parts of it, in today's or in older words, that each suffice to know that
    this is the reason; else the whole text. Numbers in them may differ, and `_MAY_DIFFER`.
    """

    slug: str
    text: str
    words: str
    why: Mapping[str, str]
    fix: Mapping[str, str]
    type: str = "RuntimeError"
    code: str = ""
    source: str = ""  # the file that says it, where `code` would take another machine
    known_by: Sequence[str] = ()
    system: str = ""  # platform.system() of the only system that says it in these words
    family: str = ""  # a key of FAMILIES: errors that have their reason in common
    page: str = ""  # the page that shows the cause, opened with `query`
    query: Mapping[str, str] = field(default_factory=dict)

    def is_in(self, message: str) -> bool:
        """Return whether a message or a traceback says this."""
        parts = self.known_by or (self.text,)
        return any(_pattern(part).search(_plain(message)) for part in parts)

    @property
    def line(self) -> str:
        """The text in one line, to stand in a code span."""
        return shorten(self.text.replace("`", "'"), LINE_CHARS, placeholder="…")


@cache
def load_torch_errors() -> tuple[TorchError, ...]:
    """Return the error texts in the order of the file: the first that a message holds counts."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["error"]
    return tuple(TorchError(**{**row, "code": row.get("code", "").strip()}) for row in rows)


def find_error(slug: str) -> TorchError:
    """Return the error of that slug."""
    return {error.slug: error for error in load_torch_errors()}[slug]


def error_of(message: str) -> TorchError | None:
    """Return the error whose words stand in a message or a traceback; None of others.

    >>> error_of("IndexError: Target 7 is out of bounds.").slug
    'target-range'
    """
    return next((error for error in load_torch_errors() if error.is_in(message)), None)


def _plain(text: str) -> str:
    return " ".join(text.translate(_QUOTES).split())


@cache
def _pattern(part: str) -> re.Pattern[str]:
    pieces = _PIECE.split(_plain(part).rstrip("."))
    pieces[::2] = map(re.escape, pieces[::2])
    pieces[1::2] = (_MAY_DIFFER.get(piece, _NUMBERS) for piece in pieces[1::2])
    return re.compile(rf"(?:\b|(?=\W)){''.join(pieces)}(?:\b|(?<=\W))", re.IGNORECASE)


def explain_error(error: TorchError) -> None:
    """Show the text, its reason, its remedy and the way to the page that shows its cause."""
    st.code(f"{error.type}: {error.text}", language=None, wrap_lines=True)
    # A text inside an f-string is not collected before Python 3.12.
    why, what_to_do = _("Why"), _("What to do")
    st.markdown(f"**{why}** {in_language(error.why)}")
    st.markdown(f"**{what_to_do}** {in_language(error.fix)}")
    if error.page:
        label = _("See it happen: {page}").format(page=_(page_row(error.page).title))
        page_links.show_link(error.page, label, error.query, icon=":material/grid_view:")
