"""DLPack's structures, and tensors of the harness as objects that every framework can take.

Source: dlpack.h of DLPack 0.6; the Python side is the array API's data interchange (`__dlpack__`).
"""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Sequence, Tuple

CPU = 1
CUDA = 2
_FLOAT = 2
_BFLOAT = 4

DTYPE_CODES = {"bf16": _BFLOAT, "fp16": _FLOAT}


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DLManagedTensor(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_DLManagedTensor))
_DLManagedTensor._fields_ = [
    ("dl_tensor", DLTensor),
    ("manager_ctx", ctypes.c_void_p),
    ("deleter", _Deleter),
]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
# Of one that is being destroyed, which must not be referred to: by its address.
_is_named = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)

# What consumers of capsules hold, by address: a structure lives until its consumer deletes it.
_held: Dict[int, Tuple[_DLManagedTensor, Any]] = {}


@_Deleter
def _delete(managed: Any) -> None:
    _held.pop(ctypes.addressof(managed.contents), None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule: Any) -> None:
    if _is_named(capsule, b"dltensor"):  # a consumer would have renamed it, and deletes the structure itself
        _held.pop(_pointer_in(capsule, b"dltensor"), None)


class Tensor:
    """A bf16 or fp16 tensor in memory of the harness, valid during the call of the kernel that it was given to."""

    def __init__(self, raw: DLTensor) -> None:
        self.data: int = (raw.data or 0) + raw.byte_offset
        self.shape: Tuple[int, ...] = tuple(raw.shape[i] for i in range(raw.ndim))
        self.strides: Tuple[int, ...] = tuple(raw.strides[i] for i in range(raw.ndim))
        self.dtype: str = "bf16" if raw.dtype.code == _BFLOAT else "fp16"
        self.device: Tuple[int, int] = (raw.device.device_type, raw.device.device_id)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: Optional[int] = None, **_: Any) -> Any:
        # Inputs are ready in the order of the call's stream, on which the consumer works.
        managed = _DLManagedTensor()
        owned = describe(self.data, self.shape, self.strides, self.dtype, self.device)
        managed.dl_tensor = owned.tensor
        managed.deleter = _delete
        address = ctypes.addressof(managed)
        _held[address] = (managed, owned)
        return _new_capsule(address, b"dltensor", ctypes.cast(_destroy, ctypes.c_void_p))


class Described:
    """A DLTensor together with what it points to."""

    def __init__(self, tensor: DLTensor, keep: Any) -> None:
        self.tensor = tensor
        self.keep = keep


def describe(
    data: int, shape: Sequence[int], strides: Sequence[int], dtype: str, device: Tuple[int, int], keep: Any = None
) -> Described:
    """A DLTensor of these facts; strides count elements."""
    extents = (ctypes.c_int64 * len(shape))(*shape)
    steps = (ctypes.c_int64 * len(shape))(*strides)
    tensor = DLTensor(
        data=data,
        device=DLDevice(*device),
        ndim=len(shape),
        dtype=DLDataType(DTYPE_CODES[dtype], 16, 1),
        shape=ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64)),
        strides=ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64)),
        byte_offset=0,
    )
    return Described(tensor, (extents, steps, keep))


def from_capsule(capsule: Any) -> Described:
    """The tensor in a capsule named "dltensor", which stays its owner."""
    managed = ctypes.cast(_capsule_pointer(capsule, b"dltensor"), ctypes.POINTER(_DLManagedTensor)).contents
    return Described(managed.dl_tensor, capsule)
