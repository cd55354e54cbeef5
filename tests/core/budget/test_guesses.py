"""What is said of a model that is not wholly known: a band, and no verdict that is certain."""

import dataclasses
import json
import math
import random
from pathlib import Path

from core.budget.budget import verdict_of
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.hf_config import model_from_config
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.compute.conventions import crossing, six_nd_ratio
from core.budget.compute.forward_flops import forward_flops
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.fits.jobs import Training, serving_ways
from core.budget.fits.matrix import row
from core.budget.item import hedged, is_uncertain
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.parallel.sharding import shardings
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.kv_cache import kv_cache
from core.budget.serving.latency import decode_latency, prefill_flops, prefill_latency
from core.budget.serving.memory import inference_budget, serving_memory
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import device_speed, user_speed
from core.budget.training.duration import reached_mfu, training_time
from core.budget.training.memory import training_budget
from core.budget.training.states import states_in_all
from core.budget.weights.gguf import gguf_weights
from core.budget.weights.packed import Packed, packed_weights
from core.budget.weights.parameters import active_parameters, count_parameters
from core.budget.weights.stored import serving_weights, size_of, weights_in

CONFIGS = json.loads(
    Path(__file__).with_name("catalogue").joinpath("published_configs.json").read_text("utf-8")
)
PLAN = ServingPlan(prompt_len=7680)
RECIPE = TrainingRecipe(seq_len=4096)
TWO = Cluster(device=DEVICES["h100-sxm"], num_devices=2, zero_stage=3)
GUESS = dataclasses.replace(MODELS["llama-3.1-8b"], guessed=True)
PARTLY = dataclasses.replace(MODELS["llama-3.1-8b"], not_counted=("moe_k", "ssm_state_size"))


def renamed(config, kind="mine"):
    """Return the config as one of another type."""
    part = config.get("text_config")
    inner = {"text_config": part | {"model_type": kind}} if isinstance(part, dict) else {}
    return config | inner | {"model_type": kind}


def guesses():
    """Return the models of the catalogue whose config can be read as one of an unknown type."""
    found = {}
    for key, config in CONFIGS.items():
        try:
            found[key] = model_from_config(renamed(config))
        except ValueError:  # other names for the same things: nothing is guessed then
            continue
    return found


def numbers(spec):
    """Return everything that is counted of a model, by name."""
    token, prompt = decode_latency(spec, PLAN, TWO), prefill_latency(spec, PLAN, TWO)
    return {
        "parameters": count_parameters(spec),
        "active": active_parameters(spec),
        "weights": serving_weights(spec),
        "int8": weights_in(size_of("own", spec), "int8", rest_in_16_bits=False),
        "cache": kv_cache(spec, PLAN.context),
        "serving": serving_memory(spec, PLAN),
        "forward": forward_flops(spec, 4096, 4096, causal=True),
        "prefill": prefill_flops(spec, 4096),
        "step": step_flops(spec, RECIPE),
        "model FLOPs": model_flops(step_flops(spec, RECIPE)),
        "6ND": six_nd_ratio(spec, 4096, causal=True),
        "crossing": crossing(spec),
        "states": states_in_all(spec, RECIPE),
        "training": training_budget(spec, RECIPE, TWO).item,
        "sent": communication(spec, RECIPE, TWO),
        "exposed": exposed_seconds(spec, RECIPE, TWO),
        "shardings": shardings(spec, RECIPE, TWO)[0].held,
        "days": training_time(spec, RECIPE, TWO, 1e12, 0.4),
        "mfu": reached_mfu(spec, RECIPE, TWO, 1e12, 1e9),
        "token": token,
        "prompt": prompt,
        "user": user_speed(token),
        "device": device_speed(PLAN, prompt, token),
    }


def test_of_a_guess_nothing_is_exact_and_everything_has_a_band():
    known = numbers(MODELS["llama-3.1-8b"]) | {
        "gguf": gguf_weights(MODELS["llama-3.1-8b"], "Q4_K_M")
    }
    packed = Packed(method="awq", bits=4, group_size=128)
    for spec in (GUESS, PARTLY):
        found = numbers(spec) | {
            "gguf": gguf_weights(spec, "Q4_K_M"), "packed": packed_weights(spec, packed),
        }  # fmt: skip
        for name, number in found.items():
            assert number.guess, name
            assert not [line.name for line in number.walk() if line.kind == "exact"], name
            assert name == "device" or number.low < number.amount or number.high > number.amount
            assert name == "packed" or number.amount == known[name].amount, name
    assert not any(number.guess for number in known.values())


