"""`weft doctor`: what it finds in programs, libraries, scripts and processes."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM, ROOT, Compile, as_owner_nobody, make_script
from weft.doctor import libraries
from weft.doctor.diagnosis import Diagnosis, SubjectError, diagnose
from weft.doctor.runtimes import Kind
from weft.doctor.view import doctor


def kinds(diagnosis: Diagnosis) -> list[Kind]:
    return [runtime.kind for runtime in diagnosis.runtimes]


def test_program_built_by_gcc(openmp_program: Path) -> None:
    diagnosis = diagnose(str(openmp_program))
    assert kinds(diagnosis) == [Kind.GCC]
    assert diagnosis.runtimes[0].path.name == "libgomp.so.1"
    assert diagnosis.can_take_over
    assert doctor(str(openmp_program)) == 0


def test_a_loader_that_is_not_there(openmp_program: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(openmp_program.read_bytes().replace(b"/lib64/ld-linux", b"/lib64/no-linux"))
    program.chmod(0o755)
    diagnosis = diagnose(str(program))
    assert not diagnosis.can_take_over
    assert diagnosis.obstacles == ["its loader '/lib64/no-linux-x86-64.so.2' is not found"]


def test_program_without_openmp() -> None:
    diagnosis = diagnose("true")
    assert (kinds(diagnosis), diagnosis.can_take_over) == ([], True)
    assert "nothing to take over" in diagnosis.verdict


def test_runtime_behind_a_library(compile_c: Compile, tmp_path: Path) -> None:
    library = compile_c(PROGRAM.replace("main", "work"), "libwork.so", "-shared", "-fPIC", "-fopenmp", folder=tmp_path)
    call = "int work(int, char**); int main(int c, char** v) { return work(c, v); }"
    program = compile_c(call, "program", str(library), "-Wl,-rpath,$ORIGIN", folder=tmp_path)
    assert kinds(diagnose(str(program))) == [Kind.GCC]
    assert "in a program" in diagnose(str(library)).verdict


def test_a_loader_that_fails_with_a_blank_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = make_script(tmp_path / "loader", "#!/bin/sh\necho >&2\nexit 1\n")
    monkeypatch.setattr(libraries, "system_loader", lambda: str(loader))
    assert libraries.loaded_libraries(tmp_path / "program").problem is None


def test_copy_of_a_wheel(wheel_program: Path) -> None:
    diagnosis = diagnose(str(wheel_program))
    assert kinds(diagnosis) == [Kind.GCC_COPY]
    assert diagnosis.can_take_over


def test_library_that_is_not_found(compile_c: Compile, tmp_path: Path) -> None:
    library = compile_c("void f(void) {}", "libgone.so", "-shared", folder=tmp_path)
    program = compile_c("void f(void); int main(void) { f(); }", "program", str(library), folder=tmp_path)
    library.unlink()
    assert any("libgone.so" in note for note in diagnose(str(program)).notes)


def test_static_program(static_program: Path, compile_c: Compile, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(str(static_program)) == 1
    assert "static executable" in capsys.readouterr().out
    plain = compile_c("int main(void) { return 0; }", "plain", "-static")
    assert doctor(str(plain)) == 0
    assert "nothing to take over" in capsys.readouterr().out


@pytest.mark.parametrize("strip", [False, True])
def test_static_libgomp(static_libgomp_program: Path, tmp_path: Path, strip: bool) -> None:
    program = tmp_path / "program"
    shutil.copy(static_libgomp_program, program)
    if strip:
        subprocess.run(["strip", program], check=True)
    diagnosis = diagnose(str(program))
    assert kinds(diagnosis) == [Kind.GCC_STATIC]
    assert not diagnosis.can_take_over
    assert any("static libgomp" in obstacle for obstacle in diagnosis.obstacles)


@pytest.mark.parametrize(("mode", "reason"), [(0o4755, "setuid"), (0o2755, "setgid")])
def test_privileged_program(openmp_program: Path, tmp_path: Path, mode: int, reason: str) -> None:
    program = tmp_path / "program"
    shutil.copy(openmp_program, program)
    as_owner_nobody(program, mode)
    diagnosis = diagnose(str(program))
    assert not diagnosis.can_take_over
    assert any(reason in obstacle for obstacle in diagnosis.obstacles)


@pytest.mark.parametrize(("mode", "reason"), [(0o4755, "setuid"), (0o2755, "setgid")])
def test_privileges_that_the_caller_has_anyway(openmp_program: Path, tmp_path: Path, mode: int, reason: str) -> None:
    program = tmp_path / "program"
    shutil.copy(openmp_program, program)
    os.chown(program, os.getuid(), os.getgid())
    program.chmod(mode)
    diagnosis = diagnose(str(program))
    assert diagnosis.can_take_over
    assert "weft run" in diagnosis.verdict
    assert any(reason in note and "for others" in note for note in diagnosis.notes)


def test_program_that_is_not_executable(openmp_program: Path, tmp_path: Path, compile_c: Compile) -> None:
    program = tmp_path / "program"
    shutil.copy(openmp_program, program)
    program.chmod(0o644)
    diagnosis = diagnose(str(program))
    assert kinds(diagnosis) == [Kind.GCC]
    assert "not executable" in diagnosis.notes[-1]
    assert "weft run" not in diagnosis.verdict and "executable" in diagnosis.verdict
    library = compile_c(PROGRAM.replace("main", "work"), "libwork.so", "-shared", "-fPIC", "-fopenmp")
    library.chmod(0o644)
    assert not any("executable" in note for note in diagnose(str(library)).notes)


def test_other_architecture(foreign_program: Path) -> None:
    diagnosis = diagnose(str(foreign_program))
    assert any("aarch64" in obstacle for obstacle in diagnosis.obstacles)
    assert "it needs libgomp.so.1" in diagnosis.notes


@pytest.mark.parametrize(("name", "kind"), [("libomp.so.5", Kind.LLVM), ("libiomp5.so", Kind.INTEL)])
def test_llvm_runtime(compile_c: Compile, name: str, kind: Kind) -> None:
    runtime = compile_c("void __kmpc_fork_call(void) {}", name, "-shared", f"-Wl,-soname,{name}")
    call = "void __kmpc_fork_call(void); int main(void) { __kmpc_fork_call(); return 0; }"
    program = compile_c(call, "program", str(runtime), f"-Wl,-rpath,{runtime.parent}")
    diagnosis = diagnose(str(program))
    assert kinds(diagnosis) == [kind]
    assert diagnosis.can_take_over


def test_copy_of_llvm_runtime(compile_c: Compile) -> None:
    runtime = compile_c("void __kmpc_fork_call(void) {}", "libomp-1a2b.so", "-shared", "-Wl,-soname,libomp-1a2b.so")
    assert kinds(diagnose(str(runtime))) == [Kind.LLVM_COPY]
    assert diagnose(str(runtime)).can_take_over


def test_static_llvm_runtime(compile_c: Compile) -> None:
    runtime = "void __kmpc_fork_call(void) {} int __kmpc_global_thread_num(void) { return 0; }"
    program = compile_c(runtime + "int main(void) { __kmpc_fork_call(); return 0; }", "program")
    diagnosis = diagnose(str(program))
    assert kinds(diagnosis) == [Kind.LLVM_STATIC]
    assert not diagnosis.can_take_over
    assert any("static libomp" in obstacle for obstacle in diagnosis.obstacles)


# Bug: `weft run` said of a benchmark that counts its regions in this way that weft does not reach it.
def test_program_that_traces_its_runtime(compile_c: Compile) -> None:
    tracer = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <omp.h>
        void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
          void (*traced)(void (*)(void*), void*, unsigned, unsigned);
          *(void**)&traced = dlsym(RTLD_NEXT, "GOMP_parallel");
          traced(body, data, threads, flags);
        }
        void __kmpc_fork_call(void) {}
        int main(void) {
          int threads = 0;
        #pragma omp parallel
          threads = omp_get_num_threads();
          return threads == 0;
        }
    """
    diagnosis = diagnose(str(compile_c(tracer, "program", "-fopenmp", "-rdynamic")))
    assert kinds(diagnosis) == [Kind.GCC]
    assert diagnosis.can_take_over


