"""Models and runs: logits, gradients, generation with predicted IDs, certificates."""
from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import Any, Optional, Sequence

import numpy as np

from . import _structs as s
from ._native import Error, lib, text
from .tasks import ABSENT, Example, Scheme, Task, _take


def _sequence(tokens: np.ndarray, ids: Optional[np.ndarray], targets: np.ndarray,
              id_targets: Optional[np.ndarray]) -> tuple["s.lg_sequence", list[Any]]:
    kept: list[Any] = [np.ascontiguousarray(tokens, np.int32), np.ascontiguousarray(targets, np.int32)]
    q = s.lg_sequence(n=len(kept[0]), levels=1, tokens=kept[0].ctypes.data, targets=kept[1].ctypes.data)
    if ids is None:
        ids = np.arange(len(tokens))
    rows = np.ascontiguousarray(np.atleast_2d(ids), np.int32)
    kept.append(rows)
    q.levels = len(rows)
    for l, row in enumerate(rows):
        q.ids[l] = row.ctypes.data
    if id_targets is not None:
        heads = np.ascontiguousarray(np.atleast_2d(id_targets), np.int32)
        kept.append(heads)
        for l, row in enumerate(heads):
            q.id_targets[l] = row.ctypes.data
    return q, kept


class _Packed:
    """An lg_batch of sequences, given back at the end."""

    def __init__(self) -> None:
        self.struct = s.lg_batch()
        self.at = ctypes.byref(self.struct)
        lib.lg_batch_init(self.at)

    def add(self, tokens: np.ndarray, ids: Optional[np.ndarray], targets: np.ndarray,
            id_targets: Optional[np.ndarray] = None) -> None:
        e = Error()
        q, _kept = _sequence(tokens, ids, targets, id_targets)
        e.check(lib.lg_batch_add_levels(self.at, ctypes.byref(q), e.at))

    def __enter__(self) -> "_Packed":
        return self

    def __exit__(self, *_: object) -> None:
        lib.lg_batch_clear(self.at)


