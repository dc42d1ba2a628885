"""How tensors of the harness become arrays of a framework, and a kernel's result a DLTensor again.

No framework is imported that the caller has not imported, unless he names it.
"""

from __future__ import annotations

import contextlib
import math
import sys
from typing import Any, ContextManager, Optional, Sequence, Tuple

from ._dlpack import CPU, CUDA, Described, Tensor, describe, from_capsule

POISON = 0xFFA5  # conformance/poison.h


def _soiled_blocks(tensor: Tensor) -> int:
    """How many blocks of memory of a tensor's size are soiled: those that NumPy keeps of a size and one more, within
    256 MiB."""
    return max(1, min(8, 2**28 // (2 * math.prod(tensor.shape) or 1)))


def _is_rows(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether these are rows of adjacent elements, one after the other: what the library copies as it is."""
    return len(shape) != 2 or (strides[1] == 1 and strides[0] >= shape[1])


class Framework:
    """The framework that needs nothing: kernels get and return objects with `__dlpack__`."""

    name = "dlpack"
    devices: Tuple[int, ...] = (CPU, CUDA)  # where its arrays can lie

    def default_device(self) -> Optional[str]:
        """Where its kernels run unless told otherwise: None leaves it to the library."""
        return None

    def array(self, tensor: Tensor) -> Any:
        """The tensor as the framework's own."""
        if tensor.device[0] not in self.devices:
            where, elsewhere = ("a GPU", "cpu") if tensor.device[0] == CUDA else ("the CPU", "cuda")
            raise ValueError(f"arrays of {self.name} cannot lie on {where}; say device={elsewhere!r} or framework=")
        return self.view(tensor)

    def view(self, tensor: Tensor) -> Any:
        return tensor

    def soil(self, output: Tensor) -> None:
        """Leaves poison in the memory that an allocation of the output's size will get next, where that is known."""

    def release(self) -> None:
        """Gives memory of GPUs back that is kept for the check's stream: no other will use it."""

    def stream(self, handle: int, device_id: int) -> ContextManager[Any]:
        """Makes a CUDA stream the one that the framework works on."""
        return contextlib.nullcontext()

    def described(self, result: Any, stream: int) -> Described:
        if not hasattr(result, "__dlpack__"):
            raise TypeError(f"the kernel returned {type(result).__name__}, which has no __dlpack__")
        on_gpu = result.__dlpack_device__()[0] == CUDA
        return from_capsule(result.__dlpack__(stream=stream or 1) if on_gpu else result.__dlpack__())


class _Torch(Framework):
    name = "torch"

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.dtypes = {torch.bfloat16: "bf16", torch.float16: "fp16"}

    def default_device(self) -> Optional[str]:
        return f"cuda:{self.torch.cuda.current_device()}" if self.torch.cuda.is_available() else "cpu"

    def view(self, tensor: Tensor) -> Any:
        return self.torch.from_dlpack(tensor)

    def soil(self, output: Tensor) -> None:
        torch, device = self.torch, "cpu" if output.device[0] == CPU else f"cuda:{output.device[1]}"
        poison = POISON - 2**16  # as an int16
        _ = [torch.full(output.shape, poison, dtype=torch.int16, device=device) for _ in range(_soiled_blocks(output))]

    def release(self) -> None:
        self.torch.cuda.empty_cache()

    def stream(self, handle: int, device_id: int) -> ContextManager[Any]:
        return self.torch.cuda.stream(self.torch.cuda.ExternalStream(handle, device=f"cuda:{device_id}"))

    def described(self, result: Any, stream: int) -> Described:
        if not isinstance(result, self.torch.Tensor):
            raise TypeError(f"the kernel returned {type(result).__name__}, not a torch.Tensor")
        dtype = self.dtypes.get(result.dtype)
        if dtype is None:
            raise TypeError(f"the kernel returned {result.dtype}, not the dtype of its input; convert the result")
        result = result.detach()
        if not _is_rows(tuple(result.shape), result.stride()):
            result = result.contiguous()
        device = (CPU, 0) if result.device.type == "cpu" else (CUDA, result.device.index or 0)
        return describe(result.data_ptr(), tuple(result.shape), result.stride(), dtype, device, result)


class _ArrayFramework(Framework):
    """What NumPy and CuPy have in common: strides in bytes, and bfloat16 from ml_dtypes."""

    module: Any

    def dtype_of(self, name: str) -> Any:
        if name == "fp16":
            return self.module.dtype("float16")
        try:
            import ml_dtypes
        except ImportError as error:
            raise ImportError(f"bf16 arrays of {self.name} need the package ml_dtypes") from error
        return self.module.dtype(ml_dtypes.bfloat16)

    def soil(self, output: Tensor) -> None:
        _ = [self.module.full(output.shape, POISON, self.module.uint16) for _ in range(_soiled_blocks(output))]

    def address(self, result: Any) -> int:
        raise NotImplementedError

    def device(self, result: Any) -> Any:
        raise NotImplementedError

    def described(self, result: Any, stream: int) -> Described:
        if not isinstance(result, self.module.ndarray):
            raise TypeError(f"the kernel returned {type(result).__name__}, not a {self.name}.ndarray")
        dtype = {"bfloat16": "bf16", "float16": "fp16"}.get(result.dtype.name)
        if dtype is None:
            raise TypeError(f"the kernel returned {result.dtype}, not the dtype of its input; convert the result")
        if not _is_rows(result.shape, [step // result.itemsize for step in result.strides]):
            result = self.module.ascontiguousarray(result)
        strides = [step // result.itemsize for step in result.strides]
        return describe(self.address(result), result.shape, strides, dtype, self.device(result), result)


class _Numpy(_ArrayFramework):
    name = "numpy"
    devices = (CPU,)

    def __init__(self) -> None:
        import numpy

        self.module = numpy

    def default_device(self) -> Optional[str]:
        return "cpu"

    def view(self, tensor: Tensor) -> Any:
        import ctypes

        dtype = self.dtype_of(tensor.dtype)
        elements = 1 + sum((extent - 1) * step for extent, step in zip(tensor.shape, tensor.strides))
        memory = (ctypes.c_uint16 * elements).from_address(tensor.data)
        flat = self.module.frombuffer(memory, dtype=self.module.uint16).view(dtype)
        strides = [step * dtype.itemsize for step in tensor.strides]
        return self.module.lib.stride_tricks.as_strided(flat, tensor.shape, strides)

    def address(self, result: Any) -> int:
        return int(result.ctypes.data)

    def device(self, result: Any) -> Any:
        return (CPU, 0)


class _Cupy(_ArrayFramework):
    name = "cupy"
    devices = (CUDA,)

    def __init__(self) -> None:
        import cupy

        self.module = cupy

    def default_device(self) -> Optional[str]:
        return f"cuda:{self.module.cuda.Device().id}"

    def view(self, tensor: Tensor) -> Any:
        dtype = self.dtype_of(tensor.dtype)
        elements = 1 + sum((extent - 1) * step for extent, step in zip(tensor.shape, tensor.strides))
        memory = self.module.cuda.UnownedMemory(tensor.data, elements * dtype.itemsize, tensor, tensor.device[1])
        pointer = self.module.cuda.MemoryPointer(memory, 0)
        strides = [step * dtype.itemsize for step in tensor.strides]
        return self.module.ndarray(tensor.shape, dtype, pointer, strides)

    def release(self) -> None:
        self.module.get_default_memory_pool().free_all_blocks()

    def stream(self, handle: int, device_id: int) -> ContextManager[Any]:
        return self.module.cuda.ExternalStream(handle, device_id)

    def address(self, result: Any) -> int:
        return int(result.data.ptr)

    def device(self, result: Any) -> Any:
        return (CUDA, result.device.id)


_FRAMEWORKS = {"torch": _Torch, "cupy": _Cupy, "numpy": _Numpy, "dlpack": Framework}


def find_framework(name: Optional[str]) -> Framework:
    """The framework of that name; without one the first of torch, cupy and numpy that is imported."""
    if name is None:
        name = next((each for each in ("torch", "cupy", "numpy") if each in sys.modules), "dlpack")
    if name not in _FRAMEWORKS:
        raise ValueError(f"framework {name} is not known; use one of {', '.join(_FRAMEWORKS)}")
    return _FRAMEWORKS[name]()
