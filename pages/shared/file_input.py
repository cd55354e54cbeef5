"""A place for a file, in the reader's language: Streamlit's own words are English."""

from typing import Any, Final

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.language import _

_STYLE: Final = """<style>
.st-key-{key} [data-testid="stFileUploaderDropzone"] > span p,
.st-key-{key} [data-testid="stFileUploaderDropzoneInstructions"] > div {{ display: none; }}
.st-key-{key} [data-testid="stFileUploaderDropzone"] > span [data-testid="stMarkdownContainer"]::after {{ content: "{choose}"; }}
.st-key-{key} [data-testid="stFileUploaderDropzoneInstructions"]::after {{ content: "{drop}"; font-size: 0.875rem; }}
</style>"""  # noqa: E501  a line for each rule


def file_input(label: str, *, key: str, megabytes: int, **more: Any) -> UploadedFile | None:  # noqa: ANN401  Streamlit's
    """Return the file that lies there; `more` is what `st.file_uploader` takes."""
    drop = _("or drop it here, at most {size}").format(size=f"{megabytes} MB")
    st.html(_STYLE.format(key=key, choose=_("Choose a file"), drop=drop))
    return st.file_uploader(label, key=key, max_upload_size=megabytes, **more)
