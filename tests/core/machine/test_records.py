"""A probe travels as JSON and comes back as it was."""

import json

import pytest

from core.machine.records import probe_from_json


def test_a_probe_survives_the_journey_through_json(made_probe):
    assert probe_from_json(json.loads(json.dumps(made_probe.to_json()))) == made_probe


def test_a_dtype_works_only_when_every_operation_does(made_probe):
    assert not made_probe.devices[0].dtypes[0].works


def test_the_best_device_is_the_first_accelerator(made_probe):
    assert made_probe.best_device is made_probe.devices[1]


def test_data_that_is_no_probe_is_refused(made_probe):
    with pytest.raises(ValueError, match="not the result of a probe: 'features'"):
        probe_from_json({"torch": "2.13.0"})
    with pytest.raises(ValueError, match="not the result of a probe"):
        probe_from_json(
            {**made_probe.to_json(), "devices": [{"kind": "cpu", "dtypes": [], "speeds": []}]}
        )
