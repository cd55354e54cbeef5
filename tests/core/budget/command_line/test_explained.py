"""What was brought, as a terminal and as continuous integration read it."""

import gzip
import io
import json
import os
import pickle
import sys
import threading

import pytest

from core.__main__ import main
from core.budget.catalogue.as_config import config_of
from core.budget.catalogue.models import MODELS
from core.train.profiler.results import recorded
from core.train.profiler.trace import is_trace, read_trace, trace_sentence
from tests.core.budget.diagnosis.brought.made_headers import gguf
from tests.core.budget.diagnosis.made_snapshot import two_steps

OOM = "CUDA out of memory. Tried to allocate 172.00 MiB"
RECIPE = {
    "train_micro_batch_size_per_gpu": 1,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 3},
    "wall_clock_breakdown": False,
    "made_up": 1,
}


@pytest.fixture
def said(capsys, tmp_path):
    """Return said(*arguments, content=...): the status and what was printed of a file's content."""

    def run(command, *arguments, content=b""):
        path = tmp_path / "brought"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        status = main([command, str(path), *arguments])
        caught = capsys.readouterr()
        return status, caught.out, caught.err

    return run


def test_an_error_is_explained_by_the_size_that_its_model_has(said):
    status, out, _err = said("explain", "--of", "llama-2-7b", content=OOM)
    assert status == 0
    assert "11,008 × 4,096 × 4" in out.splitlines()[0]
    assert "22,016 × 4,096 × 2" in out


def test_a_trace_is_answered_as_the_step_profiler_answers_it(said):
    packed = recorded("operators", "110k", "fp32").trace
    profile = read_trace(packed)
    for content in (packed, gzip.decompress(packed)):
        status, out, _err = said("explain", content=content)
        assert status == 0
        assert trace_sentence(profile) in out.splitlines()[0]
        assert f"{max(profile.spans.values()):.0%}"[:2] in out.splitlines()[1]
    status, _out, err = said("explain", content='{"schemaVersion": 1, "traceEvents": []}')
    assert (status, "no operator" in err) == (2, True)
    long = gzip.decompress(packed) + b" " * (17 << 20)  # more than any other file may have
    assert said("explain", content=long)[:2] == said("explain", content=packed)[:2]
    assert not is_trace(b"\x1f\x8b torn")


def test_an_error_comes_from_standard_input_too(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(OOM.encode())))
    assert main(["explain", "-", "--of", "llama-2-7b", "--json"]) == 0
    assert "11,008 × 4,096 × 4" in json.loads(capsys.readouterr().out)["sentence"]


def test_a_recipe_is_held_against_devices_and_the_status_says_whether_it_fits(said):
    for device, status in {"h100-sxm:8": 0, "h100-sxm:1": 1}.items():
        found, out, _err = said(
            "fits", "--on", device, "--of", "llama-3.1-8b", "--json", content=json.dumps(RECIPE)
        )
        told = json.loads(out)
        assert found == status
        assert told["fits"] is (status == 0)
        assert told["settings"]["sharding"] == "3"
        assert any("made_up" in name for name in told["ignored"])


def test_what_the_command_line_sets_counts_more_than_the_file(said):
    needs = [
        json.loads(
            said(
                "fits", "--on", "h100-sxm:8", "--of", "llama-3.1-8b", "--json",
                *settings, content=json.dumps(RECIPE),
            )[1]
        )["need"]
        for settings in ([], ["--set", "batch_size=8"], ["--set", "zero_stage=0"])
    ]  # fmt: skip
    assert needs[0] < needs[1]
    assert needs[0] < needs[2]


def test_a_recipe_of_no_known_model_is_not_judged_by_another(said):
    status, out, err = said("fits", "--on", "h100-sxm:8", content=json.dumps(RECIPE))
    assert (status, out) == (2, "")
    assert "--of MODEL" in err
    _status, out, _err = said("explain", content=json.dumps(RECIPE))
    assert "names no model that is known here: Llama-3.1 8B" in out


