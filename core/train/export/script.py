"""One plain script, as a student writes nanoGPT's, that trains what a run has trained.

The template holds every row; what a run did not use is left out. Nothing of this app is needed.
"""

import io
import json
import re
import zipfile
from pathlib import Path
from string import Template
from typing import Any, Final

from core.language import _
from core.train.config import TrainConfig, config_of_run
from core.train.control.orders import multiplier_changes
from core.train.run.directory import read_info, section
from core.train.run.disk import storage_error
from core.train.run.events import read_events
from core.train.run.shelf import read_label

TEMPLATE: Final = Path(__file__).with_name("script.template")
SCRIPT_FILE: Final = "train.py"
TOKENS_FILE: Final = "tokens.bin"

_SCHEDULES: Final = {
    "cosine": (
        "half a cosine down to the lowest rate",
        "LOWEST_RATE + (HIGHEST_RATE - LOWEST_RATE) * (1 + math.cos(math.pi * progress)) / 2",
    ),
    "linear": (
        "a line down to the lowest rate",
        "LOWEST_RATE + (HIGHEST_RATE - LOWEST_RATE) * (1 - progress)",
    ),
    "constant": ("always the same", "HIGHEST_RATE"),
    "step": (
        "a tenth at half of the run and again at three quarters",
        "max(HIGHEST_RATE * 0.1 ** ((progress >= 0.5) + (progress >= 0.75)), LOWEST_RATE)",
    ),
}
_ADAMW: Final = "AdamW(groups, lr=HIGHEST_RATE, betas=({beta1}, {beta2}), eps={eps}, fused=True)"
_OPTIMIZERS: Final = {
    "adamw": _ADAMW,
    "adam": _ADAMW.replace("AdamW", "Adam"),
    "sgd": "SGD(groups, lr=HIGHEST_RATE)",
    "momentum": "SGD(groups, lr=HIGHEST_RATE, momentum={beta1})",
    "rmsprop": "RMSprop(groups, lr=HIGHEST_RATE, alpha={beta2}, eps={eps})",
    "adagrad": "Adagrad(groups, lr=HIGHEST_RATE, eps={eps})",
    "muon": _ADAMW,  # of what is not a matrix of a block
}
_AUTOCAST: Final = {
    "bf16": "bfloat16",
    "bf16_fp32_attention": "bfloat16",
    "fp16": "float16",
    "fp16_unscaled": "float16",
}
_PURE: Final = {"pure_bf16": ", torch.bfloat16", "pure_fp16": ", torch.float16"}


def script_of(run: Path) -> str:
    """Return the script that trains what the run trains, from its first step on.

    Raises:
        ValueError: The run begins with another one's weights, or with a mistake made on purpose.
    """
    info = read_info(run)
    resolved = section(info, "resolved", run)
    if (config := config_of_run(info)).precision == "auto":
        text = _("This run does not say in which precision it trained: no script is made.")
        raise ValueError(text)
    _refuse(info, config)
    changes = multiplier_changes(
        each for each in read_events(run) if each["kind"] == "ack" and each.get("accepted")
    )
    words = {
        **config.to_json(),
        **_words(config, section(info, "text", run)["vocab_size"]),
        "notes": _notes(config, int(resolved.get("processes") or 1)),
        "title": json.dumps(read_label(run).title or config.name)[1:-1],
        "device": resolved["device"],
        "threads": resolved.get("threads", 1),
        "versions": f"torch {(info.get('versions') or {}).get('torch', '?')}",
        "by_hand": repr(changes),
    }
    text = _kept_lines(TEMPLATE.read_text(encoding="utf-8"), _holds(config, by_hand=bool(changes)))
    return Template(text).substitute(words)


def _refuse(info: dict[str, Any], config: TrainConfig) -> None:
    if info.get("parent"):
        message = _(
            "This run is a fork of {parent} and begins with its weights, which a script does not "
            "have: export that run."
        )
        raise ValueError(message.format(parent=info["parent"].get("run")))
    if config.mistake:
        message = _(
            "This run makes a mistake on purpose ({mistake}); a script is made of healthy runs."
        )
        raise ValueError(message.format(mistake=config.mistake))


