"""What torch knows about the processor. Needs torch: call it in a child process."""

import re
from typing import Final

# The names torch.cpu.get_capabilities uses -> the names people use.
FEATURES: Final = {
    "avx2": "AVX2",
    "avx512_f": "AVX-512",
    "avx512_bf16": "AVX-512 BF16",
    "avx512_fp16": "AVX-512 FP16",
    "amx_tile": "AMX",
    "amx_bf16": "AMX BF16",
    "neon": "NEON",
    "bf16": "Arm BF16",
    "sve": "SVE",
    "sme": "SME",
}
_KERNEL_LINE: Final = re.compile(
    r"(oneAPI Math Kernel Library|MKL-DNN|OpenMP) (?:Version )?([^\s-]+)"
)


def cpu_features() -> tuple[tuple[str, bool], ...]:
    """Return the matrix and vector units that torch looks for on this architecture."""
    import torch.cpu

    found = torch.cpu.get_capabilities()
    return tuple((label, bool(found[key])) for key, label in FEATURES.items() if key in found)


def cpu_name() -> str:
    """Return the processor's name as torch reads it, "" when it cannot."""
    import torch.cpu

    return str(torch.cpu.get_capabilities().get("cpu_name", ""))


def kernel_libraries() -> tuple[str, ...]:
    """Return the libraries under torch that do the computing, with their versions."""
    import torch

    lines = torch.__config__.show().splitlines()
    found = [match for line in lines if (match := _KERNEL_LINE.search(line))]
    names = [f"{_library(match[1])} {match[2]}" for match in found]
    if torch.version.cuda and torch.backends.cudnn.is_available():
        names.append(f"cuDNN {torch.backends.cudnn.version()}")
    return tuple(names)


def _library(name: str) -> str:
    return {"oneAPI Math Kernel Library": "oneMKL", "MKL-DNN": "oneDNN"}.get(name, name)
