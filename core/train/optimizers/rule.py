"""One update rule with switches: SGD, momentum, AdaGrad, RMSProp, Adam, AdamW and Muon.

The numbers of every step are kept, because the page shows them. They are torch's to the last
digits: the suite runs torch.optim beside it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

Average = Literal["none", "sum", "ema"]
Decay = Literal["none", "l2", "decoupled"]
Numbers = tuple[float, ...]
FAR_AWAY: Final = 1e6  # who is farther from zero than this has diverged
# Five steps of a polynomial that brings every singular value near 1 (Jordan et al. 2024, Muon).
_NEWTON_SCHULZ: Final = (3.4445, -4.7750, 2.0315)
_NUM_NEWTON_SCHULZ: Final = 5
_SMALLEST_NORM: Final = 1e-7


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What an optimizer does with a gradient.

    Attributes:
        momentum: First moment: none, a decaying sum (SGD) or a moving average (Adam).
        beta1: What is kept of it at every step.
        second: Second moment, of squared gradients: none, their sum (AdaGrad) or an average.
        beta2: What is kept of the average.
        bias_correction: Whether averages are divided by 1 - beta**t: they begin at zero.
        nesterov: Whether the gradient is added once more on top of the momentum.
        decay: No weight decay, as a part of the gradient (L2), or apart from it (decoupled).
        orthogonalize: Whether a matrix's update gets singular values near 1 (Muon).
        eps: Added to the square root of the second moment.
    """

    lr: float
    momentum: Average = "none"
    beta1: float = 0.9
    second: Average = "none"
    beta2: float = 0.999
    bias_correction: bool = False
    nesterov: bool = False
    decay: Decay = "none"
    weight_decay: float = 0.0
    orthogonalize: bool = False
    eps: float = 1e-8

    @property
    def corrects_m(self) -> bool:
        """Whether the first moment is divided by 1 - beta1**t."""
        return self.bias_correction and self.momentum == "ema"

    @property
    def corrects_v(self) -> bool:
        """Whether the second moment is divided by 1 - beta2**t; a sum does not begin too small."""
        return self.bias_correction and self.second == "ema"

    @property
    def looks_ahead(self) -> bool:
        """Whether there is a momentum for Nesterov to add the gradient to."""
        return self.nesterov and self.momentum != "none"