def test_script(openmp_program: Path, tmp_path: Path) -> None:
    script = make_script(tmp_path / "script", f"#!{openmp_program} -x\n")
    diagnosis = diagnose(str(script))
    assert kinds(diagnosis) == [Kind.GCC]
    assert any(str(openmp_program) in note for note in diagnosis.notes)


def test_script_through_env(tmp_path: Path) -> None:
    script = make_script(tmp_path / "script", "#!/usr/bin/env -S sh -e\n")
    assert any(note.endswith("/sh") for note in diagnose(str(script)).notes)


def test_script_that_a_shell_runs_itself(tmp_path: Path) -> None:
    script = make_script(tmp_path / "script", "echo\n")
    found = diagnose(str(script))
    assert found.can_take_over
    assert any(note.endswith("interpreter /bin/sh") for note in found.notes)


# It was said to be no ELF file, and to be started as ./train.py.
def test_script_that_is_not_executable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("print(1)\n")
    found = diagnose("train.py")
    how = "run its interpreter, e.g. weft run python3 train.py; see weft doctor python3"
    assert (found.obstacles, found.notes) == ([f"train.py: a script: {how}"], [])
    assert "it is no program" in found.verdict
    assert not found.can_take_over
    Path("job").write_text("echo\n")
    found = diagnose("job")
    assert found.notes == ["job is not executable; if it is a script: weft run INTERPRETER job"]
    Path("data.py").write_bytes(b"\0\1\2\3")
    assert diagnose("data.py").notes == ["data.py is not executable"]


