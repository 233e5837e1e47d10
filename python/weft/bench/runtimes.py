"""The OpenMP runtimes that are compared, and the environment that puts each under an unmodified program.

A runtime replaces libgomp.so.1 in two ways at once: by LD_LIBRARY_PATH for programs linked to that name, and by
LD_PRELOAD for Python wheels, which bring copies under names of their own. Every program reports the file its
GOMP_parallel came from; `Runtime.is_mine` says whether that is the runtime it was meant to run on.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.paths import put_link

from . import places, shell

# Deep enough for every benchmark. The default, one level, would turn the nests off.
_NESTING = {"OMP_MAX_ACTIVE_LEVELS": "16"}


@dataclass(frozen=True)
class Setting:
    """One way to tune a runtime; where there are several, the better one counts, case by case."""

    name: str
    env: Mapping[str, str]
    spins: bool = False  # for ever: hopeless with more threads than CPUs. (libomp's spin, but offer their CPU then.)


def initials(setting: str) -> str:
    return "".join(word[0] for word in setting.split())


@dataclass(frozen=True)
class Runtime:
    name: str
    about: str
    library: Path | None  # the file it is loaded from; None: what the program was linked to
    folder: Path | None = None  # holds it under the name libgomp.so.1
    settings: tuple[Setting, ...] = (Setting("default", {}),)
    others: tuple[Path, ...] = field(default=())  # files that must not turn up instead of the stock runtime
    clang: bool = False  # runs the programs that clang has built
    only: tuple[str, ...] = ()  # benchmarks; empty: all

    def environment(self, setting: Setting, base: Mapping[str, str] | None = None) -> dict[str, str]:
        env = shell.environment(base)
        if self.folder:
            tail = env.get("LD_LIBRARY_PATH")
            env["LD_LIBRARY_PATH"] = f"{self.folder}:{tail}" if tail else str(self.folder)
            env["LD_PRELOAD"] = str(self.folder / "libgomp.so.1")
        return {**env, **_NESTING, **setting.env}

    def is_mine(self, loaded: str) -> bool:
        path = Path(loaded)
        if self.library is not None:
            return path == self.library.resolve()
        return path.name.startswith("libgomp") and path not in self.others


_LIBOMP_PLACES = (
    "/usr/lib/llvm-19/lib/libomp.so.5",
    "/usr/lib/llvm-16/lib/libomp.so.5",
    "/usr/lib/llvm-14/lib/libomp.so.5",
    "/usr/lib/x86_64-linux-gnu/libomp.so.5",
)

# What LLVM's documentation offers for nesting: teams that are kept at every level.
_HOT_TEAMS = {"KMP_HOT_TEAMS_MODE": "1", "KMP_HOT_TEAMS_MAX_LEVEL": "8"}


def as_libgomp(library: Path) -> Path:
    """A folder in which `library` stands under libgomp's name, and under that by which MKL asks for a runtime."""
    folder = places.results_dir() / "runtimes" / library.parent.as_posix().strip("/").replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("libgomp.so.1", "libiomp5.so"):
        put_link(folder / name, library.absolute())
    return folder


def hot_teams() -> tuple[Setting, ...]:
    return tuple(Setting(policy, {**_HOT_TEAMS, "OMP_WAIT_POLICY": policy}) for policy in ("passive", "active"))


def _libomp() -> Runtime | str:
    library = next((Path(path) for path in _LIBOMP_PLACES if Path(path).exists()), None)
    if library is None:
        return "libomp: not installed (Debian: libomp-19-dev); going on without it"
    return Runtime("libomp", "LLVM's, nested hot teams, better wait policy", library, as_libgomp(library), hot_teams())


def _weft() -> Runtime | str:
    folder = places.build_dir() / "dropin"
    library = folder / "libgomp.so.1"
    if not library.exists():
        return f"weft: {library} is not built (make build); going on without it"
    return Runtime("weft", "this checkout's, default settings", library, folder)


class NoRuntime(Exception):
    """One line: why what the command line names is none."""


BUILT_IN = ("libgomp", "libomp", "libiomp5", "weft")
OF_CLANG = " clang"  # what the names of runtimes end with that run clang's programs
WEFT = ("weft", f"weft{OF_CLANG}")  # this checkout's


def from_folder(name: str, folder: Path) -> Runtime:
    """A runtime given on the command line: a folder with a libgomp.so.1 (BOLT, another build of weft)."""
    library = folder / "libgomp.so.1"
    if name in BUILT_IN or name.endswith(OF_CLANG):
        raise NoRuntime(f"'{name}': that is the name of a runtime that is measured anyway, or of its like for clang")
    if re.fullmatch(r"[\w.+ -]+", name) is None:
        raise NoRuntime(f"'{name}': expected a name of letters, digits, blanks and any of . + - _")
    if not library.exists():
        raise NoRuntime(f"'{name}': there is no {library}")
    return Runtime(name, f"from {folder}", library, folder.resolve())


# What the stock runtimes' documentation offers for a machine that a program has for itself.
_ACTIVE = {"OMP_WAIT_POLICY": "active"}
_BOUND = {"OMP_PROC_BIND": "spread,close", "OMP_PLACES": "cores"}


def tuned(runtimes: list[Runtime]) -> list[Runtime]:
    """The same, each with the settings that may suit it best, and those of LLVM's interface on clang's programs too.
    weft stays last, and has no settings."""
    of_llvm = (*hot_teams(), Setting("bound", {**_HOT_TEAMS, **_ACTIVE, **_BOUND}))
    settings = {
        "libgomp": (
            Setting("default", {}),
            Setting("active", _ACTIVE, spins=True),
            Setting("bound", {**_ACTIVE, **_BOUND}, spins=True),
        ),
        "libomp": of_llvm,
        "libiomp5": of_llvm,
    }
    abouts = {"libgomp": "GCC's", "libomp": "LLVM's, nested hot teams"}
    result = [
        replace(r, about=abouts.get(r.name, r.about), settings=settings.get(r.name, r.settings)) for r in runtimes
    ]
    of_clang = [replace(r, name=f"{r.name}{OF_CLANG}", clang=True) for r in result if r.name in ("libomp", "weft")]
    weft = [r for r in result if r.name == "weft"]
    return [*(r for r in result if r.name != "weft"), *of_clang, *weft]


def available(also: Mapping[str, Path] | None = None) -> tuple[list[Runtime], list[str]]:
    """The runtimes that can run here, stock first and weft last, and one line for each that cannot; NoRuntime for one
    of the command line."""
    found = [_libomp(), *(from_folder(name, folder) for name, folder in (also or {}).items()), _weft()]
    replacing = [runtime for runtime in found if isinstance(runtime, Runtime)]
    taken = tuple(runtime.library.resolve() for runtime in replacing if runtime.library)
    stock = Runtime("libgomp", "GCC's, default settings", None, others=taken)
    return [stock, *replacing], [line for line in found if isinstance(line, str)]
