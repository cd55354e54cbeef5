"""Lines of logs: every form of the table, and the quotients that were published with them."""

import random

import pytest

from core.budget import DEVICES, MODELS
from core.budget.cluster import Cluster
from core.budget.diagnosis import logs
from core.budget.diagnosis.logs import LOG_KINDS, answer_log, read_log
from core.budget.planning.plan import Plan
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.plan import ServingPlan
from core.budget.table import read_table
from core.budget.training.memory import not_counted
from core.units import GIB, MIB

ROWS = read_table(logs.__file__)["row"]
VLLM = (
    "INFO Available KV cache memory: 5.38 GiB\nINFO GPU KV cache size: 78,384 tokens\n"
    "INFO Maximum concurrency for 8,192 tokens per request: 9.57x"
)
LLAMA_CPP = """
load_tensors:   CPU_Mapped model buffer size =   281.81 MiB
load_tensors:        CUDA0 model buffer size =  4403.49 MiB
llama_context: n_ctx         = 8192
llama_kv_cache:      CUDA0 KV buffer size =  1024.00 MiB
llama_context:      CUDA0 compute buffer size =   560.00 MiB
"""


def plan(model="llama-3.1-8b", seq_len=8192, num_devices=8, device="h100-sxm", **changes):
    recipe = TrainingRecipe(seq_len=seq_len, **changes.pop("recipe", {}))
    cluster = Cluster(device=DEVICES[device], num_devices=num_devices, zero_stage=3)
    return Plan(spec=MODELS[model], cluster=cluster, recipe=recipe, **changes)


def amounts(items):
    return {item.name: item.amount for item in items}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['says']} {row['program']}")
def test_the_example_of_every_form_says_what_its_row_says(row):
    log = read_log(row["example"])
    assert log.kind == row["kind"]
    assert log.numbers[row["says"]] > 0


def test_torchtitan_with_colours_says_speed_memory_and_mfu():
    line = "\x1b[31mstep: 10  \x1b[32mloss:  7.2  \x1b[33mmemory: 47.65GiB(50.10%)  \x1b[34m"
    log = read_log(line + "tps: 5,760  \x1b[36mtflops: 333.60  \x1b[35mmfu: 33.73%\x1b[39m")
    assert (log.tokens_per_second, log.mfu) == (5760, 0.3373)
    assert log.memory == pytest.approx(47.65 * GIB, abs=1)
    assert log.numbers["flops_per_second"] == 333.6e12


@pytest.mark.parametrize(
    ("line", "says", "number"),
    [
        ("7,186 tok/s/GPU, MFU: 42.08%, 47.3 GiB", "tokens_per_second", 7186),
        ("7.2k tokens/sec", "untold_tokens_per_second", 7200),
        ("step 100 tok/s: 500", "untold_tokens_per_second", 500),
        ("tokens/s/GPU inst/harmonic mean: 9640.7/9629.8", "tokens_per_second", 9640.7),
        ("Tokens per second per GPU (Tok/s/GPU): 2645.8 |", "tokens_per_second", 2645.8),
        ("{'train_samples_per_second': '12.5', 'epoch': '1'}", "samples_per_second", 12.5),
        ("  train_samples_per_second =       12.5", "samples_per_second", 12.5),
        ("step: 100  flops: 3.34e+14  wps: 5.76e+03  iter:  0.7", "tokens_per_second", 5760),
        ("Tokens/s:  46.1K | Tokens/s/GPU:   5.76K | MFU: 33.73%", "tokens_per_second", 5760),
        ("[34mwps: 5,760  [35mmfu: 33.73%[39m", "tokens_per_second", 5760),
        ("step 1/19560 | 47.8 % bf16 MFU | 145873 tok/s", "total_tokens_per_second", 145873),
        ("step 1/19560 | 47.8 % bf16 MFU | 145873 tok/s", "mfu", 0.478),
        (
            "Peak reserved memory = 8.5 GB.\nPeak reserved memory for training = 2.1 GB.",
            "memory",
            8.5 * GIB,
        ),
    ],
)
def test_a_speed_is_told_from_the_numbers_around_it(line, says, number):
    assert read_log(line).numbers[says] == number


def test_the_later_half_of_the_lines_counts():
    speeds = (100, 2000, 5000, 5100, 5200)
    lines = "\n".join(
        f"step: {step}  tps: {speed:,}  mfu: 1.00%" for step, speed in enumerate(speeds)
    )
    assert read_log(lines).tokens_per_second == 5100


def test_the_fullest_device_and_the_highest_line_say_the_memory():
    used = (71_234, 70_000, 3)
    lines = (f"| N/A 50C P0 60W / 400W | {each}MiB / 81920MiB | 0% Default |" for each in used)
    assert read_log("\n".join(lines)).memory == 71_234 * MIB