# It was taken for a line that ends in a blank.
def test_first_line_that_ends_as_on_windows(tmp_path: Path) -> None:
    script = make_script(tmp_path / "script", "")
    script.write_bytes(b"#!/bin/sh\r\necho\r\n")
    assert diagnose(str(script)).obstacles == [f"{script}: its interpreter '/bin/sh\\r' is not found"]


# It was taken for a script of the shell's.
def test_script_that_is_its_own_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_script(Path("loop"), "#!./loop\n")
    assert any("interpreters in a row are scripts" in obstacle for obstacle in diagnose("./loop").obstacles)


def test_as_many_scripts_in_a_row_as_linux_follows(tmp_path: Path) -> None:
    script = Path("/bin/true")
    for number in range(1, 8):
        script = make_script(tmp_path / str(number), f"#!{script}\n")
        try:
            starts = subprocess.run([script], check=False).returncode == 0
        except OSError:
            starts = False
        assert diagnose(str(script)).can_take_over == starts


@pytest.mark.parametrize(
    "line",
    [
        "/usr/bin/env sh",
        "/usr/bin/env -S -u FOO sh",
        "/usr/bin/env -S -C / sh",
        "/usr/bin/env -S --unset FOO --chdir / A=1 sh -e",
        "/usr/bin/env -iS A=1 sh\r",
        " \t/usr/bin/env \t sh \t",
    ],
)
def test_what_env_starts(tmp_path: Path, line: str) -> None:
    script = make_script(tmp_path / "script", "")
    script.write_bytes(f"#!{line}\nexit 3\n".encode())
    assert subprocess.run([script], check=False).returncode == 3
    found = diagnose(str(script))
    assert found.can_take_over
    assert [note for note in found.notes if "interpreter" in note and note.endswith("/sh")] == found.notes


@pytest.mark.parametrize("line", ["/usr/bin/env sh -e", "/usr/bin/env sh\r", "sh"])
def test_what_is_not_found_behind_a_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.chdir(tmp_path)
    script = make_script(tmp_path / "script", "")
    script.write_bytes(f"#!{line}\nexit 3\n".encode())
    assert any("is not found" in obstacle for obstacle in diagnose(str(script)).obstacles)


