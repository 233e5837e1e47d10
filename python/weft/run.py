"""`weft run`: becomes the program, with weft's OpenMP runtime before the stock one. Standard library only."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from weft.elf import Elf, ElfError
from weft.paths import DROPIN, DROPIN_FOLDER, put_link
from weft.program import (
    NOT_EXECUTABLE,
    NOT_FOUND,
    SHELL,
    Image,
    ProgramError,
    find_image,
    find_obstacles,
    find_program,
    is_text,
)

HELP = """\
Usage: weft run [OPTIONS] [--] PROGRAM [ARGS]...

Runs PROGRAM on weft's OpenMP runtime instead of the one it was built for (GCC's libgomp, LLVM's libomp or Intel's
libiomp5). PROGRAM is not changed: it keeps its arguments, input, output, signals and exit status.

Options:
  --report       At exit, print on standard error what the OpenMP runtime did, in each process that used it.
  --workers N    Use N workers, 1 to 1024 (default: one for each CPU that the process may use, no more than its
                 cgroup's quota allows).
  --help         Show this text.

A program that weft cannot reach (a static executable, say) is named on standard error, and runs as it is.
Exit status: PROGRAM's own; 127 if it is not found, 126 if it cannot be executed, 2 for a wrong option,
125 if weft is not built.

Examples:
  weft run ./simulation input.dat
  weft run --report python3 train.py
  weft run --workers 8 -- ./simulation --verbose
"""

USAGE_ERROR, WEFT_ERROR = 2, 125
MOST_WORKERS = 1024  # as the runtime accepts (src/core/runtime.h)


class UsageError(Exception):
    """The command line of `weft run` makes no sense."""


@dataclass
class Options:
    program: list[str]
    report: bool = False
    workers: int | None = None
    help: bool = False


def parse_workers(text: str) -> int:
    if re.fullmatch(r"0*[1-9][0-9]{0,3}", text, re.ASCII) is None or int(text) > MOST_WORKERS:
        raise UsageError(f"--workers: '{text}' is not a whole number from 1 to {MOST_WORKERS}")
    return int(text)


def parse_options(arguments: list[str]) -> Options:
    """Options end at `--` or at the first word that is none: the rest is the program's."""
    options = Options(program=[])
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            break
        if word in ("--help", "-h"):
            options.help = True
        elif word == "--report":
            options.report = True
        elif name == "--workers":
            if not equals and not rest:
                raise UsageError("--workers: the number is missing")
            options.workers = parse_workers(value if equals else rest.pop(0))
        else:
            raise UsageError(f"unknown option '{word}'; expected --report, --workers N, --help or a program")
    options.program = rest
    if not rest and not options.help:
        raise UsageError("which program? usage: weft run [--report] [--workers N] [--] PROGRAM [ARGS]")
    return options


def say(message: str) -> None:
    print(f"weft: run: {message}", file=sys.stderr, flush=True)


def prepend(entry: str, old: str | None, separator: str) -> str:
    """The entry before what a search path held, without a second copy of it."""
    kept = [part for part in (old or "").split(separator) if part != entry] if old else []
    return separator.join([entry, *kept])


def loader_folder() -> Path:
    """The drop-in's folder under a name that the loader can take.

    LD_PRELOAD is split at blanks and colons, and nothing escapes them; a checkout with such a name is reached
    through a symbolic link in a private folder.
    """
    if not re.search(r"[\s:;$]", str(DROPIN_FOLDER)):
        return DROPIN_FOLDER
    private = Path(f"/tmp/weft-{os.getuid()}")
    private.mkdir(mode=0o700, exist_ok=True)
    information = private.lstat()
    if information.st_uid != os.getuid() or information.st_mode & 0o077:
        raise PermissionError(errno.EPERM, "is not a private folder of yours", str(private))
    link = private / hashlib.sha256(os.fsencode(DROPIN_FOLDER)).hexdigest()[:16]
    put_link(link, DROPIN_FOLDER)
    return link


# A sanitizer ends the program whose list of libraries it is not the first of.
SANITIZER = re.compile(r"(lib(clang_rt\.)?(asan|hwasan|lsan|tsan)[^/]*\.so[^/]*)$")


def preloads(weft: str, image: Image, old: str) -> str:
    """weft before all others, but for sanitizers: those that are there already, and what the program is linked to."""
    kept = [part for part in re.split(r"[\s:]+", old) if part not in ("", weft)]
    linked = image.elf.needed if image.elf is not None else []
    sanitizers = [name for name in (*kept, *linked) if SANITIZER.search(name)]
    first = list(dict.fromkeys(sanitizers))
    return ":".join([*first, weft, *(part for part in kept if part not in first)])


def environment_for(options: Options, image: Image) -> dict[str, str]:
    """The caller's environment with weft put before the stock runtime.

    Both variables are needed: LD_LIBRARY_PATH answers whoever asks for libgomp.so.1, libomp.so.5 or libiomp5.so, which
    are one file here, so that the loader maps it once. LD_PRELOAD comes before the copies that Python wheels carry
    under names of their own, and before a runtime that a program's DT_RPATH names: that one is loaded, and unused.
    """
    environment = dict(os.environ)
    if "LC_CTYPE" in environment and not was_set_at_start("LC_CTYPE"):
        del environment["LC_CTYPE"]  # Python sets it for itself in the C locale
    folder = loader_folder()
    environment["LD_LIBRARY_PATH"] = prepend(str(folder), environment.get("LD_LIBRARY_PATH"), ":")
    environment["LD_PRELOAD"] = preloads(str(folder / DROPIN.name), image, environment.get("LD_PRELOAD", ""))
    if options.report:
        environment["WEFT_REPORT"] = "1"
    if options.workers is not None:
        environment["WEFT_NUM_WORKERS"] = str(options.workers)
    return environment


def was_set_at_start(variable: str) -> bool:
    try:
        start = Path("/proc/self/environ").read_bytes()
    except OSError:
        return True
    return any(entry.startswith(f"{variable}=".encode()) for entry in start.split(b"\0"))


def unreached(image: Image) -> tuple[list[str], bool]:
    """Why weft does not reach this program, and whether its loader would choke on weft's library."""
    if image.elf is None:
        return [], False
    obstacles = [obstacle for obstacle in find_obstacles(image.path, image.elf) if obstacle.applies]
    return [obstacle.reason for obstacle in obstacles], any(obstacle.foreign for obstacle in obstacles)


def restore_signals() -> None:
    """Python ignores some signals for itself; the program gets them as weft's own caller left them.

    A profiler that is preloaded has set a timer here too, which would outlive its handler.
    """
    if os.environ.get("LD_PRELOAD"):
        signal.setitimer(signal.ITIMER_PROF, 0)
    ignored = int(str(sys._xoptions.get("weft_ignored_signals", "0")) or "0", 16)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        if not ignored >> (number - 1) & 1:
            signal.signal(number, signal.SIG_DFL)


def why_not_started(image: Image, error: OSError) -> str | None:
    """Where that is known, what the error's number does not say: which file it is about."""
    if image.broken_script and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP):
        return image.problem
    if error.errno == errno.ENOENT:
        loader = image.elf.interpreter if image.elf is not None else None
        return f"its loader {loader!r} is not found" if loader else "its interpreter or loader is not found"
    return error.strerror


