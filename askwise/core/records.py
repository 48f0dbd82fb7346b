"""NamedTuples of arrays that compiled code takes by reference.

Numba hands a NamedTuple over field by field, and an array as seven words or more: a call with the
ledger would have over a hundred arguments, and most of what a kernel costs to compile would go into
packing and unpacking them. A record by reference is one address. In plain Python it stays the
NamedTuple that it is.
"""

from typing import Any, TypeVar

from askwise.core.compiling import PLAIN

Class = TypeVar("Class", bound=type)

if PLAIN:

    def by_reference(record: Class) -> Class:
        """Have compiled code take a class of NamedTuples by reference, and only read it."""
        return record

else:
    import numba
    import numpy as np
    from llvmlite import ir
    from numba.core import cgutils
    from numba.core.imputils import impl_ret_borrowed
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import (
        NativeValue,
        infer_getattr,
        lower_getattr_generic,
        models,
        register_model,
        typeof_impl,
        unbox,
    )

    _LAYOUT = 0x1 | 0x2 | 0x100 | 0x400
    """Flags of an array that code depends on: contiguous in C's or Fortran's order, aligned and
    writeable, as NumPy counts them."""

    _kinds: dict[Any, Any] = {}

    def form_of(value: Any) -> Any:
        """What decides which code is right for a value: found long before Numba's type of it."""
        if isinstance(value, np.ndarray):
            return value.dtype, value.ndim, value.flags.num & _LAYOUT
        if isinstance(value, tuple):
            return (type(value), *map(form_of, value))
        return type(value)

    class RecordType(numba.types.Type):  # type: ignore[misc]
        """A record whose fields have these types."""

        def __init__(self, record: Any, kinds: tuple[Any, ...]) -> None:
            self.record, self.kinds = record, kinds
            super().__init__(f"{record.__module__}.{record.__qualname__}&{kinds}")

        @property
        def key(self) -> Any:
            """What makes two of them equal."""
            return self.record, self.kinds

        def place_of(self, field: str) -> int:
            """Where a field stands."""
            return int(self.record._fields.index(field))

    @register_model(RecordType)
    class _Address(models.PrimitiveModel):  # type: ignore[misc]
        def __init__(self, known: Any, kind: RecordType) -> None:
            fields = [known.lookup(each).get_value_type() for each in kind.kinds]
            super().__init__(known, kind, ir.LiteralStructType(fields).as_pointer())

    @infer_getattr
    class _Fields(AttributeTemplate):  # type: ignore[misc]
        key = RecordType

        def generic_resolve(self, kind: RecordType, field: str) -> Any:
            if field not in kind.record._fields:
                return None
            return kind.kinds[kind.place_of(field)]

    @lower_getattr_generic(RecordType)  # type: ignore[untyped-decorator]
    def _read(context: Any, builder: Any, kind: RecordType, address: Any, field: str) -> Any:
        at = kind.place_of(field)
        found = builder.load(cgutils.gep_inbounds(builder, address, 0, at))
        # No store into an array changes where arrays are: what was read is not read again.
        found.set_metadata("invariant.load", builder.module.add_metadata([]))
        return impl_ret_borrowed(context, builder, kind.kinds[at], found)

    @unbox(RecordType)  # type: ignore[untyped-decorator]
    def _take_in(kind: RecordType, value: Any, c: Any) -> Any:
        place = cgutils.alloca_once(c.builder, c.context.get_value_type(kind).pointee)
        taken = []
        failed = cgutils.false_bit
        for at, each in enumerate(kind.kinds):
            native = c.unbox(each, c.pyapi.tuple_getitem(value, at))
            c.builder.store(native.value, cgutils.gep_inbounds(c.builder, place, 0, at))
            failed = c.builder.or_(failed, native.is_error)
            taken.append((each, native))

        def let_go() -> None:
            for each, native in taken:
                if native.cleanup is not None:
                    native.cleanup()
                if c.context.enable_nrt:
                    c.context.nrt.decref(c.builder, each, native.value)

        # An empty instruction that keeps LLVM from seeing whose address it is. Fields are read as
        # what never changes, and here they have just been written.
        opaque = ir.FunctionType(place.type, [place.type])
        address = c.builder.asm(opaque, "", "=r,0,~{memory}", [place], side_effect=True)
        return NativeValue(address, is_error=failed, cleanup=let_go)

    def by_reference(record: Class) -> Class:
        """Have compiled code take a class of NamedTuples by reference, and only read it."""

        @typeof_impl.register(record)  # type: ignore[untyped-decorator]
        def _kind(value: Any, context: Any) -> RecordType:
            form = form_of(value)
            if form not in _kinds:
                kinds = tuple(numba.typeof(each) for each in value)
                _kinds[form] = RecordType(record, kinds)
            return _kinds[form]

        return record
