"""Rows and columns against the shapes of the real modules."""

from dataclasses import replace

from core.budget.catalogue.models import MODELS
from core.budget.catalogue.parameters import share_counts
from core.budget.compute.row_sums import rows_and_columns
from core.budget.parallel.share import whole
from core.models.build import build_model


def test_rows_and_columns_are_those_of_the_modules_parameters():
    for key in ("gpt2", "llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v3", "qwen2.5-0.5b"):
        spec = MODELS[key]
        mixture = spec.mixture and replace(spec.mixture, num_dense_layers=1)
        spec = replace(spec, num_layers=2, num_windowed_layers=0, mixture=mixture)
        shapes = [each.shape for each in build_model(spec).parameters()]
        expected = 0
        for shape in shapes:
            matrices = shape[:-2].numel()
            expected += shape.numel() if len(shape) < 2 else matrices * (shape[-1] + shape[-2])
        counted = rows_and_columns(spec, whole(spec), share_counts(spec, whole(spec)))
        assert counted == expected, key