@pytest.mark.parametrize("padding", [128, 640])
def test_a_header_whose_length_begins_like_a_pickle_is_a_header(said, padding):
    header = b'{"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}'.ljust(padding)
    content = len(header).to_bytes(8, "little") + header
    assert content[0] == 0x80
    status, _out, err = said("explain", content=content)
    assert (status, err) == (0, "")
    assert "safetensors" in json.loads(said("explain", "--json", content=content)[1])["kind"]


def test_a_log_gives_its_mfu(said):
    line = "step: 10  loss: 7.2  memory: 47.65GiB(50.1%)  tps: 5,760  tflops: 333.6  mfu: 33.73%"
    _status, out, _err = said("explain", "--of", "llama-3.1-8b", content=line)
    assert "MFU" in out.splitlines()[0]
    assert "47.7 GiB" in out


def test_a_measured_peak_stands_beside_the_prediction(said):
    states = {"weights": 1, "gradients": 1, "optimizer": 1, "peak": 2**30, "reserved": 2**30}
    _status, out, _err = said("explain", content=json.dumps({"measured_peak": states}))
    assert out.startswith("1.00 GiB in tensors were measured")


def test_what_an_error_or_a_log_was_held_against_is_said(said):
    for content in (OOM, "tps: 5,760"):
        _status, out, _err = said("explain", "--of", "llama-2-7b", content=content)
        assert "Held against Llama-2 7B, 1 × H100 SXM, 1 × 4,096:" in out


def test_a_log_that_counts_steps_takes_those_that_the_command_line_sets(said):
    bar = " 10%|█         | 100/1000 [04:29<40:12,  2.00s/it]"
    settings = {"batch_size": 2, "seq_len": 2048, "accumulation": 8, "num_devices": 4}
    asked = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    _status, out, _err = said("explain", *asked, content=bar)
    assert f"speed of one device: {2 * 2048 * 8 / 2:,.0f} tokens/s" in out
    assert "A bar of evaluation looks the same" in out


def test_the_verdict_on_a_config_says_that_it_is_of_a_training_and_of_which(said):
    content = config_of(MODELS["llama-3.1-8b"])
    _status, out, _err = said("explain", content=content)
    assert "work = train; " in out
    assert "length = 4096; batch = 1; " in out


def test_of_a_checkpoint_is_said_what_lies_in_it_and_no_verdict_on_another_model(said):
    """The index of Llama-3.1 8B: 8,030,261,248 parameters of 16 bits."""
    files = {"metadata": {"total_size": 16_060_522_496}, "weight_map": {"a.weight": "1"}}
    _status, out, _err = said("explain", content=json.dumps(files))
    assert out.startswith("weights: 15.0 GiB\n")
    assert "fit" not in out
    _status, out, _err = said("explain", content=gguf())
    assert "parameters: 6.74 B" in out.splitlines()[0]
    assert "Llama-2 7B: " in out
    assert "optimizer" not in out  # nobody trains the weights of a GGUF file


def test_a_verdict_says_first_what_it_leaves_out_and_whose_it_is(said):
    command = "vllm serve mine/unknown --pipeline-parallel-size 2"
    _status, out, _err = said("explain", "--of", "deepseek-v3", content=command)
    assert "Without pipeline_parallel_size = 2" in out.splitlines()[0]
    _status, out, _err = said("explain", content="vllm serve mine/unknown --max-model-len 8192")
    assert out.startswith("The file names no known model. With ")
    assert "“mine/unknown” is not known here: Llama-3.1 8B" in out


