"""One update rule with switches: what each step keeps, and which optimizer it is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

import streamlit as st

from core.figures.picture import Drawing, Look, Picture
from core.figures.train.curves import Axes, bar_axes, curves_picture, steps_table
from core.language import N_, _
from core.train.optimizers.in_torch import NUM_PARAMS, HeldBytes, gradient_bytes, state_bytes
from core.train.optimizers.rule import Average, Numbers, Rule, Step, has_diverged, name_of, run_rule
from core.units import format_exact
from pages.shared.charts import show_table
from pages.shared.page_links import show_link
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.optimizers_and_schedules.inputs import ASK, Case

START: Final = 1.0
NUM_STEPS: Final = 60
NUM_SHOWN: Final = 12
VIEWS: Final = {"steps": N_("Its steps"), "state": N_("Optimizer state")}
_MOMENTS: Final = {"none": N_("none"), "sum": N_("sum"), "ema": N_("average")}
_CODE: Final = """
import math

lr, beta1, beta2, decay, eps = {lr}, {beta1}, {beta2}, {decay}, {eps}
p, m, v = 1.0, 0.0, 0.0
for t in range(1, {steps} + 1):
    g = p / 2{l2}
{lines}
    p -= lr * update
    if t <= 2:
        print(f"p after step {{t}}: {{p:.5f}}")
"""


_STATE_CODE: Final = """
import torch

for make in (torch.optim.SGD, torch.optim.AdamW, torch.optim.Muon):
    p = torch.nn.Parameter(torch.ones(256, 256))
    optimizer = make([p], lr=0.1)
    p.sum().backward()
    optimizer.step()
    held = [each for each in optimizer.state[p].values() if each is not None and each.numel() > 1]
    print(make.__name__, sum(each.nbytes for each in held) / p.numel(), "bytes per parameter")

for to_none in (True, False):
    p.sum().backward()
    optimizer.zero_grad(set_to_none=to_none)
    print(f"set_to_none={to_none}:", 0 if p.grad is None else p.grad.nbytes, "bytes of gradient")