def test_more_memory_than_the_plans_has_its_reasons():
    """LLaMA-Factory issue 7409: LoRA on Qwen2-7B, 2 x 2,048 tokens, 28.2 GB, then 32."""
    lora = LoRA(rank=8, targets=("q", "k", "v", "o", "gate", "up", "down"))
    recipe = TrainingRecipe(batch_size=2, seq_len=2048, checkpointing="full", lora=lora)
    case = Plan(
        spec=MODELS["qwen2.5-7b"], cluster=Cluster(device=DEVICES["a100-80gb"]), recipe=recipe
    )
    for used, words in ((32_000, "reserves"), (25_000, "within")):
        answer = answer_log(read_log(f"| N/A 50C | {used}MiB / 81920MiB | 98% Default |"), case)
        assert any(words in note for note in answer.notes), used


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "Loading checkpoint shards: 100%|██████████| 4/4 [00:05<00:00,  1.41s/it]",
        "Map: 100%|██████████| 1000/1000 [00:05<00:00, 181.41 examples/s]",
        "Capturing CUDA graph shapes: 100%|██████████| 35/35 [00:15<00:00,  2.33it/s]",
        "  0%|          | 0/1250 [00:00<?, ?it/s]",
        "Avg prompt throughput: 3.0 tokens/s, Avg generation throughput: 45.0 tokens/s",
        "eval time = 9 ms / 50 tokens ( 24.7 ms per token,    40.5 tokens per second)",
        "validate step: 10  loss:  7.2  memory: 47.65GiB(50.10%)  tps: 9,760",
        "iter 0: loss 10.9, time 0.00ms, mfu -100.00%",
        "CUDA capacity: NVIDIA H100 with 95.00GiB memory",
        "tps: " + "9" * 400,
        "load_tensors: CPU buffer size =   636,18 MiB",
        "llama_kv_cache:      CUDA0 kv buffer size =  1024.00 MiB",
        "ring buffer size = 64 MiB",
    ],
)
def test_lines_that_say_nothing_about_a_training_are_refused(text):
    with pytest.raises(ValueError, match="No line of this log"):
        read_log(text)


def test_a_text_beyond_reason_is_refused():
    with pytest.raises(ValueError, match="its last lines"):
        read_log("tps: 5\n" * MIB)


def test_torchtitans_33_73_percent_of_an_h100_are_full_attention():
    """Published with pytorch/torchtitan pull request 808: 8 H100, default recipe, bf16."""
    log = read_log("memory: 47.65GiB(50.10%)  tps: 5,760  tflops: 333.60  mfu: 33.73%")
    answer = answer_log(log, plan())
    assert answer.headline[0].amount == pytest.approx(0.3373, abs=0.0003)
    assert amounts(answer.beside)["MFU as the log says"] == 0.3373
    assert amounts(answer.beside)["speed at the peak"] == pytest.approx(5760 / 0.3372, rel=1e-3)
    assert any("full attention" in note for note in answer.notes)
    assert any("47.7 GiB" in note for note in answer.notes)
    assert not_counted() in answer.notes  # the run compiles, and keeps every second product
    assert not_counted() not in answer_log(read_log("memory: 990GiB  tps: 5,760"), plan()).notes


@pytest.mark.parametrize(
    ("model", "seq_len", "speed", "tflops"),
    [
        ("qwen3-30b-a3b", 4096, 44544, 1029),
        ("gpt-oss-120b", 4096, 33024, 1077),
        ("llama-3.1-70b", 8192, 5248, 2348),
        ("deepseek-v3", 4096, 6288, 1635),
    ],
)
def test_published_speeds_of_megatron_bridge_are_causal_attention(model, seq_len, speed, tflops):
    """Tokens/s and TFLOP/s of one GPU: docs/performance-summary.md of Megatron-Bridge."""
    log = read_log(f"{speed} tok/s/GPU | throughput per GPU (TFLOP/s/GPU): {tflops} |")
    notes = " ".join(answer_log(log, plan(model, seq_len)).notes)
    assert "causal attention" in notes
    assert "No count" not in notes


def test_a_total_is_shared_by_the_devices_of_the_plan():
    """The d24 run on nanochat's leaderboard: 16,704 steps of 524,288 tokens in 10,949 s on 8."""
    total = 16_704 * 524_288 / 10_949
    log = read_log(f"step 1 | tok/sec: {round(total):,} | bf16_mfu: 49.97 | epoch: 1")
    assert log.tokens_per_second == 0
    speed = answer_log(log, plan("gpt2-xl", 1024)).headline[1]
    assert speed.amount == pytest.approx(total / 8, rel=1e-5)
    per_token = 4.330784e19 / (16_704 * 524_288)
    assert speed.amount * per_token / DEVICES["h100-sxm"].peak["bfloat16"] == pytest.approx(
        0.4997, abs=1e-4
    )


