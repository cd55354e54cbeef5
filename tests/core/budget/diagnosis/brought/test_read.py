"""Anything may be brought: it is read, or refused in words."""

import json
import pickle
import zipfile
from io import BytesIO

import pytest

from core.budget.catalogue.hf_config import read_config
from core.budget.diagnosis.brought.read import read_brought
from core.budget.diagnosis.brought.texts import flat
from tests.core.budget.diagnosis.brought.made_files import TEXTS


def test_a_config_of_the_catalogue_is_that_model_and_another_is_kept():
    found = read_brought(TEXTS["CONFIG"].encode())
    assert (found.kind, found.model, found.config) == ("config", "llama-2-7b", "")
    longer = TEXTS["CONFIG"].replace('"num_hidden_layers": 32', '"num_hidden_layers": 30')
    found = read_brought(longer.encode(), "config.json")
    assert (found.model, read_config(found.config).num_layers) == ("", 30)


@pytest.mark.parametrize("group", [128, 32])
def test_a_config_of_quantized_weights_is_not_the_model_in_16_bits(group):
    stored = {"quant_method": "awq", "bits": 4, "group_size": group}
    config = json.loads(TEXTS["CONFIG"]) | {"quantization_config": stored}
    found = read_brought(json.dumps(config).encode())
    assert (found.model, "awq" in found.config) == ("", True)


def test_every_published_config_is_its_own_row_of_the_catalogue(root):
    path = root / "tests/core/budget/catalogue/published_configs.json"
    for name, config in json.loads(path.read_text(encoding="utf-8")).items():
        found = read_brought(json.dumps(config).encode())
        assert (found.kind, found.model) == ("config", name)


def test_a_pickle_is_refused_without_being_opened():
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("archive/data.pkl", b"x")
    for content in (pickle.dumps({"a": 1}), packed.getvalue()):
        with pytest.raises(ValueError, match=r"model\.pt is a pickle, and a pickle can run code"):
            read_brought(content, "model.pt")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"   ",
        b"hello",
        b"\xff\xfe\x00",
        b"a: 1\nb: 2",
        b"{}",
        b'{"a": 1}',
        b"[1, 2]",
        b"--x 1",
    ],
)
def test_what_is_nothing_known_is_told_what_is_read_here(content):
    with pytest.raises(ValueError, match=r"notes\.txt is nothing that is read here"):
        read_brought(content, "notes.txt")


def test_what_is_too_long_or_too_deep_is_refused():
    deep = b'{"a":' * 100_000
    with pytest.raises(ValueError, match="torn, or nested beyond reason"):
        read_brought(deep)
    with pytest.raises(ValueError, match="a recipe has at most 65,536"):
        read_brought(b"per_device_train_batch_size: 1\n" * 5000)
    for depth in (45, 950):
        for text in ('{"weight_map": {"a": %s}}', '{"model_type": "llama", "hidden_size": %s}'):
            with pytest.raises(ValueError, match="nested beyond reason"):
                read_brought((text % ("[" * depth + "]" * depth)).encode())
    many = {"train_micro_batch_size_per_gpu": 1} | {str(number): 1 for number in range(20_000)}
    with pytest.raises(ValueError, match="a recipe has at most 100,000"):
        read_brought(json.dumps(many).encode())
    with pytest.raises(ValueError, match="more than 16 MiB"):
        read_brought(b"x" * (17 << 20))


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {x: 1}\n" + "b: [" + "*a, " * 40 + "]\nbf16: true",
        "bf16: true\na: &a {b: *a, c: *a, d: *a}",
        "bf16: true\na: " + "[" * 500 + "]" * 500,
        "bf16: true\na: 0x" + "f" * 6000,
        "bf16: !!timestamp nonsense",
        "bf16: !!python/object/apply:os.system [ls]",
    ],
)
def test_yaml_that_explodes_or_names_code_is_none(text):
    with pytest.raises(ValueError, match="is nothing that is read here"):
        read_brought(text.encode())


def test_the_name_of_a_part_is_not_repeated_at_full_length():
    """Its fields would need the square of the file's length."""
    inner = {str(number): 1 for number in range(1000)}
    recipe = {"train_micro_batch_size_per_gpu": 1, "x" * 50_000: inner}
    assert max(map(len, dict(flat(recipe)))) < 200
    assert len(read_brought(json.dumps(recipe).encode()).ignored) == 1000


def test_names_that_no_terminal_can_write_are_made_plain():
    odd = {"_name_or_path": "\ud800", "\ud800dim": 1, "num_hidden_layers": 30}
    found = read_brought(json.dumps(json.loads(TEXTS["CONFIG"]) | odd).encode())
    assert (found.named, found.ignored) == ("?", ("?dim",))


def test_a_recipe_in_chinese_or_with_a_byte_order_mark_is_read():
    text = "# 训练\noutput_dir: 输出\nper_device_train_batch_size: 3\n自定义: 1\n"
    found = read_brought(b"\xef\xbb\xbf" + text.encode())
    assert (found.settings["batch"], found.ignored) == (3, ("自定义",))


def test_numbers_that_no_plan_has_are_named_and_not_taken():
    for value in (-5, 0, 1.5, 10**30, "many", True, [1], float("inf")):
        text = json.dumps({"per_device_train_batch_size": value})
        found = read_brought(text.encode())
        assert "batch" not in found.settings, value
        assert any("per_device_train_batch_size" in each for each in found.notes), value