def execute(path: Path, arguments: list[str], environment: dict[str, str], image: Image) -> NoReturn:
    try:
        os.execve(path, arguments, environment)
    except OSError as error:
        if error.errno == errno.ENOEXEC and is_text(path):
            os.execve(SHELL, ["sh", str(path), *arguments[1:]], environment)  # as a shell does
        status = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
        if image.damaged:  # which has been told
            sys.exit(status)
        raise ProgramError(f"{arguments[0]}: {why_not_started(image, error)}", status) from None


def check_dropin() -> None:
    """Bug: where it was empty the loader's lines told of it, and where it could not be read, nobody did."""
    try:
        Elf.open(DROPIN).check()
    except FileNotFoundError:
        raise ProgramError(f"{DROPIN} is not there; run `make build`", WEFT_ERROR) from None
    except (ElfError, OSError) as error:
        problem = error.strerror if isinstance(error, OSError) else error
        raise ProgramError(f"{DROPIN} cannot be used ({problem}); run `make build`", WEFT_ERROR) from None


def start(options: Options) -> NoReturn:
    name = options.program[0]
    path = find_program(name)
    check_dropin()
    image = find_image(path)
    environment = environment_for(options, image)
    shown = name if image.path == path and "/" in name else image.path
    if image.unreadable:
        say(f"cannot tell whether weft reaches {shown}: {image.problem}")
    if image.damaged:  # Bug: where Linux starts it all the same, it crashed without a word
        say(f"{shown}: {image.problem}")
    foreign = False
    try:
        reasons, foreign = unreached(image)
        if reasons:
            say(f"weft does not reach {shown}: {'; '.join(reasons)}")
    except (ElfError, OSError) as error:
        say(f"cannot tell whether weft reaches {shown}: {error}")
    restore_signals()
    execute(path, options.program, dict(os.environ) if foreign else environment, image)


def main(arguments: list[str]) -> int:
    try:
        options = parse_options(arguments)
        if options.help:
            print(HELP, end="")
            return 0
        start(options)
    except UsageError as error:
        say(str(error))
        return USAGE_ERROR
    except ProgramError as error:
        say(str(error))
        return error.status
    except OSError as error:
        say(f"{error.filename or 'error'}: {error.strerror}")
        return WEFT_ERROR
