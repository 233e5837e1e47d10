"""Finds a program as a shell does, and says what keeps weft's drop-in from it."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path

from weft.elf import Elf, ElfError, NotElfError

NOT_FOUND, NOT_EXECUTABLE = 127, 126
UNUSABLE_NAMES = (errno.EACCES, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)  # 126, as of a shell

# libgomp reads these from the environment; a stripped static copy still holds their names.
LIBGOMP_TRACES = (b"GOMP_SPINCOUNT\0", b"GOMP_OPENACC_DIM\0")
# Functions of one object file of each runtime. A tracer that stands before the runtime's has the first alone.
LIBGOMP_FUNCTIONS = ("GOMP_parallel", "omp_get_num_threads")
LIBOMP_FUNCTIONS = ("__kmpc_fork_call", "__kmpc_global_thread_num")
SHELL = Path("/bin/sh")
SCRIPT_DEPTH = 5  # as many #! lines, one behind the other, as Linux follows
HEAD = 256  # bytes of a file that Linux looks at to tell what it is


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
    if is_file(Path(name)):
        raise ProgramError(f"{name}: not found in PATH; is ./{name} meant?", NOT_FOUND)
    raise ProgramError(f"{name or 'an empty name'}: not found", NOT_FOUND)


def is_file(path: Path) -> bool:
    """Path.is_file(), with False for a path that cannot be looked at."""
    try:
        return path.is_file()
    except OSError:
        return False


def check_executable(path: Path, name: str) -> Path:
    try:
        mode = os.stat(name).st_mode  # noqa: PTH116  (Bug: a path object has lost the slash behind a file's name)
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        if number in UNUSABLE_NAMES:
            raise ProgramError(f"{name}: {os.strerror(number).lower()}", NOT_EXECUTABLE) from None
        raise ProgramError(f"{name}: not found", NOT_FOUND) from None
    if stat.S_ISDIR(mode):
        raise ProgramError(f"{name}: is a directory", NOT_EXECUTABLE)
    if not stat.S_ISREG(mode):  # Bug: a FIFO was opened, which waits for whoever writes to it
        raise ProgramError(f"{name}: not a regular file", NOT_EXECUTABLE)
    if not os.access(path, os.X_OK):
        raise ProgramError(f"{name}: not executable", NOT_EXECUTABLE)
    return path


def first_line(path: Path) -> tuple[str, str] | None:
    """What Linux takes from a file that starts with #!: the interpreter, and all that follows as one argument.

    Only blanks and tabs are between them. None: Linux refuses the file, which a shell may run then.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    line, newline, _ = head.removeprefix(b"#!").partition(b"\n")
    was_cut = not newline and len(head) == HEAD and re.search(rb"[^ \t][ \t]", line) is None
    name, *argument = re.split(rb"[ \t]+", line.partition(b"\0")[0].strip(b" \t"), maxsplit=1)
    if not head.startswith(b"#!") or not name or was_cut:
        return None
    return os.fsdecode(name), os.fsdecode(b"".join(argument))


def program_of_env(argument: str) -> str | None:
    """The program that env(1) starts for its one argument; with -S that holds words."""
    split = re.fullmatch(r"(?:-[iv0]*S|--split-string=)(.*)", argument, re.DOTALL)
    words = split[1].split() if split else [argument]
    while words:
        word = words.pop(0)
        if re.fullmatch(r"-[iv0]*[uCa]|--(unset|chdir|argv0)", word):
            words = words[1:]  # the option's own
        elif not word.startswith("-") and "=" not in word:
            return word or None
    return None


def script_interpreter(path: Path) -> Path | None:
    """The program that a file starting with #! is handed to; `env NAME` counts as NAME."""
    found = first_line(path)
    if found is None:
        return None
    name, argument = found
    try:
        interpreter = check_executable(Path(name), name)
        if interpreter.name == "env" and (program := program_of_env(argument)):
            name = program
            return find_program(program)
        return interpreter
    except ProgramError as error:
        problem = "is not found" if error.status == NOT_FOUND else f"cannot be started: {error}"
        raise ProgramError(f"its interpreter {name!r} {problem}", error.status) from None


@dataclass
class Image:
    """The ELF file that the kernel will map for a program, behind any #! lines."""

    path: Path
    interpreters: list[Path] = field(default_factory=list)
    elf: Elf | None = None
    problem: str | None = None  # why there is no `elf`
    unreadable: bool = False  # it may be ELF, and may run, but cannot be looked into
    damaged: bool = False  # it is ELF, but not all of it is there, or makes no sense
    broken_script: bool = False  # what its #! line names cannot be started


def is_text(path: Path) -> bool:
    """Whether a shell would run the file itself, where the kernel refuses it (it has no #!)."""
    with path.open("rb") as file:
        return b"\0" not in file.read(HEAD)


def find_image(path: Path) -> Image:
    """Follows #! lines, or a shell's habit, to the ELF file at their end."""
    image = Image(path)
    try:
        while (interpreter := script_interpreter(image.path)) is not None:
            if len(image.interpreters) == SCRIPT_DEPTH:
                raise ProgramError(f"more than {SCRIPT_DEPTH} interpreters in a row are scripts", NOT_EXECUTABLE)
            image.path = interpreter
            image.interpreters.append(interpreter)
        if is_text(image.path) and os.access(image.path, os.X_OK):
            image.path = SHELL
            image.interpreters.append(SHELL)
        elf = Elf.open(image.path)
        elf.check()
        image.elf = elf
    except ElfError as error:
        image.problem = str(error)
        image.damaged = not isinstance(error, NotElfError)
    except ProgramError as error:
        image.problem = str(error)
        image.broken_script = True
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
    return Elf.open(sys.executable).architecture  # which does not need /proc


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
