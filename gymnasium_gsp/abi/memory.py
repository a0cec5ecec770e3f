"""Memory in compiled code: pointers into arrays, records behind pointers, and prefetching.

Inside loops these replace `array.ctypes`, slices and array indexing, each of which costs more than the load itself.
"""

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils
from numba.extending import intrinsic as _intrinsic

intrinsic: Any = _intrinsic  # numba's annotation hides how an intrinsic is called

CELLS = types.CPointer(types.int64)
REALS = types.CPointer(types.float64)
STREAM = types.CPointer(types.uint64)


def record_type(dtype: np.dtype) -> Any:
    """Return numba's type of a record: compiled functions take it by address and read its fields by name."""
    return from_dtype(dtype)


def struct_type(dtype: np.dtype) -> type[ctypes.Structure]:
    """Return the ctypes form of a record of int64 and float64 fields, which Python reads and sets fastest."""
    kinds = {"i": ctypes.c_int64, "u": ctypes.c_uint64, "f": ctypes.c_double}
    fields = [(name, kinds[dtype[name].kind]) for name in dtype.names or ()]
    return type("Struct", (ctypes.Structure,), {"_fields_": fields})


@intrinsic
def address(typing_context, array, index):
    """Return a pointer to array[index] of a contiguous one-dimensional array."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return types.CPointer(array.dtype)(array, types.intp), codegen


@intrinsic
def offset(typing_context, pointer, index):
    """Return the pointer moved on by `index` elements."""

    def codegen(context, builder, signature, arguments):
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.intp), codegen


@intrinsic
def record(typing_context, pointer, index):
    """Return element `index` behind a pointer to records, by address."""

    def codegen(context, builder, signature, arguments):
        return builder.gep(arguments[0], [arguments[1]])

    return pointer.dtype(pointer, types.intp), codegen


def viewer(wanted):
    """Return a compiled function from a pointer or a record to the same memory seen as `wanted`."""

    @intrinsic
    def view(typing_context, pointer):
        def codegen(context, builder, signature, arguments):
            return builder.bitcast(arguments[0], context.get_value_type(wanted))

        return wanted(pointer), codegen

    return view


as_reals = viewer(REALS)
as_cells = viewer(CELLS)


@intrinsic
def null_reals(typing_context):
    """Return a null pointer to float64."""

    def codegen(context, builder, signature, arguments):
        return cgutils.get_null_value(context.get_value_type(REALS))

    return REALS(), codegen


@intrinsic
def prefetch(typing_context, pointer):
    """Ask for the memory at a pointer, which will be needed soon."""

    def codegen(context, builder, signature, arguments):
        word, at = ir.IntType(32), builder.bitcast(arguments[0], ir.IntType(8).as_pointer())
        function_type = ir.FunctionType(ir.VoidType(), [at.type, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [at.type], function_type)
        builder.call(function, [at, word(0), word(3), word(1)])  # to read, into all caches, data
        return context.get_dummy_value()

    return types.void(pointer), codegen


def caller(signature: Any) -> Any:
    """Return typing and code of a call through an address (int64) with the given C signature."""

    def codegen(context, builder, typed, arguments):
        values = [
            context.cast(builder, value, given, wanted)
            for value, given, wanted in zip(arguments[1:], typed.args[1:], signature.args, strict=True)
        ]
        function_type = ir.FunctionType(
            context.get_value_type(signature.return_type), [context.get_value_type(t) for t in signature.args]
        )
        return builder.call(builder.inttoptr(arguments[0], function_type.as_pointer()), values)

    return signature.return_type(types.int64, *signature.args), codegen
