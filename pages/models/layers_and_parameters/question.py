"""What the reader is asked to predict: twice the width, twice the heads, adapters on q_proj."""

from dataclasses import replace
from typing import Final

from core.language import _
from core.models.describe import ModelTree
from core.models.spec import GPTShape
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
