"""Tensors as the few letters that fit on a box or a link, and how large a box must be for them."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from unicodedata import east_asian_width

from core.autograd.collapse import Box, Join, View
from core.autograd.graph import Capture, Edge, Event, Ghost, Node, TensorInfo
from core.autograd.layout import GAP_ACROSS, GAP_DOWN, Drawing, layout
from core.language import _
from pages.components.computation_graph.words import CUTS, SHORT_CUTS

MOST_WRITTEN: Final = 3  # elements that are written out
MAX_TERMS: Final = 4  # of a sum
MAX_ON_LINK: Final = 12  # letters, on a projector: the box that it goes to says it too
MAX_LABEL: Final = 30  # letters
LONG: Final = 14  # on a projector
MAX_ON_PROJECTOR: Final = 18
_ARGUMENTS: Final = re.compile(r"\(.+\)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Lettering:
    """How much room letters take, in pixels."""

    code: float  # width of a letter of a label
    letter: float  # and of what stands below it
    line: float  # from line to line
    edge: float  # free on each side of a box; half of it above and below
    padlock: float  # free on each side of a label, so that a padlock fits into the corner
    across: float  # the least from box to box
    down: float


SCREEN: Final = Lettering(  # letters of 14 pixels
    code=8.6, letter=7.4, line=20, edge=12, padlock=17.2, across=GAP_ACROSS, down=GAP_DOWN
)
PROJECTOR: Final = Lettering(  # of 22; padlocks stand above the boxes
    code=13.4, letter=11.2, line=26, edge=8, padlock=0, across=54, down=26
)


def lettering(*, present: bool) -> Lettering:
    """Return the letters of a screen, or of a projector."""
    return PROJECTOR if present else SCREEN


def short_label(label: str, most: int = MAX_LABEL) -> str:
    line = " ".join(label.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def own_part(label: str, makers: Iterable[str] = ()) -> str:
    """Return a long label without what stands in brackets, or in the boxes that it is made of.

    >>> own_part("x ** 2 + 3 * x + 1", ["x ** 2 + 3 * x"])
    '… + 1'
    >>> own_part("F.mse_loss(out, y)")
    'F.mse_loss(…)'
    """
    line = short_label(label, len(label))
    for maker in sorted(makers, key=len, reverse=True):
        if len(line) > LONG and len(maker) > 1:
            line = re.sub(rf"(?<!\w){re.escape(maker)}(?!\w)", "…", line)
    if len(line) > LONG:
        line = _ARGUMENTS.sub("(…)", line, count=1)
    return short_label(line, MAX_ON_PROJECTOR)


def number_text(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def signed(value: float) -> str:
    """Return a change: "+0.1", "−8.667"."""
    return f"{value:+.4g}".replace("-", "−")


def tensor_text(info: TensorInfo | None) -> str:
    """Return "12", "[1, 2]" or "4×8"; "" of none."""
    if info is None:
        return ""
    if info.values is not None and _is_written_out(info):
        numbers = [number_text(value) for value in info.values]
        return f"[{', '.join(numbers)}]" if info.shape else numbers[0]
    return "×".join(map(str, info.shape)) if info.shape else info.dtype


def gradient_text(info: TensorInfo | None) -> str:
    """Return "10", or of a larger gradient its norm: "‖g‖ 0.31"."""
    if info is None or _is_written_out(info):
        return tensor_text(info)
    norm = norm_of(info)
    return f"‖g‖ {norm:.3g}" if norm is not None else tensor_text(info)


def grown_text(event: Event) -> str:
    """Return what a gradient was and has become: "4 → 8"."""
    return f"{gradient_text(event.before)} → {gradient_text(event.after)}"


def _is_written_out(info: TensorInfo) -> bool:
    return info.values is not None and len(info.values) <= MOST_WRITTEN and len(info.shape) <= 1


def norm_of(info: TensorInfo | None) -> float | None:
    """Return the L2 norm, if it is known and finite."""
    if info is None or info.statistics is None or info.statistics.norm is None:
        return None
    return info.statistics.norm if math.isfinite(info.statistics.norm) else None


def sum_text(capture: Capture, join: Join, total: TensorInfo | None) -> str:
    """Return "4 + 6 = 10"; "" where nothing meets or the terms are not numbers to be written."""
    terms = [capture.edges[at].gradient for at in join.edges]
    written = [each for each in terms if each is not None and _is_written_out(each)]
    is_short = 2 <= len(terms) == len(written) <= MAX_TERMS
    if not is_short or total is None or not _adds_up(written, total):
        return ""
    texts = [tensor_text(each) for each in written]
    rest = [f"− {text[1:]}" if text.startswith("−") else f"+ {text}" for text in texts[1:]]
    return f"{' '.join([texts[0], *rest])} = {tensor_text(total)}"


def _adds_up(terms: list[TensorInfo], total: TensorInfo) -> bool:
    """Whether a hook, or a gradient that was there before, has changed nothing."""
    columns = zip(*[term.values or () for term in terms], strict=True)
    sums = [math.fsum(column) for column in columns]
    close = [
        math.isclose(found, value, rel_tol=1e-3, abs_tol=1e-6)
        for found, value in zip(sums, total.values or (), strict=False)
    ]
    return len(close) == len(sums) and all(close)


class Texts:
    """What stands on the boxes and links of a view; on a projector in fewer words."""

    def __init__(self, capture: Capture, view: View, *, present: bool = False) -> None:
        self.capture, self.view, self.present = capture, view, present
        both: tuple[Node | Ghost, ...] = (*capture.nodes, *capture.ghosts)
        self.by_id: Mapping[str, Node | Ghost] = {each.id: each for each in both}
        self.box_of = view.box_of
        self.joins = {(join.node, join.output_number): join for join in view.joins}
        self.values = {leaf.node: leaf.value for leaf in capture.leaves.values() if leaf.node}
        self._main = {join.box: join.node for join in view.joins}
        self._grown: dict[str, list[str]] = {}
        for event in capture.events:
            if event.kind == "accumulate" and event.before is not None:
                self._grown.setdefault(event.node, []).append(grown_text(event))

    def main(self, box: Box) -> Node | Ghost:
        """Return the member that speaks for a box: whose output is used outside, or the last."""
        return self.by_id[self._main.get(box.id, box.members[-1])]

    def label(self, box: Box) -> str:
        if not self.present:
            return short_label(box.label)
        makers = {link.target for link in self.view.links if link.source == box.id}
        return own_part(box.label, [each.label for each in self.view.boxes if each.id in makers])

    def savers(self, box: Box) -> frozenset[str]:
        """Return the members that keep something for the backward pass."""
        nodes = (self.by_id[member] for member in box.members)
        return frozenset(each.id for each in nodes if isinstance(each, Node) and each.saved)

    def value(self, box: Box) -> str:
        of = self.main(box)
        outputs = of.outputs if isinstance(of, Node) else (of.output,)
        texts = [tensor_text(each) for each in outputs if each is not None]
        return ", ".join(texts[:2]) or tensor_text(self.values.get(of.id))

    def gradient(self, box: Box) -> str:
        """Return the gradient at the end of the last backward, as a sum where ways meet."""
        of = self.main(box)
        if not isinstance(of, Node):
            return ""
        whole = [self.one_gradient(of, at) for at in range(len(of.gradients_in))]
        return ", ".join([text for text in whole if text][:2])

    def one_gradient(self, node: Node, output: int) -> str:
        total = node.gradients_in[output]
        join = self.joins.get((node.id, output))
        return (sum_text(self.capture, join, total) if join else "") or gradient_text(total)

    def reason(self, box: Box) -> str:
        """Return why no gradient reaches a ghost; "" of other boxes."""
        of = self.main(box)
        words = SHORT_CUTS if self.present else CUTS
        return _(words[of.reason]) if box.kind == "ghost" and isinstance(of, Ghost) else ""

    def contributions(self, edges: tuple[int, ...]) -> str:
        found: list[Edge] = [self.capture.edges[at] for at in edges]
        texts = [gradient_text(each.gradient) for each in found if each.gradient is not None]
        text = ", ".join(texts) if len(texts) <= 2 else ""
        return "" if self.present and _width(text) > MAX_ON_LINK else text

    def lines(self, box: Box) -> Iterator[str]:
        yield self.label(box) + ("×00 ▸" if box.path else "")
        yield self.value(box)
        grown = self._grown.get(self.main(box).id, ())
        longest = max([self.gradient(box), *grown], key=_width)
        yield self.reason(box) or _("grad {text}").format(text=longest)


def draw(capture: Capture, view: View, *, present: bool = False) -> Drawing:
    """Return the layout of a view with room for all that is written."""
    texts, letters = Texts(capture, view, present=present), lettering(present=present)
    sizes = {box.id: _size(texts, box, letters) for box in view.boxes}
    on_links = (_width(texts.contributions(link.edges)) for link in view.links)
    widest = max(on_links, default=0) * letters.letter + 4 * letters.edge
    across = max(letters.across, min(widest, 2 * GAP_ACROSS))
    return layout(view, sizes, gap_across=across, gap_down=letters.down)


def _size(texts: Texts, box: Box, letters: Lettering) -> tuple[float, float]:
    lines = list(texts.lines(box))
    padlock = 2 * letters.padlock if texts.savers(box) else 0
    label = _width(lines[0]) * letters.code + padlock
    width = max(label, *(_width(line) * letters.letter for line in lines[1:])) + 2 * letters.edge
    return (round(width), round(letters.line * len(lines) + letters.edge))


def _width(text: str) -> int:
    """Return how many letters of Latin a text is wide."""
    return sum(2 if east_asian_width(each) in "WF" else 1 for each in text)
