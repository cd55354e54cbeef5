"""How long a budget takes on one core, held against the goals of the dashboard.

Each line is the median of several turns and the slowest of them, in CPU time of the thread, so that
a busy machine slows it little. Goals: a full budget 200 us (it runs at every move of a slider), the
matrix of what fits where 150 ms, one simulated step of a 7B model 1 s and of a 70B model 5 s.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported

import psutil

from benchmarks.measuring import show, show_head
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.compute.step_flops import step_flops
from core.budget.fits.jobs import serving_ways
from core.budget.fits.matrix import matrix
from core.budget.parallel.communication import communication
from core.budget.recipe import TrainingRecipe
from core.budget.serving.memory import inference_budget
from core.budget.serving.plan import ServingPlan
from core.budget.training.memory import training_budget
from core.budget.weights.parameters import count_parameters

EVERY_MODEL = tuple(MODELS.values())
ALONE = Cluster(device=DEVICES["h100-sxm"])
SPREAD = replace(ALONE, num_devices=64, zero_stage=3, tensor=8)
RECIPE = TrainingRecipe(batch_size=2, seq_len=1024, checkpointing="selective")
PLAN = ServingPlan(weight_format="nf4", concurrency=16)
BUDGET_GOAL, MATRIX_GOAL = 200e-6, 150e-3
SIMULATED = {"llama-2-7b": 1.0, "llama-2-70b": 5.0}


@dataclass(frozen=True, slots=True)
class Task:
    """Something to be timed: calls at once, and seconds that one call may take (None: no goal)."""

    name: str
    call: Callable[[], object]
    num_calls: int = 1
    goal: float | None = None


def over_models(name: str, call: Callable[..., object], goal: float | None = None) -> Task:
    """Return a task that gives each model of the catalogue to `call`, as a slider would."""

    def all_of_them() -> None:
        for spec in EVERY_MODEL:
            call(spec)

    return Task(name, all_of_them, len(EVERY_MODEL), goal)


def budgets() -> Sequence[Task]:
    """Return the closed forms that answer a slider."""
    kept = replace(RECIPE, checkpointing="none")
    return (
        over_models("parameters", count_parameters),
        over_models(
            "training, one device", lambda s: training_budget(s, RECIPE, ALONE), BUDGET_GOAL
        ),
        over_models(
            "training, nothing recomputed", lambda s: training_budget(s, kept, ALONE), BUDGET_GOAL
        ),
        over_models("serving", lambda s: inference_budget(s, PLAN, ALONE), BUDGET_GOAL),
        over_models("FLOPs of a step", lambda s: step_flops(s, RECIPE)),
        Task(
            "training, 64 devices",
            lambda: training_budget(MODELS["llama-2-70b"], RECIPE, SPREAD),
            1,
            BUDGET_GOAL,
        ),
        Task(
            "communication, 64 devices",
            lambda: communication(MODELS["llama-2-70b"], RECIPE, SPREAD),
        ),
    )


def whole_matrix() -> Task:
    """Return the matrix of every model, format and device."""
    ways = serving_ways(ServingPlan())
    num_cells = len(MODELS) * len(ways) * len(DEVICES)
    return Task(
        f"matrix, {num_cells:,} cells", lambda: matrix(MODELS, ways, DEVICES), 1, MATRIX_GOAL
    )


def simulations() -> Sequence[Task]:
    """Return one simulated training step of a small and of a large model."""
    import torch

    from core.budget.simulation.step import simulate_step

    torch.set_num_threads(1)
    recipe = TrainingRecipe(batch_size=1, seq_len=4096, checkpointing="full")
    return [
        Task(
            f"simulated step, {name}",
            lambda name=name: simulate_step(MODELS[name], recipe),
            1,
            goal,
        )
        for name, goal in SIMULATED.items()
    ]


def time_in_turns(tasks: Sequence[Task], num_turns: int) -> dict[str, list[float]]:
    """Return the CPU seconds of one call of each task, turn by turn."""
    seconds: dict[str, list[float]] = {task.name: [] for task in tasks}
    for task in tasks:
        task.call()  # tables are built, modules loaded
    for _turn in range(num_turns):
        for task in tasks:
            began = time.thread_time()
            task.call()
            seconds[task.name].append((time.thread_time() - began) / task.num_calls)
    return seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=15, help="how often each budget is timed")
    parser.add_argument("--steps", type=int, default=3, help="how often each step is simulated")
    options = parser.parse_args()
    print(f"{len(MODELS)} models, {options.turns} turns; load {psutil.getloadavg()[0]:.1f}")
    show_head()
    for tasks, num_turns in (
        ([*budgets(), whole_matrix()], options.turns),
        (simulations(), options.steps),
    ):
        seconds = time_in_turns(tasks, num_turns)
        for task in tasks:
            goal = "" if task.goal is None else f"< {1e3 * task.goal:g}"
            show(task.name, [1e3 * each for each in seconds[task.name]], "ms", goal=goal)


if __name__ == "__main__":
    main()