class Model:
    """A model: one that was saved (`Model.load`), a new one (`Model.new`), or a run's.

    >>> m = Model.new(vocab=5, width=16, heads=2, layers=1, encoding="relative", span=1, window_lo=[0], window_hi=[1])
    >>> m.logits([1, 2, 3], ids=[1, 2, 2]).shape
    (3, 5)
    >>> sorted(m.parameters)[:2]
    ['embed.weight', 'final_norm.bias']
    """

    def __init__(self, pointer: int, owner: Any = None) -> None:
        self.pointer, self._owner = pointer, owner  # without an owner it is ours
        self._evaluator: Optional[int] = None

    @classmethod
    def new(cls, arch: int = s.LG_ARCH_NEOX, **config: Any) -> "Model":
        """A model with fresh weights; keywords are the fields of lg_model_config, per-level ones as lists."""
        e, c, kept = Error(), lib.lg_model_config_default(arch), []
        for key, value in config.items():
            if isinstance(value, str):
                kept.append(value.encode())
                value = kept[-1]
            if isinstance(value, (list, tuple)):
                for l, v in enumerate(value):
                    getattr(c, key)[l] = v
            else:
                setattr(c, key, value)
        return cls(e.check(lib.lg_model_new(ctypes.byref(c), e.at)))

    @classmethod
    def load(cls, file: str) -> "Model":
        e = Error()
        return cls(e.check(lib.lg_model_load(str(file).encode(), e.at)))

    def save(self, file: str) -> None:
        """As one safetensors file, which `load` reads."""
        e = Error()
        e.check(lib.lg_model_save(self.pointer, str(file).encode(), e.at))

    def __del__(self) -> None:
        if getattr(self, "_evaluator", None):
            lib.lg_evaluator_free(self._evaluator)
            self._evaluator = None
        if getattr(self, "pointer", None) and self._owner is None:
            lib.lg_model_free(self.pointer)
        self.pointer = None  # type: ignore[assignment]

    @property
    def config(self) -> dict[str, Any]:
        """Its lg_model_config, by name."""
        c = s.lg_model_config.from_address(lib.lg_model_get_config(self.pointer))
        out: dict[str, Any] = {}
        for name, _kind, *_rest in c._fields_:
            value = getattr(c, name)
            out[name] = text(value) if isinstance(value, bytes) else list(value) if isinstance(value, ctypes.Array) else value
        return out

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The parameters by name, as views [rows, cols]: write into them, then call `touch`."""
        found = {}
        for i in range(lib.lg_model_param_count(self.pointer)):
            p = lib.lg_model_param(self.pointer, i)
            block = (ctypes.c_float * (p.rows * p.cols)).from_address(p.data)
            found[text(p.name)] = np.ctypeslib.as_array(block).reshape(p.rows, p.cols)
        return found

    def touch(self) -> None:
        """After writing into a parameter, before the model is used again."""
        lib.lg_model_touch(self.pointer)

    def _run(self, tokens: Sequence[int], ids: Optional[np.ndarray]) -> "s.lg_eval_result":
        e = Error()
        if not self._evaluator:
            self._evaluator = e.check(lib.lg_evaluator_new(self.pointer, 0, e.at))
        result = s.lg_eval_result()
        with _Packed() as b:
            b.add(np.asarray(tokens), ids, np.zeros(len(tokens), np.int32))
            e.check(lib.lg_evaluator_run(self._evaluator, b.at, ctypes.byref(result), e.at))
        return result

    def logits(self, tokens: Sequence[int], ids: Optional[np.ndarray] = None) -> np.ndarray:
        """[n, vocab]: what follows each token. ids [levels, n]; None: 0, 1, 2, .."""
        r = self._run(tokens, ids)
        vocab = self.config["vocab"]
        return _take(r.logits, r.rows * vocab, np.float32).reshape(r.rows, vocab)

    def id_logits(self, tokens: Sequence[int], ids: Optional[np.ndarray] = None, level: int = 0) -> np.ndarray:
        """[n, classes] of a level's ID head; class c of the head delta stands for a step of c - reach."""
        r = self._run(tokens, ids)
        classes = self.config["id_classes"][level]
        return _take(r.id_logits[level], r.rows * classes, np.float32).reshape(r.rows, classes)

    def certify(self, task: Task, scheme: Scheme, max_contexts: float = 0) -> "Certificate":
        """Proves the model right on every input of a task of every length, or finds one on which it fails."""
        return _certify(model=self.pointer, task=task.pointer, most=max_contexts,
                        scheme=ctypes.cast(ctypes.pointer(scheme.struct(len(task.levels))), ctypes.c_void_p))

    def gradients(self, examples: Sequence[Example], id_weight: float = 1.0) -> tuple[float, float, dict[str, np.ndarray]]:
        """Loss, ID loss, and the gradient of loss + id_weight * ID loss by each parameter, over a batch of examples."""
        e, o, result, found = Error(), lib.lg_train_options_default(), s.lg_train_result(), {}
        o.id_weight = id_weight
        trainer = e.check(lib.lg_trainer_new(self.pointer, ctypes.byref(o), e.at))
        try:
            with _Packed() as b:
                for x in examples:
                    b.add(x.tokens[:-1], x.ids[:, :-1], x.targets, x.id_targets)
                e.check(lib.lg_trainer_gradients(trainer, b.at, ctypes.byref(result), e.at))
            for i in range(lib.lg_model_param_count(self.pointer)):
                p = lib.lg_model_param(self.pointer, i)
                found[text(p.name)] = _take(lib.lg_trainer_gradient(trainer, i), p.rows * p.cols,
                                            np.float32).reshape(p.rows, p.cols)
        finally:
            lib.lg_trainer_free(trainer)
        return result.loss, result.id_loss, found


@dataclass
class Token:
    """A token of a text: its word, its IDs (None: none at a level), whether it was generated, and how likely."""
    token: int
    word: str
    ids: list[Optional[int]]
    generated: bool
    p: float


@dataclass
class Answer:
    """What a run wrote: all tokens, the prompt's too. `exact` is None where the right answer is not known."""
    tokens: list[Token]
    exact: Optional[bool]
    predicted: bool

    @property
    def prompt(self) -> str:
        return " ".join(t.word for t in self.tokens if not t.generated)

    @property
    def text(self) -> str:
        return " ".join(t.word for t in self.tokens if t.generated)


