"""This computer without torch, checked against psutil and the interpreter itself."""

import importlib.metadata
import os

import psutil

from core.machine import describe_machine, installed_version, usable_cores


def test_memory_and_cores_are_what_psutil_says():
    machine, memory = describe_machine(), psutil.virtual_memory()
    assert machine.memory_total == memory.total
    assert 0 < machine.memory_available <= machine.memory_total
    assert machine.logical_cores == psutil.cpu_count()
    assert 1 <= machine.usable_cores <= machine.logical_cores


def test_versions_are_read_without_importing_the_packages():
    machine = describe_machine()
    assert machine.torch == importlib.metadata.version("torch")
    assert dict(machine.versions)["streamlit"] == importlib.metadata.version("streamlit")
    assert installed_version("surely-not-installed") is None


def test_a_machine_that_cannot_pin_processes_counts_all_cores(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert usable_cores() == psutil.cpu_count()


def test_usable_cores_follow_the_affinity_of_the_process(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 3, 5}, raising=False)
    assert usable_cores() == 3
