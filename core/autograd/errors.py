"""What autograd refuses, explained: what happened, on which line, to which tensor; and a way out.

Torch's own words decide which refusal it is. Tests run the failing code and read the words there.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import torch
from torch import Tensor

from core.autograd import rewrites
from core.autograd.graph import Capture, Failure, Node, Saved
from core.autograd.refusals import refusal_of
from core.autograd.trial import TimeUp, Trial, Trials, Write
from core.language import _, ngettext
from core.language.listing import followed_by

_DEPTH: Final = 2  # changes one after another, where the first leads to another refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why torch refused, in the reader's language.

    Attributes:
        what: The piece of the program that is to blame; of a version conflict, the first write.
        writes: Of a version conflict, all writes that must go, in the order in which they run.
    """

    kind: str  # which refusal it is
    sentence: str  # what happened
    advice: str  # what to do
    what: str = ""
    line: int | None = None  # where that stands; None if nobody knows
    writes: tuple[Write, ...] = ()
    node: str = ""  # id of the node whose backward failed; "" of none
    saved: Saved | None = None  # the saved tensor that was changed
    rewrite: str = ""  # the program changed, and run: it runs; "" if no such change is known
    torch_message: str = ""  # torch's words; "" if it was not asked


def explain_error(
    failed: Capture | Failure, source: str = "", tensors: Mapping[str, Tensor] | None = None
) -> Explanation | None:
    """Return why a capture ended early; None if it did not.

    Args:
        failed: A capture, or its failure alone: then no saved tensor can be named.
        source: Of the reader's program, for the line that is to blame.
        tensors: What that was handed. The program is run with them, without some of its writes and
            changed: else no write is named, and no rewrite.
    """
    failure = failed.error if isinstance(failed, Capture) else failed
    if failure is None:
        return None
    if failure.kind == "ExpressionError":
        return Explanation(
            kind="not_here",
            sentence=failure.message,
            advice=_("This page refuses it, not PyTorch: the page supports only a part of PyTorch "
                     "and has limits of its own."),
            line=failure.line,
        )  # fmt: skip
    source = source if rewrites.is_python(source) else ""
    capture = failed if isinstance(failed, Capture) else Capture(error=failure)
    row = refusal_of(failure.message)
    explained = Explanation(
        kind=row.kind,
        sentence=_(row.sentence),
        advice=_(row.advice),
        what=rewrites.text_of(source, failure.line),
        line=failure.line,
        node=failure.node,
        torch_message=failure.message,
    )
    repairs = _Repairs(source, tensors) if source and tensors is not None else None
    if row.kind == "version":
        explained = _version_conflict(explained, capture, failure, repairs)
    return replace(explained, rewrite=repairs.found()) if repairs else explained


def explain_warnings(
    capture: Capture, source: str = "", tensors: Mapping[str, Tensor] | None = None
) -> tuple[Explanation, ...]:
    """Return torch's warnings, each once, and what is known about them.

    Those of kind "other" have no sentence of ours: torch's words stand for it.
    """
    repairs = _Repairs(source, tensors) if rewrites.is_python(source) and tensors else None
    explained = []
    for warning in dict.fromkeys(capture.warnings):
        row, words = refusal_of(warning), warning.partition(" (Triggered internally")[0]
        is_known = row.kind != "other"
        explained.append(
            Explanation(
                kind=row.kind,
                sentence=_(row.sentence) if is_known else _("PyTorch warns:"),
                advice=_(row.advice) if is_known else "",
                rewrite=repairs.first_that_runs([row.rewrite(source, 0)]) if repairs else "",
                torch_message=words,
            )
        )
    return tuple(explained)


