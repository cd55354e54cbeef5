"""Every word that the computation graph shows; its JavaScript holds none."""

from typing import Final

from core.autograd.graph import Cut, EventKind
from core.language import N_
from pages.components.part import FILE_WORDS

WORDS: Final = {
    "picture": N_(
        "The computation graph: values flow from left to right. Arrow keys move along the links, "
        "Enter opens a module, Backspace closes it, brackets step through time, space plays."
    ),
    "box": N_("{label}. Value: {value}. Gradient: {gradient}. {more}"),
    "nothing": N_("none"),
    "start": N_("before the first operation"),
    "gradient": N_("grad {text}"),
    "step": N_("step {step} of {count}: {text}"),
    "saved": N_("saved for backward: {size}"),
    "queue": N_("ready queue:"),
    "queue_more": "+{count}",
    "legend": N_("colour: gradient norm, {low} to {high}"),
    "timeline": N_("Step of the timeline"),
    "curve": N_("Bytes saved for the backward pass after each step; at most {size}"),
    "times": "×{count}",
    "back": "‹",
    "back_label": N_("The step before"),
    "next": "›",
    "next_label": N_("The next step"),
    "play": "▶",
    "pause": "❚❚",
    "play_label": N_("Play the forward pass and the backward pass"),
    "speed": "{speed}×",
    "speed_label": N_("Speed"),
    "out": "−",
    "out_label": N_("Zoom out"),
    "in": "+",
    "in_label": N_("Zoom in"),
    "find": N_("Find a node"),
    "find_label": N_("Find a node by its name or type; Enter goes to the next one"),
    "map": N_("The whole graph, and the part that is seen: a click goes there"),
    "fit": N_("Fit"),
    "fit_label": N_("Show the whole graph"),
    "open": N_("Open"),
    "open_label": N_("Open the chosen module"),
    "close": N_("Close"),
    "close_label": N_("Close the module around the chosen node"),
    **FILE_WORDS,
}
EVENTS: Final[dict[EventKind, str]] = {
    "forward": N_("{label} is computed: {value}"),
    "seed": N_("backward() begins at {label} with the gradient {gradient}"),
    "node": N_("{label} runs; its gradient is {gradient}"),
    "release": N_("{label} frees its saved tensors: {size}"),
    "accumulate": N_("{label}.grad: {before} → {after}"),
    "recompute": N_("{label} runs a part of the forward pass again: {text}"),
    "hook": N_("A hook runs at {label}: {text}"),
    "reset": N_("{label}.grad is cleared: {before} → {after}"),
    "update": N_("{label} is updated: {before} → {after}"),
}
CUTS: Final[dict[Cut, str]] = {
    "data": N_("data: no gradient"),
    "no_grad": N_("cut by no_grad"),
    "inference_mode": N_("cut by inference_mode"),
    "detach": N_("cut by detach"),
    "integer": N_("integers, booleans: no gradient"),
    "constant": N_("constant: no gradient"),
}
SHORT_CUTS: Final[dict[Cut, str]] = {
    "data": N_("data"),
    "no_grad": "no_grad",
    "inference_mode": "inference_mode",
    "detach": "detach()",
    "integer": N_("integer"),
    "constant": N_("constant"),
}
FINDINGS: Final = {
    "nan": N_("makes NaN of a finite gradient"),
    "inf": N_("makes infinity of a finite gradient"),
}
