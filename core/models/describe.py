"""A module as a tree of its parameters: names, shapes, counts, bytes, ties and first values.

Every number is torch's own: parameters are the leaves, a tied one counts where it is met first.
On meta nothing is allocated, so that a model of 405 billion parameters has a tree too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from torch import Tensor, nn

from core.models.first_values import FirstValues

Part = Literal["embedding", "attention", "feed_forward", "experts", "norms", "adapter", "other"]
PARTS: Final[tuple[Part, ...]] = (
    *("embedding", "attention", "feed_forward", "experts", "norms", "adapter", "other"),
)
_BY_TYPE: Final[tuple[tuple[str, Part], ...]] = (  # the first word that a type's name contains
    ("Embedding", "embedding"),
    ("Norm", "norms"),
    ("Attention", "attention"),
    ("Mixer", "attention"),
    ("Mixture", "experts"),
    ("FeedForward", "feed_forward"),
    ("SwiGLU", "feed_forward"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelTree:
    """A module, a parameter or a buffer; of a folded tree several equal ones together."""

    name: str  # in the module above; of folded ones "0–79" or "1, 3…47"; "" of the whole
    type: str  # "Linear"; "Parameter" and "buffer" are leaves
    shape: tuple[int, ...] = ()  # of a leaf, of one where there are several
    num_params: int = 0  # numbers that are learned, in all of them together; 0 of a tied leaf
    trainable: int = 0  # those of them with `requires_grad`
    num_bytes: int = 0  # of parameters and of buffers that are saved
    tied_to: str = ""  # name of the parameter that this one is, if it was met before
    init: str = ""  # what the code draws, or mean and standard deviation of what is there
    children: tuple["ModelTree", ...] = ()  # in the order of `named_children`
    part: Part = "other"
    count: int = 1  # how many equal ones these numbers speak of
    numbers: tuple[int, ...] = ()  # of folded ones, their places in the list above

    @property
    def is_leaf(self) -> bool:
        """Whether it is a tensor."""
        return self.type in {"Parameter", "buffer"}

    def walk(self, path: str = "") -> Iterator[tuple[str, "ModelTree"]]:
        """Yield every node under its full name, as `named_modules` and `state_dict` write it."""
        yield path, self
        for child in self.children:
            yield from child.walk(f"{path}.{child.name}" if path else child.name)

    def leaves(self) -> Iterator[tuple[str, "ModelTree"]]:
        """Yield parameters and buffers under the names of `state_dict`."""
        return ((path, node) for path, node in self.walk() if node.is_leaf)


def describe(module: nn.Module, drawn: FirstValues | None = None) -> ModelTree:
    """Return the tree of a module.

    Args:
        module: On any device; on meta it takes no memory.
        drawn: What recorded its construction; without it first values are measured where there
            are some.

    >>> describe(nn.Linear(10, 5)).num_params
    55
    """
    reader = _Reader(saved=set(module.state_dict()), drawn=drawn)
    return reader.read(module, name="", path="", above="other")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reader:
    """What is known while a module is read: saved names, tensors met before, their first values."""

    saved: set[str]
    drawn: FirstValues | None
    met: dict[int, str] = field(default_factory=dict)

    def read(self, module: nn.Module, *, name: str, path: str, above: Part) -> ModelTree:
        part, start = _part_of(module, name, above), f"{path}." if path else ""
        own: list[tuple[str, Tensor]] = [
            *module.named_parameters(recurse=False, remove_duplicate=False)
        ]
        own += [
            (key, t) for key, t in module.named_buffers(recurse=False) if start + key in self.saved
        ]
        leaves = [self._leaf(key, tensor, start + key, part) for key, tensor in own]
        below = [
            self.read(child, name=key, path=start + key, above=part)
            for key, child in module._modules.items()  # named_children drops twins
            if child is not None
        ]
        node = ModelTree(name=name, type=type(module).__name__, part=part)
        return with_children(node, [*leaves, *below])

    def _leaf(self, name: str, tensor: Tensor, path: str, part: Part) -> ModelTree:
        is_param, first = isinstance(tensor, nn.Parameter), self.met.setdefault(id(tensor), path)
        is_tied = first != path
        num_params = tensor.numel() if is_param and not is_tied else 0
        return ModelTree(
            name=name,
            type="Parameter" if is_param else "buffer",
            shape=tuple(tensor.shape),
            num_params=num_params,
            trainable=num_params if tensor.requires_grad else 0,
            num_bytes=0 if is_tied else tensor.numel() * tensor.element_size(),
            tied_to=first if is_tied else "",
            init="" if is_tied else self._init(tensor),
            part="adapter" if name.startswith("lora_") else part,
        )

    def _init(self, tensor: Tensor) -> str:
        if self.drawn is not None:
            return self.drawn.of(tensor)
        if tensor.is_meta or not tensor.is_floating_point() or tensor.numel() < 2:
            return ""
        values = tensor.detach().float()
        return f"mean {values.mean().item():.3g}, std {values.std().item():.3g}"


def _part_of(module: nn.Module, name: str, above: Part) -> Part:
    kind = type(module).__name__
    if name == "head":
        return "embedding"
    found = next((part for word, part in _BY_TYPE if word in kind), above)
    if above == "experts":  # their router, and the experts that every token passes
        return above
    is_alone = found == "other" and isinstance(module, nn.Linear)
    return "feed_forward" if is_alone else found


def with_children(node: ModelTree, children: Sequence[ModelTree]) -> ModelTree:
    """Return the node with other children, whose sums become its own."""
    return replace(
        node,
        children=tuple(children),
        num_params=sum(each.num_params for each in children),
        trainable=sum(each.trainable for each in children),
        num_bytes=sum(each.num_bytes for each in children),
    )


def times(node: ModelTree, count: int) -> ModelTree:
    """Return so many of the node together."""
    return _each_number(node, lambda number: number * count)


def _each_number(node: ModelTree, change: Callable[[int], int]) -> ModelTree:
    return replace(
        node,
        num_params=change(node.num_params),
        trainable=change(node.trainable),
        num_bytes=change(node.num_bytes),
        count=change(node.count),
        children=tuple(_each_number(child, change) for child in node.children),
    )


def at_numbers(node: ModelTree, numbers: Sequence[int]) -> ModelTree:
    """Return as many of the node together, one for each of these places in its list."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) == 1:
        return replace(node, name=str(first))
    in_a_row = last - first + 1 == len(numbers)
    name = f"{first}–{last}" if in_a_row else f"{first}, {numbers[1]}…{last}"
    return replace(times(node, len(numbers)), name=name, numbers=tuple(numbers))


def unfold(tree: ModelTree) -> ModelTree:
    """Return the tree with every block by itself again, each in its place."""
    children: list[ModelTree] = []
    for child in tree.children:
        numbers = child.numbers
        single = unfold(_one_of(child, len(numbers)) if numbers else child)
        children += [replace(single, name=str(number)) for number in numbers] or [single]
    if any(child.numbers for child in tree.children):
        children.sort(key=lambda child: int(child.name))
    return replace(tree, children=tuple(children))


def _one_of(node: ModelTree, count: int) -> ModelTree:
    return replace(_each_number(node, lambda number: number // count), numbers=())


def by_part(tree: ModelTree) -> Mapping[Part, int]:
    """Return the parameters of each part of a language model, in the order of `PARTS`."""
    found = dict.fromkeys(PARTS, 0)
    for _path, leaf in tree.leaves():
        found[leaf.part] += leaf.num_params
    return {part: count for part, count in found.items() if count}
