"""Finds and loads liblengthen.so, and turns its errors into exceptions."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from typing import Any, Optional

from . import _structs
from ._version import __version__

NAME = "liblengthen.so.0"


class LengthenError(Exception):
    """What the library answers: one sentence with its remedy. `key` is the setting at fault, or ""."""

    def __init__(self, text: str, code: int = -1, key: str = "") -> None:
        super().__init__(text)
        self.code, self.key = code, key


def _candidates() -> list[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get("LENGTHEN_LIBRARY")
    if named:
        return [named]
    found = [os.path.join(here, NAME),
             os.path.join(here, "..", "..", "build", NAME),  # a source tree
             os.path.join(sys.prefix, "lib", NAME),
             NAME,  # wherever the system looks
             os.path.join("/usr/local/lib", NAME)]
    return found


def _load() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as e:
            tried.append(f"  {path}: {e}")
            continue
        library.lg_version.restype = ctypes.c_char_p
        version = library.lg_version().decode()
        if version == __version__:
            return library
        tried.append(f"  {path}: its version is {version}, and this package needs {__version__}")
    raise ImportError("lengthen: " + NAME + " was not found; install it (make install, or the package liblengthen0), or "
                      "say where it is in LENGTHEN_LIBRARY. Looked at:\n" + "\n".join(tried))


lib = _load()
for _name, (_returns, _takes) in _structs.FUNCTIONS.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _returns, _takes
lib.lg_text_task_add()


class Error:
    """An lg_error: `Error().check(lib.lg_x(.., e.at))`."""

    def __init__(self) -> None:
        self.struct = _structs.lg_error()
        self.at = ctypes.byref(self.struct)

    def check(self, result: Any) -> Any:
        """The result of a call; raises where it is a negative code or no object."""
        if result is None or (isinstance(result, int) and result < 0):
            raise LengthenError(self.struct.text.decode(errors="replace"), self.struct.code, self.struct.key.decode())
        return result


def text(value: Optional[bytes]) -> str:
    return value.decode(errors="replace") if value else ""