def test_the_truth_lies_in_the_band_of_the_guess_for_every_model_of_the_catalogue():
    """As if laid out like Llama, against the layout that it has: the band is measured, not felt."""
    found = guesses()
    assert len(found) > 40
    for key, guess in found.items():
        truths = numbers(MODELS[key])
        for name, band in numbers(guess).items():
            if name == "device":  # it has no band
                continue
            assert truths[name] is None or band.low <= truths[name].amount <= band.high, (key, name)
    for key, spec in MODELS.items():
        guess, plain = (
            count_parameters(dataclasses.replace(spec, gated=gated, guessed=gated))
            for gated in (True, False)
        )
        assert guess.low <= plain.amount <= guess.high, key


def test_fields_that_were_not_counted_leave_the_upper_end_open():
    weights, cache = serving_weights(PARTLY), kv_cache(PARTLY, 4096)
    assert (weights.low, weights.high) == (weights.amount, math.inf)
    assert (cache.low, cache.high) == (0, math.inf)  # they may be windows
    assert hedged("16 GB", weights) == "at least 16 GB"
    assert hedged("1 GB", cache) == "about 1 GB" == hedged("1 GB", kv_cache(GUESS, 4096))
    assert hedged("16 GB", serving_weights(MODELS["llama-3.1-8b"])) == "16 GB"
    both = serving_weights(dataclasses.replace(PARTLY, guessed=True))
    assert (both.low, both.high) == (0, math.inf)
    assert user_speed(decode_latency(PARTLY, PLAN, TWO)).high == math.inf


def made_up(rng, number):
    """Return `number` uncertain models: configs of the catalogue with other fields.

    Half of them are renamed too; what is read of the others to the end is certain and left out.
    """
    strange = {"moe_num_experts": 64, "moe_k": 6, "ssm_state_size": 128, "hidden_act": "relu2",
               "layer_types": ["mamba"] * 8, "conv_L_cache": 3, "num_zero_experts": 4}  # fmt: skip
    configs, found = list(CONFIGS.values()), []
    while len(found) < number:
        config, kind = dict(rng.choice(configs)), rng.choice(["mine", "llama9", "hybrid"])
        if len(found) % 2:
            config = renamed(config, kind)
        config |= dict(rng.sample(sorted(strange.items()), rng.randint(0, 3)))
        for key in rng.sample(sorted(config), rng.randint(0, 2)):
            del config[key]
        try:
            spec = model_from_config(config)
        except ValueError:  # refused: a field is named, nothing is counted
            continue
        assert spec.guessed or config.get("model_type") != kind, config
        found += [spec] * is_uncertain(spec)
    assert sum(not spec.guessed for spec in found) > number / 4
    return found


def test_no_verdict_about_a_guess_is_crisp():
    """200 configs made from the catalogue's, on a small, a large and no device at all."""
    devices = [DEVICES[key] for key in ("t4", "h100-sxm", "b200")]
    for spec in made_up(random.Random(14), 200):  # noqa: S311
        recipe = dataclasses.replace(RECIPE, seq_len=min(4096, spec.seq_len))
        needs = [
            *(way.need(spec) for way in serving_ways(PLAN).values()),
            training_budget(spec, recipe, Cluster(device=devices[0])).item,
        ]
        for need in needs:
            found = {verdict_of(need, device.memory_usable, (0, 0)) for device in devices}
            assert found | {verdict_of(need, 0, (0, 0)), verdict_of(need, 1e18, (0, 0))} == {
                "close"
            }
        assert inference_budget(spec, PLAN, Cluster(device=devices[1])).verdict == "close"
        cells = row(spec, Training(dataclasses.replace(recipe, lora=LoRA())), devices)
        assert {cell.verdict for cell in cells} == {"close"}
