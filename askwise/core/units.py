"""Kernels as units that other compiled code calls by address.

What calls a unit is not compiled again for it: one loop serves all policies. A unit takes its
records (:mod:`askwise.core.records`) by address too, so that its caller need not know their types;
from Python they are handed over as :func:`packed`.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import PLAIN, unit_of


class Packed(NamedTuple):
    """A record as compiled code finds it in memory; its arrays are to be kept alive meanwhile."""

    kind: Any
    words: Array

    @property
    def address(self) -> int:
        """Where it is."""
        return int(self.words.ctypes.data)


if not PLAIN:
    import numba
    from numba.core import cgutils
    from numba.extending import intrinsic
    from numba.types import float64, int64, none

    from askwise.core.records import RecordType

    _array_kinds: dict[Any, Any] = {}

    def packed(record: Any) -> Packed:
        """Write down a NamedTuple of arrays, numbers and NamedTuples of those."""
        words: list[int] = []
        kinds = tuple(_pack(each, words) for each in record)
        return Packed(RecordType(type(record), kinds), np.array(words, np.int64))

    def _pack(value: Any, words: list[int]) -> Any:
        if isinstance(value, np.ndarray):
            # The references that are counted are not these: none (0), and no owner.
            words += (0, 0, value.size, value.itemsize, value.ctypes.data)
            words += value.shape
            words += value.strides
            flags = value.flags
            layout = (flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned)
            form = (value.dtype, value.ndim, *layout)
            if form not in _array_kinds:
                _array_kinds[form] = numba.typeof(value)
            return _array_kinds[form]
        if isinstance(value, tuple):
            kinds = [_pack(each, words) for each in value]
            return numba.types.NamedTuple(kinds, type(value))
        if isinstance(value, int | np.integer | np.bool_):
            words.append(int(value))
            return int64
        words.append(struct.unpack("q", struct.pack("d", value))[0])
        return float64

    def address_of(kernel: Any, result: Any, *kinds: Any) -> int:
        """Where a kernel's code for these types is, which is compiled if need be."""
        unit = unit_of(kernel)
        if kinds not in unit.overloads:
            unit.compile(result(*kinds))
        found = unit.overloads[kinds]
        return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))

    def _caller(result: Any) -> Any:
        """A function of compiled code: call what is at an address with a tuple of arguments."""

        @intrinsic  # type: ignore[untyped-decorator]
        def call(context: Any, address: Any, arguments: Any) -> Any:
            def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                address, held = values
                kinds = tuple(signature.args[1])
                convention = context.call_conv
                form = convention.get_function_type(result, kinds)
                status, found = convention.call_function(
                    builder,
                    builder.inttoptr(address, form.as_pointer()),
                    result,
                    kinds,
                    cgutils.unpack_tuple(builder, held, len(kinds)),
                )
                with cgutils.if_unlikely(builder, status.is_error):
                    convention.return_status_propagate(builder, status)
                return found

            return result(address, arguments), lower

        return call

    call_for_whole, call_for_real, call_for_nothing = map(_caller, (int64, float64, none))
