"""Tasks as iterators of NumPy arrays: tokens, IDs per level, targets, loss mask."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Iterator, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as s
from ._native import Error, lib, text

ABSENT = s.LG_ABSENT
"""The ID of a token that has none at a level."""
NONE = s.LG_NONE
"""The target of a place without a loss."""
LEVELS = s.LG_LEVELS

TRAIN, DRAWS, TEST = 1, 2, 3  # streams of examples, of their drawn IDs, and of tests, as `lengthen train` has them


def task_list() -> dict[str, str]:
    """The tasks by name, each with its line.

    >>> task_list()["copy"]
    'the same sequence again'
    """
    infos = [s.lg_task_info.from_address(lib.lg_task_info_at(i)) for i in range(lib.lg_task_count())]
    return {text(i.name): text(i.line) for i in infos}


def _take(address: Optional[int], n: int, kind: type) -> np.ndarray:
    """A copy of n numbers in the library's memory."""
    if not n or not address:
        return np.full(n, NONE, kind)
    return np.ctypeslib.as_array((np.ctypeslib.as_ctypes_type(kind) * n).from_address(address)).copy()


class Task:
    """A task by its name, as `lengthen tasks` lists them, or `jsonl:FILE`, `text:PATHS`; settings by keyword.

    >>> task = Task("addition", base=2)
    >>> task.vocab, task.levels, task.unit
    (5, ['column'], 'digits')
    >>> Task("adition")
    Traceback (most recent call last):
    ...
    lengthen._native.LengthenError: there is no task "adition"; did you mean "addition"? `lengthen tasks` lists them
    """

    def __init__(self, name: str, **settings: object) -> None:
        e, words = Error(), [f"{k}={v}".encode() for k, v in settings.items()]
        self._own = True
        self.pointer = None
        self.pointer = e.check(lib.lg_task_new(name.encode(), (ctypes.c_char_p * len(words))(*words), len(words), e.at))
        self._fill()

    @classmethod
    def _borrow(cls, pointer: int) -> "Task":
        """A task that belongs to a run."""
        task = cls.__new__(cls)
        task._own, task.pointer = False, pointer
        task._fill()
        return task

    def _fill(self) -> None:
        shape = s.lg_task_shape.from_address(lib.lg_task_get_shape(self.pointer))
        info = s.lg_task_info.from_address(shape.info)
        words = (ctypes.c_char_p * shape.vocab).from_address(shape.words)
        self.name, self.unit = text(info.name), text(info.unit)
        self.vocab: int = shape.vocab
        self.words = [text(w) for w in words]
        self.levels = [text(shape.level[l] if isinstance(shape.level[l], bytes) else
                            ctypes.cast(shape.level[l], ctypes.c_char_p).value) for l in range(shape.levels)]
        self.stop: Optional[int] = None if shape.stop == NONE else shape.stop
        self._tokens = {w: i for i, w in enumerate(self.words)}

    def __del__(self) -> None:
        if getattr(self, "_own", False) and self.pointer:
            lib.lg_task_free(self.pointer)
            self.pointer = None

    def __repr__(self) -> str:
        return f"Task({self.name!r})"

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as words."""
        return " ".join(self.words[t] for t in tokens)

    def tokens(self, words: Union[str, Sequence[str]]) -> np.ndarray:
        """Words as tokens.

        >>> Task("copy").tokens("a b").tolist()
        [0, 1]
        """
        split = words.split() if isinstance(words, str) else list(words)
        return np.array([self._tokens[w] for w in split], np.int32)


@dataclass
class Scheme:
    """Which IDs tokens get and who supplies those of generated ones, as the keys positions.* of a config.

    `source` is "given" or a head ("delta", "pointer", ..), one for all levels or one for each. `max_id` lets training draw
    random starts up to it.
    """
    ids: str = "coupled"
    source: Union[str, Sequence[str]] = "given"
    levels: int = 0
    max_id: int = 0
    reach: int = 1
    target: int = 0
    chunks: int = 2

    def struct(self, levels: int) -> "s.lg_scheme":
        c = lib.lg_scheme_default()
        source = [self.source] * max(levels, 1) if isinstance(self.source, str) else list(self.source)
        self._kept = [self.ids.encode()] + [x.encode() for x in source]  # as long as the struct is used
        c.ids, c.levels, c.max_id, c.reach = self._kept[0], self.levels, self.max_id, self.reach
        c.target, c.chunks = self.target, self.chunks
        for l, word in enumerate(self._kept[1:LEVELS + 1]):
            c.source[l] = _address(word)
        return c


def _address(word: bytes) -> object:
    kind = dict(s.lg_scheme._fields_)["source"]._type_
    return word if kind is ctypes.c_char_p else ctypes.cast(ctypes.c_char_p(word), ctypes.c_void_p).value


@dataclass
class Example:
    """One example: what a model reads (`tokens`, `ids`), and what it is to predict at each place.

    `targets[t]` is the token after t, or -1 where there is no loss; `id_targets[l][t]` the class of the ID head, or -1.
    """
    tokens: np.ndarray        # [n], the answer's last token too
    answer: int               # the place of the first generated token
    length: int
    sparsity: int
    labels: np.ndarray        # [levels, n] the task's own, ABSENT where there is none
    ids: np.ndarray           # [levels, n]
    targets: np.ndarray       # [n - 1]
    loss: np.ndarray          # [n - 1] bool: where targets counts
    id_targets: np.ndarray    # [levels, n - 1]


class Examples:
    """Examples of a task, with IDs as in training (`train=True`: drawn starts) or as in evaluation.

    The same seed and index give the same example, in any order, and those of `lengthen train` with this seed.

    >>> task = Task("parity-scratchpad")
    >>> examples = Examples(task, Scheme(source="delta"), lengths=(2, 4), seed=3)
    >>> x = examples[0]
    >>> task.text(x.tokens), x.ids.tolist(), x.answer
    ('1 0 1 = 1 1 0 $', [[2, 3, 4, 1, 2, 3, 4, 5]], 4)
    >>> x.targets.tolist()
    [-1, -1, -1, 1, 1, 0, 3]
    >>> x.id_targets.tolist()
    [[-1, -1, -1, 2, 2, 2, 2]]
    """

    def __init__(self, task: Task, scheme: Optional[Scheme] = None, *, lengths: Tuple[int, int] = (1, 10),
                 sparsities: Tuple[int, int] = (0, 0), seed: int = 1, stream: int = TRAIN, train: bool = False,
                 start: int = 0) -> None:
        e = Error()
        self.task, self.seed, self.train, self.start = task, seed, train, start
        self.scheme = scheme or Scheme(ids="coupled" if task.levels else "plain")
        self._struct = self.scheme.struct(len(task.levels))
        self._plan = s.lg_plan()
        e.check(lib.lg_plan_open(ctypes.byref(self._plan), ctypes.byref(self._struct), task.pointer, e.at))
        self.levels: int = self._plan.levels
        self._draw = s.lg_draw(seed=seed, stream=stream, length_lo=lengths[0], length_hi=lengths[1],
                               sparsity_lo=sparsities[0], sparsity_hi=sparsities[1])

    def __getitem__(self, index: int) -> Example:
        e, x, b, r = Error(), s.lg_example(), s.lg_batch(), s.lg_rng()
        lib.lg_example_init(ctypes.byref(x))
        lib.lg_batch_init(ctypes.byref(b))
        self._draw.index = index
        draws = ctypes.byref(r) if self.train else None
        try:
            e.check(lib.lg_task_example(self.task.pointer, ctypes.byref(self._draw), ctypes.byref(x), e.at))
            n = x.n
            ids = np.full((self.levels, n), ABSENT, np.int32)
            where = (ctypes.c_void_p * LEVELS)(*[row.ctypes.data for row in ids])
            lib.lg_rng_init(ctypes.byref(r), self.seed, DRAWS, index)
            e.check(lib.lg_plan_ids(ctypes.byref(self._plan), ctypes.byref(x), draws, where, e.at))
            lib.lg_rng_init(ctypes.byref(r), self.seed, DRAWS, index)
            e.check(lib.lg_plan_add(ctypes.byref(self._plan), ctypes.byref(x), draws, ctypes.byref(b), e.at))
            targets = _take(b.targets, n - 1, np.int32)
            labels = [_take(x.labels[l], n, np.int32) for l in range(len(self.task.levels))]
            id_targets = [_take(b.id_targets[l], n - 1, np.int32) for l in range(self.levels)]
            return Example(tokens=_take(x.tokens, n, np.int32), answer=x.answer, length=x.length, sparsity=x.sparsity,
                           labels=np.array(labels, np.int32).reshape(-1, n), ids=ids, targets=targets,
                           loss=targets != NONE, id_targets=np.array(id_targets, np.int32).reshape(-1, n - 1))
        finally:
            lib.lg_example_clear(ctypes.byref(x))
            lib.lg_batch_clear(ctypes.byref(b))

    def __iter__(self) -> Iterator[Example]:
        index = self.start
        while True:
            yield self[index]
            index += 1


@dataclass
class Batch:
    """Examples side by side, padded at the end: `mask` is False there, targets are -1 and IDs ABSENT."""
    tokens: np.ndarray       # [batch, n]
    ids: np.ndarray          # [batch, levels, n]
    targets: np.ndarray      # [batch, n]
    id_targets: np.ndarray   # [batch, levels, n]
    mask: np.ndarray         # [batch, n] bool
    examples: list[Example] = field(repr=False, default_factory=list)


class Batches:
    """Padded batches without end, for a training loop of your own; batch i is examples i * size on.

    >>> batches = iter(Batches(Examples(Task("copy"), lengths=(1, 5), train=True), size=4))
    >>> b = next(batches)
    >>> b.tokens.shape == b.targets.shape == b.mask.shape, b.ids.shape[:2]
    (True, (4, 1))
    """

    def __init__(self, examples: Examples, size: int = 64) -> None:
        self.examples, self.size = examples, size

    def __getitem__(self, index: int) -> Batch:
        first = self.examples.start + index * self.size
        return collate([self.examples[first + i] for i in range(self.size)])

    def __iter__(self) -> Iterator[Batch]:
        index = 0
        while True:
            yield self[index]
            index += 1


def collate(examples: Sequence[Example]) -> Batch:
    """Examples as one padded batch; the last token of each is a target only."""
    n, levels = max(len(x.tokens) - 1 for x in examples), examples[0].ids.shape[0]
    b = Batch(tokens=np.zeros((len(examples), n), np.int32), ids=np.full((len(examples), levels, n), ABSENT, np.int32),
              targets=np.full((len(examples), n), NONE, np.int32),
              id_targets=np.full((len(examples), levels, n), NONE, np.int32),
              mask=np.zeros((len(examples), n), bool), examples=list(examples))
    for i, x in enumerate(examples):
        k = len(x.tokens) - 1
        b.tokens[i, :k], b.ids[i, :, :k], b.targets[i, :k] = x.tokens[:-1], x.ids[:, :-1], x.targets
        b.id_targets[i, :, :k], b.mask[i, :k] = x.id_targets, True
    return b
