"""The answer: what the model would say after each block, and which tokens look at which."""

from core.figures.models.inside_gpt.depth import depth_picture, row_names
from core.language import _
from core.models.depth import Depth
from core.models.depth import depth as look_inside
from core.train.text.pieces import vocabulary_signs
from core.units import format_percent
from pages.models.inside_gpt.inputs import ASK, Case
from pages.models.inside_gpt.snippets import snippet
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown


def depth(case: Case) -> Shown:
    """Show the way from the text to its next token."""
    if not case.token_ids:
        return Shown(headline=_("Write a text: the model reads it token by token."))
    inside = look_inside(case.opened.model, case.token_ids, case.head)
    said = [vocabulary_signs(case.opened.tokenizer, row) for row in inside.candidates[:, :, 0]]
    picture = depth_picture(inside, case.pieces, said, look())
    return Shown(
        headline=_headline(inside, said[-1][-1]),
        charts=[Chart(picture=picture, file_name="inside_gpt")],
        code=snippet(case, ASK.used("run")),
    )


def _headline(inside: Depth, token: str) -> str:
    """Return how the final answer grows from row to row: the first, the middle, the last."""
    names, shares = row_names(len(inside.settling)), inside.settling[:, -1].tolist()
    rows = sorted({0, (len(names) - 1) // 2, len(names) - 1})
    steps = ", ".join(
        _("{share} after {row}").format(share=format_percent(shares[row]), row=names[row])
        for row in rows
    )
    return _("The next token is “{token}”: {steps}").format(token=token, steps=steps)
