"""What is sent to the browser: boxes, links and events, each change with the step it comes at."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from core.autograd.collapse import Box, Link, View
from core.autograd.graph import Capture, Event, Node
from core.autograd.layout import Drawing
from core.language import _
from core.units import ByteUnit, format_bytes, format_flops
from pages.components.computation_graph.texts import (
    Texts,
    gradient_text,
    grown_text,
    lettering,
    norm_of,
    own_part,
    short_label,
    tensor_text,
)
from pages.components.computation_graph.words import FINDINGS

MAX_WAITING: Final = 8  # chips of the ready queue
Row = dict[str, Any]


def graph_rows(
    capture: Capture, view: View, drawing: Drawing, unit: ByteUnit = "GiB", *, present: bool = False
) -> Row:
    """Return boxes, links and events; steps count from 0, and -1 was there before the first."""
    texts, letters = Texts(capture, view, present=present), lettering(present=present)
    changes = Changes(capture, texts)
    heats = _heats(texts)
    boxes = [
        _box_row(box, texts, changes, unit) | {"heat": heats[1].get(box.id)} for box in view.boxes
    ]
    links = [_link_row(link, texts, changes) for link in view.links]
    for row in boxes:
        row["place"] = [round(each, 1) for each in drawing.places[row["id"]]]
    for row in links:
        row["points"] = [[round(x, 1), round(y, 1)] for x, y in drawing.paths[row["id"]]]
    shape = [(row["id"], row.get("place") or row["points"]) for row in (*boxes, *links)]
    return {
        "shape": hashlib.sha256(json.dumps(shape).encode()).hexdigest()[:16],
        "size": [round(drawing.width, 1), round(drawing.height, 1)],
        "boxes": boxes,
        "links": links,
        "events": _event_rows(capture, texts, unit),
        "most_saved": format_bytes(max((e.saved_bytes for e in capture.events), default=0), unit),
        "heats": heats[0],
        "present": present,
        "line": letters.line,
        "edge": letters.edge,
    }


class Changes:
    """At which steps something changes on a box or a link."""

    def __init__(self, capture: Capture, texts: Texts) -> None:
        self.forward: dict[str, int] = {}
        self.last_run: dict[str, int] = {}
        self.by_box: dict[str, list[tuple[int, Event]]] = {}
        runs = [event.backward for event in capture.events if event.kind == "node"]
        self.last_backward = max((run for run in runs if run is not None), default=None)
        for step, event in enumerate(capture.events):
            box = texts.box_of.get(event.node, "")
            self.by_box.setdefault(box, []).append((step, event))
            if event.kind == "forward":
                self.forward.setdefault(event.node, step)
            if event.kind == "node" and event.backward == self.last_backward:
                self.last_run[event.node] = step

    def appears(self, members: Iterable[str]) -> int:
        return max((self.forward.get(member, -1) for member in members), default=-1)

    def ran(self, box: Box) -> int | None:
        """Return when all members that ever run have run once; None if none does."""
        first: dict[str, int] = {}
        for step, event in self.of(box, "node", "accumulate"):
            first.setdefault(event.node, step)
        return max(first.values(), default=None)

    def of(self, box: Box, *kinds: str) -> list[tuple[int, Event]]:
        """Return the events of these kinds at a box, with their steps."""
        return [(step, event) for step, event in self.by_box.get(box.id, []) if event.kind in kinds]


def _box_row(box: Box, texts: Texts, changes: Changes, unit: ByteUnit) -> Row:
    of = texts.main(box)
    findings = [
        _(FINDINGS.get(node.finding, node.finding))
        for member in box.members
        if isinstance(node := texts.by_id[member], Node) and node.finding
    ]
    return {
        "id": box.id,
        "kind": box.kind,
        "label": texts.label(box),
        "times": box.times,
        "opens": box.path,
        "inside": box.inside,
        "second": isinstance(of, Node) and of.layer > 0,
        "reason": texts.reason(box),
        "finding": _(", ").join(dict.fromkeys(findings)),
        "more": _more(box, texts, unit),
        "names": _names(box, texts),
        "appears": changes.appears(box.members),
        "values": _values(box, texts, changes),
        "gradients": _gradients(box, texts, changes),
        "ran": changes.ran(box),
        "locks": _locks(box, texts, changes),
        "order": of.order if isinstance(of, Node) and box.kind in {"node", "leaf"} else None,
    }


def _names(box: Box, texts: Texts) -> str:
    """Return by what a reader may look for a box: names, types and modules of its members."""
    members = [texts.by_id[member] for member in box.members]
    types = [each.type for each in members if isinstance(each, Node)]
    names = [box.label, *types, *(word for each in members for word in (each.label, each.module))]
    return "\n".join(dict.fromkeys(name.lower() for name in names if name))


def _more(box: Box, texts: Texts, unit: ByteUnit) -> str:
    """Return what is parts of a box beyond value and gradient."""
    of = texts.main(box)
    parts = [box.label] if texts.label(box) != box.label else []
    if isinstance(of, Node) and box.kind == "node":
        parts.append(of.type)
    if len(box.members) > 1:
        parts.append(_("{count} nodes").format(count=len(box.members)))
    if box.saved_bytes:
        parts.append(_("keeps {size}").format(size=format_bytes(box.saved_bytes, unit)))
    if box.flops_forward or box.flops_backward:
        flops = [format_flops(each) for each in (box.flops_forward, box.flops_backward)]
        parts.append(
            _("forward {forward}, backward {backward}").format(forward=flops[0], backward=flops[1])
        )
    return _("; ").join(parts)


def _values(box: Box, texts: Texts, changes: Changes) -> list[tuple[int, str]]:
    """Return the values of a box, each from its step on: an update writes a new one."""
    updates = [
        (step, event) for step, event in changes.of(box, "update") if event.after is not None
    ]
    first = tensor_text(updates[0][1].before) if updates else ""
    values = [(changes.appears(box.members), first or texts.value(box))]
    return values + [(step, tensor_text(event.after)) for step, event in updates]


def _gradients(box: Box, texts: Texts, changes: Changes) -> list[tuple[int, str]]:
    """Return the gradients of a box, each from its step on; a leaf's as its `.grad` changes."""
    main = texts.main(box)
    found = []
    for step, event in changes.of(box, "seed", "node", "accumulate", "reset"):
        if event.node != main.id:
            continue
        if event.kind in {"seed", "node"}:
            text = ", ".join(filter(None, map(gradient_text, event.gradients)))
            is_last = event.kind == "node" and event.backward == changes.last_backward
            found.append((step, (texts.gradient(box) if is_last else "") or text))
        elif event.kind == "reset":
            found.append((step, gradient_text(event.after) or "None"))
        elif event.before is not None:
            found.append((step, grown_text(event)))
        elif not found or found[-1][1] == "None":  # torch adds up what comes, then writes it
            whole = texts.gradient(box) if event.backward == changes.last_backward else ""
            found.append((step, whole or gradient_text(event.after)))
    return found


