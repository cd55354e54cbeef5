"""The bytes of GGUF blocks as they lie in a file, from stored parts and back.

Source: ggml-org/llama.cpp, ggml/src/ggml-common.h.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.gguf_formats import Parts, Singles, Whole

Bytes = npt.NDArray[np.uint8]
_SUB_BLOCKS: Final = 8  # of Q4_K and Q5_K


def pack(name: str, parts: Parts) -> Bytes:
    """Return the bytes of blocks, a block to a row."""
    codes = parts.codes
    d, dmin = _halves(parts.d), _halves(parts.dmin)
    if name == "Q8_0":
        fields = [d, (codes[:, 0] & 255)]
    elif name == "Q4_0":
        fields = [d, codes[:, 0, :16] | codes[:, 0, 16:] << 4]
    elif name == "Q6_K":
        runs = codes.reshape(-1, 2, 4, 32)  # halves of 128, in them four runs of 32
        low = (runs[:, :, :2] & 15) | (runs[:, :, 2:] & 15) << 4
        high = ((runs >> 4) << np.array([0, 2, 4, 6])[:, None]).sum(axis=2)
        fields = [low.reshape(len(codes), -1), high.reshape(len(codes), -1)]
        fields += [parts.scales & 255, d]
    else:
        low = (codes[:, 0::2] & 15) | (codes[:, 1::2] & 15) << 4
        fields = [d, dmin, _pack_six_bits(parts.scales, parts.minima)]
        if name == "Q5_K":
            fields.append(((codes >> 4) << np.arange(_SUB_BLOCKS)[:, None]).sum(axis=1))
        fields.append(low.reshape(len(codes), -1))
    return np.concatenate(fields, axis=1).astype(np.uint8)


def unpack(name: str, stored: Bytes) -> Parts:
    """Return what the bytes of blocks hold; a block to a row."""
    if name in {"Q8_0", "Q4_0"}:
        return _unpack_plain(name, stored)
    return _unpack_q6_k(stored) if name == "Q6_K" else _unpack_with_minima(name, stored)


def _unpack_plain(name: str, stored: Bytes) -> Parts:
    codes = stored[:, 2:].astype(np.int64)
    if name == "Q4_0":
        codes = np.concatenate([codes & 15, codes >> 4], axis=1)
    else:
        codes = (codes ^ 128) - 128
    ones = np.ones((len(stored), 1), np.int64)
    d = _read_halves(stored[:, :2])
    return Parts(codes=codes[:, None], scales=ones, minima=0 * ones, d=d, dmin=np.zeros_like(d))


def _unpack_q6_k(stored: Bytes) -> Parts:
    numbers = stored.astype(np.int64)
    low = numbers[:, :128].reshape(-1, 2, 2, 32)
    high = numbers[:, 128:192].reshape(-1, 2, 1, 32) >> np.array([0, 2, 4, 6])[:, None]
    codes = np.concatenate([low & 15, low >> 4], axis=2) | (high & 3) << 4
    scales = (numbers[:, 192:208] ^ 128) - 128
    d = _read_halves(stored[:, 208:])
    return Parts(
        codes=codes.reshape(-1, 16, 16),
        scales=scales,
        minima=np.zeros_like(scales),
        d=d,
        dmin=np.zeros_like(d),
    )


def _unpack_with_minima(name: str, stored: Bytes) -> Parts:
    numbers = stored.astype(np.int64)
    low = numbers[:, -128:].reshape(-1, 4, 1, 32)
    codes = np.concatenate([low & 15, low >> 4], axis=2).reshape(-1, _SUB_BLOCKS, 32)
    if name == "Q5_K":
        fifth = numbers[:, None, 16:48] >> np.arange(_SUB_BLOCKS)[:, None]
        codes = codes | (fifth & 1) << 4
    scales, minima = _unpack_six_bits(numbers[:, 4:16])
    d, dmin = _read_halves(stored[:, :2]), _read_halves(stored[:, 2:4])
    return Parts(codes=codes, scales=scales, minima=minima, d=d, dmin=dmin)


def _pack_six_bits(scales: Whole, minima: Whole) -> Whole:
    """Eight scales and eight minima of six bits: twelve bytes."""
    first = scales[:, :4] | (scales[:, 4:] >> 4) << 6
    second = minima[:, :4] | (minima[:, 4:] >> 4) << 6
    third = (scales[:, 4:] & 15) | (minima[:, 4:] & 15) << 4
    return np.concatenate([first, second, third], axis=1)


def _unpack_six_bits(numbers: Whole) -> tuple[Whole, Whole]:
    first, second, third = numbers[:, :4], numbers[:, 4:8], numbers[:, 8:]
    scales = np.concatenate([first & 63, third & 15 | (first >> 6) << 4], axis=1)
    minima = np.concatenate([second & 63, third >> 4 | (second >> 6) << 4], axis=1)
    return scales, minima


def _halves(numbers: Singles) -> Bytes:
    return numbers.astype("<f2").view(np.uint8).reshape(-1, 2)


def _read_halves(stored: Bytes) -> Singles:
    return np.ascontiguousarray(stored).view("<f2").reshape(-1).astype(np.float32)
