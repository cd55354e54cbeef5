"""plotly.min.js for the browser, from the installed plotly package and without importing it."""

import gzip
import importlib.metadata
import importlib.util
import threading
from functools import cache
from pathlib import Path
from typing import Final

PLOTLY_PATH: Final = "/live/assets/plotly.min.js"  # on the server
_compressing = threading.Lock()


@cache
def plotly_version() -> str:
    return importlib.metadata.version("plotly")


def plotly_url() -> str:
    return f"{PLOTLY_PATH}?v={plotly_version()}"


def plotly_path() -> Path:
    found = importlib.util.find_spec("plotly")
    if found is None or found.origin is None:
        raise FileNotFoundError("plotly is not installed; run `make run` again")
    return Path(found.origin).parent / "package_data" / "plotly.min.js"


@cache
def _compressed() -> bytes:
    # 4.7 MB become 1.4 MB in a third of a second; level 9 would take twice that for 1 % less.
    return gzip.compress(plotly_path().read_bytes(), compresslevel=6, mtime=0)


def plotly_javascript(*, compressed: bool) -> bytes:
    """Return plotly.min.js, gzipped once for all who ask; reads files, so call it in a thread."""
    if not compressed:
        return plotly_path().read_bytes()
    with _compressing:  # a class that opens the page at once must not compress it thirty times
        return _compressed()
