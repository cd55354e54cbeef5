"""The exported script gives the losses of its run, bit for bit, without this project."""

import ast
import io
import subprocess
import sys
import zipfile

import pytest
import torch

from core.train.config import TrainConfig
from core.train.export.script import script_of, write_script, zipped_script
from core.train.learning.trainer import Trainer
from core.train.run.directory import read_info, write_info
from core.train.run.store import RunStore
from core.train.start.launch import create_run
from core.train.start.plan import predict_run
from core.train.text.dataset import build_dataset

TEXT = b"the quick brown fox jumps over the lazy dog. " * 60
WHAT = {"name": "small", "corpus": "upload", "device": "cpu", "precision": "fp32"}
SHAPE = {"num_layers": 2, "hidden_dim": 32, "num_heads": 4, "seq_len": 16, "batch_size": 4}
COURSE = {"num_steps": 50, "warmup_steps": 5}
RECIPES = (
    {},
    {"optimizer": "adam", "schedule": "linear", "precision": "bf16_fp32_attention"},
    {"optimizer": "sgd", "schedule": "constant", "learning_rate": 0.1, "dropout": 0.1},
    {"optimizer": "momentum", "schedule": "step", "learning_rate": 0.1, "grad_clip": 0.0},
    {"optimizer": "rmsprop", "precision": "bf16", "family": "llama", "num_kv_heads": 2},
    {"optimizer": "adagrad", "checkpointing": True, "dropout": 0.2, "accumulation_steps": 2},
    {"optimizer": "muon", "precision": "fp16", "accumulation_steps": 3},
    {"optimizer": "muon", "family": "llama", "checkpointing": True, "dropout": 0.1},
    {"precision": "pure_bf16", "family": "llama"},
    {"precision": "pure_fp16", "optimizer": "sgd"},
    {"precision": "fp16_unscaled", "family": "llama", "num_kv_heads": 1},
    {"precision": "bf16_fp32_attention", "family": "llama", "num_kv_heads": 2},
)


@pytest.fixture
def make_run(tmp_path, made_timing):
    """Return make_run(**changes): a run directory, and its config."""

    def make(**changes):
        config = TrainConfig.from_json(WHAT | SHAPE | COURSE)
        dataset = build_dataset(config, TEXT, "fox.txt")
        run = create_run(predict_run(config, dataset), made_timing, tmp_path)
        config, info = TrainConfig.from_json(config.to_json() | changes), read_info(run)
        info["config"], info["resolved"]["precision"] = config.to_json(), config.precision
        write_info(run, info)
        return run, config, dataset

    return make


def losses_of(config, dataset):
    torch.set_num_threads(1)
    vocab_size, cpu = dataset.tokenizer.vocab_size, torch.device("cpu")
    trainer = Trainer(config, dataset.training_tokens, dataset.validation_tokens, vocab_size, cpu)
    return [trainer.train_step().loss for _step in range(config.num_steps)]


@pytest.mark.slow
def test_fifty_losses_of_a_script_are_those_of_its_run_bit_for_bit_for_every_row(
    make_run, tmp_path
):
    wanted, folders = [], []
    for number, changes in enumerate(RECIPES):
        run, config, dataset = make_run(**changes)
        folders.append(tmp_path / f"script {number}")
        write_script(run, folders[-1])
        wanted.append(losses_of(config, dataset))
    told = printed_by(folders)
    for changes, these, those in zip(RECIPES, told, wanted, strict=True):
        assert these == those, changes


def printed_by(folders):
    """The losses that the scripts print; one process for all, which torch's import allows."""
    driver = (
        "import runpy, sys\n"
        "for folder in sys.argv[1:]:\n"
        "    sys.argv = ['train.py', '50']\n"
        "    print('begin')\n"
        "    runpy.run_path(folder + '/train.py', run_name='__main__')\n"
    )
    command = [sys.executable, "-I", "-c", driver, *map(str, folders)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    parts = ended.stdout.split("begin\n")[1:]
    return [[float(line.split()[-1]) for line in part.splitlines()] for part in parts]


def test_a_script_imports_torch_numpy_and_the_standard_library_alone(make_run):
    for changes in RECIPES:
        tree = ast.parse(script_of(make_run(**changes)[0]))
        imports = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
        names = {
            each.names[0].name if isinstance(each, ast.Import) else each.module for each in imports
        }
        assert {name.split(".")[0] for name in names} <= {
            "math",
            "sys",
            "pathlib",
            "numpy",
            "torch",
        }


def test_a_script_holds_nothing_that_its_run_does_not_use(make_run):
    script = script_of(make_run()[0])
    for word in (
        "autocast",
        "Scaler",
        "checkpoint(",
        "dropout",
        "rotary",
        "Muon",
        "ACCUMULATION",
        "#@",
    ):
        assert word not in script, word


def test_a_rate_that_was_changed_by_hand_is_in_the_script(make_run):
    run = make_run()[0]
    with RunStore(run) as store:
        told = {"command": 1, "op": "set_learning_rate_multiplier", "value": 0.5}
        store.append_event("ack", 20, **told, accepted=True, reason="")
    assert "BY_HAND = ((20, 0.5),)" in script_of(run)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parent": {"run": "that-run", "step": 6, "trained_seconds": 1.0}}, "fork of that-run"),
        ({"config": {**WHAT, **SHAPE, "mistake": "no_zero_grad"}}, "no_zero_grad"),
    ],
)
def test_what_a_script_cannot_begin_with_is_refused_in_words(make_run, changes, words):
    run = make_run()[0]
    write_info(run, read_info(run) | changes)
    with pytest.raises(ValueError, match=words):
        script_of(run)


def test_the_zip_holds_script_and_tokens(make_run):
    run = make_run()[0]
    with zipfile.ZipFile(io.BytesIO(zipped_script(run))) as archive:
        assert archive.namelist() == ["train.py", "tokens.bin"]
        assert archive.read("train.py").decode() == script_of(run)
        assert archive.read("tokens.bin") == (run / "data" / "tokens.bin").read_bytes()
