"""Recipes of other programs: what each says of the plan, and what of it was not understood."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import Cluster
from core.budget.diagnosis.brought.names import model_named
from core.budget.diagnosis.brought.read import read_brought
from core.budget.diagnosis.brought.recipes import RECIPES
from core.budget.diagnosis.brought.record import KINDS
from core.budget.recipe import CHECKPOINTING, LoRA, TrainingRecipe
from core.budget.training.memory import training_budget
from core.units import GIB
from pages.shared.plan.plan import BASES, INPUTS, KV_FORMATS, SHARDING, TARGETS, WEIGHT_FORMATS
from tests.core.budget.diagnosis.brought.made_files import TEXTS

TRAIN = {"work": "train"}
EXPECTED = {
    "DEEPSPEED": (
        "deepspeed", "",
        {"batch": 2, "optimizer": "adamw", "precision": "mixed_bf16", "sharding": "3",
         "devices": 8},
        ("my_extension.level",),
    ),
    "DEEPSPEED_AUTO": ("deepspeed", "", {"sharding": "2"}, ()),
    "CALLS": (
        "training_arguments", "llama-2-7b",
        {"length": 2048, "batch": 4, "optimizer": "adam8bit", "precision": "mixed_bf16",
         "checkpointing": "full", "lora": "nf4_double_quant", "rank": 16, "targets": "qv",
         "sharding": "0"},
        ("dropout_plan",),
    ),
    "COMMAND": (
        "training_arguments", "qwen2.5-7b",
        {"length": 4096, "batch": 2, "optimizer": "adamw", "kind": "fused", "precision": "fsdp2",
         "sharding": "3", "checkpointing": "full", "devices": 16, "step": 2 * 4 * 16 * 4096},
        ("lazy_preprocess",),
    ),
    "ARGUMENTS_YAML": (
        "training_arguments", "",
        {"length": 1024, "batch": 8, "optimizer": "adafactor", "precision": "autocast_bf16",
         "checkpointing": "none", "sharding": "0"},
        (),
    ),
    "ACCELERATE_FSDP": (
        "accelerate", "",
        {"precision": "fsdp2", "sharding": "2", "checkpointing": "full", "devices": 16}, (),
    ),
    "ACCELERATE_DEEPSPEED": (
        "accelerate", "", {"precision": "mixed_bf16", "sharding": "3", "devices": 8}, (),
    ),
    "AXOLOTL": (
        "axolotl", "llama-3-8b",
        {"length": 4096, "batch": 2, "optimizer": "adamw", "precision": "mixed_bf16",
         "checkpointing": "full", "lora": "nf4_double_quant", "rank": 32, "targets": "all",
         "sharding": "0"},
        ("my_own_switch",),
    ),
    "AXOLOTL_FULL": (
        "axolotl", "llama-3.1-8b",
        {"length": 8192, "batch": 1, "optimizer": "adamw", "kind": "fused", "precision": "fsdp2",
         "sharding": "2", "checkpointing": "full", "lora": "none"},
        (),
    ),
    "LLAMA_FACTORY": (
        "llama_factory", "llama-3-8b",
        {"length": 2048, "batch": 1, "precision": "mixed_bf16", "checkpointing": "full",
         "lora": "nf4_double_quant", "rank": 8, "targets": "all", "sharding": "0"},
        ("my_field",),
    ),
    "LLAMA_FACTORY_FULL": (
        "llama_factory", "qwen2.5-7b",
        {"length": 2048, "batch": 1, "precision": "mixed_bf16", "sharding": "3",
         "checkpointing": "none", "lora": "none"},
        (),
    ),
    "TORCHTITAN": (
        "torchtitan", "llama-3.1-8b",
        {"length": 8192, "batch": 2, "optimizer": "adamw", "kind": "foreach", "tensor": 4,
         "sequence": True, "stages": 1, "context": 2, "precision": "fsdp2", "reduce": "float32",
         "sharding": "3", "checkpointing": "selective", "devices": 8 * 4 * 2,
         "step": 2 * 8 * 8192},
        ("mine.answer",),
    ),
    "VLLM": (
        "vllm", "llama-3.1-70b",
        {"work": "serve", "tensor": 4, "devices": 4, "context_length": 32768, "concurrency": 1,
         "kv": "float8_e4m3fn"},
        ("my_plugin",),
    ),
    "VLLM_MODULE": (
        "vllm", "llama-2-13b",
        {"work": "serve", "tensor": 2, "devices": 2, "context_length": 4000, "concurrency": 1,
         "weights": "int4_group128_affine"},
        (),
    ),
    "VLLM_PYTHON": (
        "vllm", "qwen3-8b",
        {"work": "serve", "tensor": 2, "devices": 2, "context_length": 16384,
         "concurrency": 1},
        (),
    ),
    "COMPOSE": (
        "vllm", "qwen3-8b",
        {"work": "serve", "tensor": 2, "devices": 2, "context_length": 16384,
         "concurrency": 1},
        (),
    ),
    "SGLANG": (
        "sglang", "llama-3.1-70b",
        {"work": "serve", "tensor": 4, "devices": 4, "context_length": 32768,
         "concurrency": 1},
        ("my_plugin",),
    ),
    "TORCHTUNE": (
        "torchtune", "llama-3.1-8b",
        {"length": 4096, "batch": 2, "optimizer": "adamw", "kind": "fused",
         "precision": "pure_bf16", "checkpointing": "full", "lora": "nf4", "rank": 16,
         "targets": "qv"},
        ("my_switch",),
    ),
    "MEGATRON": (
        "megatron", "",
        {"length": 8192, "batch": 1, "optimizer": "adamw", "tensor": 4, "sequence": True,
         "stages": 2, "precision": "mixed_bf16", "sharding": "1", "devices": 32,
         "step": 128 * 8192},
        ("hidden_size",),
    ),
    "TITAN_PYTHON": (
        "torchtitan", "",
        {"length": 8192, "batch": 2, "tensor": 2, "sequence": True, "precision": "fsdp2",
         "reduce": "float32", "sharding": "3"},
        ("model_spec",),
    ),
}  # fmt: skip


def read(text):
    return read_brought(text.encode())


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recipe_says_what_its_fields_say_and_names_the_others(name):
    kind, model, settings, ignored = EXPECTED[name]
    found = read(TEXTS[name])
    assert (found.kind, found.model, found.ignored) == (kind, model, ignored)
    assert dict(found.settings) == TRAIN | settings


def test_what_the_rows_can_say_is_what_the_inputs_of_the_plan_take():
    options = {
        "precision": PRECISIONS, "optimizer": OPTIMIZERS, "checkpointing": CHECKPOINTING,
        "lora": BASES, "targets": TARGETS, "sharding": SHARDING, "kv": KV_FORMATS,
        "weights": WEIGHT_FORMATS,
    }  # fmt: skip
    for name, (_kind, _model, settings, _ignored) in EXPECTED.items():
        assert settings.keys() <= INPUTS.keys(), name
        for setting, possible in options.items():
            assert settings.get(setting, next(iter(possible))) in possible, (name, setting)
    from core.budget.diagnosis.brought.recipes import _VALUES

    for setting in options.keys() & _VALUES.keys():
        assert {*_VALUES[setting].values()} - {""} <= {*options[setting]}, setting


def test_every_recipe_is_a_kind_and_its_marks_are_fields_of_it():
    for kind, row in RECIPES.items():
        assert kind in KINDS
        known = {*row["fields"], *row["beyond"], *row["no_bearing"]}
        assert {*row["marks"]} <= known | {"num_train_epochs", "base_model"}, kind


def test_what_no_plan_can_hold_is_named_with_its_value():
    found = read(TEXTS["DEEPSPEED"])
    assert any("zero_optimization.offload_optimizer.device = cpu" in each for each in found.notes)
    found = read(TEXTS["LLAMA_FACTORY_FULL"])
    assert any("ds_z3_offload_config.json" in each for each in found.notes)
    found = read(TEXTS["VLLM_MODULE"])
    assert any("kv_cache_dtype = fp8_e5m2" in each for each in found.notes)


@pytest.mark.parametrize(
    ("strategy", "stage"),
    [("FULL_SHARD", "3"), ("SHARD_GRAD_OP", "2"), ("NO_SHARD", "0"), (1, "3"), (2, "2"), (3, "0")],
)
def test_the_names_and_numbers_of_fsdp_are_stages(strategy, stage):
    text = TEXTS["ACCELERATE_FSDP"].replace("strategy: 2", f"strategy: {strategy}")
    assert read(text).settings["sharding"] == stage


@pytest.mark.parametrize(
    ("fields", "precision"),
    [
        ("bf16: true", "autocast_bf16"),
        ("bf16: true\ntorch_dtype: bfloat16", "pure_bf16"),
        ("bf16: true\nfsdp: full_shard auto_wrap", "fsdp2"),
        ("fp16: true\ndeepspeed: zero2.json", "mixed_bf16"),
        ("bf16: false\nfp16: false", None),
        ("bf16: false\ntorch_dtype: float32", "fp32"),
        ("bf16: auto", "autocast_bf16"),
    ],
)
def test_bf16_of_the_trainer_is_autocast_unless_the_weights_are_16_bits_or_sharded(
    fields, precision
):
    found = read(f"per_device_train_batch_size: 1\n{fields}\n")
    assert found.settings.get("precision") == precision


def test_adapters_leave_no_autocast_copies_of_frozen_weights_in_the_plan():
    """QLoRA of 7 billion weights needs some gigabytes, not those of a cast copy too."""
    settings = read(TEXTS["CALLS"]).settings
    recipe = TrainingRecipe(
        precision=settings["precision"], checkpointing=settings["checkpointing"],
        batch_size=1, seq_len=settings["length"], optimizer=settings["optimizer"],
        lora=LoRA(rank=settings["rank"], base_format=settings["lora"]),
    )  # fmt: skip
    need = training_budget(
        MODELS["llama-2-7b"], recipe, Cluster(device=DEVICES["rtx-4090"])
    ).largest
    assert need.amount < 8 * GIB


@pytest.mark.parametrize(
    ("name", "before", "after", "setting", "value"),
    [
        ("AXOLOTL_FULL", "SHARD_GRAD_OP", "HYBRID_SHARD", "precision", "fsdp2"),
        ("AXOLOTL_FULL", "bf16: true", "bfloat16: true", "precision", "pure_bf16"),
        ("AXOLOTL_FULL", "fsdp:\n  - full_shard\n  - auto_wrap", "deepspeed: zero3_bf16.json",
         "precision", "mixed_bf16"),
        ("AXOLOTL", "adapter: qlora", "adapter:", "lora", "none"),
        ("AXOLOTL", "4bit: true\nload_in_8bit: false", "8bit: true", "lora", "int8_channel"),
        ("COMMAND", '--fsdp "full_shard auto_wrap"', "", "sharding", "0"),
        ("DEEPSPEED", '"enabled": true', '"enabled": false', "precision", "fp32"),
        ("DEEPSPEED_AUTO", '"bf16": {"enabled": "auto"}', '"bf16": {"enabled": false}',
         "precision", None),
        ("ACCELERATE_FSDP", "mixed_precision: bf16", "mixed_precision: 'no'", "precision", None),
        ("COMMAND", '--fsdp "full_shard auto_wrap"', "--deepspeed mine.json", "sharding", None),
        ("COMMAND", "full_shard auto_wrap", "shard_grad_op offload", "sharding", "2"),
        ("TORCHTITAN", "shard_degree = 8", "shard_degree = -1", "devices", None),
        ("TORCHTITAN", "shard_degree = 8", "shard_degree = 1", "sharding", "0"),
        ("TORCHTITAN", 'selective_ac_option = "op"', 'selective_ac_option = "2"', "checkpointing",
         None),
        ("TORCHTITAN", "pipeline_parallel_degree = 1", "pipeline_parallel_degree = 2", "batch", 1),
        ("VLLM", "32768", "32k", "context_length", 32_000),
        ("VLLM", "32768", "32K", "context_length", 32_768),
        ("VLLM", "vllm serve", "docker run vllm/vllm-openai:v1 --model", "tensor", 4),
        ("DEEPSPEED", '"train_batch_size": 128', '"train_batch_size": 100', "devices", None),
        ("LLAMA_FACTORY_FULL", "finetuning_type: full", "finetuning_type: freeze", "lora", None),
        ("AXOLOTL", "adapter: qlora", "adapter: dora", "lora", None),
        ("AXOLOTL", "adapter: qlora\n", "", "lora", "none"),
        ("AXOLOTL", "deepspeed:\n", "deepspeed: mine.json\n", "sharding", None),
        ("DEEPSPEED", '"stage": 3, ', "", "sharding", "0"),
        ("DEEPSPEED", '"stage": 3, ', '"stage": 7, ', "sharding", None),
        ("DEEPSPEED_AUTO", '"zero_optimization": {', '"zero_optimization": false, "a": {',
         "sharding", "0"),
        ("COMMAND", '--fsdp "full_shard auto_wrap"', "--config_file fsdp.yaml", "sharding", None),
        ("VLLM", "--tensor-parallel-size 4", "", "devices", 1),
        ("VLLM", "--max-model-len 32768", "", "context_length", 131_072),
        ("VLLM", "--max-model-len 32768", "--max-model-len auto", "context_length", None),
        ("TORCHTITAN", "pipeline_parallel_degree = 1", "pipeline_parallel_degree = 2", "sharding",
         "2"),
        ("TORCHTITAN", "pipeline_parallel_degree = 1",
         'pipeline_parallel_degree = 2\nfsdp_reshard_after_forward = "default"', "sharding", "2"),
        ("TORCHTITAN", "pipeline_parallel_degree = 1",
         'pipeline_parallel_degree = 2\nfsdp_reshard_after_forward = "always"', "sharding", "3"),
        ("CALLS", "load_in_4bit=True", "load_in_4bit=args.quantized", "lora", None),
    ],
)  # fmt: skip
def test_one_changed_field_changes_what_it_means(name, before, after, setting, value):
    assert before in TEXTS[name]
    found = read(TEXTS[name].replace(before, after))
    assert found.settings.get(setting) == value


def test_a_recipe_is_read_in_a_fence_with_words_around_it():
    for name in ("DEEPSPEED", "AXOLOTL", "TORCHTITAN"):
        text = f"Here it is:\n```yaml\n{TEXTS[name]}\n```\nIt fails."
        assert read(text) == read(TEXTS[name]), name
        assert read(f"%%writefile my.yaml\n{TEXTS[name]}") == read(TEXTS[name]), name


@pytest.mark.parametrize(
    "form",
    [
        "command: --model Qwen/Qwen3-8B --max-model-len 16384 -tp 2\n    ports: [1]",
        "command: >\n      --model Qwen/Qwen3-8B\n      --max-model-len 16384 -tp 2",
        'args:\n    - "--model"\n    - Qwen/Qwen3-8B\n    - "--max-model-len=16384"\n    - "-tp=2"',
        'command: ["/bin/sh", "-c"]\n    args:\n    - |\n      python3 -m vllm.entrypoints.openai.'
        "api_server \\\n        --model Qwen/Qwen3-8B --max-model-len 16384 \\\n        -tp 2",
        'command: ["vllm", "serve", "Qwen/Qwen3-8B", "--max-model-len", "16384", "-tp", "2"]',
    ],
)
def test_a_service_says_its_command_in_any_form(form):
    before, _mark, _after = TEXTS["COMPOSE"].partition("command:")
    for image in ("vllm/vllm-openai:latest", "rocm/vllm-dev:nightly"):
        text = before.replace("vllm/vllm-openai:latest", image) + form
        assert read(text) == read(TEXTS["COMPOSE"]), image


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("llamafactory-cli train examples/full.yaml cutoff_len=4096", "full.yaml"),
        (
            'CONFIG_FILE="./configs/llama3_8b.toml" ./run_train.sh --compile.enable',
            "llama3_8b.toml",
        ),
    ],
)
def test_a_command_whose_recipe_is_in_a_file_asks_for_the_file(command, file):
    with pytest.raises(ValueError, match=f"is in {file}, which was not brought"):
        read(command)


def test_devices_that_a_command_may_see_are_its_devices_unless_its_launcher_says_more():
    command = "CUDA_VISIBLE_DEVICES=0,1,2,3 llamafactory-cli train --finetuning_type full"
    assert read(command).settings["devices"] == 4
    launched = command.replace("llamafactory-cli train", "torchrun --nproc_per_node 2 train.py")
    assert read(launched).settings["devices"] == 2
    served = read("export CUDA_VISIBLE_DEVICES=0,1\nvllm serve Qwen/Qwen3-8B -tp 1")
    assert (served.settings["devices"], served.ignored) == (1, ())


def test_the_state_of_a_trainer_is_a_log_and_no_recipe():
    with pytest.raises(ValueError, match="nothing that is read here"):
        read('{"log_history": [{"loss": 1.5}], "num_train_epochs": 3, "train_batch_size": 4}')


def test_torchtitans_parallelism_of_2024_is_not_dropped():
    found = read(
        'model = {name = "llama3", flavor = "8B"}\n[training]\nbatch_size = 1\nseq_len = 8192\n'
        "tensor_parallel_degree = 2\ndata_parallel_shard_degree = 4\n"
        "[experimental]\ncontext_parallel_degree = 2\n"
    )
    assert (found.model, found.ignored) == ("llama-3.1-8b", ())
    assert [found.settings[name] for name in ("tensor", "context", "devices")] == [2, 2, 16]


def test_tokens_of_a_step_are_left_open_where_the_devices_are():
    assert "step" not in read(TEXTS["AXOLOTL"]).settings
    more = TEXTS["TORCHTITAN"].replace("seq_len", "global_batch_size = 64\nseq_len")
    assert read(more).settings["step"] == 64 * 8192


def test_a_model_is_named_only_where_the_whole_name_is_known():
    known = {
        "meta-llama/Llama-3.1-8B-Instruct": "llama-3.1-8b",
        "meta-llama/Llama-2-7b-chat-hf": "llama-2-7b",
        "unsloth/Meta-Llama-3.1-8B-bnb-4bit": "llama-3.1-8b",
        "mistralai/Mistral-7B-Instruct-v0.3": "mistral-7b-v0.3",
        "/data/models/Qwen2.5-7B-Instruct/": "qwen2.5-7b",
        "deepseek-ai/DeepSeek-R1": "deepseek-v3",
        "openai-community/gpt2": "gpt2",
        "meta-llama/Llama-3.3-70B-Instruct": "llama-3.1-70b",
        "Qwen/Qwen2-7B-Instruct": "qwen2.5-7b",
    }
    for name, key in known.items():
        assert model_named(name) == key, name
    for name in (
        "mistralai/Mistral-7B-Instruct-v0.2", "deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "",
        "Qwen/Qwen2.5-Coder-7B", "microsoft/Phi-4-mini-instruct", "nvidia/Llama-3.1-Nemotron-70B",
        "microsoft/Phi-3-mini-128k-instruct", "llama", "8b",
    ):  # fmt: skip
        assert model_named(name) == "", name


def test_what_a_file_leaves_out_is_said_where_it_is_taken():
    assert any("FSDP" in each for each in read(TEXTS["AXOLOTL"]).notes)
    assert any("64" in each for each in read(TEXTS["VLLM"]).notes)
    found = read("vllm serve mine/unknown --max-num-seqs 8")
    assert dict(found.settings) == {"work": "serve", "tensor": 1, "devices": 1, "concurrency": 1}
    longest = read("vllm serve meta-llama/Llama-3.1-8B")
    assert any("131,072" in each for each in longest.notes)
    piped = TEXTS["TORCHTITAN"].replace(
        "pipeline_parallel_degree = 1", "pipeline_parallel_degree = 2"
    )
    assert any("reshard_after_forward" in each for each in read(piped).notes)
    assert not any("reshard_after_forward" in each for each in read(TEXTS["TORCHTITAN"]).notes)


def test_what_is_not_written_out_is_neither_set_nor_called_impossible():
    found = read(
        "model = AutoModelForCausalLM.from_pretrained(model_id, torch_dtype=torch.bfloat16)\n"
        "args = TrainingArguments(output_dir=args.out, per_device_train_batch_size=args.batch_size,"
        " bf16=torch.cuda.is_bf16_supported(), fp16=False, deepspeed=args.deepspeed,"
        " gradient_accumulation_steps=4, use_liger_kernel=args.liger)"
    )
    assert dict(found.settings) == TRAIN
    assert (found.model, found.named, found.ignored) == ("", "", ())
    (note,) = found.notes
    for name in (
        "per_device_train_batch_size", "bf16", "pretrained_model_name_or_path", "deepspeed",
        "use_liger_kernel",
    ):  # fmt: skip
        assert name in note
    assert "?" not in note
    keyed = read("TrainingArguments(bf16=True, fsdp_config={NAME: True}, optim=make())")
    assert not any("object" in each for each in (*keyed.ignored, *keyed.notes))


def test_deepspeed_inside_the_arguments_is_read_as_its_file_is():
    found = read(
        "TrainingArguments(per_device_train_batch_size=1, bf16=args.half, deepspeed={"
        '"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}},'
        '"bf16": {"enabled": True}, "train_batch_size": n})'
    )
    assert dict(found.settings) == TRAIN | {
        "batch": 1, "sharding": "3", "precision": "mixed_bf16",
    }  # fmt: skip
    assert any("offload_optimizer.device = cpu" in each for each in found.notes)
    auto = read(
        "TrainingArguments(per_device_train_batch_size=1, bf16=False,"
        ' deepspeed={"zero_optimization": {"stage": 2}, "bf16": {"enabled": "auto"}})'
    )
    assert auto.settings["sharding"] == "2"
    assert "precision" not in auto.settings


def test_a_notebook_of_unsloth_is_read():
    found = read(
        "model, tokenizer = FastLanguageModel.from_pretrained("
        'model_name="unsloth/Meta-Llama-3.1-8B-bnb-4bit", max_seq_length=2048, load_in_4bit=True)\n'
        "model = FastLanguageModel.get_peft_model(model, r=16, lora_alpha=16, target_modules=["
        '"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],'
        ' use_gradient_checkpointing="unsloth", random_state=3407)'
    )
    assert (found.model, found.ignored) == ("llama-3.1-8b", ())
    assert dict(found.settings) == TRAIN | {
        "length": 2048, "checkpointing": "full", "lora": "nf4_double_quant", "rank": 16,
        "targets": "all", "sharding": "0",
    }  # fmt: skip


def test_torchtitans_selective_checkpointing_is_beyond_a_plan_which_keeps_every_product():
    """torchtitan, distributed/activation_checkpoint.py: `mm_count % 2` are made again."""
    op = TEXTS["TORCHTITAN"]
    whole = op.replace('mode = "selective"', 'mode = "full"')
    told = [read_brought(each.encode()) for each in (op, whole)]
    assert [any("every second" in each for each in of.beyond) for of in told] == [True, False]


@pytest.mark.parametrize(
    ("name", "model", "weights"),
    [
        ("Qwen/Qwen2.5-32B-Instruct-GPTQ-Int8", "qwen2.5-32b", "int8_group128"),
        ("Qwen/Qwen2.5-32B-Instruct-GPTQ-Int4", "qwen2.5-32b", "int4_group128"),
        ("Qwen/Qwen2.5-72B-Instruct-AWQ", "qwen2.5-72b", "int4_group128_affine"),
        ("Qwen/Qwen3-32B-FP8", "qwen3-32b", "fp8_block128"),
        ("RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w4a16", "llama-3.1-70b", "int4_group128"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "llama-3.1-8b", "int8_channel"),
        ("unsloth/Llama-3.3-70B-Instruct-bnb-4bit", "llama-3.1-70b", "nf4_double_quant"),
        ("RedHatAI/Qwen3-8B-NVFP4", "qwen3-8b", "nvfp4"),
    ],
)
def test_a_server_finds_the_format_of_which_the_name_of_a_checkpoint_speaks(name, model, weights):
    for more in ("", " --quantization gptq_marlin"):  # which has 4 or 8 bits
        found = read(f"vllm serve {name}{more}")
        assert (found.model, found.settings["weights"]) == (model, weights)
        assert any(weights in note for note in found.notes)


def test_an_adapters_own_config_is_read():
    found = read(
        '{"peft_type": "LORA", "base_model_name_or_path": "meta-llama/Llama-3.1-8B", "r": 16,'
        ' "lora_alpha": 32, "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM",'
        ' "auto_mapping": {"a": 1}, "inference_mode": true, "fan_in_fan_out": false}'
    )
    assert (found.model, found.ignored) == ("llama-3.1-8b", ())
    assert dict(found.settings) == TRAIN | {
        "lora": "bfloat16", "rank": 16, "targets": "qv", "sharding": "0",
    }  # fmt: skip


def test_preparing_for_kbit_training_checkpoints_unless_it_is_told_not_to():
    more = 'LoraConfig(r=8)\nAutoModelForCausalLM.from_pretrained("a/b", device_map={"": 0})'
    for call, checkpointing in {
        "prepare_model_for_kbit_training(model)": "full",
        "prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)": "none",
    }.items():
        found = read(f"{call}\n{more}")
        assert (found.settings["checkpointing"], found.ignored) == (checkpointing, ())


def test_of_several_blocks_the_one_that_names_a_model_is_read_and_that_is_said():
    text = f"```\n{TEXTS['ACCELERATE_FSDP']}\n```\nand\n```\n{TEXTS['AXOLOTL']}\n```\n"
    found = read(text)
    assert found.kind == "axolotl"
    assert any("2 blocks" in note for note in found.notes)
