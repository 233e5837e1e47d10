"""Recognises an OpenMP runtime by what its file defines, whatever name it goes by."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from weft.elf import Elf, ElfError
from weft.program import LIBGOMP_TRACES

WEFT_TRACE = b"WEFT_NUM_WORKERS\0"
GCC_NAME = "libgomp.so.1"
LLVM_NAMES = ("libomp.so.5", "libomp.so", "libiomp5.so")


class Kind(Enum):
    WEFT = "weft"
    GCC = "GCC (libgomp)"
    GCC_COPY = "GCC (a copy of libgomp)"
    GCC_STATIC = "GCC (static libgomp)"
    LLVM = "LLVM (libomp)"
    INTEL = "Intel (libiomp5)"
    LLVM_COPY = "LLVM (a copy of libomp)"
    LLVM_STATIC = "LLVM (static libomp)"


ANSWERS = {
    Kind.WEFT: (True, "it is weft"),
    Kind.GCC: (True, "yes"),
    Kind.GCC_COPY: (True, "yes, by LD_PRELOAD: its name is not the stock one"),
    Kind.GCC_STATIC: (False, "no: its code comes before any library's"),
    Kind.LLVM: (True, "yes"),
    Kind.INTEL: (True, "yes"),
    Kind.LLVM_COPY: (True, "yes, by LD_PRELOAD: its name is not the stock one"),
    Kind.LLVM_STATIC: (False, "no: its code comes before any library's"),
}


@dataclass(frozen=True)
class Runtime:
    """One OpenMP runtime in a program."""

    kind: Kind
    path: Path

    @property
    def can_take_over(self) -> bool:
        return ANSWERS[self.kind][0]

    @property
    def answer(self) -> str:
        return ANSWERS[self.kind][1]


def recognise(path: Path, name: str, real: Path | None = None) -> Runtime | None:
    """The runtime that this library is, or holds; None if it has nothing of OpenMP in it.

    `name` is what the loader knows it by; `real` is where to read it, if that is not `path`.
    """
    try:
        elf = Elf.open(real or path)
        kind = kind_of(elf, name)
    except (ElfError, OSError):
        return None
    return None if kind is None else Runtime(kind, path)


def kind_of(elf: Elf, name: str) -> Kind | None:
    if elf.exports("GOMP_parallel") and elf.contains(WEFT_TRACE):
        return Kind.WEFT
    if elf.exports("__kmpc_fork_call"):
        if not any(known in (name, elf.soname) for known in LLVM_NAMES):
            return Kind.LLVM_COPY
        return Kind.INTEL if "iomp5" in name else Kind.LLVM
    if elf.exports("GOMP_parallel"):
        return Kind.GCC if GCC_NAME in (name, elf.soname) else Kind.GCC_COPY
    if all(elf.contains(trace) for trace in LIBGOMP_TRACES):
        return Kind.GCC_STATIC
    return None
