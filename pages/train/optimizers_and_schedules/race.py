"""The answer: who came nearest to the minimum, and by which way."""

from typing import Final

from core.figures.train.optimizers_and_schedules.race import race_picture
from core.language import _
from core.train.optimizers.surfaces import Path, nearest, race
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown
from pages.train.optimizers_and_schedules.inputs import Case

# The optimizer in plain torch; x and y of Muon are the diagonal of a matrix.
_MADE: Final = {
    "SGD": "optim.SGD(p, lr={lr})",
    "Momentum": "optim.SGD(p, lr={lr}, momentum={beta1})",
    "AdaGrad": "optim.Adagrad(p, lr={lr})",
    "RMSProp": "optim.RMSprop(p, lr={lr}, alpha={beta2})",
    "Adam": "optim.Adam(p, lr={lr}, betas=({beta1}, {beta2}))",
    "AdamW": "optim.AdamW(p, lr={lr}, betas=({beta1}, {beta2}), weight_decay={decay})",
    "Muon": "optim.Muon(p, lr={lr}, momentum={beta1}, weight_decay={decay})",
}
_CODE: Final = """
import torch
from torch import optim

minima = torch.tensor({minima}, dtype=torch.float64)
p = torch.tensor({start}, dtype=torch.float64).requires_grad_()
optimizer = {made}
for _ in range({steps}):
    x, y = {unpacked}
    loss = {formula}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
distances = ({point} - minima).norm(dim=1)
print("{name}:", f"{{distances.min().item():.3g}}", "from the minimum")
"""


def race_tab(case: Case) -> Shown:
    """Draw the paths and say who is nearest."""
    paths = race(case.surface, case.rules, case.num_steps)
    notes = [
        _("Each begins at {start} with the same learning rate. The loss is {formula}.").format(
            start=case.surface.start, formula=f"`{case.surface.formula}`"
        )
    ]
    if "Muon" in paths:
        notes.append(
            _("Muon steps matrices: here x and y are the diagonal of one. It makes both singular "
              "values of the momentum about 1, so both move at about the same pace.")
        )  # fmt: skip
    return Shown(
        headline=_headline(paths, case.num_steps),
        charts=[Chart(picture=race_picture(case.surface, paths, look()), file_name="race")],
        notes=notes,
        code=_code(case, nearest(paths) or next(iter(paths))),
    )


def _headline(paths: dict[str, Path], num_steps: int) -> str:
    first = nearest(paths)
    gone = _(", ").join(name for name, path in paths.items() if path.diverged)
    if not first:
        return _("All diverge at this learning rate: {names}").format(names=gone)
    said = _("After {steps} steps {name} is nearest to the minimum: {distance} away").format(
        steps=num_steps, name=first, distance=f"{paths[first].distance:.3g}"
    )
    return said + (_("; diverging: {names}").format(names=gone) if gone else "")


def _code(case: Case, name: str) -> str:
    is_matrix = case.rules[name].orthogonalize
    x, y = case.surface.start
    made = _MADE[name].format(
        lr=case.lr, beta1=case.beta1, beta2=case.beta2, decay=case.weight_decay
    )
    return _CODE.format(
        minima=list(map(list, case.surface.minima)),
        start=[[x, 0.0], [0.0, y]] if is_matrix else [x, y],
        made=made.replace("(p,", "([p],"),
        steps=case.num_steps,
        unpacked="p.diag()" if is_matrix else "p",
        formula=case.surface.formula,
        point="p.diag()" if is_matrix else "p",
        name=name,
    )
