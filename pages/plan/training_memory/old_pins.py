"""Links of the time when four scenarios could be pinned: they open as the comparison of two.

`memory_pins` held up to four texts of `core.budget.training.scenario`, with "|" between them;
`memory_from` and `memory_to` said which two were compared, by letter or as "now".
"""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from core.budget.recipe import LoRA
from core.budget.training.scenario import Scenario, named_scenario, read_scenario
from core.language import _
from pages.plan.training_memory.inputs import ASK, TARGETS
from pages.shared import compare, link, sides

MARK: Final = "|"
SLOTS: Final = ("A", "B", "C", "D")
EXAMPLE: Final = (
    "llama-3.1-8b;h100-sxm;num_devices=8;zero_stage=3;batch_size=2;seq_len=8192;precision=fsdp2"
    ";profile=hf_eager"
)
_EXAMPLES: Final = MARK.join(
    [
        EXAMPLE,
        f"{EXAMPLE};checkpointing=full",
        f"{EXAMPLE};checkpointing=full;loss_chunks=8",
    ]
)
_OLD: Final = {"pins": _EXAMPLES, "from": "A", "to": "C"}  # with what stood for none of it
_INPUT_NAMES: Final = {
    "batch_size": "batch",
    "seq_len": "seq",
    "step_kind": "step",
    "checkpoint_every": "every",
    "loss_chunks": "chunks",
    "zero_stage": "zero",
    "sequence_parallel": "sequence",
    "pipeline": "stages",
}
_SAME_NAMES: Final = (
    *("precision", "optimizer", "profile", "accumulation", "checkpointing", "tensor", "expert"),
)
"""Choices of a scenario that the page asks for: under another name, under the same one."""


def adopt_old_pins() -> None:
    """Write a link with pins as it is written now, once; a pin that cannot be is told."""
    found = {name: link.raw_value(ASK.key(name)) for name in _OLD}
    if all(value is None for value in found.values()):
        return
    done = ASK.key("old_pins")
    is_news = st.session_state.get(done) != found
    st.session_state[done] = found
    wanted = {name: _OLD[name] if value is None else value for name, value in found.items()}
    if is_news:
        _adopt(wanted)
    for name in _OLD:  # last: a browser is told the whole address when something leaves it
        link.settle(ASK.key(name), None)


def _adopt(wanted: Mapping[str, str]) -> None:
    pins = dict(zip(SLOTS, [each for each in wanted["pins"].split(MARK) if each], strict=False))
    first, last = (_inputs(letter, pins) for letter in (wanted["from"], wanted["to"]))
    link.settle(ASK.key(compare.SETTING), sides.write_side(_here() if first is None else first))
    for name, value in (last or {}).items():
        link.settle(ASK.key(name), value)


def _here() -> dict[str, str]:
    start = ASK.key("")
    return {
        name.removeprefix(start): value
        for name, value in st.query_params.items()
        if name.startswith(start)
        and name.removeprefix(start) not in {"tab", *ASK.of_picture, *_OLD}
    }


def _inputs(letter: str, pins: Mapping[str, str]) -> dict[str, str] | None:
    """Return what the inputs are for a letter; None for the page's own setting."""
    if letter not in pins:
        return None
    try:
        return inputs_of(read_scenario(pins[letter]))
    except ValueError as error:
        st.caption(_("Pin {slot} is left out. {why}").format(slot=letter, why=error))
        return None


def inputs_of(scenario: Scenario) -> dict[str, str]:
    """Return the inputs of the page that make a scenario, as the address writes them.

    Raises:
        ValueError: If the page does not ask for one of its choices.
    """
    choices, cluster = scenario.choices, scenario.cluster
    values = {
        "model": scenario.model,
        "device": scenario.device,
        "replicas": str(cluster.data),
        **{_INPUT_NAMES[name]: str(choices[name]).lower() for name in _INPUT_NAMES},
        **{name: str(choices[name]) for name in _SAME_NAMES},
    }
    asked = {*_INPUT_NAMES, *_SAME_NAMES, "model", "device", "num_devices", "lora"}
    plain = named_scenario(scenario.model, scenario.device).choices
    for name in choices.keys() - asked:
        if choices[name] != plain[name]:
            raise ValueError(_("This page does not ask for {name}.").format(name=f"`{name}`"))
    return values | (_adapters(scenario.recipe.lora) if scenario.recipe.lora else {})


def _adapters(lora: LoRA) -> dict[str, str]:
    keys = [key for key, (_label, names) in TARGETS.items() if names == lora.targets]
    if not keys:
        names = "+".join(lora.targets)
        raise ValueError(_("This page does not ask for {name}.").format(name=f"`{names}`"))
    return {"lora": "true", "rank": str(lora.rank), "targets": keys[0], "base": lora.base_format}
