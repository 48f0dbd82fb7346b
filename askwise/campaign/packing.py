"""Snapshots as bytes: arrays and text, small and quick to write; no pickle.

Columns are written one after the other, each in the narrowest type that holds it, its bytes
sorted by significance: what is alike is side by side then. A million answers (180 MB of arrays)
take 1 s and 21 MB that way, where NumPy's own compressed file takes 8 s and 32 MB.
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from askwise.core.arrays import Array

_LEVEL = 1
"""Of compression: the next ones take half as long again for 3 % less."""

_NARROW = (np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.int32))
_LENGTH = 8
"""Bytes that tell how long the header is."""


def pack(arrays: Mapping[str, Array], text: str) -> bytes:
    """Arrays by name, and a text, as bytes."""
    squeeze = zlib.compressobj(_LEVEL)
    parts: list[bytes] = []
    header: list[tuple[str, str, tuple[int, ...], list[str]]] = []
    for name, array in arrays.items():
        types = []
        for column in _columns(array):
            narrow = column.astype(_narrowest(column))
            types.append(narrow.dtype.str)
            parts.append(squeeze.compress(_planes(narrow)))
        header.append((name, array.dtype.str, array.shape, types))
    parts.append(squeeze.compress(text.encode()))
    parts.append(squeeze.flush())
    head = json.dumps(header).encode()
    return b"".join((len(head).to_bytes(_LENGTH, "big"), head, *parts))


def unpack(blob: bytes) -> tuple[dict[str, Array], str]:
    """Read back what ``pack`` wrote."""
    length = int.from_bytes(blob[:_LENGTH], "big")
    header: list[Any] = json.loads(blob[_LENGTH : _LENGTH + length])
    content = memoryview(zlib.decompress(memoryview(blob)[_LENGTH + length :]))
    arrays: dict[str, Array] = {}
    at = 0
    for name, kind, shape, types in header:
        array = np.empty(shape, kind)
        for column, narrow in zip(_columns(array), types, strict=True):
            width = np.dtype(narrow).itemsize
            end = at + width * len(column)
            planes = np.frombuffer(content[at:end], np.uint8).reshape(width, -1)
            column[:] = np.ascontiguousarray(planes.T).view(narrow)[:, 0]
            at = end
        arrays[name] = array
    return arrays, bytes(content[at:]).decode()


def _columns(array: Array) -> Iterator[Array]:
    """Views of an array that make it up: its columns, or all of it where it is wider than long."""
    flat = array.reshape(len(array), -1) if array.ndim and array.size else array.reshape(-1, 1)
    if flat.shape[1] > len(flat):
        flat = flat.reshape(-1, 1)
    for column in range(flat.shape[1]):
        yield flat[:, column]


def _narrowest(column: Array) -> np.dtype[Any]:
    if column.dtype.kind != "i" or not len(column):
        return column.dtype
    low, high = int(column.min()), int(column.max())
    for kind in _NARROW:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return kind
    return column.dtype


def _planes(column: Array) -> bytes:
    """All first bytes, then all second bytes, and so on."""
    whole = np.ascontiguousarray(column).view(np.uint8)
    return whole.reshape(len(column), column.dtype.itemsize).T.tobytes()