# Name -> its switches, in the order of their papers. Rates and betas are the reader's.
NAMED: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "SGD": Rule(lr=0),
        "Momentum": Rule(lr=0, momentum="sum"),
        "AdaGrad": Rule(lr=0, second="sum", eps=1e-10),
        "RMSProp": Rule(lr=0, second="ema"),
        "Adam": Rule(lr=0, momentum="ema", second="ema", bias_correction=True),
        "AdamW": Rule(
            lr=0, momentum="ema", second="ema", bias_correction=True, decay="decoupled"
        ),
        "Muon": Rule(
            lr=0, momentum="ema", nesterov=True, decay="decoupled", orthogonalize=True
        ),
    }
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The tensors of a step, flat; `gradient` holds the L2 term if there is one.

    What the rule has not is all zeros (m, v) or as it was (m_hat, v_hat). Nesterov's direction is
    `m_hat` too.
    """

    before: Numbers
    gradient: Numbers
    m: Numbers
    v: Numbers
    m_hat: Numbers
    v_hat: Numbers
    update: Numbers
    after: Numbers


def named_rule(
    name: str, lr: float, beta1: float = 0.9, beta2: float = 0.999, weight_decay: float = 0.0
) -> Rule:
    """Return an optimizer by name; a weight decay is for those that have one of their own."""
    rule = NAMED[name]
    decay = weight_decay if rule.decay != "none" else 0.0
    return replace(rule, lr=lr, beta1=beta1, beta2=beta2, weight_decay=decay)


def name_of(rule: Rule) -> str:
    """Return what the switches of a rule are called, or "" if they bear no name.

    >>> name_of(Rule(lr=0.1, momentum="sum", beta1=0.5))
    'Momentum'
    """
    switches = _switches(rule)
    return next((name for name, each in NAMED.items() if _switches(each) == switches), "")


def _switches(rule: Rule) -> tuple[object, ...]:
    return (
        rule.momentum, rule.second, rule.decay, rule.orthogonalize,
        # Switches of what is not there change nothing.
        rule.corrects_m or rule.corrects_v, rule.looks_ahead,
    )  # fmt: skip


def run_rule(
    rule: Rule,
    gradient: Callable[[Numbers], Sequence[float]],
    start: Sequence[float],
    num_steps: int,
    shape: tuple[int, int] | None = None,
) -> tuple[Step, ...]:
    """Return the steps of an optimizer; fewer than asked if it diverges.

    Muon needs the shape of the matrix that the parameters are; a row if not given.
    """
    steps: list[Step] = []
    zeros = (0.0,) * len(start)
    p, m, v = tuple(map(float, start)), zeros, zeros
    for t in range(1, num_steps + 1):
        step = _take_step(rule, (p, m, v), gradient(p), t, shape or (1, len(start)))
        steps.append(step)
        p, m, v = step.after, step.m, step.v
        if not all(abs(each) <= FAR_AWAY for each in p):  # nan too
            break
    return tuple(steps)


def has_diverged(steps: Sequence[Step]) -> bool:
    """Return whether the last step led to no number, or far away."""
    return bool(steps) and not all(abs(each) <= FAR_AWAY for each in steps[-1].after)


def _take_step(
    rule: Rule,
    state: tuple[Numbers, Numbers, Numbers],
    raw: Sequence[float],
    t: int,
    shape: tuple[int, int],
) -> Step:
    p, m, v = state
    lasting = rule.weight_decay if rule.decay == "l2" else 0.0
    g = tuple(each + lasting * w for each, w in zip(raw, p, strict=True))
    m = _averaged(rule.momentum, rule.beta1, m, g)
    kept = 1.0 if rule.second == "sum" else rule.beta2  # AdaGrad's sum forgets nothing
    v = _averaged(rule.second, kept, v, tuple(each * each for each in g))
    way = _with_nesterov(rule, m, g)
    if rule.corrects_m:
        way = tuple(each / (1 - rule.beta1**t) for each in way)
    v_hat = v
    if rule.corrects_v:
        v_hat = tuple(each / (1 - rule.beta2**t) for each in v)
    update = way
    if rule.second != "none":
        pairs = zip(way, v_hat, strict=True)
        update = tuple(each / (math.sqrt(square) + rule.eps) for each, square in pairs)
    rate = rule.lr
    if rule.orthogonalize:
        update = orthogonalized(update, shape)
        rate *= math.sqrt(max(1.0, shape[0] / shape[1]))  # as torch.optim.Muon adjusts it
    shrunk = 1 - rule.lr * rule.weight_decay if rule.decay == "decoupled" else 1.0
    after = tuple(w * shrunk - rate * each for w, each in zip(p, update, strict=True))
    return Step(
        before=p, gradient=g, m=m, v=v, m_hat=way, v_hat=v_hat, update=update, after=after
    )  # fmt: skip


def _averaged(kind: Average, beta: float, old: Numbers, new: Numbers) -> Numbers:
    if kind == "none":
        return old
    share = 1.0 if kind == "sum" else 1 - beta
    return tuple(beta * a + share * b for a, b in zip(old, new, strict=True))


def _with_nesterov(rule: Rule, m: Numbers, g: Numbers) -> Numbers:
    """Return the direction: the momentum, or where it will be once the gradient is added again."""
    if rule.momentum == "none":
        return g
    if not rule.looks_ahead:
        return m
    share = 1.0 if rule.momentum == "sum" else 1 - rule.beta1
    return tuple(rule.beta1 * a + share * b for a, b in zip(m, g, strict=True))


def orthogonalized(values: Numbers, shape: tuple[int, int]) -> Numbers:
    """Return a matrix with the same directions and singular values near 1, as Muon's updates are.

    In bfloat16 and in the order of torch's own operations, so that the numbers are the same.

    Source: Jordan et al. 2024, Muon: an optimizer for hidden layers; torch.optim.Muon.
    """
    import torch

    a, b, c = _NEWTON_SCHULZ
    x = torch.tensor(values, dtype=torch.float64).view(shape).bfloat16()
    is_tall = shape[0] > shape[1]
    x = x.T if is_tall else x
    x = x / x.norm().clamp(min=_SMALLEST_NORM)
    for _ in range(_NUM_NEWTON_SCHULZ):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return tuple((x.T if is_tall else x).double().flatten().tolist())
