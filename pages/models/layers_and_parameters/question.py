"""What the reader is asked to predict on each tab; every answer is counted or run."""

from dataclasses import replace
from typing import Final

from core.language import _
from core.models.describe import ModelTree
from core.models.initialisation import Stack, measure_spread
from core.models.layer_zoo import visit
from core.models.spec import GPTShape
from core.tensors.against_ndarray import trace_an_if
from core.units import format_exact
from pages.models.layers_and_parameters.inputs import ASK, tree
from pages.shared.questions import Choice, predict_then_reveal

SHAPE: Final = GPTShape(num_layers=12, hidden_dim=768, num_heads=12, vocab_size=50257, seq_len=1024)


def _blocks(found: ModelTree) -> int:
    return next(each.num_params for each in found.children if each.name == "blocks")


def ask_width() -> None:
    """Ask what twice the width does to the blocks; counted."""
    before = _blocks(tree(SHAPE))
    after = _blocks(tree(replace(SHAPE, hidden_dim=SHAPE.hidden_dim + SHAPE.hidden_dim)))
    choices = [
        Choice(_("2 times"), _("So it is with the embedding: one side of it grows, not both.")),
        Choice(_("about 4 times")),
        Choice(_("about 8 times"), _("A matrix has two sides, not three.")),
    ]
    predict_then_reveal(
        ASK.key("twice_the_width"),
        _("The width of a GPT goes from 768 to 1536. How many times as many parameters have its "
          "blocks?"),
        choices,
        _("{before} become {after}, {ratio} times: both sides of every matrix grow with the "
          "width.").format(
            before=format_exact(before), after=format_exact(after), ratio=f"{after / before:.3f}"
        ),
    )  # fmt: skip


def ask_heads() -> None:
    """Ask what twice the heads do; counted."""
    few, many = tree(SHAPE), tree(replace(SHAPE, num_heads=SHAPE.num_heads + SHAPE.num_heads))
    choices = [
        Choice(_("It doubles"), _("Then each head would have its own full width.")),
        Choice(_("Nothing")),
        Choice(_("It halves"), _("Each head is half as wide, but there are twice as many.")),
    ]
    predict_then_reveal(
        ASK.key("twice_the_heads"),
        _("A GPT of width 768 has 24 heads in place of 12. What happens to the parameters of "
          "attention?"),
        choices,
        _("{few} and {many}: heads only divide the width among themselves.").format(
            few=format_exact(few.num_params), many=format_exact(many.num_params)
        ),
    )  # fmt: skip


def ask_lora() -> None:
    """Ask what adapters change before the first step."""
    choices = [
        Choice(_("A little, at random"), _("A is drawn at random, but it is multiplied by B.")),
        Choice(_("Nothing, bit for bit")),
        Choice(_("It is zero"), _("The adapter adds to the frozen layer; it replaces nothing.")),
    ]
    predict_then_reveal(
        ASK.key("before_the_first_step"),
        _("A model gets LoRA adapters. How does its output change before the first step?"),
        choices,
        _("B starts as zeros, so B·A is zero and the output is that of the frozen model."),
    )


def ask_batch_of_one() -> None:
    """Ask what batch norm does with one row in train(); torch answers."""
    choices = [
        Choice(_("It returns zeros"), _("So it would be by the formula; torch refuses instead.")),
        Choice(_("It raises a ValueError")),
        Choice(_("It uses the running statistics"), _("So it does in eval(), not in train().")),
    ]
    predict_then_reveal(
        ASK.key("one_row"),
        _("What does BatchNorm1d do in train() with a batch of one row?"),
        choices,
        _("Torch says: {error}").format(error=f"`{visit('BatchNorm1d', 1).error}`"),
    )


def ask_depth() -> None:
    """Ask how far N(0, 1) weights carry activations; measured."""
    stack = Stack(scheme="unit", activation="none")
    last = measure_spread(stack).activations[-1]
    choices = [
        Choice(_("about 16"), _("Each layer multiplies the spread; the factors do not add.")),
        Choice(_("about 256"), _("Sixteen is √256, the factor of one layer; there are 16 layers.")),
        Choice(_("about 10¹⁹")),
    ]
    predict_then_reveal(
        ASK.key("sixteen_layers"),
        _("Sixteen linear layers of width 256, all weights from N(0, 1), an input with σ = 1. "
          "What is σ after the last?"),
        choices,
        _("Measured: {last}. Each layer multiplies by √256 = 16, and 16 to the power 16 is "
          "1.8e+19.").format(last=f"{last:.2g}"),
    )  # fmt: skip


def ask_traced() -> None:
    """Ask what a graph that was traced with four rows returns for one; run."""
    traced = trace_an_if(4)
    choices = [
        Choice(_("0, as Python does"), _("The graph holds no `if`: nothing is decided anew.")),
        Choice(_("2, as with four rows")),
        Choice(_("An error"), _("The operations of the graph fit any number of rows.")),
    ]
    predict_then_reveal(
        ASK.key("traced_branch"),
        _("A function doubles tensors of more than two rows and takes 1 from others. It is traced "
          "with four rows. What does the graph make of a single one, `torch.ones(1)`?"),
        choices,
        _("Python returns {eager}, the graph {traced}: it kept the branch of four rows.").format(
            eager=f"{traced.eager[1]:g}", traced=f"{traced.traced[1]:g}"
        ),
    )  # fmt: skip
