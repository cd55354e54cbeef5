"""The numbers of MNIST's usual script: what a pixel becomes, and how many steps there are."""

from dataclasses import dataclass
from typing import Final

from core.figures.train.data_and_batches.pixels import pixels_picture
from core.language import _
from core.train.text.mnist import (
    BRIGHTEST,
    batches_of_an_epoch,
    normalized,
    steps_of_training,
)
from core.units import format_exact
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown
from pages.train.data_and_batches.inputs import ASK

_CODE: Final = """
import torch
from torch.utils.data import DataLoader

pixels = torch.tensor([0, {pixel}, 255]) / 255  # ToTensor
print([f"{{x:.4f}}" for x in ((pixels - 0.1307) / 0.3081).tolist()])  # Normalize
loader = DataLoader(range(60000), batch_size={batch}, drop_last={drop})
print(len(loader), "batches,", {epochs} * len(loader), "steps")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """The settings of the script."""

    pixel: int
    batch: int
    epochs: int
    drop: bool


def choose_script() -> Script:
    """Show the settings of the script."""
    return Script(
        pixel=ASK.slider("pixel", _("Pixel"), 0, BRIGHTEST, default=128, step=1),
        batch=ASK.slider("images", _("Batch size"), 1, 1024, default=64, step=1),
        epochs=ASK.slider("epochs", _("Epochs"), 1, 20, default=5, step=1),
        drop=ASK.toggle("images_drop_last", "drop_last", default=False),
    )


def mnist_tab(script: Script) -> Shown:
    """Draw the normalization and count the steps."""
    batches = batches_of_an_epoch(script.batch, drop_last=script.drop)
    steps = steps_of_training(int(batches.amount), script.epochs)
    low, high = normalized(0), normalized(BRIGHTEST)
    return Shown(
        headline=_(
            "Pixels become {low} to {high}; {batches} batches × {epochs} epochs = {steps} steps"
        ).format(
            low=f"{low.amount:.3f}", high=f"{high.amount:.3f}", epochs=script.epochs,
            batches=format_exact(int(batches.amount)), steps=format_exact(int(steps.amount)),
        ),
        charts=[Chart(picture=pixels_picture(script.pixel, look()), file_name="pixels")],
        numbers=[(_("Batches of an epoch"), batches), (_("Steps"), steps)],
        numbers_below=True,
        notes=[
            _("`ToTensor` divides by 255, `Normalize((0.1307,), (0.3081,))` subtracts the mean of "
              "all training pixels and divides by their standard deviation: what comes out has "
              "mean 0 and standard deviation 1."),
            _("The images of MNIST are not part of this app, and nothing is downloaded: these "
              "numbers follow from the 60,000 training images that the data set has."),
        ],
        code=_CODE.format(
            pixel=script.pixel, batch=script.batch, epochs=script.epochs, drop=script.drop
        ),
    )  # fmt: skip