def test_program_of_this_folder(openmp_program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(openmp_program.parent)
    assert any(f"start it as ./{openmp_program.name}" in note for note in diagnose(openmp_program.name).notes)


def test_python_is_told_of_extension_modules() -> None:
    assert any("weft doctor PID" in note for note in diagnose("/usr/bin/python3").notes)


def test_garbage_and_damaged_files(tmp_path: Path, openmp_program: Path) -> None:
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"not a program\n")
    assert any("not an ELF file" in obstacle for obstacle in diagnose(str(garbage)).obstacles)
    (tmp_path / "empty").touch()
    assert not diagnose(str(tmp_path / "empty")).can_take_over
    whole = openmp_program.read_bytes()
    for size in (4, 5, 16, 40, 64, 100, 700, 1000, len(whole) // 2):
        garbage.write_bytes(whole[:size])
        diagnose(str(garbage))  # any answer will do that is not an exception
    for position in range(16, 800, 7):
        garbage.write_bytes(whole[:position] + b"\xff\xff\xff\xff" + whole[position + 4 :])
        diagnose(str(garbage))


def test_unreadable_file(monkeypatch: pytest.MonkeyPatch, openmp_program: Path) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "open", refuse)
    assert any("unreadable: Permission denied" in obstacle for obstacle in diagnose(str(openmp_program)).obstacles)


def test_process(openmp_program: Path, compile_c: Compile) -> None:
    program = compile_c(PROGRAM.replace("return argc", "getchar(); return argc"), "waits", "-fopenmp")
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        wait_until_mapped(process.pid, "libgomp.so.1")
        diagnosis = diagnose(str(process.pid))
    finally:
        process.communicate(b"\n", timeout=120)
    assert kinds(diagnosis) == [Kind.GCC]
    assert diagnosis.can_take_over


def test_process_that_ends_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    def has_ended(*_: object, **__: object) -> None:
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))

    monkeypatch.setattr(Path, "read_text", has_ended)
    with pytest.raises(SubjectError, match="has ended"):
        diagnose(str(os.getpid()))


def test_process_on_weft(weft: Path, compile_c: Compile) -> None:
    program = compile_c(PROGRAM.replace("return argc", "getchar(); return argc"), "waits", "-fopenmp")
    process = subprocess.Popen([weft, "run", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        wait_until_mapped(process.pid, "dropin/libgomp.so.1")
        diagnosis = diagnose(str(process.pid))
    finally:
        process.communicate(b"\n", timeout=120)
    assert kinds(diagnosis) == [Kind.WEFT]
    assert diagnosis.verdict == "it runs on weft"


def test_weft_itself(weft: Path) -> None:
    diagnosis = diagnose(str(weft.parent / "build" / "dropin" / "libgomp.so.1"))
    assert (kinds(diagnosis), diagnosis.verdict) == ([Kind.WEFT], "it is weft")


def wait_until_mapped(pid: int, name: str) -> None:
    import time

    deadline = time.monotonic() + 120
    while name not in Path(f"/proc/{pid}/maps").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("subject", ["no-such-program", "./no/such/file", "4194305", "", "/", ".", ".."])
def test_no_such_subject(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SubjectError):
        diagnose(subject)
    assert doctor(subject) == 2
    error = capsys.readouterr().err
    assert error.startswith("weft: doctor: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("subject", ["/", ".", "..", "./"])
def test_a_folder_is_called_one(subject: str) -> None:
    with pytest.raises(SubjectError, match="is a directory"):
        diagnose(subject)


def test_command(openmp_program: Path, static_program: Path) -> None:
    found = subprocess.run([ROOT / "weft", "doctor", openmp_program], capture_output=True, text=True, check=False)
    assert found.returncode == 0
    assert "GCC (libgomp)" in found.stdout
    assert "weft can take it over" in found.stdout
    refused = subprocess.run([ROOT / "weft", "doctor", static_program], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "why not: it is a static executable" in refused.stdout
    assert subprocess.run([ROOT / "weft", "doctor"], capture_output=True, check=False).returncode == 2
