"""What `weft doctor` finds out, apart from how it is shown."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from weft.doctor.libraries import loaded_libraries
from weft.doctor.runtimes import Kind, Runtime, recognise
from weft.elf import Elf, ElfError
from weft.program import (
    Image,
    Obstacle,
    ProgramError,
    find_image,
    find_obstacles,
    find_program,
    has_static_libgomp,
    has_static_libomp,
    is_file,
    is_text,
)

# By the ends of their names; a script that is no program may be for any other.
INTERPRETERS = {".jl": "julia", ".pl": "perl", ".py": "python3", ".R": "Rscript", ".sh": "sh"}


class SubjectError(Exception):
    """There is no such program or process."""


@dataclass
class Diagnosis:
    subject: str
    runtimes: list[Runtime] = field(default_factory=list)
    obstacles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    running: bool = False  # a process, not a file
    library: bool = False  # a shared library, which some program loads
    executable: bool = True  # whoever asks may start it
    script: bool = False  # that only an interpreter can start

    @property
    def can_take_over(self) -> bool:
        return not self.obstacles and all(runtime.can_take_over for runtime in self.runtimes)

    @property
    def verdict(self) -> str:
        runs_on_weft = any(runtime.kind is Kind.WEFT for runtime in self.runtimes)
        if self.script:
            return "it is no program: what weft can take over is what its interpreter loads"
        if not self.can_take_over:
            return "weft cannot take it over" if not runs_on_weft else "weft takes over only a part of it"
        if self.running and runs_on_weft:
            return "it runs on weft"
        if self.library and runs_on_weft:
            return "it is weft"
        if not self.runtimes:
            return "no OpenMP runtime found: nothing to take over"
        if self.library:
            return "weft can take it over, in a program started with `weft run`"
        if not self.executable:
            return "weft can take it over, once it is executable (chmod +x)"
        return "weft can take it over: start it with `weft run`"

    def add_obstacles(self, obstacles: list[Obstacle]) -> None:
        """Those that apply to whoever asks keep weft away; the others may concern somebody else."""
        self.obstacles += [obstacle.reason for obstacle in obstacles if obstacle.applies]
        self.notes += [
            f"not for you, but for others: {obstacle.reason}" for obstacle in obstacles if not obstacle.applies
        ]


def diagnose(subject: str) -> Diagnosis:
    """A whole number is the process of that id, anything else a program as a shell would find it, or a library."""
    if subject.isascii() and subject.isdigit():
        return diagnose_process(int(subject))
    try:
        return diagnose_program(subject, find_program(subject))
    except ProgramError as error:
        path = Path(subject)  # a library, or a program of this folder
        if not is_file(path):
            raise SubjectError(str(error)) from None
    diagnosis = diagnose_program(subject, path)
    if "/" not in subject and diagnosis.executable and not diagnosis.library:
        diagnosis.notes.append(f"it is not in PATH: start it as ./{subject}")
    return diagnosis


def diagnose_program(subject: str, path: Path) -> Diagnosis:
    diagnosis = Diagnosis(subject)
    image = find_image(path)
    if image.elf is None and not os.access(path, os.X_OK):
        add_script(diagnosis, path)
        if diagnosis.script:
            return diagnosis
    if image.interpreters:
        diagnosis.notes.append(f"{path} is a script; looked at its interpreter {image.path}")
    if image.elf is None:
        diagnosis.obstacles.append(f"{image.path}: {image.problem}")
        return diagnosis
    try:
        look_into(diagnosis, image)
    except (ElfError, OSError) as error:
        diagnosis.obstacles.append(f"{image.path}: {error}")
    if not diagnosis.library and not os.access(path, os.X_OK):
        diagnosis.executable = False
        diagnosis.notes.append(f"{path} is not executable")
    if any(name.startswith(("python", "pypy")) for name in (path.name, image.path.name)):
        diagnosis.notes.append(
            "Python loads the runtimes of its extension modules (NumPy, scikit-learn, ...) when they are imported; "
            "to see those: weft doctor PID"
        )
    return diagnosis


def add_script(diagnosis: Diagnosis, path: Path) -> None:
    """Of a file that no one can start as it is, says how to."""
    diagnosis.executable = False
    name = INTERPRETERS.get(path.suffix)
    try:
        text = is_text(path) and path.stat().st_size > 0
    except OSError:  # told as what it is
        return
    diagnosis.script = text and name is not None
    if diagnosis.script:
        how = f"run its interpreter, e.g. weft run {name} {diagnosis.subject}; see weft doctor {name}"
        diagnosis.obstacles.append(f"{path}: a script: {how}")
    else:
        hint = f"; if it is a script: weft run INTERPRETER {diagnosis.subject}" if text else ""
        diagnosis.notes.append(f"{path} is not executable{hint}")


def look_into(diagnosis: Diagnosis, image: Image) -> None:
    """Adds what the program at the end of all #! lines loads, and what keeps weft from it."""
    elf = image.elf
    assert elf is not None
    obstacles = find_obstacles(image.path, elf)
    diagnosis.runtimes += built_in(elf, image.path)
    if elf.is_static_executable and not diagnosis.runtimes:
        obstacles = [obstacle for obstacle in obstacles if obstacle.foreign]
        diagnosis.notes.append("it is a static executable with no OpenMP runtime in it")
    diagnosis.add_obstacles(obstacles)
    if any(obstacle.foreign for obstacle in obstacles):
        diagnosis.notes += [f"it needs {name}" for name in elf.needed if "omp" in name]
    elif elf.interpreter is not None and not Path(elf.interpreter).exists():
        diagnosis.obstacles.append(f"its loader {elf.interpreter!r} is not found")
    elif not elf.is_static_executable:
        libraries = loaded_libraries(image.path)
        add_runtimes(diagnosis, [(name, path, path) for name, path in libraries.found])
        diagnosis.notes += [f"the loader does not find {name}" for name in libraries.missing]
        if libraries.problem:
            diagnosis.notes.append(libraries.problem)
        if elf.is_library:
            diagnosis.library = True
            add_runtimes(diagnosis, [(elf.soname or image.path.name, image.path, image.path)])


