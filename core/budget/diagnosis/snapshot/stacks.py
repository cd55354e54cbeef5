"""Who asked for a block: what the frames of its stack tell, the innermost first.

With `stacks="all"` C++ frames stand between those of Python; with `stacks="python"` the threads of
the backward pass have none at all.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from core.budget.diagnosis.snapshot.answer import Category

Frames = Sequence[Mapping[str, Any]]
MAX_NAME: Final = 120
_MOST_LINES: Final = 10**7
_STEP, _MOST_ALIKE = 8, 16
_INSTALLED: Final = re.compile(r"site-packages/|dist-packages/|/lib/python\d|/torch/|^<")
_NODE: Final = re.compile(r"(\w+Backward\d*)\b")
_ASKS_ENGINE: Final = frozenset({"backward", "grad", "_engine_run_backward"})
_MAKES: Final = frozenset({"_apply", "__init__", "reset_parameters", "_load_from_state_dict"})
_CALLS: Final = frozenset({"forward", "_call_impl", "_wrapped_call_impl"})


class Stacks:
    """The category of each stack; each is looked at once, and each frame, however many share it.

    Frames are known by their identity: they must live as long as this.
    """

    def __init__(self) -> None:
        self._known: dict[int, Category | Literal[""]] = {}
        self._stacks: dict[tuple[int, ...], list[tuple[Frames, Category]]] = {}

    def category(self, frames: Frames) -> Category:
        """Return who allocated: the innermost frame that tells; "unknown" without any.

        Of a million stacks of sixty frames few differ: some frames find those that may be equal.
        """
        alike = self._stacks.setdefault(tuple(map(id, frames[::_STEP])), [])
        for known, category in alike:
            if known == frames:
                return category
        category = self._find(frames)
        if len(alike) < _MOST_ALIKE and all(map(_is_flat, frames)):
            alike.append((frames, category))
        return category

    def _find(self, frames: Frames) -> Category:
        tags = [self._tag(frame) for frame in frames]
        telling = next((tag for tag in tags if tag and tag != "other"), None)
        if not telling:
            return "other" if "other" in tags else "unknown"
        # A forward pass inside the backward pass: activation checkpointing.
        return "backward" if telling == "forward" and "backward" in tags else telling

    def _tag(self, frame: Mapping[str, Any]) -> Category | Literal[""]:
        if id(frame) not in self._known:
            self._known[id(frame)] = _tag(*_names(frame))
        return self._known[id(frame)]


def _is_flat(frame: Mapping[str, Any]) -> bool:
    """Whether a frame is soon compared: two lists of lists in a file can be made to take years."""
    return all(isinstance(each, str | int | None) for each in frame.values())


def _names(frame: Mapping[str, Any]) -> tuple[str, str]:
    return text(frame.get("name")), text(frame.get("filename")).replace("\\", "/")


def text(value: object) -> str:
    """Return a text that can be written as UTF-8; "" for what is none."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else ""


def _tag(name: str, file: str) -> Category | Literal[""]:
    """Return what a frame says of its caller: a category, or "" of one that says nothing."""
    if not file.endswith(".py"):
        return "backward" if name.startswith("torch::autograd::Engine") else ""
    if "torch/optim/" in file:
        return "optimizer"
    if name in _ASKS_ENGINE and ("torch/autograd/" in file or file.endswith("torch/_tensor.py")):
        return "backward"
    if "torch/nn/modules/" in file and name in _MAKES:
        return "setup"
    return "forward" if "torch/nn/functional" in file or name in _CALLS else "other"


def place_of(frames: Frames) -> str:
    """Return the innermost frame of the user's own code, else the node of the graph; "" if none."""
    for frame in frames:
        name, file = _names(frame)
        if file.endswith(".py") and not _INSTALLED.search(file):
            line = frame.get("line")
            at = f":{line}" if isinstance(line, int) and 0 < line < _MOST_LINES else ""
            return f"{'/'.join(file.split('/')[-2:])}{at} {name}"[:MAX_NAME]
    nodes = (_NODE.search(_names(frame)[0]) for frame in frames)
    return next((each[1][:MAX_NAME] for each in nodes if each), "")
