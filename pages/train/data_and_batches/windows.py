"""The answer: windows of the text, and the same windows one token later."""

from typing import Final

from core.figures.train.data_and_batches.windows import MARGIN, windows_picture
from core.language import _
from core.train.text.batches import step_items
from core.train.text.pieces import SIGNS_TOLD
from core.train.text.tokenizers import pieces_of
from core.units import format_exact
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown
from pages.train.data_and_batches.inputs import Case

_CODE: Final = """
import torch

num_tokens, batch_size, seq_len = {num_tokens}, {batch_size}, {seq_len}
data = torch.arange(num_tokens)  # the ids of a text stand here
generator = torch.Generator().manual_seed({seed})
starts = torch.randint(num_tokens - seq_len, (batch_size,), generator=generator)
starts[0] = {start}  # the row that is moved by hand
x = torch.stack([data[i : i + seq_len] for i in starts])
y = torch.stack([data[i + 1 : i + 1 + seq_len] for i in starts])
print(x.numel(), "inputs,", y.numel(), "targets;", num_tokens - seq_len, "starts")
"""


def windows_tab(case: Case) -> Shown:
    """Draw the ribbon and the batch, and say what a step reads."""
    start, count = case.windows[0].start, len(case.tokens)
    first = max(start - MARGIN, 0)
    ids = case.tokens[first : start + case.seq_len + 1 + MARGIN].tolist()
    around = pieces_of(case.tokenizer, ids)
    targets, starts = step_items(count, case.seq_len, case.batch_size)
    num_bytes = sum(len(piece.raw) for window in case.windows for piece in window.inputs)
    return Shown(
        headline=_(
            "A step reads {rows} × {length} = {targets} tokens ({bytes} bytes) and predicts the "
            "next of each"
        ).format(
            rows=case.batch_size, length=case.seq_len, targets=format_exact(int(targets.amount)),
            bytes=format_exact(num_bytes),
        ),
        charts=[
            Chart(
                picture=windows_picture(case.windows, around, first, count, look()),
                file_name="windows",
            )
        ],
        numbers=[(_("Targets of a step"), targets), (_("Possible starts"), starts)],
        numbers_below=True,
        notes=[] if presenting() else [
            _(SIGNS_TOLD),
            _("Token {last}, the last one, is a target and never an input: behind it there is "
              "nothing to predict. A `get_batch` that draws `randint(len(data) - L)` and returns "
              "no targets leaves it out for no reason: max index {before} of {last}.").format(
                last=format_exact(count - 1), before=format_exact(count - 2))
        ],
        code=_CODE.format(
            num_tokens=count, batch_size=case.batch_size, seq_len=case.seq_len, seed=case.seed,
            start=start,
        ),
    )  # fmt: skip
