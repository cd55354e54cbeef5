"""The command line of a budget, as a terminal and as continuous integration read it."""

import json
import re
import subprocess
import sys

import pytest

from core.budget.__main__ import EXAMPLES, main
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.command_line.settings import NAMES, read_settings
from core.budget.fits.jobs import SERVING_FORMATS, TRAINING_WAYS
from core.budget.serving.memory import inference_budget
from core.budget.serving.plan import ServingPlan
from tests.core.budget.usable import usable


def run(capsys, *arguments):
    status = main(list(arguments))
    caught = capsys.readouterr()
    return status, caught.out, caught.err


def test_serving_as_json_is_the_budget_itself(capsys):
    settings = ("device=a100-80gb", "weight_format=int8_channel", "concurrency=8")
    pairs = [word for setting in settings for word in ("--set", setting)]

    status, out, _err = run(capsys, "serve", "llama-2-13b", "--json", *pairs)

    plan = ServingPlan(weight_format="int8_channel", concurrency=8)
    budget = inference_budget(MODELS["llama-2-13b"], plan, Cluster(device=DEVICES["a100-80gb"]))
    found = json.loads(out)
    assert status == 0
    assert found["budget"]["amount"] == budget.item.amount
    assert found["capacity"] == budget.capacity
    assert found["fits"] is True
    assert [part["name"] for part in found["budget"]["children"]] == [
        part.name for part in budget.item.children
    ]
    assert found["budget"]["children"][0]["source"]
    assert [speed["unit"] for speed in found["speeds"]] == ["s", "s", "tokens/s", "tokens/s"]


def test_serving_says_how_fast_with_the_bandwidth_share_that_was_measured(capsys):
    """gpt-fast: Llama-2 7B in bf16 answers with 104.9 tokens/s on an A100 (budget.md, E29)."""
    plan = ("device=a100-80gb", "prompt_len=5", "output_len=200")
    pairs = [word for setting in plan for word in ("--set", setting)]
    _status, out, _err = run(capsys, "serve", "llama-2-7b", "--json", *pairs)
    measured = json.loads(out)["speeds"][2]["amount"]
    _status, out, _err = run(capsys, "serve", "llama-2-7b", "--json", *pairs, "--set", "mbu=1")
    most = json.loads(out)["speeds"][2]["amount"]

    assert measured == pytest.approx(104.9, rel=0.15)
    assert most > 1.2 * measured


def test_training_says_what_fails_first_and_prints_the_tree(capsys):
    status, out, err = run(capsys, "train", "llama-2-7b", "--set", "device=rtx-4090")
    assert err.startswith("Not counted, because they cannot be entered: torch.compile, ")

    first, *lines = out.splitlines()
    assert status == 0
    assert first.startswith("Llama-2 7B: ")
    assert f"do not fit in {usable('rtx-4090')}; the first that fails: weights" in first
    assert lines[0].split()[0] == "device"
    assert any(line.startswith("  weights") for line in lines)


def test_markdown_has_a_row_for_each_item_with_its_formula(capsys):
    _status, out, _err = run(capsys, "serve", "gpt2", "--markdown", "--set", "prompt_len=512")

    lines = out.splitlines()
    assert lines[0].endswith("fits")
    assert lines[1] == "| item | amount | kind | formula | source |"
    assert all(line.count("|") >= 6 for line in lines[3:])
    assert any("codes" in line and "`" in line for line in lines)


def test_fits_has_a_row_for_each_device_and_a_column_for_each_way(capsys):
    _status, out, _err = run(capsys, "fits", "llama-2-13b")

    head, _line, *rows = out.splitlines()
    assert len(rows) == len(DEVICES)
    assert head.count("|") == 2 + len(SERVING_FORMATS) + len(TRAINING_WAYS)
    by_name = {row.split("|")[1].strip(): row for row in rows}
    assert "| weights: 2 devices |" in by_name["RTX 4090"]
    assert "fits" in by_name["A100 SXM 40 GB"]


def test_what_a_config_file_leaves_out_or_makes_a_guess_is_told_beside_the_data(capsys, tmp_path):
    config = {
        "model_type": "llama9",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 128,
        "vocab_size": 1000,
        "quantization_config": {"quant_method": "fp8"},
    }
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config), encoding="utf-8")

    status, out, err = run(capsys, "serve", str(file), "--json", "--set", "prompt_len=64")

    weights = json.loads(out)["budget"]["children"][0]
    assert (status, weights["kind"]) == (0, "estimated")
    assert len(err.splitlines()) == 3
    assert all(word in err for word in ("Llama", "max_position_embeddings: 2,048", "fp8"))


