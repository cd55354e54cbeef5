"""What autograd refuses: torch's words, what they mean, what to do, and how to write it instead."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from core.autograd import rewrites
from core.language import N_

Kind = Literal[
    "version",
    "not_scalar",
    "second_backward",
    "leaf_in_place",
    "view_in_place",
    "inference",
    "numpy",
    "device",
    "no_graph",
    "gradient_shape",
    "integer",
    "not_leaf",
    "no_gradient_kept",
    "grad_of_no_leaf",
    "sizes",
    "class_target",
    "create_graph",
    "not_here",
    "not_finite",
    "other",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """One refusal.

    Attributes:
        kind: Its key.
        words: Of torch's message; one of them tells it.
        sentence: What it means.
        advice: What to do.
        rewrite: From program and line to a program that runs; "" if none is known.
    """

    kind: Kind
    words: tuple[str, ...]
    sentence: str
    advice: str
    rewrite: Callable[[str, int], str] = lambda _source, _line: ""


def _leaf_rewrite(source: str, line: int) -> str:
    """An update by a gradient belongs under no_grad; another write becomes a new tensor."""
    is_update = ".grad" in rewrites.text_of(source, line)
    return (rewrites.without_tracking if is_update else rewrites.out_of_place)(source, {line})


def _summed(source: str, line: int) -> str:
    """Sum what backward is called on, be it at the end of a program that does not call it."""
    changed = rewrites.calling_first(source, line, "backward", "sum")
    return changed or rewrites.ending_in(source, ".sum().backward()")


REFUSALS: Final = (
    Refusal(
        kind="version",
        words=("modified by an inplace operation",),
        sentence=N_(
            "A tensor that the backward pass needs was changed in place after it had been saved."
        ),
        advice=N_("Write the new values into a new tensor, so that the saved one stays as it was."),
    ),
    Refusal(
        kind="not_scalar",
        words=("implicitly created only for scalar outputs",),
        sentence=N_(
            "backward() starts from the gradient 1, and only a scalar has a single one;"
            " this tensor has several elements."
        ),
        advice=N_(
            "Reduce it to a scalar, for example with sum() or mean(), or pass "
            "backward(gradient=...) of the same shape."
        ),
        rewrite=_summed,
    ),
    Refusal(
        kind="second_backward",
        words=("through the graph a second time",),
        sentence=N_(
            "The first backward() freed the saved tensors of this graph; a node that "
            "needs its own cannot run again."
        ),
        advice=N_(
            "Pass retain_graph=True to every backward() but the last, or compute the "
            "forward pass again."
        ),
        rewrite=rewrites.retaining,
    ),
    Refusal(
        kind="view_in_place",
        words=("a function that returns multiple views", "A view was created in no_grad mode"),
        sentence=N_(
            "This tensor is a view whose base autograd cannot follow through an in-place change."
        ),
        advice=N_("Use the operation that returns a new tensor."),
        rewrite=lambda source, line: rewrites.out_of_place(source, {line}),
    ),
    Refusal(
        kind="leaf_in_place",
        words=(
            "leaf Variable that requires grad is being used in an in-place",
            "leaf variable has been moved",
        ),
        sentence=N_(
            "A leaf that requires a gradient was changed in place while autograd was "
            "recording: its original value, to which the gradient belongs, would be "
            "lost."
        ),
        advice=N_(
            "Update a parameter inside torch.no_grad(); in a forward pass, compute a new tensor."
        ),
        rewrite=_leaf_rewrite,
    ),
    Refusal(
        kind="inference",
        words=("Inference tensor", "inference tensor", "InferenceMode"),
        sentence=N_(
            "A tensor made in inference mode has no version counter and can never take "
            "part in a graph."
        ),
        advice=N_(
            "Use torch.no_grad() in place of torch.inference_mode(), or clone() the "
            "tensor outside of it."
        ),
        rewrite=lambda source, _line: rewrites.without_inference_mode(source),
    ),
    Refusal(
        kind="numpy",
        words=("Can't call numpy() on Tensor that requires grad",),
        sentence=N_(
            "NumPy shares the memory but records no graph: what it computes would be "
            "missing from the gradient."
        ),
        advice=N_("Take the values out of the graph first: detach().numpy()."),
        rewrite=lambda source, line: rewrites.calling_first(source, line, "numpy", "detach"),
    ),
    Refusal(
        kind="device",
        words=(
            "Expected all tensors to be on the same device",
            "is not on the expected device",
            "Expected a 'cuda' device",
        ),
        sentence=N_("The operands are on different devices; an operation runs on one."),
        advice=N_("Move them to the same device with .to(device) before the operation."),
    ),
    Refusal(
        kind="no_graph",
        words=("does not require grad and does not have a grad_fn",),
        sentence=N_(
            "There is no graph to go back through: nothing that this tensor was "
            "computed from requires a gradient, or the graph was cut."
        ),
        advice=N_(
            "Set requires_grad on a leaf before the forward pass, and look for "
            "detach(), torch.no_grad() and torch.inference_mode() on the way."
        ),
    ),
    Refusal(
        kind="gradient_shape",
        words=("Mismatch in shape: grad_output",),
        sentence=N_(
            "The gradient that was passed to backward() must have the shape of the tensor."
        ),
        advice=N_("Pass one number for each element, for example torch.ones_like(y)."),
    ),
    Refusal(
        kind="integer",
        words=(
            "floating point dtype can require gradients",
            "floating point and complex dtype can require gradients",
        ),
        sentence=N_(
            "Only tensors of a floating-point or complex dtype can require gradients: "
            "integers cannot change by a small step."
        ),
        advice=N_("Make it a floating-point tensor, for example with float()."),
    ),
    Refusal(
        kind="not_leaf",
        words=("you can only change requires_grad flags of leaf variables",),
        sentence=N_(
            "requires_grad can be switched off on leaves only; this tensor was computed"
            " from others."
        ),
        advice=N_("Use detach() for a tensor outside of the graph."),
    ),
    Refusal(
        kind="no_gradient_kept",
        words=("can't retain_grad on Tensor that has requires_grad=False",),
        sentence=N_("No gradient will ever reach this tensor: it does not require one."),
        advice=N_(
            "Call retain_grad() only on what was computed from a tensor that requires a gradient."
        ),
    ),
    Refusal(
        kind="grad_of_no_leaf",
        words=(".grad attribute of a Tensor that is not a leaf",),
        sentence=N_(
            "Only leaves keep their gradient; that of a computed tensor is passed on "
            "and dropped, so its .grad is None."
        ),
        advice=N_("Call retain_grad() on it before backward()."),
        rewrite=lambda source, _line: rewrites.retained(source),
    ),
    Refusal(
        kind="sizes",
        words=("Using a target size",),
        sentence=N_(
            "Input and target of the loss have different shapes: they are broadcast, and "
            "numbers that do not belong together are compared."
        ),
        advice=N_("Give both the same shape, for example with view_as() or squeeze()."),
    ),
    Refusal(
        kind="class_target",
        words=(
            "Expected floating point type for target with class probabilities",
            "For 1D input, 1D target must have size 1",
        ),
        sentence=N_(
            "Integer targets of cross_entropy are class numbers: one for each row of logits, and "
            "a single one for a vector of logits. These have another shape."
        ),
        advice=N_(
            "Pass logits (N, C) with targets (N,), or a probability for each class as "
            "floating-point numbers of the shape of the logits."
        ),
    ),
    Refusal(
        kind="create_graph",
        words=("Using backward() with create_graph=True",),
        sentence=N_(
            "With create_graph=True the gradient holds the graph, and the graph its leaf: "
            "neither is freed by itself."
        ),
        advice=N_("Set .grad to None afterwards, or use torch.autograd.grad()."),
    ),
    Refusal(
        kind="other",
        words=("",),
        sentence=N_("PyTorch refused this operation."),
        advice=N_("Read its message; it names the operation."),
    ),
)


def refusal_of(message: str) -> Refusal:
    """Return the row that a message of torch's belongs to; the last one takes all others."""
    return next(row for row in REFUSALS if any(words in message for words in row.words))
