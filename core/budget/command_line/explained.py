"""What was brought, explained in a terminal; and whether a recipe fits, with a status for CI."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from core.budget.budget import Budget
from core.budget.catalogue.devices import DEVICES
from core.budget.check import check_choice
from core.budget.command_line.commands import amount_text, verdict_line
from core.budget.command_line.settings import Settings, read_settings
from core.budget.diagnosis.brought.read import MAX_BYTES
from core.budget.diagnosis.brought.record import KINDS, Brought
from core.budget.diagnosis.brought.tensors import is_safetensors
from core.budget.diagnosis.logs import Log, answer_log
from core.budget.diagnosis.measured import MeasuredPeak, predicted
from core.budget.diagnosis.out_of_memory import OutOfMemory
from core.budget.diagnosis.planned import planned, taken_from
from core.budget.diagnosis.recognise import Told, recognise
from core.budget.diagnosis.sentences import (
    elsewhere_sentence,
    measured_sentence,
    out_of_memory_sentence,
    product,
    snapshot_sentence,
    what,
)
from core.budget.diagnosis.snapshot.answer import as_snapshot, read_in_child
from core.budget.diagnosis.suspects import find_suspects
from core.budget.fits.matrix import first_failing
from core.budget.item import Item
from core.budget.planning.plan import Plan
from core.budget.serving.memory import inference_budget
from core.budget.training.memory import training_budget
from core.language import _

STANDARD_INPUT: Final = "-"
DEFAULT_MODEL: Final = "llama-3.1-8b"
# What rooms above this one say of a file; None where it is of no kind of theirs.
Also = Callable[[Path], Mapping[str, Any] | None]
_PICKLE: Final = b"\x80"  # how a pickle of protocol 2 and later begins


def explain(chosen: Namespace, also: Also) -> tuple[Sequence[str], int]:
    """Return the lines that say what a text or a file means, and 0; `also` is asked first."""
    content, name = _content(chosen.file)
    path = Path(chosen.file)  # of a pipe nothing is left for another process
    if path.is_file() and (other := also(path)):
        return _written(chosen, other), 0
    if content.startswith(_PICKLE) and path.is_file() and not is_safetensors(content):
        sentence = snapshot_sentence(as_snapshot(read_in_child(path)))
        return _written(chosen, {"sentence": sentence}), 0
    told = recognise(content, name)
    plan = _plan(chosen, told)
    answer = _answer(told, plan)
    if not isinstance(told, Brought):
        answer["notes"] = [*answer.get("notes", ()), _held_against(plan)]
    return _written(chosen, answer), 0


def _held_against(plan: Plan) -> str:
    """Return the plan that an error or a log, which names none, was held against."""
    text = _("Held against {plan}: set what was otherwise in the run by --of and --set.")
    batch, length = plan.recipe.batch_size, plan.recipe.seq_len
    devices = f"{plan.num_devices:,} × {plan.cluster.device.name}"
    return text.format(plan=f"{plan.spec.name}, {devices}, {batch:,} × {length:,}")


def fits_on(chosen: Namespace) -> tuple[Sequence[str], int]:
    """Return the lines that say whether a recipe fits on these devices, and 1 if it does not."""
    kind, _colon, count = chosen.on.partition(":")
    check_choice("device", kind, tuple(DEVICES))
    content, name = _content(chosen.model)
    told = recognise(content, name)
    if not isinstance(told, Brought):
        raise ValueError(  # noqa: TRY004  what a reader brings is a value
            _("{file} is no recipe and no config.json.").format(file=chosen.model)
        )
    if not (told.model or told.config or chosen.of):
        raise ValueError(
            _("{file} names no model that is known here: say which, by --of MODEL.").format(
                file=chosen.model
            )
        )
    asked = [f"device={kind}", *([f"num_devices={count}"] if count else [])]
    plan = _plan(chosen, told, asked)
    budget = _budget(plan)
    answer = {"sentence": _verdict(budget), "fits": budget.fits, "verdict": budget.verdict,
              "need": budget.item.amount, "capacity": budget.capacity}  # fmt: skip
    return _written(chosen, answer | _of_file(told, plan)), int(budget.verdict == "too_big")


def _content(file: str) -> tuple[bytes, str]:
    """Return what is read of a file or of standard input, and the file's name.

    Of a checkpoint, which is no text, the beginning is enough.
    """
    try:
        if file == STANDARD_INPUT:
            # `<&-` closes it: there is none
            return sys.stdin.buffer.read(MAX_BYTES + 1) if sys.stdin else b"", ""
        with Path(file).open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
            end = MAX_BYTES if b"\0" in content[:8] else len(content)
            return content[:end], Path(file).name
    except OSError as error:
        raise ValueError(_("{file} cannot be read: {reason}", file=file, reason=error)) from error


def _plan(chosen: Namespace, told: Told, asked: Sequence[str] = ()) -> Plan:
    """Return the plan that the command line sets, on top of what was told, or of the defaults."""
    model = chosen.of or (told.model if isinstance(told, Brought) else "") or DEFAULT_MODEL
    found = read_settings(model, [*chosen.settings, *asked])
    plan = Plan(
        spec=found.spec, cluster=found.cluster, recipe=found.recipe, serving=found.plan,
    )  # fmt: skip
    if isinstance(told, Brought):
        own = replace(told, model="", config="") if chosen.of else told
        plan = _with_told(planned(own, plan), found)
        if "accumulation" not in found.told:
            return plan
    return replace(plan, step_tokens=plan.pass_tokens * plan.recipe.accumulation)


def _with_told(plan: Plan, found: Settings) -> Plan:
    """Return the plan in which the command line has the last word."""
    parts: dict[str, Any] = {
        "recipe": (plan.recipe, found.recipe),
        "cluster": (plan.cluster, found.cluster),
        "serving": (plan.serving, found.plan),
    }
    for name, (part, said) in parts.items():
        own = {each.name for each in fields(part)} & found.told
        parts[name] = replace(part, **{each: getattr(said, each) for each in own})
    return replace(plan, **parts)


def _answer(told: Told, plan: Plan) -> dict[str, Any]:
    if isinstance(told, OutOfMemory):
        suspects = find_suspects(told, plan.spec, plan.recipe, plan.cluster)
        others = [f"{what(each)}: {product(each)}" for each in suspects[1:]]
        if not suspects and (instead := elsewhere_sentence(told, plan)):
            others.append(instead)
        return {"sentence": out_of_memory_sentence(told, suspects, plan), "notes": others}
    if isinstance(told, MeasuredPeak):
        return {"sentence": measured_sentence(told, predicted(plan))}
    if isinstance(told, Log):
        answer = answer_log(told, plan)
        numbers, beside = _numbers(answer.headline), _numbers(answer.beside)
        return {"sentence": _("; ").join(numbers), "notes": [*answer.notes, *beside]}
    said = {"sentence": _judged(told, plan)} | _of_file(told, plan)
    if told.items:  # of a checkpoint first what lies in it, and no verdict on another model
        notes = [said["sentence"], *said["notes"]] if told.model or told.config else [*told.notes]
        said |= {"sentence": _("; ").join(_numbers(told.items)), "notes": notes}
    return said


def _numbers(items: Sequence[Item]) -> list[str]:
    return [f"{_(each.name)}: {amount_text(each)}" for each in items]


def _judged(told: Brought, plan: Plan) -> str:
    """Return the verdict, and before it what makes it one of another run."""
    budget = _budget(plan)
    verdict = _verdict(budget)
    if told.beyond and budget.verdict == "too_big":  # offload, pipelines and the like may help
        text = _("Without {fields}, which the plan cannot hold: {verdict}")
        verdict = text.format(fields=_("; ").join(told.beyond), verdict=verdict)
    if not (told.model or told.config):
        verdict = _("The file names no known model. With {verdict}").format(verdict=verdict)
    return verdict


def _of_file(told: Brought, plan: Plan) -> dict[str, Any]:
    return {
        "kind": _(KINDS[told.kind]),
        "model": told.model or told.named,
        "settings": dict(told.settings),
        "ignored": list(told.ignored),
        "notes": [*told.notes, *taken_from(told, plan)],
    }


def _budget(plan: Plan) -> Budget:
    if plan.work == "serve":
        serving = replace(plan.serving, tensor=plan.num_devices)
        return inference_budget(plan.spec, serving, plan.cluster)
    return training_budget(plan.spec, plan.accumulated, plan.cluster)


def _verdict(budget: Budget) -> str:
    failing = first_failing(budget.largest, budget.capacity)
    return verdict_line(budget, failing.name if failing else "")


def _written(chosen: Namespace, answer: Mapping[str, Any]) -> Sequence[str]:
    """Return an answer as JSON, or its sentence first and a line for each thing beside it."""
    if chosen.json:
        return [json.dumps(answer, indent=2, ensure_ascii=False)]
    lines = [f"{name} = {value}" for name, value in answer.get("settings", {}).items()]
    lines += answer.get("notes", ())
    if ignored := answer.get("ignored"):
        text = _("Not understood, and so without effect: {fields}.")
        lines.append(text.format(fields=_(", ").join(ignored)))
    return [answer["sentence"], *(f"  {line}" for line in lines)]