def add_runtimes(diagnosis: Diagnosis, libraries: list[tuple[str, Path, Path]]) -> None:
    """Of libraries as (name, path to show, path to read), adds those that are OpenMP runtimes or hold one."""
    for name, path, real in libraries:
        runtime = recognise(path, name, real)
        if runtime is not None:
            diagnosis.runtimes.append(runtime)


def diagnose_process(pid: int) -> Diagnosis:
    folder = Path(f"/proc/{pid}")
    if not folder.is_dir():
        raise SubjectError(f"{pid}: no such process")
    try:
        program = (folder / "exe").readlink()
        mapped = mapped_files((folder / "maps").read_text(errors="surrogateescape"))
    except (FileNotFoundError, ProcessLookupError):  # Bug: only the first one, as for a process that had ended before
        raise SubjectError(f"{pid}: a kernel thread, or a process that has ended") from None
    except PermissionError as error:
        foreign = folder.stat().st_uid != os.geteuid()
        why = "it belongs to another user, who would have to ask" if foreign else f"{error.filename}: {error.strerror}"
        raise SubjectError(f"{pid}: {why}") from None
    diagnosis = Diagnosis(f"process {pid} ({program})", running=True)
    try:
        elf = Elf.open(folder / "exe")
        diagnosis.runtimes += built_in(elf, program)
        diagnosis.add_obstacles(find_obstacles(folder / "exe", elf))
    except (ElfError, OSError) as error:
        diagnosis.obstacles.append(f"{program}: {error}")
    libraries = [path for path in mapped if path != program]
    add_runtimes(diagnosis, [(path.name, path, folder / "root" / path.relative_to("/")) for path in libraries])
    return diagnosis


def mapped_files(maps: str) -> list[Path]:
    """The files of /proc/PID/maps, each once, in the order in which they are mapped."""
    fields = (line.split(maxsplit=5) for line in maps.splitlines())
    paths = (line[5].removesuffix(" (deleted)") for line in fields if len(line) == 6 and line[5].startswith("/"))
    return [Path(path) for path in dict.fromkeys(paths)]


def built_in(elf: Elf, path: Path) -> list[Runtime]:
    """The runtimes that are linked into the executable itself."""
    runtimes: list[Runtime] = []
    if has_static_libgomp(elf):
        runtimes.append(Runtime(Kind.GCC_STATIC, path))
    if has_static_libomp(elf):
        runtimes.append(Runtime(Kind.LLVM_STATIC, path))
    return runtimes