@pytest.mark.parametrize(
    ("line", "speed"),
    [
        (
            "elapsed time per iteration (ms): 6400.0 | global batch size:   128 |",
            128 * 8192 / 6.4 / 8,
        ),
        ("iter 10: loss 9.0000, time 500.00ms, mfu 38.10%", 2**20 / 0.5 / 8),
        ("'train_samples_per_second': 12.5, 'train_steps_per_second': 1.5", 12.5 * 8192 / 8),
        ("'train_steps_per_second': 1.5", 1.5 * 2**20 / 8),
    ],
)
def test_steps_and_sequences_are_as_long_as_the_plans(line, speed):
    answer = answer_log(read_log(line), plan(step_tokens=2**20))
    assert answer.headline[1].amount == pytest.approx(speed)
    assert "not tokens" in answer.notes[0]


def test_a_speed_whose_scope_is_not_told_is_of_one_device_and_says_so_on_several():
    log = read_log("6100 tokens/s")
    several, one = (answer_log(log, plan(num_devices=number)) for number in (8, 1))
    assert several.headline[1].amount == one.headline[1].amount == 6100
    assert "of one device or of all" in several.notes[0]
    assert not one.notes


def test_nanogpt_divides_by_the_peak_of_an_a100():
    log = read_log("iter 10: loss 9.0000, time 134.20ms, mfu 38.10%")
    on = {
        name: answer_log(log, plan("gpt2", 1024, 1, name)).notes
        for name in ("a100-80gb", "h100-sxm")
    }
    assert not any("312 TFLOP/s" in note for note in on["a100-80gb"])
    assert any("312 TFLOP/s" in note and "989 TFLOP/s" in note for note in on["h100-sxm"])


def test_more_than_the_peak_is_called_so():
    assert any(
        "more than the peak" in it for it in answer_log(read_log("tps: 20,000"), plan()).notes
    )


def test_adapters_work_less_than_a_full_training():
    log = read_log("2643 tok/s/GPU")
    full, adapted = (
        answer_log(log, plan("llama-3.1-70b", 4096, recipe=recipe)).headline[0].amount
        for recipe in ({}, {"lora": LoRA(rank=16, targets=("q", "k", "v", "o"))})
    )
    assert 0.6 < adapted / full < 0.75


def test_megatron_bridge_counts_of_adapters_the_matrices_alone():
    """docs/performance-summary.md: LoRA of Llama-3 70B, 2,643 tokens/s and 735 TFLOP/s a GPU."""
    log = read_log("2643 tok/s/GPU | throughput per GPU (TFLOP/s/GPU): 735 |")
    adapted = plan(
        "llama-3-70b", 4096, recipe={"lora": LoRA(rank=16, targets=("q", "k", "v", "o"))}
    )
    assert "are what “adapters, without attention” gives" in " ".join(
        answer_log(log, adapted).notes
    )


def test_a_claim_without_a_speed_is_all_there_is():
    assert amounts(answer_log(read_log("mfu: 33.73%"), plan()).headline) == {
        "MFU as the log says": 0.3373
    }


def test_vllm_gives_all_layers_of_gpt_oss_their_full_length():
    """Reported with alvarobartt/hf-mem issue 60: 73,728 bytes for each token, all 36 layers."""
    answer = answer_log(read_log(VLLM), plan("gpt-oss-120b", num_devices=1))
    assert answer.headline[0].low <= 73_728 <= answer.headline[0].high
    assert amounts(answer.beside)["all layers in full"] == 73_728
    assert amounts(answer.beside)["with windows"] < 40_000
    assert "73,728" in answer.notes[0]


def test_a_vllm_that_honours_windows_is_told_apart():
    tokens = round(5.38 * GIB / 37_440)  # as many more, at the same memory
    answer = answer_log(
        read_log(VLLM.replace("78,384", f"{tokens:,}")), plan("gpt-oss-120b", num_devices=1)
    )
    assert "with windows" in answer.notes[0]
    assert "37,440" in answer.notes[0]


def test_a_kv_cache_in_8_bits_is_half_of_the_plans():
    answer = answer_log(read_log(VLLM.replace("5.38", "4.78")), plan("llama-3.1-8b", num_devices=1))
    assert "0.5 times" in answer.notes[0]