"""


def choose_moments() -> tuple[str, Average, Average]:
    """Return whether steps or memory are shown, and the rule's two moments, AdamW's at first."""
    view = ASK.segmented("view", _("Show"), VIEWS, default="steps")
    momentum = ASK.segmented("m", _("Momentum (m)"), _MOMENTS, default="ema")
    second = ASK.segmented("v", _("Second moment (v)"), _MOMENTS, default="ema")
    return view, cast("Average", momentum), cast("Average", second)


def rule_tab(case: Case, chosen: tuple[str, Average, Average]) -> Shown:
    view, momentum, second = chosen
    rule = replace(
        case.switches, lr=case.lr, beta1=case.beta1, beta2=case.beta2, momentum=momentum,
        second=second, weight_decay=case.weight_decay if case.switches.decay != "none" else 0.0,
        eps=1e-10 if second == "sum" else 1e-8,
    )  # fmt: skip
    if view == "state":
        return _state(rule)
    steps = run_rule(rule, _slope, (START,), NUM_STEPS)
    values = [START, *(step.after[0] for step in steps)]
    name = name_of(rule) or _("this rule")
    picture = curves_picture({name: values}, Axes(x=_("step"), y=_("parameter p")), look())
    return Shown(
        headline=_headline(rule, steps),
        charts=[Chart(picture=picture, file_name="update-rule")],
        notes=[
            _("The loss is p²/4, so the gradient is p/2. {rule}").format(rule=_written(rule)),
            *_averages(rule),
        ],
        below=None if presenting() else lambda: show_table(steps_table(rule, steps[:NUM_SHOWN])),
        code="" if rule.orthogonalize else _code(rule, len(steps)),
    )


@st.cache_data(max_entries=1, show_spinner=False)
def _measured() -> tuple[HeldBytes, ...]:
    return state_bytes()


def _state(rule: Rule) -> Shown:
    rows, look_now = _measured(), look()
    amounts = {row.name: row.per_parameter for row in rows}
    kept = [
        name for name, used in (("m", rule.momentum != "none"), ("v", rule.second != "none"))
        if used
    ]  # fmt: skip
    return Shown(
        headline=_(
            "SGD keeps {sgd} bytes per parameter, momentum and Muon {one}, AdamW {two}"
        ).format(
            sgd=f"{amounts['SGD']:g}", one=f"{amounts['Muon']:g}", two=f"{amounts['AdamW']:g}"
        ),
        charts=[Chart(picture=state_picture(rows, look_now), file_name="optimizer-state")],
        notes=[
            _("The rule chosen here keeps between steps: {kept}.").format(
                kept=_(", ").join(kept) or _("nothing")
            ),
            _(
                "Counted in torch.optim's own tensors after a step on {count} float32 weights. "
                "After zero_grad(set_to_none=True) the gradients hold {none}, after "
                "set_to_none=False {zeros}: zeros need as much memory as numbers."
            ).format(
                count=format_exact(NUM_PARAMS),
                none=look_now.format_bytes(gradient_bytes(set_to_none=True)),
                zeros=look_now.format_bytes(gradient_bytes(set_to_none=False)),
            ),
        ],
        below=None if presenting() else _to_training_memory,
        code=_STATE_CODE,
    )


def _to_training_memory() -> None:
    show_link("plan/training_memory", _("What this makes of a whole model's memory →"), {})


def state_picture(rows: Sequence[HeldBytes], look: Look) -> Picture:
    layout, drawing = look.layout(), Drawing()
    names, amounts = [row.name for row in rows], [row.per_parameter for row in rows]
    kept = [_(", ").join(name for name, _size in row.tensors) or _("nothing") for row in rows]
    labels = [
        f"{amount:g} B" if look.present else f"{amount:g} B<br>{what.replace(', ', ',<br>')}"
        for amount, what in zip(amounts, kept, strict=True)
    ]
    drawing.bar(
        x=names, y=amounts, text=labels, textposition="outside", cliponaxis=False,
        constraintext="none", marker={"color": look.color("optimizer")}, customdata=kept,
        hovertemplate="%{x}: %{y} B<br>%{customdata}<extra></extra>",
    )  # fmt: skip
    fields = bar_axes(look, x="", y=_("bytes per parameter"))
    fields["yaxis"] |= {"range": [0, max(amounts) * 1.4]}
    said = _("{name} {amount} ({what})")
    parts = [
        said.format(name=name, amount=f"{amount:g}", what=what)
        for name, amount, what in zip(names, amounts, kept, strict=True)
    ]
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_("Bytes of optimizer state for one float32 weight: {parts}.").format(
            parts=_("; ").join(parts)
        ),
        table={
            _("optimizer"): names,
            _("bytes of state per parameter"): amounts,
            _("tensors"): kept,
        },
    )


def _slope(p: Numbers) -> Numbers:
    return (p[0] / 2,)


def _headline(rule: Rule, steps: tuple[Step, ...]) -> str:
    name = name_of(rule)
    if rule.decay == "l2" and (bare := name_of(replace(rule, decay="none"))):
        name = _("{name} with L2 weight decay").format(name=bare)
    said = (
        _("This is {name}: its first two steps bring p from 1 to {values}")
        if name
        else _("A rule without a name: its first two steps bring p from 1 to {values}")
    ).format(name=name, values=_first_two(steps))
    is_sgd = rule.second == "none" and not rule.orthogonalize
    if rule.decay == "decoupled" and rule.weight_decay:
        coupled = run_rule(replace(rule, decay="l2"), _slope, (START,), 2)
        said += _("; with L2 instead to {values}").format(values=_first_two(coupled))
    elif rule.corrects_m or rule.corrects_v:
        bare_steps = run_rule(replace(rule, bias_correction=False), _slope, (START,), 2)
        said += _("; without bias correction to {values}").format(values=_first_two(bare_steps))
    elif is_sgd and (rule.momentum != "none" or rule.weight_decay):
        plain = run_rule(Rule(lr=rule.lr), _slope, (START,), 2)
        said += _("; plain SGD to {values}").format(values=_first_two(plain))
    if has_diverged(steps):
        said += _("; it diverges at step {step}").format(step=len(steps))
    return said


def _first_two(steps: tuple[Step, ...]) -> str:
    return _(" and ").join(f"{step.after[0]:.5f}" for step in steps[:2])


def _averages(rule: Rule) -> list[str]:
    if not rule.momentum == rule.second == "ema":
        return []
    return [
        _("m averages about {gradients} gradients, v about {squares} squares.").format(
            gradients=f"{1 / (1 - rule.beta1):,.0f}", squares=f"{1 / (1 - rule.beta2):,.0f}"
        )
    ]


def _written(rule: Rule) -> str:
    top = "g" if rule.momentum == "none" else "m̂" if rule.corrects_m else "m"
    if rule.looks_ahead:
        top = "(β₁·m + g)" if rule.momentum == "sum" else "(β₁·m + (1 − β₁)·g)"
        top += " / (1 − β₁ᵗ)" if rule.corrects_m else ""
    if rule.orthogonalize:
        top = f"orthogonalize({top})"
    root = "√v̂" if rule.corrects_v else "√v"
    low = "" if rule.second == "none" else f" / ({root} + ε)"
    shrink = " − lr·wd·p" if rule.decay == "decoupled" else ""
    formula = f"**p ← p{shrink} − lr·{top}{low}**"
    return f"{formula}, **g = p/2 + wd·p**" if rule.decay == "l2" else formula


def _code(rule: Rule, num_steps: int) -> str:
    return _CODE.format(
        lr=rule.lr, beta1=rule.beta1, beta2=rule.beta2, decay=rule.weight_decay, eps=rule.eps,
        steps=num_steps, l2=" + decay * p" if rule.decay == "l2" else "",
        lines="\n".join(f"    {line}" for line in _lines(rule)),
    )  # fmt: skip


def _lines(rule: Rule) -> list[str]:
    share = {"sum": "g", "ema": "(1 - beta1) * g"}
    lines = [f"m = beta1 * m + {share[rule.momentum]}"] if rule.momentum != "none" else []
    way = "m" if rule.momentum != "none" else "g"
    if rule.looks_ahead:
        way = f"(beta1 * m + {share[rule.momentum]})"
    if rule.corrects_m:
        way = f"{way} / (1 - beta1**t)"
    lines += {"none": [], "sum": ["v = v + g * g"], "ema": ["v = beta2 * v + (1 - beta2) * g * g"]}[
        rule.second
    ]
    if rule.second != "none":
        v_hat = "v / (1 - beta2**t)" if rule.corrects_v else "v"
        way = f"{way} / (math.sqrt({v_hat}) + eps)"
    lines.append(f"update = {way}")
    if rule.decay == "decoupled":
        lines.append("p *= 1 - lr * decay")
    return lines


TAB: Final = Tab(
    label=N_("Update rule"),
    show=rule_tab,
    choose=choose_moments,
    unseen=("surface", "who", "steps"),
)
