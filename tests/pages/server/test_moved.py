"""Saved links lead to what they showed: Home's old cards, and every lesson that once was."""

import json
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.server.moved import Move, MovedLinks, load_moves, moved
from pages.shared.lessons import load_lessons
from pages.shared.navigation import PAGES, page_row

PAGE = {"accept": "text/html,*/*;q=0.8"}
# The lessons as they stood before pages and tabs were merged: slug, address, concepts.
SAVED = json.loads(Path(__file__).with_name("saved_lessons.json").read_text(encoding="utf-8"))


async def told(request):
    return PlainTextResponse(str(request.url))


@pytest.fixture
def client():
    routes = [Route(path, told) for path in ("/", *(f"/{row.address}" for row in PAGES))]
    app = Starlette(routes=routes, middleware=[Middleware(MovedLinks)])
    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/?home_card=stack", "/machine?machine_tab=stack"),
        ("/home?home_card=environment&units=GB", "/machine?machine_tab=machine&units=GB"),
        ("/?home_card=stack&home_system=linux&lock=1", "/machine?machine_tab=stack&lock=1"),
        (
            "/?home_card=closed&home_system=linux&home_build=cpu&home_search=a+%26+b&lang=zh",
            "/?home_search=a+%26+b&lang=zh",
        ),
        ("/?home_card=closed", "/"),
        ("/?home_card=%3Cb%3E", "/"),
    ],
)
def test_an_old_link_leads_on_with_all_that_it_says(client, old, new):
    answer = client.get(old, headers=PAGE)

    assert answer.status_code == 307
    assert answer.headers["location"] == new
    assert client.get(new, headers=PAGE).status_code == 200


@pytest.mark.parametrize(
    "address", ["/", "/?home_search=view", "/lessons?home_card=stack", "/what-fits?plan_model=gpt2"]
)
def test_every_other_address_passes_as_it_is(client, address):
    answer = client.get(address, headers=PAGE)
    assert (answer.status_code, answer.text) == (200, f"http://testserver{address}")


def test_what_is_no_page_passes_as_it_is(client):
    assert client.get("/?home_card=stack", headers={"accept": "*/*"}).status_code == 200


def test_a_move_renames_values_and_hidden_settings_and_drops_what_another_page_does_not_know():
    move = Move(
        page="serving", when={"serving_tab": "old", "serving_x": ""}, to="what-fits",
        set={"fits_tab": "map"}, names={"serving_model": "plan_model"},
        values={"plan_model": {"7b": "llama-2-7b"}},
    )  # fmt: skip
    query = [("serving_tab", "old"), ("serving_model", "7b"), ("lang", "zh"), ("serving_y", "1")]

    assert move.is_about("serving", query)
    assert not move.is_about("serving", [*query, ("serving_x", "1")])
    assert not move.is_about("serving", [("lang", "zh")])
    assert move.applied([*query, ("hide", "serving_model,title")]) == [
        ("fits_tab", "map"), ("plan_model", "llama-2-7b"), ("lang", "zh"),
        ("hide", "plan_model,title"),
    ]  # fmt: skip


OLD_MEMORY = {
    "plan_model": "llama-2-7b", "plan_length": "4096", "plan_checkpointing": "none",
    "plan_devices": "1", "plan_step": "32768", "plan_batch": "1", "plan_sharding": "0",
}  # fmt: skip


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ("memory_precision=fp32", OLD_MEMORY | {"plan_precision": "fp32"}),
        (
            "memory_replicas=8&memory_tensor=4&memory_stages=2&memory_batch=2",
            {"plan_devices": "64", "plan_step": "524288", "plan_tensor": "4"},
        ),
        ("memory_lora=true&memory_base=nf4", {"plan_lora": "nf4"}),
        ("memory_batch=2&hide=replicas,seq,a", {"hide": "plan_devices,plan_length,memory_a"}),
        ("memory_replicas=many&memory_model=gpt2", {"plan_model": "gpt2", "plan_batch": "1"}),
        ("memory_tab=recipes&memory_precision=fp32", {"plan_devices": "8"}),
        ("memory_tab=recipes&memory_states_devices=5&memory_replicas=1", {"plan_devices": "5"}),
        ("memory_tab=recipes&memory_checkpointing=full", {"plan_devices": "8"}),
    ],
)  # fmt: skip
def test_an_old_setting_is_the_plans_with_what_the_page_was_where_the_link_left_it_out(old, now):
    new = dict(parse_qsl(urlsplit(moved(f"/training-memory?{old}")).query))
    assert new.items() >= now.items()
    assert not [name for name in new if name.startswith("memory_") and name != "memory_tab"]


