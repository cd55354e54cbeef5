"""What a Tensor can and an ndarray cannot: a table of programs that ran or failed."""

from collections.abc import Sequence
from typing import Final

from core.figures.models.layers_and_parameters.curves import curve_layout
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.tensors.against_ndarray import Answer, Difference

_MOST_LETTERS: Final = {False: 24, True: 15}  # on a projector True


def differences_picture(found: Sequence[Difference], look: Look) -> Picture:
    """Return a row for each thing tried: on the left the ndarray, on the right the Tensor."""
    drawing, titles = Drawing(), [_(each.title) for each in found]
    answers = [(each.ndarray, each.tensor) for each in found]
    marks = [(each.ndarray_has_it, not each.tensor.failed) for each in found]
    drawing.trace(
        "heatmap",
        x=["ndarray", "Tensor"], y=titles, xgap=4, ygap=4, showscale=False, zmin=0, zmax=1,
        z=[[int(mark) for mark in pair] for pair in marks],
        text=[
            [_cell(answer, look, mark=mark) for answer, mark in zip(*pair, strict=True)]
            for pair in zip(answers, marks, strict=True)
        ],
        texttemplate="%{text}",
        colorscale=[[0, look.color("refused")], [1, look.color("works")]],
        textfont={"color": look.color("background"), "size": look.layout()["font"]["size"]},
        customdata=[[answer.code.replace("\n", "<br>") for answer in pair] for pair in answers],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    axes = {"xaxis": {"side": "top", "showgrid": False},
            "yaxis": {"autorange": "reversed", "showgrid": False}}  # fmt: skip
    failed = [title for title, each in zip(titles, found, strict=True) if each.ndarray.failed]
    alt = _("Of {count} programs an ndarray fails at {failed}.").format(
        count=len(found), failed=_(", ").join(failed)
    )
    table = {
        _("what"): titles,
        "ndarray": [pair[0].says for pair in answers],
        "Tensor": [pair[1].says for pair in answers],
    }
    return Picture(figure=drawing.figure(curve_layout(look, axes)), alt=alt, table=table)


def _cell(answer: Answer, look: Look, *, mark: bool) -> str:
    """Return the kind of an error, or a value; of one of several lines the first and the last."""
    first, *more = answer.says.splitlines()
    whole = f"{first.rstrip(':')} … {more[-1].strip()}" if more else first
    word, most = first.partition(":")[0] if answer.failed else whole, _MOST_LETTERS[look.present]
    short = word if len(word) <= most else word[: most - 1] + "…"
    return ("✓ " if mark else "✗ ") + short
