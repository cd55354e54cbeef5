"""A run to take away: one HTML file with curves, samples and facts.

It needs no server and no network: what a course puts on its own site.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from core.figures.theme import css_variables
from core.language import LANGUAGES, N_, _
from core.language.catalogue import translations
from core.train.config import num_parameters
from core.train.run.disk import to_json
from core.train.run.history import EventHistory, RecordHistory
from core.train.run.reader import LEFT_OUT, RunReader
from core.train.run.records import to_columns
from core.train.run.shelf import read_label
from core.train.start.presets import preset_title
from core.units import ByteUnit
from pages.components.live_chart.charts import BESIDE
from pages.components.live_chart.feed import COLUMNS, curves_of, names_in_js
from pages.components.live_chart.words import CATEGORY_NAMES, live_words

MAX_RECORDS: Final = 20_000  # a longer run keeps its extremes
_FOLDER: Final = Path(__file__).parent
_LIVE: Final = _FOLDER.with_name("live_chart")
_SCRIPTS: Final = (
    *(
        _LIVE / f"{name}.js"
        for name in ("written", "surprise", "progress", "axis", "history", "facts")
    ),
    *(_LIVE / "bars.js", _LIVE / "panels.js", _FOLDER.with_name("svg") / "node.js"),
    *(_FOLDER / "curves.js", _FOLDER / "player.js"),
)
_STYLES: Final = (_LIVE / "live_chart.css", _FOLDER / "player.css")
# As SVG has them.
_DASHES: Final = {
    "dash": "8 5",
    "dot": "2 3",
    "dashdot": "8 3 2 3",
    "longdash": "14 5",
    "longdashdot": "14 4 2 4",
}
WORDS: Final = {
    "player_play": N_("Play"),
    "player_pause": N_("Pause"),
    "player_time": N_("Step that is shown"),
    "player_steps": N_("step"),
    "player_about": N_("trained with Bits to GPT"),
    "player_left_out": LEFT_OUT,
    "rung_ln_vocab": N_("uniform: {value}"),
    "rung_unigram_entropy": N_("unigram: {value}"),
    "rung_bigram_entropy": N_("bigram: {value}"),
    "name_training": N_("training loss"),
    "name_smoothed": N_("smoothed"),
    "name_validation": N_("validation"),
    "clipped": N_("clipped at {value}"),
    "measured": N_("measured"),
    "predicted": N_("predicted"),
    "title_loss": N_("loss (nats per token)"),
    "title_learning_rate": N_("learning rate"),
    "title_grad_norm": N_("gradient norm"),
    "title_tokens_per_second": N_("tokens per second"),
}


def player_html(
    directory: Path,
    language: str = "en",
    unit: ByteUnit = "GiB",
    beside: Sequence[tuple[Path, str]] = (),
) -> str:
    """Return the file; `beside` are other runs of the same picture, and how they are called.

    Raises:
        ValueError: If there is no run that can be read, or it has not ended.
    """
    run = _run(directory) | {"language": language if language in LANGUAGES else "en", "unit": unit}
    run["beside"] = [
        curves_of(other) | {"name": name, "color": meaning.replace("_", "-"), "dash": _DASHES[dash]}
        for (other, name), (meaning, dash, _symbol) in zip(beside, BESIDE, strict=False)
    ]
    # Inside a script nothing may look like its end; in JSON a slash may be written so.
    data = to_json(run).replace("</", "<\\/").replace("<!--", "<\\u0021--")
    page = (_FOLDER / "player.html").read_text("utf-8")
    parts = {
        "/*styles*/": f":root{{{css_variables()}}}" + "".join(map(_text, _STYLES)),
        "/*scripts*/": "\n".join([names_in_js(), *map(_text, _SCRIPTS)]),
        "/*run*/": data,
        "<title>Bits to GPT": f"<title>{html.escape(run['titles']['en'])} · Bits to GPT",
    }
    for mark, part in parts.items():
        page = page.replace(mark, part, 1)
    return page


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _run(directory: Path) -> dict[str, Any]:
    reader = RunReader(directory)
    state = reader.read_state()
    if not state.is_final:
        message = _("The run {name} has not ended; follow it live, or export it afterwards.")
        raise ValueError(message.format(name=directory.name))
    increment = reader.read_new()
    records, events = RecordHistory(1), EventHistory(1)
    records.append(increment.records)
    events.append(increment.events)
    seconds = float(np.nansum(increment.records["seconds"]))
    created = datetime.fromtimestamp(float(reader.info["created"]), UTC)
    config = reader.info["config"]
    title = read_label(directory).title or str(config.get("name", directory.name))
    return {
        "run": directory.name,
        "info": reader.info,
        "state": asdict(state),
        "columns": to_columns(records.curves(MAX_RECORDS), COLUMNS),
        "events": events.needed(),
        "num_damaged": increment.num_damaged,
        "totals": {"num": len(increment.records), "seconds": seconds},
        "titles": {key: preset_title(title, translations(key).gettext) for key in LANGUAGES},
        "parameters": f"{count:,}" if (count := num_parameters(reader.info)) else "",
        "made": f"{created:%Y-%m-%d}",
        "words": _words(),
    }


def _words() -> Mapping[str, Mapping[str, str]]:
    words = {}
    for key, other in (("en", LANGUAGES["zh"]), ("zh", LANGUAGES["en"])):
        translate = translations(key).gettext
        own = {name: translate(text) for name, text in WORDS.items()}
        own |= {f"part_{name}": translate(text) for name, text in CATEGORY_NAMES.items()}
        words[key] = live_words(translate) | own | {"player_other_language": other}
    return words