def test_side_a_is_the_plans_too_and_one_that_knows_the_plan_stays():
    new = dict(parse_qsl(urlsplit(moved("/training-memory?memory_a=lora%3Dtrue%26rank%3D4")).query))
    side = dict(parse_qsl(new["memory_a"]))
    assert side.items() >= (OLD_MEMORY | {"plan_lora": "bfloat16", "plan_rank": "4"}).items()
    assert new.items() >= OLD_MEMORY.items()
    alone = dict(parse_qsl(urlsplit(moved("/training-memory?memory_a=default")).query))
    assert dict(parse_qsl(alone["memory_a"])).items() >= OLD_MEMORY.items()
    for query in ("memory_a=plan_model%3Dgpt2%26kind%3Dfused", "memory_tab=items&plan_model=gpt2"):
        assert moved(f"/training-memory?{query}") == f"/training-memory?{query}"


@pytest.mark.parametrize(
    ("old", "a"),
    [
        ("flops_a=default&flops_dtype=fp8",
         {"from": "rule", "billions": "70", "plan_tokens": "15000", "plan_devices": "1024"}),
        ("flops_tab=time&flops_a=params%3D7", {"from": "rule", "billions": "7"}),
        ("flops_tab=lines&flops_a=cluster%3D128", {"plan_devices": "128", "plan_length": "4096"}),
        ("flops_tab=roofline&flops_a=batch%3D8", {"plan_concurrency": "8"}),
        ("flops_tab=budget&flops_a=rented%3D64", {"plan_devices": "64"}),
        ("flops_tab=mfu&flops_a=context%3D2048",
         {"plan_length": "2048", "plan_checkpointing": "none"}),
    ],
)  # fmt: skip
def test_side_a_of_flops_and_time_is_what_its_tab_was(old, a):
    new = dict(parse_qsl(urlsplit(moved(f"/flops-and-time?{old}")).query))
    side = dict(parse_qsl(new["flops_a"]))
    assert side.items() >= a.items()
    gone = {"params", "tokens", "devices", "mfu", "cluster", "batch", "rented", "context", "tab"}
    assert side.keys() & gone == set()
    assert ("from" in a) == ("from" in side)


def test_a_precision_alone_is_that_of_the_rule():
    new = dict(parse_qsl(urlsplit(moved("/flops-and-time?flops_dtype=fp8&lang=zh")).query))
    wanted = {"flops_from": "rule", "flops_billions": "70", "plan_tokens": "15000"}
    assert new.items() >= (wanted | {"flops_dtype": "fp8", "lang": "zh"}).items()


def test_a_recipe_of_the_map_is_several_settings_of_the_plan():
    new = dict(parse_qsl(urlsplit(moved("/what-fits?fits_work=train&fits_recipe=qlora")).query))
    wanted = {
        "fits_tab": "map", "plan_work": "train", "plan_model": "llama-2-13b",
        "plan_precision": "pure_bf16", "plan_lora": "nf4_double_quant", "plan_length": "4096",
    }  # fmt: skip
    assert new.items() >= wanted.items()


def test_every_saved_lesson_leads_to_a_page_and_to_an_address_that_moves_no_further():
    addresses = {row.address for row in PAGES}
    for saved in SAVED:
        new = moved(saved["address"])
        assert urlsplit(new).path.strip("/") in addresses, saved
        assert moved(new) == new, saved
    assert all(row.when or row.any or row.defaults for row in load_moves())


def test_every_lesson_of_today_stands_where_its_address_says():
    for lesson in load_lessons():
        address = f"/{page_row(lesson.page).address}?{urlencode(lesson.query)}"
        assert moved(address) == address, lesson.slug


def test_every_concept_that_had_a_lesson_has_one():
    had = {concept for saved in SAVED for concept in saved["concepts"]}
    assert had - {concept for lesson in load_lessons() for concept in lesson.concepts} == set()
