"""What is drawn of a capture, as plain data: boxes, links between them, and sums."""

from dataclasses import dataclass
from typing import Literal

BoxKind = Literal["node", "leaf", "ghost", "module", "operations"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """One box.

    Attributes:
        id: Of its node or ghost; "m:blocks.0" of a module, with "#1" behind it where a module had
            to be drawn as several boxes.
        kind: "operations" are neighbours in the program that are in no module, drawn as one.
        label: What stands on it.
        members: Ids of its nodes and ghosts, in the order of the forward pass.
        path: What `expanded` has to name to open it; "" of what cannot be opened.
        inside: The innermost opened path that it lies in; "" of none.
        times: How many identical modules it stands for.
        flops_forward, flops_backward: Of all members.
        saved_bytes: What its members keep beyond parameters and inputs; memory that several boxes
            keep counts for the first.
    """

    id: str
    kind: BoxKind
    label: str
    members: tuple[str, ...]
    path: str = ""
    inside: str = ""
    times: int = 1
    flops_forward: int = 0
    flops_backward: int = 0
    saved_bytes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A value's way from the box `target`, which made it, to `source`, which was computed from it.

    Attributes:
        id: Of its own.
        source, target: Ids of boxes.
        edges: Places in the capture's edges; () of what a ghost was computed from.
        operation: The operation that it leads into; "" where boxes are operations themselves.
        is_cut: Whether no gradient goes back along it.
        has_scissors: Whether it is here that a gradient's way ends.
    """

    id: str
    source: str
    target: str
    edges: tuple[int, ...] = ()
    operation: str = ""
    is_cut: bool = False
    has_scissors: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Join:
    """An output of a box, and what comes back to it: the contributions add up to its gradient.

    Attributes:
        box: Id of the box.
        node: Id of the member that made the output.
        output_number: Which of its outputs.
        edges: Places in the capture's edges: one contribution of the last backward each.
    """

    box: str
    node: str
    output_number: int
    edges: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """What is drawn of a capture.

    Attributes:
        boxes: In the order of the forward pass.
        links: In the order of the capture's edges, then what ghosts were computed from.
        joins: Of outputs that other boxes use.
        depth: At which modules are closed; None if all are open.
        collapsed_by_itself: Whether it was, because there was too much to draw.
        as_tensors: Whether a box is a value, and operations stand on links.
    """

    boxes: tuple[Box, ...] = ()
    links: tuple[Link, ...] = ()
    joins: tuple[Join, ...] = ()
    depth: int | None = None
    collapsed_by_itself: bool = False
    as_tensors: bool = False

    @property
    def box_of(self) -> dict[str, str]:
        """Return the id of the box of each node and ghost."""
        return {member: box.id for box in self.boxes for member in box.members}
