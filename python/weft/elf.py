"""Reads what weft needs to know of an ELF file: its kind, what it asks the loader for, what it defines.

Only the standard library is used, and any class and byte order is read, so that a program for another machine can
be named as one.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

MAGIC = b"\x7fELF"

ET_EXEC, ET_DYN = 2, 3
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
SHT_SYMTAB, SHT_DYNSYM = 2, 11
DT_NEEDED, DT_STRTAB, DT_SONAME, DT_FLAGS_1 = 1, 5, 14, 0x6FFFFFFB
DF_1_PIE = 0x08000000
SHN_UNDEF = 0

MACHINES = {
    3: "x86",
    8: "MIPS",
    20: "PowerPC",
    21: "64-bit PowerPC",
    22: "S/390",
    40: "32-bit ARM",
    62: "x86-64",
    183: "aarch64",
    243: "RISC-V",
    258: "LoongArch",
}


class ElfError(Exception):
    """The file is not ELF, or is damaged."""


class NotElfError(ElfError):
    """The file is not ELF."""


class Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


class Section(NamedTuple):
    kind: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Layout:
    """The record formats of one ELF class; each `*_fields` says where in the unpacked record a field stands."""

    header: str
    segment: str
    segment_fields: tuple[int, int, int, int]
    section: str
    symbol: str
    symbol_fields: tuple[int, int]
    dynamic: str


LAYOUTS = {
    1: Layout("HHIIIIIHHHHHH", "IIIIIIII", (0, 1, 2, 4), "IIIIIIIIII", "IIIBBH", (0, 5), "iI"),
    2: Layout("HHIQQQIHHHHHH", "IIQQQQQQ", (0, 2, 3, 5), "IIQQQQIIQQ", "IBBHQQ", (0, 3), "qQ"),
}


class Elf:
    """One ELF file, mapped into memory."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self._data = data
        if data[:4] != MAGIC:
            raise NotElfError("not an ELF file")
        try:
            self.bits = {1: 32, 2: 64}[data[4]]
            self._layout = LAYOUTS[data[4]]
            self._order = {1: "<", 2: ">"}[data[5]]
            header = self._unpack(self._layout.header, 16)
        except (KeyError, IndexError, struct.error):
            raise ElfError("a damaged ELF file") from None
        self.type: int = header[0]
        self.machine: int = header[1]
        _, _, _, _, segments, sections, _, _, _, segment_count, _, section_count, _ = header
        self._segment_table = (segments, segment_count)
        self._section_table = (sections, section_count)

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Raises ElfError if the file is not ELF, OSError if it cannot be read."""
        with Path(path).open("rb") as file:
            try:
                return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            except ValueError:  # an empty file cannot be mapped
                raise NotElfError("not an ELF file") from None

    @property
    def architecture(self) -> tuple[int, int, str]:
        """What has to agree for two files to live in one process."""
        return self.machine, self.bits, self._order

    @property
    def architecture_name(self) -> str:
        name = MACHINES.get(self.machine, f"machine {self.machine}")
        if name == "x86-64" and self.bits == 32:
            return "x32"
        return "32-bit x86" if name == "x86" else f"{name}, {self.bits} bits" if name == "RISC-V" else name

    @cached_property
    def interpreter(self) -> str | None:
        """The loader that the program asks for; None for a static executable and for a plain library."""
        segment = next((segment for segment in self._segments if segment.kind == PT_INTERP), None)
        if segment is None:
            return None
        return self._slice(segment.offset, segment.size).rstrip(b"\0").decode(errors="replace")

    @property
    def is_static_executable(self) -> bool:
        if self.interpreter is not None:
            return False
        return self.type == ET_EXEC or (self.type == ET_DYN and self._is_pie)

    @property
    def is_library(self) -> bool:
        return self.type == ET_DYN and self.interpreter is None and not self._is_pie

    @property
    def needed(self) -> list[str]:
        return [self._dynamic_string(value) for tag, value in self._dynamic if tag == DT_NEEDED]

    def check(self) -> None:
        """Raises ElfError if what the kernel and the loader would read of it is not there, as in a file cut short."""
        _ = self.interpreter, self.needed

    @property
    def soname(self) -> str | None:
        return next((self._dynamic_string(value) for tag, value in self._dynamic if tag == DT_SONAME), None)

    def contains(self, text: bytes) -> bool:
        return self._data.find(text) >= 0

    @property
    def has_symbols(self) -> bool:
        """Whether the full symbol table is there, which `strip` removes."""
        return any(section.kind == SHT_SYMTAB for section in self._sections)

    def exports(self, name: str) -> bool:
        """Whether the dynamic symbol table defines this name, so that other files can bind to it."""
        return self._defines(name, SHT_DYNSYM)

    def defines(self, name: str) -> bool:
        """Whether any symbol table defines this name; a stripped file knows only of its exports."""
        return self._defines(name, SHT_SYMTAB) or self._defines(name, SHT_DYNSYM)

    @property
    def _is_pie(self) -> bool:
        return any(tag == DT_FLAGS_1 and value & DF_1_PIE for tag, value in self._dynamic)

    @cached_property
    def _segments(self) -> list[Segment]:
        offset, count = self._segment_table
        records = self._records(self._layout.segment, offset, count)
        return [Segment(*(record[index] for index in self._layout.segment_fields)) for record in records]

    @cached_property
    def _sections(self) -> list[Section]:
        offset, count = self._section_table
        records = self._records(self._layout.section, offset, count if offset else 0)
        return [Section(record[1], record[4], record[5], record[6]) for record in records]

    @cached_property
    def _dynamic(self) -> list[tuple[int, int]]:
        segment = next((segment for segment in self._segments if segment.kind == PT_DYNAMIC), None)
        if segment is None:
            return []
        count = segment.size // struct.calcsize(self._order + self._layout.dynamic)
        entries: list[tuple[int, int]] = []
        for tag, value in self._records(self._layout.dynamic, segment.offset, count):
            if tag == 0:
                break
            entries.append((tag, value))
        return entries

    def _dynamic_string(self, index: int) -> str:
        table = next((value for tag, value in self._dynamic if tag == DT_STRTAB), None)
        for segment in self._segments:
            if table is not None and segment.kind == PT_LOAD and 0 <= table - segment.address < segment.size:
                return self._string(segment.offset + table - segment.address + index)
        raise ElfError("a damaged ELF file")

    def _defines(self, name: str, kind: int) -> bool:
        wanted = name.encode() + b"\0"
        if not self.contains(wanted):
            return False
        name_field, section_field = self._layout.symbol_fields
        for section in self._sections:
            if section.kind != kind or section.link >= len(self._sections):
                continue
            strings = self._sections[section.link].offset
            count = section.size // struct.calcsize(self._order + self._layout.symbol)
            for symbol in self._records(self._layout.symbol, section.offset, count):
                start = strings + symbol[name_field]
                if symbol[section_field] != SHN_UNDEF and self._data[start : start + len(wanted)] == wanted:
                    return True
        return False

    def _string(self, offset: int) -> str:
        end = self._data.find(b"\0", offset)
        return self._slice(offset, end - offset).decode(errors="replace")

    def _slice(self, offset: int, size: int) -> bytes:
        data = self._data[offset : offset + size]
        if size < 0 or len(data) != size:
            raise ElfError("a damaged ELF file")
        return data

    def _unpack(self, layout: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + layout, self._data, offset)

    def _records(self, layout: str, offset: int, count: int) -> list[tuple[int, ...]]:
        size = struct.calcsize(self._order + layout)
        return list(struct.iter_unpack(self._order + layout, self._slice(offset, size * count)))
