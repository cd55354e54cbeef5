"""How many files one input of a page passes through, from the widget to the picture.

`paths.py [CHECKOUT]` opens a page of a checkout twice through Streamlit's own test runner, with two
values of one input, and notes every call below the page's script: its arguments and its answer. A
file is *passed* if one of its functions was called with something else, or answered something else,
because the value was another one; it is *at work* if any of its functions ran at all. The frame
around the page (menu, switches, lessons, "copy link") and the translation of words are the same for
every input and are left out; the parts that all pages share (inputs, tabs, charts, numbers) count.
It is no part of `make bench`.
"""

import os
import re
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from types import FrameType
from typing import Any, Final

# An input, how many files it may pass, the page, what the address says, its two values.
INPUTS: Final = (
    ("slider of Model sizes", 15, "plan/model_sizes", "sizes_size=", "llama-2-7b llama-2-13b"),
    ("device -> step timeline", 25, "plan/training_memory", "memory_tab=timeline&plan_device=",
     "h100-sxm rtx-4090"),
)  # fmt: skip
_ADDRESS: Final = re.compile(r"0x[0-9a-f]+|\d{15,}")
_LONGEST: Final = 6000
Calls = dict[str, Counter[tuple[str, ...]]]


def told(value: object) -> str:
    """Return a value in words that two runs have in common if it is the same."""
    try:
        return _ADDRESS.sub("", repr(value))[:_LONGEST]
    except Exception as error:  # noqa: BLE001  an object that cannot be told yet: its kind must do
        return f"{type(value).__name__}: {type(error).__name__}"


class Listener:
    """Notes what the functions of the product are called with while a page's script runs."""

    def __init__(self, root: Path, script: Path) -> None:
        self.calls: Calls = defaultdict(Counter)
        self._root, self._script = f"{root}{os.sep}", str(script)
        self._depth, self._busy = 0, False

    def __call__(self, frame: FrameType, event: str, answer: object) -> None:
        """Take a call or a return from `threading.setprofile`."""
        code = frame.f_code
        file = code.co_filename.removeprefix(self._root)
        if self._busy or event not in {"call", "return"} or file == code.co_filename:
            return
        if (code.co_filename, code.co_name) == (self._script, "<module>"):
            self._depth += 1 if event == "call" else -1
        elif self._depth and code.co_name[0] != "<" and _counts(Path(file)):
            self._busy = True  # what `repr` calls is no work of the page
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = [frame.f_locals.get(name) for name in names] if event == "call" else [answer]
            self.calls[file][code.co_name, event, *map(told, given)] += 1
            self._busy = False


def _counts(file: Path) -> bool:
    return file.parts[0] in {"core", "pages"} and file.parts[1] != "language"


def calls_of(root: Path, page: str, query: str) -> Calls:
    """Open a page of the checkout and return what its functions are called with."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    from pages.shared.navigation import page_row

    row = page_row(page)
    app: Any = AppTest.from_file(str(root / "pages" / "frame.py"), default_timeout=120)
    app._page_hash = calc_hash(row.address)
    for name, value in (each.split("=") for each in query.split("&")):
        app.query_params[name] = value
    st.cache_data.clear()
    listener = Listener(root, row.file)
    threading.setprofile(listener)
    app.run()
    threading.setprofile(None)  # type: ignore[arg-type]
    if app.exception:
        sys.exit(app.exception[0].message)
    return listener.calls


def main() -> None:
    """Print how many files each input passes and how many are at work; fail above a limit."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    sys.path.insert(0, str(root))
    print("| input | files it passes | at most | files at work |\n|---|---|---|---|")
    passed = []
    for label, most, page, query, values in INPUTS:
        runs = [
            calls_of(root, page, query + value) for value in values.split()[:1] + values.split()
        ]
        before, after = runs[1:]  # the first one has loaded what loads once
        files = sorted(file for file in {*before, *after} if before.get(file) != after.get(file))
        print(f"| {label} | {len(files)} | {most} | {len({*before, *after})} |")
        passed.append((label, files))
    for label, files in passed:
        print(f"\n{label}:", *files, sep="\n  ")
    sys.exit(any(len(files) > row[1] for row, (_label, files) in zip(INPUTS, passed, strict=True)))


if __name__ == "__main__":
    main()
