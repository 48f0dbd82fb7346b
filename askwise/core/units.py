"""Kernels as units that other compiled code calls by address.

What calls a unit is not compiled again for it: one loop serves all policies. A unit takes its
records (:mod:`askwise.core.records`) by address too, so that its caller need not know their types;
from Python they are handed over as :func:`packed`.
"""

import struct
from typing import Any, NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.compiling import PLAIN, unit_of


class Packed(NamedTuple):
    """Records as compiled code finds them in memory, for as long as their arrays are alive."""

    words: Array
    addresses: tuple[int, ...]


if not PLAIN:
    import numba
    from numba.core import cgutils
    from numba.extending import intrinsic
    from numba.types import float64, int64, none

    from askwise.core.records import RecordType

    _WHOLE = (int, np.integer, np.bool_)

    def packed(*records: Any) -> Packed:
        """Write down NamedTuples of arrays, numbers and NamedTuples of those."""
        words: list[int] = []
        begins = []
        for record in records:
            begins.append(len(words))
            for each in record:
                _pack(each, words)
        written = np.array(words, np.int64)
        place = int(written.ctypes.data)
        return Packed(written, tuple(place + written.itemsize * each for each in begins))

    def _pack(value: Any, words: list[int]) -> None:
        if isinstance(value, np.ndarray):
            # The references that are counted are not these: none (0), and no owner.
            words += (0, 0, value.size, value.itemsize, value.ctypes.data)
            words += value.shape
            words += value.strides
        elif isinstance(value, tuple):
            for each in value:
                _pack(each, words)
        elif isinstance(value, _WHOLE):
            words.append(int(value))
        else:
            words.append(struct.unpack("q", struct.pack("d", value))[0])

    def kind_of(record: Any) -> Any:
        """The type of a record that is packed."""
        return RecordType(type(record), tuple(map(_packed_kind, record)))

    def _packed_kind(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return numba.typeof(value)
        if isinstance(value, tuple):
            return numba.types.NamedTuple([_packed_kind(each) for each in value], type(value))
        return int64 if isinstance(value, _WHOLE) else float64

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
