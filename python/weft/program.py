"""Finds a program as a shell does, and says what keeps weft's drop-in from it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from weft.elf import Elf, ElfError

NOT_FOUND, NOT_EXECUTABLE = 127, 126

# libgomp reads these from the environment; a stripped static copy still holds their names.
LIBGOMP_TRACES = (b"GOMP_SPINCOUNT\0", b"GOMP_OPENACC_DIM\0")
# Functions of one object file of each runtime. A tracer that stands before the runtime's has the first alone.
LIBGOMP_FUNCTIONS = ("GOMP_parallel", "omp_get_num_threads")
LIBOMP_FUNCTIONS = ("__kmpc_fork_call", "__kmpc_global_thread_num")
SHELL = Path("/bin/sh")
SCRIPT_DEPTH = 4  # as many interpreters of interpreters as Linux follows


class ProgramError(Exception):
    """The program cannot be started; `status` is what a shell would exit with."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def find_program(name: str) -> Path:
    """The file that a shell would start for this name."""
    if "/" in name or name in (".", ".."):
        return check_executable(Path(name), name)
    unusable: Path | None = None
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        candidate = Path(folder or ".") / name
        if is_file(candidate):
            if os.access(candidate, os.X_OK):
                return candidate
            unusable = unusable or candidate
    if unusable is not None:
        raise ProgramError(f"{unusable}: not executable", NOT_EXECUTABLE)
    raise ProgramError(f"{name or 'an empty name'}: not found", NOT_FOUND)


def is_file(path: Path) -> bool:
    """Path.is_file(), with False for a path that cannot be looked at."""
    try:
        return path.is_file()
    except OSError:
        return False


def check_executable(path: Path, name: str) -> Path:
    try:
        mode = path.stat().st_mode
    except PermissionError:
        raise ProgramError(f"{name}: permission denied", NOT_EXECUTABLE) from None
    except (OSError, ValueError):
        raise ProgramError(f"{name}: not found", NOT_FOUND) from None
    if stat.S_ISDIR(mode):
        raise ProgramError(f"{name}: is a directory", NOT_EXECUTABLE)
    if not stat.S_ISREG(mode):  # Bug: a FIFO was opened, which waits for whoever writes to it
        raise ProgramError(f"{name}: not a regular file", NOT_EXECUTABLE)
    if not os.access(path, os.X_OK):
        raise ProgramError(f"{name}: not executable", NOT_EXECUTABLE)
    return path


def script_interpreter(path: Path) -> str | None:
    """The program that a file starting with #! is handed to; `env NAME` counts as NAME."""
    with path.open("rb") as file:
        line = file.readline(256)
    if not line.startswith(b"#!"):
        return None
    words = line[2:].decode(errors="surrogateescape").split()
    if words and Path(words[0]).name == "env":
        rest = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        return rest[0] if rest else words[0]
    return words[0] if words else None


@dataclass
class Image:
    """The ELF file that the kernel will map for a program, behind any #! lines."""

    path: Path
    interpreters: list[Path] = field(default_factory=list)
    elf: Elf | None = None
    problem: str | None = None  # why there is no `elf`
    unreadable: bool = False  # it may be ELF, and may run, but cannot be looked into


def is_text(path: Path) -> bool:
    """Whether a shell would run the file itself, where the kernel refuses it (it has no #!)."""
    with path.open("rb") as file:
        return b"\0" not in file.read(256)


def find_image(path: Path) -> Image:
    """Follows #! lines, or a shell's habit, to the ELF file at their end."""
    image = Image(path)
    try:
        for _ in range(SCRIPT_DEPTH):
            interpreter = script_interpreter(image.path)
            if interpreter is None:
                break
            image.path = find_program(interpreter)
            image.interpreters.append(image.path)
        if is_text(image.path) and os.access(image.path, os.X_OK):
            image.path = SHELL
            image.interpreters.append(SHELL)
        elf = Elf.open(image.path)
        elf.check()
        image.elf = elf
    except ElfError as error:
        image.problem = str(error)
    except ProgramError as error:
        image.problem = f"its interpreter cannot be started: {error}"
    except OSError as error:
        image.problem = f"unreadable: {error.strerror}"
        image.unreadable = True
    return image


@dataclass(frozen=True)
class Obstacle:
    """Something that keeps weft from a program."""

    reason: str
    foreign: bool = False  # the program's loader would complain about a library of this machine
    applies: bool = True  # to whoever asks: a setuid program gains nothing when its owner starts it


def native_architecture() -> tuple[int, int, str]:
    return Elf.open("/proc/self/exe").architecture


def find_obstacles(path: Path, elf: Elf) -> list[Obstacle]:
    """Why the drop-in cannot stand in for the OpenMP runtime of this program; empty if it can."""
    obstacles: list[Obstacle] = []
    if elf.architecture != native_architecture():
        obstacles.append(Obstacle(f"it is built for another architecture ({elf.architecture_name})", foreign=True))
    elif elf.is_static_executable:
        obstacles.append(Obstacle("it is a static executable: no library can be put before its own code"))
    elif elf.interpreter is not None and "ld-musl" in elf.interpreter:
        obstacles.append(Obstacle(f"its loader is musl's ({elf.interpreter}): weft needs glibc", foreign=True))
    if has_static_libgomp(elf):
        obstacles.append(Obstacle("it contains a static libgomp, whose code comes before any library's"))
    if has_static_libomp(elf):
        obstacles.append(Obstacle("it contains a static libomp, whose code comes before any library's"))
    return obstacles + find_privileges(path)


def has_static_libgomp(elf: Elf) -> bool:
    if elf.is_library:
        return False
    if elf.has_symbols:
        return all(elf.defines(name) for name in LIBGOMP_FUNCTIONS)
    return all(elf.contains(trace) for trace in LIBGOMP_TRACES)


def has_static_libomp(elf: Elf) -> bool:
    return not elf.is_library and all(elf.defines(name) for name in LIBOMP_FUNCTIONS)


def find_privileges(path: Path) -> list[Obstacle]:
    """What a program gains when it is started: its loader then ignores LD_PRELOAD and LD_LIBRARY_PATH."""
    information = path.stat()
    mode = information.st_mode
    consequence = "the loader ignores LD_PRELOAD and LD_LIBRARY_PATH for it"
    obstacles: list[Obstacle] = []
    if mode & stat.S_ISUID:
        gained = information.st_uid != os.getuid()
        obstacles.append(Obstacle(f"it is setuid (user {information.st_uid}): {consequence}", applies=gained))
    if mode & stat.S_ISGID and mode & stat.S_IXGRP:
        gained = information.st_gid != os.getgid()
        obstacles.append(Obstacle(f"it is setgid (group {information.st_gid}): {consequence}", applies=gained))
    if has_capabilities(path):
        obstacles.append(Obstacle(f"it has file capabilities: {consequence}", applies=os.getuid() != 0))
    return obstacles


def has_capabilities(path: Path) -> bool:
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:  # none, or a file system that knows no capabilities
        return False
