"""What autograd refuses, explained: what happened, on which line, to which tensor; and a way out.

Torch's own words decide which refusal it is. Tests run the failing code and read the words there.
"""

import re
from dataclasses import dataclass
from functools import reduce

from core.autograd import rewrites
from core.autograd.graph import Capture, Failure, Ghost, Node, Saved
from core.autograd.refusals import Kind, Refusal, refusal_of
from core.language import _


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why torch refused, in the reader's language.

    Attributes:
        kind: Which refusal it is.
        sentence: What happened.
        advice: What to do.
        what: The piece of the program that is to blame; of a version conflict, the write.
        line: Where that stands; None if nobody knows.
        node: Id of the node whose backward failed; "" of none.
        saved: The saved tensor that was changed.
        rewrite: The program as it runs; "" if no change of it is known.
        torch_message: Torch's words.
    """

    kind: Kind
    sentence: str
    advice: str
    what: str = ""
    line: int | None = None
    node: str = ""
    saved: Saved | None = None
    rewrite: str = ""
    torch_message: str = ""


def explain_error(failed: Capture | Failure, source: str = "") -> Explanation | None:
    """Return why a capture ended early; None if it did not.

    Args:
        failed: A capture, or its failure alone: then no saved tensor can be named.
        source: Of the reader's program, for the line that is to blame and the rewrite; there is
            neither of one that is no Python.
    """
    failure = failed.error if isinstance(failed, Capture) else failed
    if failure is None:
        return None
    source = source if rewrites.is_python(source) else ""
    capture = failed if isinstance(failed, Capture) else Capture(error=failure)
    row = refusal_of(failure.message)
    if row.kind == "version":
        return _version_conflict(row, capture, failure, source)
    rewrite = row.rewrite(source, failure.line) if source else ""
    if row.kind == "no_graph" and source:
        rewrite = rewrites.connected(source, _first_float(capture))
    return Explanation(
        kind=row.kind,
        sentence=_(row.sentence),
        advice=_(row.advice),
        what=rewrites.text_of(source, failure.line),
        line=failure.line,
        node=failure.node,
        rewrite=rewrite,
        torch_message=failure.message,
    )


def explain_warnings(capture: Capture, source: str = "") -> tuple[Explanation, ...]:
    """Return what is known about torch's warnings, such as reading `.grad` of what is no leaf."""
    rows = [(refusal_of(warning), warning) for warning in capture.warnings]
    return tuple(
        Explanation(
            kind=row.kind,
            sentence=_(row.sentence),
            advice=_(row.advice),
            rewrite=row.rewrite(source, None) if source else "",
            torch_message=warning,
        )
        for row, warning in rows
        if row.kind != "other"
    )


def _first_float(capture: Capture) -> str:
    """Return the first leaf that could require a gradient."""
    floats = [leaf.name for leaf in capture.leaves.values() if "float" in leaf.value.dtype]
    return floats[0] if floats else ""


def _version_conflict(row: Refusal, capture: Capture, failure: Failure, source: str) -> Explanation:
    """Name the saved tensor, its node, and the write that changed it."""
    node, saved = _changed_tensor(capture, failure)
    line, what = _write_of(capture, node, failure, source)
    sentences = [_(row.sentence), _what_was_saved(node, saved, failure)]
    if what:
        message = _("{write} (line {line}) changed it.")
        sentences.append(message.format(write=what, line=line))
    advice, rewrite = _(row.advice), rewrites.out_of_place(source, line)
    if rewrites.is_in_block(source, line):  # an update of parameters, before its time
        advice = _("Change it after backward(), when nothing needs the old values any more.")
        rewrite = rewrites.moved_behind(source, line, failure.line)
    return Explanation(
        kind=row.kind,
        sentence=reduce(_followed_by, filter(None, sentences)),
        advice=advice,
        what=what,
        line=line,
        node=node.id if node else failure.node,
        saved=saved,
        rewrite=rewrite,
        torch_message=failure.message,
    )


def _followed_by(sentence: str, other: str) -> str:
    """Return two sentences with the space between them that the reader's language has."""
    return _("{sentence} {next_sentence}").format(sentence=sentence, next_sentence=other)


def _changed_tensor(capture: Capture, failure: Failure) -> tuple[Node | None, Saved | None]:
    """Return the saved tensor whose version is not the one it was saved at, and its node."""
    named = [node for node in capture.nodes if node.id == failure.node]
    for node in (*named, *capture.nodes):
        for saved in node.saved:
            versions = {saved.version_saved, saved.version_now}
            if None not in versions and len(versions) == 2:
                return node, saved
    return (named[0] if named else None), None


def _what_was_saved(node: Node | None, saved: Saved | None, failure: Failure) -> str:
    found = re.search(r"is at version (\d+); expected version (\d+)", failure.message)
    now, then = (int(number) for number in found.groups()) if found else (None, None)
    if saved is not None:
        now, then = saved.version_now, saved.version_saved
    if now is None:
        return ""
    if node is None or saved is None:
        message = _("It was saved at version {then} and is at version {now} now.")
        return message.format(then=then, now=now)
    message = _("{label} saved its “{name}” at version {then}; it is at version {now} now.")
    label = f"{node.label} ({node.type})" if node.label else node.type
    return message.format(label=label, name=saved.name, then=then, now=now)


def _write_of(
    capture: Capture, node: Node | None, failure: Failure, source: str
) -> tuple[int | None, str]:
    """Return line and text of the write between the saving and the failure."""
    first, last = (node.line or 0) if node else 0, failure.line
    found = rewrites.writes_of(source) if source else _writes_that_ran(capture)
    between = [each for each in found if first <= each[0] <= (last or each[0])]
    names = rewrites.names_on(source, first) if source and node else frozenset[str]()
    likely = sorted(between, key=lambda each: each[1] not in names)
    return (likely[0][0], likely[0][2]) if likely else (None, "")


def _writes_that_ran(capture: Capture) -> tuple[tuple[int, str, str], ...]:
    ran: tuple[Node | Ghost, ...] = (*capture.nodes, *capture.ghosts)
    return tuple(
        (each.line, "", each.label)
        for each in ran
        if each.operation.endswith("_") and each.line is not None
    )
