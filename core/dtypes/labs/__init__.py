"""Small experiments in which 16 bits and fewer lose numbers: arrays in, steps out."""

from core.dtypes.labs.accumulate import ORDERS, Accumulation, accumulate
from core.dtypes.labs.grad_scaler import ScalerRule, ScalerStep, gradient_peaks, run_scaler
from core.dtypes.labs.loss_scale import (
    GradientBands,
    GradientHistogram,
    gradient_histogram,
    loss_scale_bands,
    synthetic_gradients,
)
from core.dtypes.labs.matmul import MatmulErrors, matmul, matmul_errors, normal_matrices
from core.dtypes.labs.picture import StoredPicture, color_picture, stored_picture
from core.dtypes.labs.softmax import SoftmaxTrace, softmax_naive, softmax_stable
from core.dtypes.labs.weight_updates import (
    StochasticUpdates,
    WeightUpdates,
    half_gap_above,
    stochastic_updates,
    weight_updates,
)

__all__ = [
    "ORDERS",
    "Accumulation",
    "GradientBands",
    "GradientHistogram",
    "MatmulErrors",
    "ScalerRule",
    "ScalerStep",
    "SoftmaxTrace",
    "StochasticUpdates",
    "StoredPicture",
    "WeightUpdates",
    "accumulate",
    "color_picture",
    "gradient_histogram",
    "gradient_peaks",
    "half_gap_above",
    "loss_scale_bands",
    "matmul",
    "matmul_errors",
    "normal_matrices",
    "run_scaler",
    "softmax_naive",
    "softmax_stable",
    "stochastic_updates",
    "stored_picture",
    "synthetic_gradients",
    "weight_updates",
]