def test_settings_become_plan_recipe_and_cluster():
    found = read_settings(
        "llama-2-7b",
        [
            *("tensor=4", "zero_stage=2", "sequence_parallel=yes", "batch_size=2"),
            *("lora_rank=16", "lora_targets=q,k,v", "lora_base=nf4", "overlap=0.5"),
        ],
    )

    assert (found.plan.tensor, found.cluster.tensor, found.cluster.num_devices) == (4, 4, 4)
    assert (found.cluster.zero_stage, found.cluster.sequence_parallel) == (2, True)
    assert found.cluster.overlap == 0.5
    assert found.recipe.batch_size == 2
    assert (found.recipe.lora.rank, found.recipe.lora.targets) == (16, ("q", "k", "v"))
    assert found.recipe.lora.base_format == "nf4"
    assert read_settings("llama-2-7b", ["num_devices=8"]).cluster.num_devices == 8
    assert read_settings("gpt2", []).recipe.lora is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["serve", "gpt-5"], "model is 'gpt-5'; use one of: gpt2"),
        (["serve", "none.json"], "none.json cannot be read"),
        (["serve", "gpt2", "--set", "colour=red"], "colour is no setting of serve; the settings"),
        (["serve", "gpt2", "--set", "num_devices=8"], "num_devices is no setting of serve"),
        (["train", "gpt2", "--set", "kv_format=int8"], "kv_format is no setting of train"),
        (["fits", "gpt2", "--set", "device=t4", "--set", "tensor=2"], "device, tensor is no"),
        (["serve", "gpt2", "--set", "colour"], "'colour' is no setting; write KEY=VALUE"),
        (["serve", "gpt2", "--set", "device=abacus"], "device is 'abacus'; use one of: t4"),
        (["serve", "gpt2", "--set", "concurrency=many"], "'many'; it must be a whole number"),
        (["serve", "gpt2", "--set", "mfu=some"], "'some'; it must be a number"),
        (["serve", "gpt2", "--set", "concurrency=0"], "concurrency is 0; it must lie between 1"),
        (["train", "gpt2", "--set", "sequence_parallel=perhaps"], "use one of: true"),
        (["train", "gpt2", "--set", "num_devices=0"], "num_devices is 0; it must lie between 1"),
        (
            ["train", "gpt2", "--set", "tensor=5", "--set", "seq_len=8"],
            "5 tensor-parallel ranks cannot",
        ),
        (["train", "gpt2", "--set", "lora_rank=1.5"], "'1.5'; it must be a whole number"),
    ],
)
def test_what_cannot_be_is_a_sentence_and_status_2(capsys, arguments, sentence):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_within_the_band_nothing_is_said_to_fail_for_sure(capsys):
    """40 stages of a 70B model: stage 0 needs a little more than an H100 has."""
    pairs = "pipeline=40", "zero_stage=1", "seq_len=8192", "accumulation=8", "step_kind=fused"
    words = [word for pair in (*pairs, "sequence_parallel=yes") for word in ("--set", pair)]
    _status, out, _err = run(capsys, "train", "llama-3.1-70b", *words)
    _status, data, _err = run(capsys, "train", "llama-3.1-70b", "--json", *words)

    assert json.loads(data)["verdict"] == "close"
    assert f"80.0 GiB may not fit in {usable('h100-sxm')}, within the band" in out.splitlines()[0]


def test_the_words_are_chinese_on_request_and_the_data_never(capsys):
    for command in ("train", "serve", "fits"):
        _status, english, _err = run(capsys, command, "llama-2-7b")
        _status, chinese, _err = run(capsys, command, "llama-2-7b", "--lang", "zh")
        _status, data, _err = run(capsys, command, "llama-2-7b", "--json", "--lang", "zh")
        assert any("\u4e00" <= sign <= "\u9fff" for sign in chinese), command
        assert len(chinese.splitlines()) == len(english.splitlines()), command
        assert data.isascii(), command
    _status, _out, error = run(capsys, "train", "gpt-5", "--lang", "zh")
    assert any("\u4e00" <= sign <= "\u9fff" for sign in error)


@pytest.mark.parametrize("command", ["train", "serve", "fits"])
def test_help_names_every_setting_and_its_example_works(capsys, command):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert all(name in told for name in NAMES[command])
    assert run(capsys, command, "llama-2-7b", *EXAMPLES[command].split())[0] == 0


@pytest.mark.slow
def test_a_reader_who_has_seen_enough_is_no_error(root):
    command = f"{sys.executable} -m core.budget train llama-2-7b | head -1"
    child = subprocess.run(
        ["/bin/sh", "-c", command], cwd=root, capture_output=True, text=True, check=False
    )

    assert child.returncode == 0
    assert child.stderr == "" or child.stderr.startswith("Not counted")  # where head lived as long
    assert "Error" not in child.stderr
    assert child.stdout.startswith("Llama-2 7B: ")


@pytest.mark.slow
def test_the_command_runs_without_torch(root):
    code = (
        "import sys; from core.budget.__main__ import EXAMPLES, main; "
        "main(['fits', 'gpt2']); sys.exit('torch' in sys.modules)"
    )
    child = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )

    assert child.returncode == 0, child.stderr
    assert child.stdout.startswith("| device |")


def test_weights_are_as_the_makers_publish_them_unless_told_otherwise(capsys):
    for setting, said in ([], "60.7 GiB"), (["--set", "weight_format=bfloat16"], "218 GiB"):
        _status, out, _err = run(capsys, "serve", "gpt-oss-120b", *setting)
        assert said in next(line for line in out.splitlines() if line.startswith("  weights"))
    _status, out, _err = run(capsys, "fits", "gpt-oss-120b")
    assert "serve mxfp4" in out.splitlines()[0]


def test_what_was_not_counted_stands_behind_the_verdict(capsys, tmp_path):
    file = tmp_path / "config.json"
    sizes = {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 4}
    more = {"intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 4096}
    file.write_text(json.dumps({"model_type": "mine"} | sizes | more), encoding="utf-8")
    for command in ("serve", "train"):
        _status, out, _err = run(capsys, command, str(file))
        first = out.splitlines()[0]
        assert re.search(r"about .* may fit \(layout guessed\)$", first), first
    _status, out, _err = run(capsys, "fits", str(file))
    assert out.splitlines()[-1] == "mine (layout guessed)"
    assert not any(word in out for word in ("| fits", ": 2 devices", "✓"))
    _status, out, _err = run(capsys, "serve", str(file), "--json")
    found = json.loads(out)
    assert (found["verdict"], found["guessed"], found["not_counted"]) == ("close", True, [])
    assert found["budget"]["guess"] is True
