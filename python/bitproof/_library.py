"""libbitproof.so, loaded when first needed: the C interface of conformance/bitproof.h."""

from __future__ import annotations

import ctypes
import functools
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, List, Tuple

from ._dlpack import DLTensor

_PACKAGE = Path(__file__).resolve().parent

OK = 0
BAD_ARGUMENT = 2
COULD_NOT_RUN = 3
REFUSED = 4

KERNEL_DONE = 0
KERNEL_REFUSED = 1
KERNEL_FAILED = 2


class BitproofError(RuntimeError):
    """The library could not do what it was asked: no such device, exhausted memory, a lost CUDA context."""


class Refused(ValueError):
    """Raised by a kernel for tensors that it does not serve and has not touched."""


class Call(ctypes.Structure):
    """bitproof_call"""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("op", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("inputs", ctypes.POINTER(ctypes.POINTER(DLTensor))),
        ("input_count", ctypes.c_int),
        ("output", ctypes.POINTER(DLTensor)),
        ("stream", ctypes.c_void_p),
        ("reason", ctypes.c_void_p),
        ("reason_bytes", ctypes.c_size_t),
        ("user_data", ctypes.c_void_p),
        ("opaque", ctypes.c_void_p),
    ]


Kernel = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Call))


class CheckOptions(ctypes.Structure):
    """bitproof_check_options"""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("op", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("domains", ctypes.c_char_p),
        ("device", ctypes.c_char_p),
        ("profile", ctypes.c_char_p),
        ("equality", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("reproduce", ctypes.c_char_p),
        ("seed", ctypes.c_uint64),
        ("returns_output", ctypes.c_int),
    ]


def find_file(name: str) -> Path:
    """A file that the wheel brings along, or that a build of the source tree has made."""
    for directory in (_PACKAGE / "lib", _PACKAGE.parents[1] / "build" / "release" / "bin"):
        if (directory / name).exists():
            return directory / name
    raise BitproofError(
        f"{name} is neither in {_PACKAGE / 'lib'} nor built in this source tree; "
        "install bitproof's wheel, or build it with ./bitproof wheel"
    )


def include_directory() -> str:
    """Where bitproof.h and DLPack's header are, for kernels that are compiled against them."""
    return str(_PACKAGE / "include")


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """The library with its functions' types. BITPROOF_LIBRARY names another one."""
    chosen = os.environ.get("BITPROOF_LIBRARY")
    path = chosen if chosen else str(find_file("libbitproof.so"))
    try:
        lib = ctypes.CDLL(path)
    except OSError as error:
        hint = "let BITPROOF_LIBRARY name a libbitproof.so, or nothing" if chosen else "install bitproof's wheel again"
        raise BitproofError(f"{path} cannot be loaded: {error}; {hint}") from error
    tensor, status = ctypes.POINTER(DLTensor), ctypes.c_int
    signatures = {
        "bitproof_api_version": (ctypes.c_int, []),
        "bitproof_version": (ctypes.c_char_p, []),
        "bitproof_error_message": (ctypes.c_char_p, []),
        "bitproof_contracts": (ctypes.c_char_p, []),
        "bitproof_call_return": (status, [ctypes.POINTER(Call), tensor]),
        "bitproof_check_create": (status, [ctypes.POINTER(CheckOptions), ctypes.POINTER(ctypes.c_void_p)]),
        "bitproof_check_run": (status, [ctypes.c_void_p, Kernel, ctypes.c_void_p]),
        "bitproof_check_verdict": (ctypes.c_char_p, [ctypes.c_void_p]),
        "bitproof_check_report": (ctypes.c_char_p, [ctypes.c_void_p]),
        "bitproof_check_destroy": (None, [ctypes.c_void_p]),
        "bitproof_gelu_tanh": (status, [tensor, tensor, ctypes.c_void_p]),
        "bitproof_bias_gelu_tanh": (status, [tensor, tensor, tensor, ctypes.c_void_p]),
        "bitproof_linear_gelu_tanh": (status, [tensor, tensor, tensor, tensor, ctypes.c_void_p]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(lib, name, None)
        if function is None:
            raise BitproofError(f"{path} has no {name}: it is no libbitproof.so of version 1")
        function.restype, function.argtypes = result, arguments
    major = lib.bitproof_api_version() // 1000
    if major != 1:
        raise BitproofError(f"{lib._name} has version {major} of the C interface, and 1 is needed")
    return lib


def raise_for(status: int) -> None:
    """The exception of a status that is not BITPROOF_OK, with the library's message."""
    if status == OK:
        return
    message = library().bitproof_error_message().decode()
    raise {COULD_NOT_RUN: BitproofError, REFUSED: Refused}.get(status, ValueError)(message)


def library_version() -> str:
    """The version of the library, "0.1.0"."""
    return str(library().bitproof_version().decode())


@dataclass(frozen=True)
class Contract:
    """An operator that kernels can be checked against, and what it can be checked with."""

    operator: str
    inputs: Tuple[str, ...]
    dtypes: Tuple[str, ...]
    profiles: Tuple[str, ...]
    equality: str
    domains: Tuple[str, ...]


def contracts() -> List[Contract]:
    """Every contract of the library."""
    return [
        Contract(**{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()})
        for entry in json.loads(library().bitproof_contracts())
    ]
