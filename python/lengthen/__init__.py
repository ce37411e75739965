"""Tasks, couplings, position IDs, models and certificates of `lengthen`, as NumPy arrays.

>>> import lengthen
>>> task = lengthen.Task("addition")
>>> x = next(iter(lengthen.Examples(task, lengths=(3, 3), seed=2)))
>>> task.text(x.tokens)
'4 6 6 + 6 3 8 = 4 0 1 1 $'
>>> x.ids[0].tolist()
[4, 3, 2, 1, 4, 3, 2, 1, 2, 3, 4, 5, 6]

`Examples` gives one example after the other, `Batches` padded arrays for a training loop of your own (PyTorch, JAX). `Run`
opens what `lengthen train` has trained: logits, generation with predicted IDs, the certificate. `store` reads the
measurements as a table. `lengthen.torch` has the mechanism as a PyTorch module.
"""
from ._native import LengthenError
from ._version import __version__
from .models import Answer, Certificate, Model, Run, Token
from .store import cells, runs
from .tasks import Batch, Batches, Example, Examples, Scheme, Task, task_list

__all__ = ["Answer", "Batch", "Batches", "Certificate", "Example", "Examples", "LengthenError", "Model", "Run", "Scheme",
           "Task", "Token", "cells", "runs", "task_list", "__version__"]
