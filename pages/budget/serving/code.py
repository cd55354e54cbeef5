"""The snippet of the serving page: the same plan, in Python."""

from typing import Final

from core.budget.serving.plan import ServingPlan
from core.models.spec import ModelSpec
from pages.shared.budget.choices import ChosenDevice, ChosenModel

CODE: Final = """
from dataclasses import replace
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.serving.kv_cache import kv_cache, kv_cache_bytes_per_token
from core.budget.serving.memory import inference_budget
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import roofline_points
from core.budget.serving.latency import decode_latency, prefill_latency
from core.budget.serving.throughput import throughput_curve
from core.machine import probe_machine

spec = replace({model}{heads})
plan = {plan}
cluster = Cluster(device={device}, num_devices={tensor})
budget = inference_budget(spec, plan, cluster)
for part in budget.item.children:
    print(f"{{part.name:12}} {{part.amount / 2**30:8.2f}} GiB = {{part.substituted}}")
one = kv_cache(spec, plan.context, 1, plan.kv_format).amount
print(f"KV cache: {{kv_cache_bytes_per_token(spec):,}} bytes a token, one sequence {{one:,}}")
print(f"first token {{prefill_latency(spec, plan, cluster).amount * 1e3:.1f}} ms")
print(f"each token {{decode_latency(spec, plan, cluster).amount * 1e3:.2f}} ms")
curve = throughput_curve(spec, plan, cluster)
print(f"one reader {{1 / curve.points[0].seconds_per_token:.1f}} tokens/s;", end=" ")
print("fits:", budget.fits, "· most at once:", curve.largest)
for point in roofline_points(spec, plan, cluster):
    print(f"{{point.phase}} {{point.num_tokens}}: {{point.intensity:.3g}} FLOPs per byte,", end=" ")
    print(f"{{point.mfu:.3%}} of the peak")
"""


def serving_code(
    model: ChosenModel, device: ChosenDevice, spec: ModelSpec, plan: ServingPlan
) -> str:
    """Return Python that prints what fits and how fast it is."""
    changed = spec.num_kv_heads != model.spec.num_kv_heads
    return CODE.format(
        model=model.code,
        heads=f", num_kv_heads={spec.num_kv_heads}" if changed else "",
        plan=plan,
        device=device.code,
        tensor=plan.tensor,
    )