class _Repairs:
    """Looks for a change with which a program runs, and what may not stay as it is."""

    def __init__(self, source: str, tensors: Mapping[str, Tensor]) -> None:
        self.source, self._trials = source, Trials(tensors)
        floats = (
            name for name, x in tensors.items() if x.is_floating_point() and not x.requires_grad
        )
        self._first_float = next(floats, "")

    def guilty_writes(self) -> tuple[Write, ...]:
        """Return the writes that changed saved tensors; none if looking for them takes too long."""
        try:
            return self._trials.guilty_writes(self.source)
        except TimeUp:
            return ()

    def found(self) -> str:
        """Return the program as it runs; "" if that is not found in time."""
        try:
            return self._repaired(self.source, self._trials.run(self.source), _DEPTH)
        except TimeUp:
            return ""

    def first_that_runs(self, programs: list[str]) -> str:
        """Return the first of several programs that runs."""
        try:
            return next((each for each in programs if each and self._runs(each)), "")
        except TimeUp:
            return ""

    def _runs(self, source: str) -> bool:
        return not self._trials.run(source).message

    def _repaired(self, source: str, failed: Trial, depth: int) -> str:
        """Return the first change that runs and calls backward on the same values as before."""
        meant = failed.roots if failed.is_version_conflict else failed.roots[:-1]
        further: list[tuple[str, Trial]] = []
        for changed in filter(None, self._changes(source, failed)):
            trial = self._trials.run(changed)
            if not _begins_with(trial.roots, meant):
                continue
            if not trial.message:
                return changed
            further.append((changed, trial))
        deeper = (self._repaired(*each, depth - 1) for each in further[:2] if depth > 1)
        return next(filter(None, deeper), "")

    def _changes(self, source: str, failed: Trial) -> Iterator[str]:
        row, line = refusal_of(failed.message), failed.line or 0
        if row.kind == "no_graph":
            yield rewrites.connected(source, self._first_float)
        elif row.kind != "version":
            yield row.rewrite(source, line)
        else:
            yield from self._without_conflict(source, failed)

    def _without_conflict(self, source: str, failed: Trial) -> Iterator[str]:
        """Yield updates moved behind backward, new tensors in place of writes, then copies."""
        guilty = self._trials.guilty_writes(source)
        lines = {each.span.line for each in guilty}
        if any(rewrites.is_in_block(source, each) for each in lines):
            yield from (rewrites.moved_behind(source, each, failed.line) for each in lines)
        else:
            yield rewrites.out_of_place(source, lines)
            yield rewrites.in_expressions(source, lines)
        for each in guilty[:1]:
            names = failed.owners.get(each.span, ())
            yield from rewrites.cloned_between(source, each.span.line, names)


def _begins_with(roots: tuple[Tensor, ...], meant: tuple[Tensor, ...]) -> bool:
    same = (torch.equal(x.nan_to_num(), y.nan_to_num()) for x, y in zip(roots, meant, strict=False))
    return len(roots) >= len(meant) and all(same)


def _version_conflict(
    explained: Explanation, capture: Capture, failure: Failure, repairs: _Repairs | None
) -> Explanation:
    """Name the saved tensor, its node, and the writes that changed it."""
    node, saved = _changed_tensor(capture, failure)
    guilty = repairs.guilty_writes() if repairs else ()
    sentences = [explained.sentence, _what_was_saved(node, saved, failure), _who_changed_it(guilty)]
    advice = explained.advice
    if repairs and any(rewrites.is_in_block(repairs.source, each.span.line) for each in guilty):
        advice = _("Change it after backward(), when nothing needs the old values any more, or "
                   "change a copy.")  # fmt: skip
    if len(guilty) > 1:
        message = _("None of these may stay: {writes}.")
        places = [placed(each.text, each.span.line) for each in guilty]
        all_of_them = message.format(writes=_(", ").join(places))
        advice = followed_by(all_of_them, advice)
    return replace(
        explained,
        sentence=followed_by(*sentences),
        advice=advice,
        what=guilty[0].text if guilty else "",
        line=guilty[0].span.line if guilty else None,
        writes=guilty,
        node=node.id if node else failure.node,
        saved=saved,
    )


def _who_changed_it(guilty: tuple[Write, ...]) -> str:
    """Return the sentence on the first write, and how many more there are; empty of none."""
    if not guilty:
        return ""
    message = ngettext(
        "{write} and {count} further write changed what had been saved.",
        "{write} and {count} further writes changed what had been saved.",
        len(guilty) - 1,
    )
    message = message if len(guilty) > 1 else _("{write} changed it.")
    first = placed(guilty[0].text, guilty[0].span.line)
    return message.format(write=first, count=len(guilty) - 1)


def placed(text: str, line: int | None) -> str:
    """Return a piece of a program with its line, if it has one."""
    return _("`{write}` (line {line})").format(write=text, line=line) if line else f"`{text}`"


def _changed_tensor(capture: Capture, failure: Failure) -> tuple[Node | None, Saved | None]:
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
    label = f"`{node.label}` ({node.type})" if node.label else node.type
    return message.format(label=label, name=saved.name, then=then, now=now)