def test_the_start_of_any_server_gives_the_bytes_of_a_token():
    """Llama-3.1 8B keeps 131,072 bytes of a token: 5 GiB are 40,960 tokens."""
    texts = (
        "[2026-01-02 TP0] KV Cache is allocated. #tokens: 40960, K size: 2.50 GB, V size: 2.50 GB",
        "[TensorRT-LLM][INFO] Allocated 5.00 GiB for max tokens in paged KV cache (40960).",
        "the rest of the memory reserved for KV Cache is 5.00GiB.\n# GPU blocks: 2560, # CPU: 9",
        "To serve one request with the model's max seq len (131072), (16.00 GiB KV cache is "
        "needed, which is larger than the available KV cache memory (5.00 GiB). Based on the "
        "available memory, the estimated maximum model length is 40960.",
    )
    for text in texts:
        answer = answer_log(read_log(text), plan("llama-3.1-8b", num_devices=1))
        assert answer.headline[0].amount == pytest.approx(131_072, rel=1e-3), text
        assert "131,072" in answer.notes[0]


def test_two_servers_give_a_token_of_one_model_the_same():
    """Reported with vllm-project/vllm issue 21348: Qwen3-235B-A22B in FP8 on four H100."""
    for text in (
        "Available KV cache memory: 8.11 GiB\nGPU KV cache size: 178,880 tokens",
        "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB",
    ):
        answer = answer_log(read_log(text), plan("qwen3-235b-a22b", num_devices=4))
        assert "gives each token what" in answer.notes[0], text
        assert "48,128" in answer.notes[0]


def test_both_counts_of_requests_at_once_are_told_apart():
    whole, windowed = (
        answer_log(read_log(text), plan("gpt-oss-120b", num_devices=1)).notes[1]
        for text in (VLLM, VLLM.replace("8,192 tokens", "131,072 tokens").replace("9.57", "1.19"))
    )
    assert "78,384 tokens / 8,192 of a request = 9.57 requests at once; the log says 9.57" in whole
    assert "= 0.60 requests at once; the log says 1.19" in windowed


def test_a_batch_without_the_time_of_a_step_gives_no_speed():
    answer = answer_log(read_log("elapsed time per iteration | global batch size: 128 | mfu: 30%"),
                        plan())  # fmt: skip
    assert amounts(answer.headline) == {"MFU as the log says": 0.3}


def test_vllm_needs_both_lines():
    with pytest.raises(ValueError, match="Two lines"):
        answer_log(read_log("Maximum concurrency for 8,192 tokens per request: 9.57x"), plan())


def test_buffers_of_llama_cpp_add_up_by_device_and_by_kind():
    serving = ServingPlan(weight_format="int4_group128")
    answer = answer_log(read_log(LLAMA_CPP), plan(num_devices=1, work="serve", serving=serving))
    assert amounts(answer.headline)["CUDA0"] == pytest.approx(5987.49 * MIB, abs=2)
    assert amounts(answer.beside)["weights"] == pytest.approx(4685.30 * MIB, abs=2)
    assert "4.58 GiB" in answer.notes[0]


def test_older_buffers_without_a_word_are_weights_and_a_second_load_counts_alone():
    log = read_log(
        "llm_load_tensors:        CPU buffer size =   100.00 MiB\n"
        "llm_load_tensors:        CPU buffer size =   200.00 MiB\n"
        "llama_new_context_with_model:  CUDA_Host input buffer size   =    13.00 MiB\n"
        "llama_kv_cache_init:      CUDA0 KV buffer size =   10.00 MiB\n"
        "llama_kv_cache_init:      CUDA0 KV buffer size =   20.00 MiB\n"
    )
    assert log.buffers == {
        ("CPU", "model"): 300 * MIB, ("CUDA_Host", "input"): 13 * MIB, ("CUDA0", "KV"): 30 * MIB,
    }  # fmt: skip
    again = read_log(LLAMA_CPP + LLAMA_CPP)
    assert again.buffers == read_log(LLAMA_CPP).buffers


def test_devices_without_end_are_refused():
    text = "".join(f"D{n} KV buffer size = 1 MiB\n" for n in range(65))
    with pytest.raises(ValueError, match="65 devices; at most 64"):
        answer_log(read_log(text), plan())


def test_whatever_is_read_is_answered_or_refused_in_words():
    rng = random.Random(5)  # noqa: S311
    pieces = [
        *(row["example"] for row in ROWS),
        *LLAMA_CPP.splitlines(),
        VLLM,
        "{}:,|% \n",
        "9" * 40,
    ]
    here = plan(num_devices=2)
    for _ in range(400):
        chosen = rng.choices(pieces, k=rng.randint(1, 4))
        cut = ["".join(piece[rng.randrange(len(piece)) :]) for piece in chosen if piece]
        text = rng.choice(("\n", " ", "")).join(rng.sample(cut, len(cut)))
        for changed in (text, "".join(rng.sample(text, len(text)))):
            try:
                log = read_log(changed)
                answer = answer_log(log, here)
            except ValueError:
                continue
            assert log.kind in LOG_KINDS
            assert answer.headline, changed
