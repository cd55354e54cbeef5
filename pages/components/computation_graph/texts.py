"""Tensors as the few letters that fit on a box or a link, and how large a box must be for them.

Why apart: the page lays the graph out with these sizes before the part draws it.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final
from unicodedata import east_asian_width

from core.autograd.graph import Capture, Edge, Ghost, Node, TensorInfo
from core.autograd.layout import GAP_ACROSS, GAP_DOWN, Drawing, layout
from core.autograd.view import Box, Join, View
from core.language import _
from pages.components.computation_graph.words import CUTS

FEW: Final = 3  # elements that are written out
MAX_TERMS: Final = 4  # of a sum
MAX_LABEL: Final = 30  # letters
CODE_LETTER: Final = 8.6  # pixels of a letter of code at 14 pixels
LETTER: Final = 7.4
LINE: Final = 20.0
EDGE: Final = 12.0
PADLOCK: Final = 4  # letters: as much beside the label on both sides
PRESENT: Final = 1.55  # 22 pixels instead of 14


def number_text(value: float) -> str:
    """Return a number with four digits."""
    return f"{value:.4g}".replace("-", "−")


def signed(value: float) -> str:
    """Return a change: "+0.1", "−8.667"."""
    return f"{value:+.4g}".replace("-", "−")


def tensor_text(info: TensorInfo | None) -> str:
    """Return "12", "[1, 2]" or "4×8"; "" of none."""
    if info is None:
        return ""
    if info.values is not None and len(info.values) <= FEW and len(info.shape) <= 1:
        numbers = [number_text(value) for value in info.values]
        return f"[{', '.join(numbers)}]" if info.shape else numbers[0]
    return "×".join(map(str, info.shape)) if info.shape else info.dtype


def gradient_text(info: TensorInfo | None) -> str:
    """Return "10", or of a larger gradient its norm: "‖g‖ 0.31"."""
    if info is None or _is_written_out(info):
        return tensor_text(info)
    norm = norm_of(info)
    return f"‖g‖ {norm:.3g}" if norm is not None else tensor_text(info)


def _is_written_out(info: TensorInfo) -> bool:
    return info.values is not None and len(info.values) <= FEW and len(info.shape) <= 1


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
    signed = [f"− {text[1:]}" if text.startswith("−") else f"+ {text}" for text in texts[1:]]
    return f"{' '.join([texts[0], *signed])} = {tensor_text(total)}"


def _adds_up(terms: list[TensorInfo], total: TensorInfo) -> bool:
    """Whether a hook, or a gradient that was there before, has changed nothing."""
    columns = zip(*[term.values or () for term in terms], strict=True)
    sums = [math.fsum(column) for column in columns]
    close = [
        math.isclose(found, value, rel_tol=1e-3, abs_tol=1e-6)
        for found, value in zip(sums, total.values or (), strict=False)
    ]
    return len(close) == len(sums) and all(close)


def short_label(label: str) -> str:
    """Return at most `MAX_LABEL` letters of a label."""
    line = " ".join(label.split())
    return line if len(line) <= MAX_LABEL else f"{line[: MAX_LABEL - 1]}…"


class Texts:
    """What stands on the boxes and links of a view."""

    def __init__(self, capture: Capture, view: View) -> None:
        self.capture, self.view = capture, view
        both: tuple[Node | Ghost, ...] = (*capture.nodes, *capture.ghosts)
        self.by_id: Mapping[str, Node | Ghost] = {each.id: each for each in both}
        self.box_of = view.box_of
        self.joins = {(join.node, join.output_number): join for join in view.joins}
        self.values = {leaf.node: leaf.value for leaf in capture.leaves.values() if leaf.node}
        self._main = {join.box: join.node for join in view.joins}

    def main(self, box: Box) -> Node | Ghost:
        """Return the member that speaks for a box: whose output is used outside, or the last."""
        return self.by_id[self._main.get(box.id, box.members[-1])]

    def savers(self, box: Box) -> frozenset[str]:
        """Return the members that keep something for the backward pass."""
        nodes = (self.by_id[member] for member in box.members)
        return frozenset(each.id for each in nodes if isinstance(each, Node) and each.saved)

    def value(self, box: Box) -> str:
        """Return what a box has computed."""
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
        """Return the gradient of one output."""
        total = node.gradients_in[output]
        join = self.joins.get((node.id, output))
        return (sum_text(self.capture, join, total) if join else "") or gradient_text(total)

    def reason(self, box: Box) -> str:
        """Return why no gradient reaches a ghost; "" of other boxes."""
        of = self.main(box)
        return _(CUTS[of.reason]) if box.kind == "ghost" and isinstance(of, Ghost) else ""

    def contributions(self, edges: tuple[int, ...]) -> str:
        """Return what goes back along a link."""
        found: list[Edge] = [self.capture.edges[at] for at in edges]
        texts = [gradient_text(each.gradient) for each in found if each.gradient is not None]
        return ", ".join(texts) if len(texts) <= 2 else ""

    def lines(self, box: Box) -> Iterator[str]:
        """Yield the lines of a box at their longest."""
        yield short_label(box.label) + ("×00 ▸" if box.path else "")
        yield self.value(box)
        yield self.reason(box) or _("grad {text}").format(text=self.gradient(box))


def draw(capture: Capture, view: View, *, present: bool = False) -> Drawing:
    """Return the layout of a view with room for all that is written.

    Args:
        capture: What the view was made of.
        view: What `collapse` returned.
        present: Whether the letters are those of a projector.
    """
    texts = Texts(capture, view)
    larger = PRESENT if present else 1.0
    sizes = {box.id: _size(texts, box, larger) for box in view.boxes}
    on_links = (_width(texts.contributions(link.edges)) for link in view.links)
    widest = max(on_links, default=0) * LETTER * larger + (4 if not present else 2) * EDGE
    least = GAP_ACROSS / larger  # a projector has less room between larger boxes
    across = max(least, min(widest, 2 * GAP_ACROSS))
    return layout(view, sizes, gap_across=across, gap_down=GAP_DOWN * larger)


def _size(texts: Texts, box: Box, larger: float) -> tuple[float, float]:
    lines = list(texts.lines(box))
    label = (_width(lines[0]) + (PADLOCK if texts.savers(box) else 0)) * CODE_LETTER
    width = max(label, *(_width(line) * LETTER for line in lines[1:])) + 2 * EDGE
    return (round(width * larger), round((LINE * len(lines) + EDGE) * larger))


def _width(text: str) -> int:
    """Return how many letters of Latin a text is wide."""
    return sum(2 if east_asian_width(each) in "WF" else 1 for each in text)