def _locks(box: Box, texts: Texts, changes: Changes) -> list[tuple[int, bool]]:
    """Return from which step on a box holds saved tensors, and from which it has let go."""
    savers = texts.savers(box)
    if not savers:
        return []
    locks = [(changes.appears(box.members), True)]
    freed: set[str] = set()
    for step, event in changes.of(box, "release", "recompute"):
        freed = freed | {event.node} if event.kind == "release" else freed - {event.node}
        locks.append((step, not savers <= freed))
    return locks


def _link_row(link: Link, texts: Texts, changes: Changes) -> Row:
    edges = [texts.capture.edges[at] for at in link.edges]
    goes = [changes.last_run.get(edge.source) for edge in edges if edge.gradient is not None]
    known = [step for step in goes if step is not None]
    users = [edge.source for edge in edges] or list(
        next(box.members for box in texts.view.boxes if box.id == link.source)
    )
    return {
        "id": link.id,
        "source": link.source,
        "target": link.target,
        "operation": link.operation,
        "is_cut": link.is_cut,
        "scissors": link.has_scissors,
        "appears": changes.appears(users),
        "goes_back": max(known) if known else None,
        "text": texts.contributions(link.edges),
    }


def _event_rows(capture: Capture, texts: Texts, unit: ByteUnit) -> list[Row]:
    most = max((event.saved_bytes for event in capture.events), default=0) or 1
    return [
        {
            "kind": event.kind,
            "box": texts.box_of.get(event.node, ""),
            "words": _event_words(event, texts, unit),
            "waiting": [_label(each, texts) for each in event.waiting[:MAX_WAITING]],
            "num_more": max(len(event.waiting) - MAX_WAITING, 0),
            "saved": format_bytes(event.saved_bytes, unit),
            "level": round(event.saved_bytes / most, 3),
        }
        for event in capture.events
    ]


def _event_words(event: Event, texts: Texts, unit: ByteUnit) -> dict[str, str]:
    """Return what is put into the sentence of an event, as far as it needs it."""
    words = {"label": _label(event.node, texts)}
    if event.kind == "forward":
        of = texts.by_id.get(event.node)
        outputs = of.outputs if isinstance(of, Node) else (of.output,) if of else ()
        words["value"] = ", ".join(map(tensor_text, outputs))
    if event.kind in {"seed", "node"}:
        words["gradient"] = ", ".join(map(gradient_text, event.gradients))
    if event.kind in {"accumulate", "reset"}:
        words |= {"before": gradient_text(event.before) or "None"}
        words |= {"after": gradient_text(event.after) or "None"}
    if event.kind == "update":
        words |= {"before": tensor_text(event.before), "after": tensor_text(event.after)}
    if event.kind == "release":
        words["size"] = format_bytes(event.num_bytes, unit)
    return words | ({"text": event.text} if event.text else {})


def _label(name: str, texts: Texts) -> str:
    of = texts.by_id.get(name)
    shortened = own_part if texts.present else short_label
    return shortened(of.label) if of is not None else name


def _heats(texts: Texts) -> tuple[list[str], Mapping[str, float]]:
    """Return the smallest and largest gradient norm, and where each box lies between: 0 to 1."""
    norms = {}
    for box in texts.view.boxes:
        of = texts.main(box)
        found = [norm_of(each) for each in of.gradients_in] if isinstance(of, Node) else []
        known = [norm for norm in found if norm]
        if known:
            norms[box.id] = math.log10(max(known))
    if not norms:
        return [], {}
    low, high = min(norms.values()), max(norms.values())
    span = (high - low) or 1.0
    heats = {name: round((norm - low) / span, 3) for name, norm in norms.items()}
    return [f"{10**low:.2g}", f"{10**high:.2g}"], heats
