"""Error texts of torch: what raises each, why, and what to do."""

import re
import tomllib
from collections.abc import Mapping
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
_NUMBERS: Final = r"-?\d+(?:, -?\d+)*"
_TYPE: Final = re.compile(r"[\w.]*(?:Error|Exception): ")
_FILE: Final = Path(__file__).with_name("torch_errors.toml")
FAMILIES: Final = {
    "autograd": N_("{count} errors of autograd: this one, and"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TorchError:
    """One error text, word for word; `code` raises it, `why` and `fix` are in both languages.

    `pattern` tells what else may stand in the text where the reason is the same; else only its
    numbers may differ.
    """

    slug: str
    type: str
    text: str
    code: str
    words: str
    why: Mapping[str, str]
    fix: Mapping[str, str]
    system: str = ""  # platform.system() of the only system that says it in these words
    family: str = ""  # a key of FAMILIES: errors that have their reason in common
    page: str = ""  # the page that shows the cause, opened with `query`
    query: Mapping[str, str] = field(default_factory=dict)
    pattern: str = ""

    def says(self, line: str) -> bool:
        """Whether a line is this text, with other numbers or what `pattern` lets through."""
        words = map(re.escape, re.split(_NUMBERS, self.text))
        return re.fullmatch(self.pattern or _NUMBERS.join(words), line) is not None

    @property
    def line(self) -> str:
        """The text in one line, to stand in a code span."""
        return shorten(self.text.replace("`", "'"), LINE_CHARS, placeholder="…")


@cache
def load_torch_errors() -> tuple[TorchError, ...]:
    """Return the error texts in the order of the file."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["error"]
    return tuple(TorchError(**{**row, "code": row["code"].strip()}) for row in rows)


def find_error(slug: str) -> TorchError:
    """Return the error of that slug.

    Raises:
        KeyError: If there is none.
    """
    return {error.slug: error for error in load_torch_errors()}[slug]


def error_of(message: str) -> TorchError | None:
    """Return the error whose words stand on a line of a message or a traceback; None of others."""
    lines = [_TYPE.sub("", line.strip(), count=1) for line in message.split("\n")]
    return next((e for e in load_torch_errors() if any(map(e.says, lines))), None)


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
