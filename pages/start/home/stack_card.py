"""The stack card: the layers between a line of Python and this machine's silicon."""

import streamlit as st

from core.language import _
from core.machine import describe_machine
from core.machine.stack import Layer, software_stack
from pages.shared import settings
from pages.shared.charts import show_chart
from pages.start.home.environment_card import asked_probe


def machine_layers() -> tuple[Layer, ...]:
    """Return the layers of this machine; asks torch the first time, empty when that fails."""
    probe = asked_probe()
    return software_stack(describe_machine(), probe) if probe else ()


def show_layers(layers: tuple[Layer, ...]) -> None:
    """Show the layers as a picture; only now does anything here load Plotly."""
    if not layers:
        return
    from core.figures.start.home.stack import stack_alt, stack_figure

    show_chart(
        stack_figure(layers, settings.theme_mode(), present=settings.presenting()),
        key="home_stack",
        alt=stack_alt(layers),
        table={
            _("layer"): [_(layer.name) for layer in layers],
            _("what it does"): [_(layer.duty) for layer in layers],
            _("on this machine"): [layer.found for layer in layers],
        },
        file_name="software-stack",
    )
    st.caption(_("Each layer only calls the one below it; a slow step is slow in one of them."))