def _holds(config: TrainConfig, *, by_hand: bool) -> dict[str, bool]:
    """Return which parts of the template a run uses."""
    return {
        "gpt": config.family == "gpt",
        "llama": config.family == "llama",
        "dropout": config.dropout > 0,
        "checkpointing": config.checkpointing,
        "accumulation": config.accumulation_steps > 1,
        "clipping": config.grad_clip > 0,
        "muon": config.optimizer == "muon",
        "scaler": config.precision == "fp16",
        "autocast": config.precision in _AUTOCAST,
        "fp32_attention": config.precision == "bf16_fp32_attention",
        "by_hand": by_hand,
    }


def _words(config: TrainConfig, vocab_size: int) -> dict[str, object]:
    """Return what stands in the template's blanks."""
    spec = config.spec(vocab_size) if config.family == "llama" else None
    schedule_words, schedule = _SCHEDULES[config.schedule]
    key_heads = spec.num_kv_heads if spec else config.num_heads
    return {
        "family": "Llama-like model" if spec else "GPT",
        "vocab_size": vocab_size,
        "key_heads": key_heads,
        "ffn_dim": spec.ffn_dim if spec else 0,
        "grouped": ", enable_gqa=True" if key_heads != config.num_heads else "",
        "norm": "RMSNorm()" if spec else "nn.LayerNorm(C, bias=False)",
        "more": ", rotary" if spec else "",
        "drops": config.dropout > 0,
        "schedule": schedule,
        "schedule_words": schedule_words,
        "optimizer": "torch.optim." + _optimizer(config),
        "autocast_dtype": _AUTOCAST.get(config.precision, ""),
        "weight_dtype": _PURE.get(config.precision, ""),
        "share": " / ACCUMULATION_STEPS" if config.accumulation_steps > 1 else "",
    }


def _optimizer(config: TrainConfig) -> str:
    made = _OPTIMIZERS[config.optimizer].format(**config.to_json())
    if config.optimizer == "adamw" and config.precision == "pure_fp16":  # as in the run itself
        return made.replace("fused=True", "fused=False")
    return made


def _notes(config: TrainConfig, num_processes: int) -> str:
    notes = []
    if num_processes > 1:
        drawn = ", and its dropout drew otherwise" if config.dropout else ", not bit for bit"
        notes.append(
            f"The run had {num_processes} processes: its losses and these agree nearly{drawn}."
        )
    if config.max_seconds is not None:
        notes.append(
            f"The run had {config.max_seconds:g} s: after the first tenth of them its rates follow "
            "the\nclock where that is ahead of the steps, and here the steps alone."
        )
    if config.compile:
        notes.append("The run was compiled: its losses and these agree nearly, not bit for bit.")
    return "".join(f"\n{note}\n" for note in notes)


def _kept_lines(template: str, holds: dict[str, bool]) -> str:
    """Return the template's text without the parts that do not hold."""
    lines, is_kept = [], True
    for line in template.splitlines(keepends=True):
        if mark := re.fullmatch(r"#@ if (not )?(\w+)\n", line):
            is_kept = holds[mark[2]] is not bool(mark[1])
        elif line == "#@ end\n":
            is_kept = True
        elif is_kept:
            lines.append(line)
    return "".join(lines)


def write_script(run: Path, folder: Path) -> None:
    """Write train.py and tokens.bin into a folder.

    Raises:
        ValueError: The run cannot be a script; the sentence says why.
        RunStorageError: The folder cannot be written to.
    """
    script, tokens = script_of(run), (run / "data" / TOKENS_FILE).read_bytes()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SCRIPT_FILE).write_text(script, encoding="utf-8")
        (folder / TOKENS_FILE).write_bytes(tokens)
    except OSError as error:
        raise storage_error(folder, error) from error


def zipped_script(run: Path) -> bytes:
    """Return train.py and tokens.bin as a zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(SCRIPT_FILE, script_of(run))
        archive.write(run / "data" / TOKENS_FILE, TOKENS_FILE)
    return file.getvalue()