def test_a_split_over_more_devices_than_the_plans_takes_as_many(said):
    recipe = (
        "base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 1\nsequence_parallel_degree: 2\n"
    )
    status, out, _err = said("explain", content=recipe)
    assert status == 0
    assert "devices = 2; length = 4096; step = 1572864; optimizer = adamw" in out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("RuntimeError: CUDA error: out of memory", "nvidia-smi"),
        ("ValueError: No available memory for the cache blocks.", "the command that starts it"),
        ("cudaMalloc failed: out of memory", "buffer size"),
        ("XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory", "only those of torch"),
        ("[1] 1234 Killed   python train.py", "host's memory"),
        ("CUDA out of memory occurred when warming up sampler with 256 requests", "max_num_seqs"),
        ("$ python train.py\nKilled", "host's memory"),
        ("zsh: killed     python train.py", "host's memory"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.", "host's memory"),
        ("DataLoader worker (pid 7) is killed by signal: Killed.", "host's memory"),
        ("It is possible that dataloader's workers are out of shared memory.", "--shm-size"),
        ("Task was killed due to the node running low on memory.", "host's memory"),
        ("RuntimeError: HIP error: out of memory", "driver"),
        ("Native API returns: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)", "driver"),
        ("vk::Device::allocateMemory: ErrorOutOfDeviceMemory", "buffer size"),
        ("Last error:\nFailed to CUDA calloc async 608 bytes", "NCCL"),
        ("NCCL WARN Cuda failure 'out of memory'", "NCCL"),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "cuDNN"),
        ("[metal::malloc] Attempting to allocate 26843545600 bytes", "Metal"),
        ("torch.OutOfMemoryError: Allocation on device", "nvidia-smi"),
        ('  sd = torch.load("model.bin")\nMemoryError', "on the host"),
        ("| llama 8B Q4_K - Medium | CUDA | 99 | tg128 | 130.51 |\n| test | t/s |", "speeds of"),
        ("Engine 000: Avg generation throughput: 345.6 tokens/s, Running: 8 reqs", "speeds of"),
    ],
)
def test_a_text_without_sizes_is_answered_by_what_it_means(said, text, words):
    status, out, err = said("explain", content=text)
    assert (status, out) == (2, "")
    assert words in err


def test_a_snapshot_is_read_in_a_process_of_its_own(said):
    _status, out, _err = said("explain", content=pickle.dumps(two_steps().dump()))
    assert out.startswith("Peak ")


@pytest.mark.parametrize(
    ("arguments", "content", "text"),
    [
        (("explain",), b"hello", ""),
        (("explain",), b"\x00" * 100, ""),
        (("fits", "--on", "h100-sxm:8"), OOM.encode(), "no recipe"),
        (("fits", "--on", "abacus:8"), b"{}", "device is 'abacus'"),
    ],
)
def test_what_cannot_be_read_ends_with_a_sentence_and_status_2(said, arguments, content, text):
    command, *others = arguments
    status, out, err = said(command, *others, content=content)
    assert status == 2
    assert out == ""
    assert text in err
    assert "Traceback" not in err


def test_without_standard_input_nothing_was_brought(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["explain", "-"]) == 2
    assert "nothing that is read here" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_snapshot_in_a_pipe_is_not_read_a_second_time(capsys, tmp_path):
    """`explain <(ssh gpu cat snapshot.pickle)`: another process would find the pipe empty."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = pickle.dumps(two_steps().dump())
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert main(["explain", str(pipe)]) == 2
    writer.join()
    assert "looks like a memory snapshot" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(capsys):
    assert main(["explain", "nowhere/at/all"]) == 2
    assert "nowhere/at/all cannot be read" in capsys.readouterr().err


def test_the_model_of_a_config_is_the_one_that_is_counted(said):
    """A shape of the catalogue is recognised by its config alone."""
    spec = MODELS["llama-3.1-8b"]
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"],
        "hidden_size": spec.hidden_dim, "num_hidden_layers": spec.num_layers,
        "num_attention_heads": spec.num_heads, "num_key_value_heads": spec.num_kv_heads,
        "intermediate_size": spec.ffn_dim, "vocab_size": spec.vocab_size,
        "max_position_embeddings": spec.seq_len, "tie_word_embeddings": False,
    }  # fmt: skip
    _status, out, _err = said("fits", "--on", "h100-sxm:8", "--json", content=json.dumps(config))
    assert json.loads(out)["model"] == "llama-3.1-8b"
