"""The store as a table: the runs, and what was measured of them, one row each.

Rows are dicts; `as_frame=True` gives a pandas DataFrame where pandas is installed.
"""
from __future__ import annotations

import ctypes
import os
from typing import Any, Optional, Union

from . import _structs as s
from ._native import Error, lib, text


def _open(store: Optional[str]) -> int:
    e = Error()
    file = store or os.environ.get("LENGTHEN_STORE") or "lengthen.db"
    return e.check(lib.lg_store_open(str(file).encode(), 0, e.at))


def _table(rows: list[dict[str, Any]], as_frame: bool) -> Any:
    if not as_frame:
        return rows
    import pandas  # only here: the package itself needs NumPy alone
    return pandas.DataFrame(rows)


def runs(store: Optional[str] = None, *, as_frame: bool = False) -> Any:
    """Every run of a store, the newest first; None: LENGTHEN_STORE, else lengthen.db."""
    e, rows, pointer = Error(), [], _open(store)
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(s.lg_store_run))

    @callback
    def take(_: Any, at: Any) -> None:
        r = at.contents
        values = {name: getattr(r, name) for name, *_rest in r._fields_}
        rows.append({k: text(v) if isinstance(v, bytes) else v for k, v in values.items()})

    try:
        e.check(lib.lg_store_runs(pointer, ctypes.cast(take, ctypes.c_void_p), None, e.at))
    finally:
        lib.lg_store_close(pointer)
    return _table(rows, as_frame)


def cells(store: Optional[str] = None, run: Optional[Union[int, str]] = None, *, as_frame: bool = False) -> Any:
    """What was measured, one row per value: run, step, length, sparsity, kind ("exact", ..), value, interval, samples.

    `run` is a number, a folder or the first letters of an ID; None: all runs.
    """
    e, found, rows, pointer = Error(), [], [], _open(store)
    each_run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(s.lg_store_run))
    each_cell = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(s.lg_cell))
    now: dict[str, Any] = {}

    @each_run
    def keep(_: Any, at: Any) -> None:
        r = at.contents
        found.append((r.number, {"run": r.number, "folder": text(r.folder), "task": text(r.task),
                                 "positions": text(r.positions), "seed": r.seed}))

    @each_cell
    def take(_: Any, at: Any) -> None:
        c = at.contents
        for v in c.value[:c.values]:
            kind = s.lg_kind.from_address(v.kind)
            rows.append({**now, "step": c.step, "length": c.length, "sparsity": c.sparsity, "first": c.first, "last": c.last,
                         "predicted": bool(c.predicted), "setting": text(c.setting), "kind": text(kind.name),
                         "value": v.value, "low": v.low, "high": v.high, "samples": v.samples})

    try:
        to = ctypes.cast(keep, ctypes.c_void_p)
        if run is None:
            e.check(lib.lg_store_runs(pointer, to, None, e.at))
        else:
            e.check(lib.lg_store_find(pointer, str(run).encode(), to, None, e.at))
        for number, words in found:
            now.clear()
            now.update(words)
            e.check(lib.lg_store_cells(pointer, number, -2, None, ctypes.cast(take, ctypes.c_void_p), None, e.at))
    finally:
        lib.lg_store_close(pointer)
    return _table(rows, as_frame)
