"""The edge between what fits and what does not."""

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.compute.jobs import Serving
from core.budget.fits.reach import by_length, edges, lengths
from core.budget.serving.serving_plan import ServingPlan

JOB = Serving(ServingPlan())


def test_a_point_on_the_edge_fits_and_one_sequence_more_does_not():
    spec, device = MODELS["llama-3.1-8b"], DEVICES["rtx-4090"]
    for edge in edges(spec, JOB, device, (1, 2)):
        spread = JOB.on(edge.num_devices)
        for tokens, most in by_length(edge).items():
            job = spread.sized("tokens", tokens)
            here, beyond = (job.sized("sequences", n).need(spec).amount for n in (most, most + 1))
            assert here <= device.memory_usable < beyond, (edge.num_devices, tokens)


def test_longer_sequences_are_never_more():
    (edge,) = edges(MODELS["llama-2-7b"], JOB, DEVICES["h100-sxm"], (1,))

    assert list(edge.sequences) == sorted(edge.sequences, reverse=True)
    assert edge.tokens[-1] == 4096


def test_numbers_of_devices_that_cannot_share_the_model_have_no_edge():
    found = edges(MODELS["gpt2-xl"], JOB, DEVICES["t4"], (1, 2, 4))  # 25 heads

    assert [edge.num_devices for edge in found] == [1]


def test_more_devices_than_a_plan_may_have_have_no_edge():
    found = edges(MODELS["llama-2-13b"], Serving(ServingPlan()), DEVICES["h100-sxm"], (1, 2048))
    assert [edge.num_devices for edge in found] == [1]


def test_lengths_end_at_the_models_own_context():
    for key, spec in MODELS.items():
        assert lengths(spec)[-1] == spec.seq_len, key
