"""What the reader is asked to predict: the token that no step reads, and what is left over."""

from typing import Final

from core.language import _
from core.train.text.batch_plan import plan_batches
from pages.shared.questions import Choice, predict_then_reveal
from pages.train.data_and_batches.inputs import ASK

TOKENS: Final = 10
LENGTH: Final = 4
ITEMS: Final = 1000
SIZE: Final = 64


def ask_last_token() -> None:
    """Ask which token of ten is never an input."""
    inputs = {start + place for start in range(TOKENS - LENGTH) for place in range(LENGTH)}
    (never,) = set(range(TOKENS)) - inputs
    (untargeted,) = set(range(TOKENS)) - {token + 1 for token in inputs}
    predict_then_reveal(
        ASK.key("last_token"),
        _("A text has the tokens 0 to {last}; a window has {length} inputs and their targets. "
          "Which token is never an input?").format(last=TOKENS - 1, length=LENGTH),
        [
            Choice(
                str(untargeted),
                _("It is an input whenever a window starts there. It is never a target: nothing "
                  "stands before it."),
            ),
            Choice(str(never)),
            Choice(
                _("none: each is read in some window"),
                _("The last token has no successor, so no window can have it as an input."),
            ),
        ],
        _("Starts go from 0 to {start}: the last window reads {inputs} and has {targets} as "
          "targets. Token {last} is a target once.").format(
            start=TOKENS - LENGTH - 1, last=TOKENS - 1,
            inputs=list(range(TOKENS - LENGTH - 1, TOKENS - 1)),
            targets=list(range(TOKENS - LENGTH, TOKENS))),
    )  # fmt: skip


def ask_batches() -> None:
    """Ask how many batches 1,000 items make."""
    kept, dropped = (plan_batches(ITEMS, SIZE, drop_last=drop) for drop in (False, True))
    predict_then_reveal(
        ASK.key("num_batches"),
        _("{items} items, batch size {size}, drop_last=False. How many batches are there?").format(
            items=f"{ITEMS:,}", size=SIZE
        ),
        [
            Choice(
                str(dropped.num_steps),
                _("So many are full. Without drop_last the rest makes one more."),
            ),
            Choice(str(kept.num_steps)),
            Choice(str(SIZE), _("That is the batch size.")),
        ],
        _("{full} full batches and a last one of {last} items. A mean over batches counts those "
          "items more than others.").format(full=dropped.num_steps, last=kept.last_batch_size),
    )  # fmt: skip
