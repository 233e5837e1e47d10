#!/usr/bin/env python3
"""installed_test.py BUILD EXAMPLE: what `cmake --install` leaves is enough for pkg-config, for find_package, and to run
programs on weft."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(weft 0.1 REQUIRED)
add_executable(user {example})
target_link_libraries(user PRIVATE weft::weft)
"""


def run(*command: str | Path, **settings: object) -> str:
    result = subprocess.run(command, capture_output=True, text=True, timeout=500, **settings)  # type: ignore[call-overload]
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def check(what: str, seen: str, expected: str) -> None:
    if seen != expected:
        sys.exit(f"{what}: {seen!r}, expected {expected!r}")


def main() -> None:
    build, example = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        prefix, work = Path(name) / "installed", Path(name) / "work"
        work.mkdir()
        run("cmake", "--install", build, "--prefix", prefix)
        greeting = "hello from a unit\n"

        pkg_config = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "weft", env=os.environ | pkg_config).split()
        program = work / "by-pkg-config"
        run("cc", example, "-o", program, *flags, f"-Wl,-rpath,{prefix / 'lib'}")
        check("a program linked by pkg-config", run(program), greeting)

        (work / "CMakeLists.txt").write_text(PROJECT.format(example=example))
        run("cmake", "-S", work, "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", work / "build")
        check("a program linked by find_package", run(work / "build" / "user"), greeting)

        weft = prefix / "bin" / "weft"
        shown = run(weft, "run", "sh", "-c", "echo $LD_PRELOAD").strip()
        check("what weft run preloads", shown, str(prefix / "lib" / "weft" / "build" / "dropin" / "libgomp.so.1"))

        bench = subprocess.run([weft, "bench"], capture_output=True, text=True, timeout=100, check=False)
        if bench.returncode != 1 or "belong to a checkout" not in bench.stderr:
            sys.exit(f"weft bench: status {bench.returncode}, {bench.stderr!r}")

        headers = (prefix / "include" / "weft").iterdir()
        others = [file.name for file in headers if file.suffix not in (".h", ".hpp")]
        check("what lies beside the headers", ", ".join(others), "")


if __name__ == "__main__":
    main()