@dataclass
class Certificate:
    """`certified`: right at every length; else `input` is one on which it fails."""
    certified: bool
    contexts: int
    wrong: int
    min_margin: Optional[float]
    input: str
    answer: str
    right: str
    json: dict[str, Any]


def _certify(**options: Any) -> Certificate:
    e, c, o = Error(), s.lg_certificate(), s.lg_certify_options(**options)
    e.check(lib.lg_certify(ctypes.byref(o), ctypes.byref(c), e.at))
    made = lib.lg_certificate_json(ctypes.byref(c))
    return Certificate(bool(c.certified), c.contexts, c.wrong, c.min_margin if c.wrong < c.contexts else None,
                       text(c.input), text(c.answer), text(c.right), json.loads(made))


class Run:
    """A folder that `lengthen train` has made.

    >>> run = Run(RUN)                                     # doctest: +SKIP
    >>> run.generate("1 0 1 1 =").text                     # doctest: +SKIP
    '1 1 0 1 $'
    """

    def __init__(self, folder: str, *, allow_exec: bool = False, fallback: bool = False) -> None:
        e, self._access = Error(), s.lg_run_access(allow_exec=allow_exec, fallback=fallback)
        self.folder = str(folder)
        self.pointer = None
        self.pointer = e.check(lib.lg_run_load(self.folder.encode(), ctypes.byref(self._access), None, e.at))
        self.task = Task._borrow(lib.lg_loaded_task(self.pointer))
        self.model = Model(lib.lg_loaded_model(self.pointer), self)
        self.step: int = lib.lg_loaded_step(self.pointer)

    def close(self) -> None:
        """Gives its memory back; the model and the task are not to be used afterwards."""
        if self.pointer:
            if self.model._evaluator:
                lib.lg_evaluator_free(self.model._evaluator)
                self.model._evaluator = None
            lib.lg_loaded_free(self.pointer)
            self.pointer = None

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def generate(self, prompt: Optional[str] = None, *, length: int = 0, sparsity: int = 0, seed: int = -1,
                 predicted: Optional[bool] = None, temperature: float = 0, max_tokens: int = 0) -> Answer:
        """Answers a prompt (words between spaces) or a fresh example of the task.

        With predicted IDs where the run has heads for them, unless `predicted` says otherwise.
        """
        e, tokens, known = Error(), [], []
        each = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(s.lg_run_token))
        done = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(s.lg_run_answer))

        @each
        def take(_: Any, at: Any) -> None:
            t = at.contents
            ids = [None if t.id[l] == ABSENT else t.id[l] for l in range(t.levels)]
            tokens.append(Token(t.token, text(t.word), ids, bool(t.generated), t.p))

        @done
        def finish(_: Any, at: Any) -> None:
            a = at.contents
            known.append((bool(a.exact) if a.known else None, bool(a.predicted)))

        words = prompt.encode() if prompt is not None else None
        o = s.lg_generate_options(folder=self.folder.encode(), access=self._access, prompt=words, length=length,
                                  sparsity=sparsity, count=1, seed=seed, temperature=temperature, max_tokens=max_tokens,
                                  predicted=-1 if predicted is None else int(predicted))
        o.callback = ctypes.cast(take, ctypes.c_void_p)
        o.answered = ctypes.cast(finish, ctypes.c_void_p)
        e.check(lib.lg_run_generate(ctypes.byref(o), None, e.at))
        return Answer(tokens, *known[0])

    def score(self, length: int, samples: int = 100, *, predicted: bool = True, seed: int = 1) -> float:
        """The share of exact answers at a length, generated greedily."""
        e, d, result = Error(), s.lg_draw(seed=seed, stream=3, length_lo=length, length_hi=length), s.lg_score()
        e.check(lib.lg_answer(lib.lg_loaded_model(self.pointer), self.task.pointer, lib.lg_loaded_scheme(self.pointer),
                              ctypes.byref(d), samples, int(predicted), 0, ctypes.byref(result), e.at))
        return result.exact / result.samples

    def certify(self, max_contexts: float = 0) -> Certificate:
        """Proves the run right at every length, or finds an input on which it fails (docs/CERTIFICATE.md)."""
        return _certify(folder=self.folder.encode(), access=self._access, most=max_contexts)
