"""A machine with a CPU and a GPU, described by hand, for tests that only read a probe."""

from core.machine.kept_probe import Device, DtypeVerdict, Probe, Speed, Trial

TRIALS = (Trial(operation="create", works=True), Trial(operation="add", works=False, message="no"))
CPU = Device(
    kind="cpu",
    torch_name="cpu",
    name="A CPU",
    memory_total=8 << 30,
    memory_free=1 << 30,
    capability="AVX2",
    dtypes=(DtypeVerdict(name="int4", item_bytes=1, trials=TRIALS),),
    speeds=(Speed(what="copy", unit="B/s", median=2.0, low=1.0, high=3.0, num_runs=7),),
)
GPU = Device(
    kind="cuda",
    torch_name="cuda:0",
    name="A GPU",
    memory_total=80 << 30,
    memory_free=79 << 30,
    capability="9.0",
)
PROBE = Probe(
    torch="2.13.0",
    cuda="13.0",
    rocm=None,
    kernels=("oneDNN v3.12.0",),
    num_threads=8,
    cpu_name="A CPU",
    features=(("AVX2", True), ("AMX", False)),
    devices=(CPU, GPU),
)
