"""Lines of a log: what they say of the plan's model on its devices."""

from collections.abc import Sequence
from typing import Final

from core.budget.diagnosis.logs import Log, LogAnswer, answer_log
from core.budget.item import Item, hedged
from core.budget.planning.plan import Plan
from core.figures.budget.frames import lying_bars, text_size
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from pages.shared.answer import written
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown
from pages.shared.tensors.refused_inputs import refused_inputs

_ROOM: Final = 1.4  # of the longest bar: its number stands beside it
_ROW: Final = 3.2  # of the text's size


def show_log(told: Log, plan: Plan) -> Shown:
    """Show the numbers that the log gives, beside those of the plan in the same unit."""
    try:
        answer = answer_log(told, plan, look().unit)
    except ValueError as error:
        return refused_inputs(N_("This log cannot be held against the plan."), error)
    rest = [each for each in (*answer.headline, *answer.beside) if each not in compared(answer)]
    return Shown(
        headline=_("; ").join(f"{_(each.name)} {_amount(each)}" for each in answer.headline),
        charts=[Chart(picture=numbers_picture(answer, look()), file_name="log")],
        numbers=[(_(each.name), each) for each in rest],
        notes=answer.notes,
    )


def compared(answer: LogAnswer) -> Sequence[Item]:
    """Return the first number and all others in its unit: one axis has room for them."""
    unit = answer.headline[0].unit
    return [each for each in (*answer.headline, *answer.beside) if each.unit == unit]


def _amount(item: Item) -> str:
    return hedged(written(item.amount, item.unit), item)


def numbers_picture(answer: LogAnswer, look: Look) -> Picture:
    """Return a bar for each number, those of the log first; its colour says of what kind it is."""
    drawing, items = Drawing(), compared(answer)
    labels = [_(each.name) for each in items]
    colors = [look.color(each.kind.replace(" ", "_")) for each in items]
    drawing.bar(
        x=[each.amount for each in items], y=labels, orientation="h", marker={"color": colors},
        hovertemplate="%{y}: %{x:,.4g}<extra></extra>", showlegend=False,
    )  # fmt: skip
    for label, each in zip(labels, items, strict=True):
        drawing.note(x=each.amount, y=label, text=f" {_amount(each)}", xanchor="left")
    height = round((len(items) * _ROW + 1) * text_size(look))
    room = _ROOM * max(each.amount for each in items)
    figure = lying_bars(drawing, look, room=room, height=height, top=8)
    amounts = [_amount(each) for each in items]
    said = [f"{label} {amount}" for label, amount in zip(labels, amounts, strict=True)]
    alt = _("The log's number is {first}; beside it stand: {others}.").format(
        first=said[0], others=_(", ").join(said[1:]) or "–"
    )
    table = {_("number"): labels, _("amount"): amounts}
    return Picture(figure=figure, alt=alt, table=table)
