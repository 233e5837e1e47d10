"""A checkout with a stand-in for the drop-in, and programs to run on it.

The stand-in exports GOMP_parallel and says so when it is called: the tests see which library a program was bound
to, and need no built weft.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Bug: what is set on many servers of continuous integration folded the tables of `weft info` as in a terminal.
for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)

RUNTIME = """
#include <stdio.h>
#include <unistd.h>
const char* settings = "WEFT_NUM_WORKERS";
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  (void)threads;
  (void)flags;
  puts("on " NAME);
  fflush(stdout);
  body(data);
}
"""
PROGRAM = """
#include <stdio.h>
int main(int argc, char** argv) {
#pragma omp parallel num_threads(1)
  printf("%d arguments\\n", argc - 1);
  return argc > 1 && argv[1][0] == '7' ? 7 : 0;
}
"""

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compiles C source: compile_c(source, name, *options) gives the file."""

    def compile_source(source: str, name: str, *options: str, folder: Path | None = None) -> Path:
        target = (folder or tmp_path_factory.mktemp("compiled")) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        command = ["gcc", "-x", "c", "-", "-x", "none", "-o", str(target), *options]
        subprocess.run(command, input=source, text=True, check=True)
        return target

    return compile_source


def make_checkout(folder: Path, compile_c: Compile) -> Path:
    shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "weft", folder / "weft")
    version_script = folder / "versions"
    version_script.write_text("GOMP_4.0 { global: GOMP_parallel; local: *; };\n")
    compile_c(
        RUNTIME,
        "libgomp.so.1",
        "-shared",
        "-fPIC",
        '-DNAME="weft"',
        "-Wl,-soname,libgomp.so.1",
        f"-Wl,--version-script,{version_script}",
        folder=folder / "build" / "dropin",
    )
    return folder


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory, compile_c: Compile) -> Path:
    return make_checkout(tmp_path_factory.mktemp("checkout"), compile_c)


@pytest.fixture(scope="session")
def spaced_checkout(tmp_path_factory: pytest.TempPathFactory, compile_c: Compile) -> Path:
    """A checkout whose path the loader could not take as it is."""
    return make_checkout(tmp_path_factory.mktemp("a checkout: ours"), compile_c)


def skip_if_closed(folder: Path) -> None:
    """Skips the test where other users may not come to the folder: TMPDIR may be below root's home."""
    if not all(parent.stat().st_mode & stat.S_IXOTH for parent in folder.resolve().parents):
        pytest.skip("other users may not enter the temporary folder")


@pytest.fixture
def open_checkout(checkout: Path) -> Iterator[Path]:
    """A checkout that other users may enter, as they may not enter pytest's own folders."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        skip_if_closed(folder)
        shutil.copytree(checkout, folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="session")
def weft(checkout: Path) -> Path:
    return checkout / "weft"


@pytest.fixture(scope="session")
def openmp_program(compile_c: Compile) -> Path:
    return compile_c(PROGRAM, "openmp", "-fopenmp")


@pytest.fixture(scope="session")
def static_program(compile_c: Compile) -> Path:
    return compile_c(PROGRAM, "openmp-static", "-fopenmp", "-static")


@pytest.fixture(scope="session")
def static_libgomp_program(compile_c: Compile) -> Path:
    """Linked to libc as usual, but with libgomp's code inside."""
    archive = subprocess.run(["gcc", "-print-file-name=libgomp.a"], capture_output=True, text=True, check=True)
    return compile_c(PROGRAM, "openmp-inside", "-fopenmp", "-nodefaultlibs", archive.stdout.strip(), "-lc", "-lgcc")


@pytest.fixture(scope="session")
def wheel_program(compile_c: Compile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Linked, as the extension modules of wheels are, to a runtime under a name of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "versions").write_text("GOMP_4.0 { global: GOMP_parallel; local: *; };\n")
    name = "libgomp-e985bcbb.so.1.0.0"
    library = compile_c(
        RUNTIME.replace("WEFT_NUM_WORKERS", "none"),
        name,
        "-shared",
        "-fPIC",
        '-DNAME="the copy"',
        f"-Wl,-soname,{name}",
        f"-Wl,--version-script,{folder / 'versions'}",
        folder=folder,
    )
    compile_c(PROGRAM, "object.o", "-c", "-fopenmp", folder=folder)
    program = folder / "openmp"
    runpath = f"-Wl,-rpath,{folder}"
    subprocess.run(["gcc", str(folder / "object.o"), str(library), runpath, "-o", str(program)], check=True)
    return program


@pytest.fixture
def foreign_program(openmp_program: Path, tmp_path: Path) -> Path:
    """The same program, with a header that says aarch64."""
    image = bytearray(openmp_program.read_bytes())
    image[18:20] = (183).to_bytes(2, "little")
    path = tmp_path / "foreign"
    path.write_bytes(image)
    path.chmod(0o755)
    return path


def make_script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def as_owner_nobody(path: Path, mode: int) -> None:
    """Gives the file to another user and sets its mode; skips the test where only root could."""
    if os.getuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(path, 65534, 65534)
    path.chmod(mode)
