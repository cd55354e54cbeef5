"""What the page makes of a file that is damaged and yet recognised: an answer or a sentence."""

import json
import random
from types import SimpleNamespace

from core.budget import DEVICES, MODELS
from core.budget.cluster import Cluster
from core.budget.diagnosis.recognise import recognise
from core.budget.planning.plan import Plan
from pages.plan.diagnose.door import show_told
from tests.core.budget.diagnosis.hostile_files import checked, damaged, good, made

NUMBER = 300


def recognised():
    """Yield files that are made to hurt, then damaged ones, with what was recognised in them."""
    rng, kinds = random.Random(3), [*good().values()]  # noqa: S311
    files = [content for content in made() if len(content) < 100_000]
    files += [damaged(rng.choice(kinds[turn % len(kinds)]), rng) for turn in range(3 * NUMBER)]
    for content in files:
        try:
            yield content, recognise(content, "file")
        except ValueError:
            continue


def test_what_is_recognised_is_drawn_or_refused_in_words():
    cluster = Cluster(device=DEVICES["h100-sxm"], num_devices=8, zero_stage=3)
    plan = Plan(spec=MODELS["llama-3.1-8b"], cluster=cluster)
    chosen = SimpleNamespace(plan=plan, model=SimpleNamespace(key="llama-3.1-8b"))
    shown = 0
    for content, told in recognised():
        case = SimpleNamespace(chosen=chosen, told=lambda told=told: told)
        try:
            found = show_told(case)
        except ValueError as error:
            checked(error)
            continue
        shown += 1
        said = [found.headline, *found.notes, found.code, *(name for name, _item in found.numbers)]
        pictures = [chart.picture for chart in found.charts]
        said += [picture.alt + picture.figure.to_json() for picture in pictures]
        assert len(json.dumps(said).encode()) < 1 << 19, content[:80]
        "".join(map(str, said)).encode()
    assert shown > 200
