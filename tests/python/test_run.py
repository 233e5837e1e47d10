"""`weft run`: it becomes the program, and says so where weft does not reach it."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROGRAM, as_owner_nobody, make_script
from weft.elf import Elf


def run(weft: Path, *words: str | Path, **settings: object) -> subprocess.CompletedProcess[str]:
    defaults: dict[str, object] = {"capture_output": True, "text": True, "timeout": 120, "check": False}
    return subprocess.run([weft, "run", *words], **(defaults | settings))  # type: ignore[call-overload]


def test_program_is_bound_to_weft(weft: Path, openmp_program: Path) -> None:
    result = run(weft, openmp_program, "a b", "")
    assert (result.returncode, result.stdout, result.stderr) == (0, "on weft\n2 arguments\n", "")


def test_copy_of_a_wheel_is_bound_to_weft(weft: Path, wheel_program: Path) -> None:
    alone = subprocess.run([wheel_program], capture_output=True, text=True, check=True)
    assert alone.stdout.startswith("on the copy")
    assert run(weft, wheel_program).stdout.startswith("on weft")


def test_checkout_with_blank_and_colon_in_its_path(spaced_checkout: Path, openmp_program: Path) -> None:
    result = run(spaced_checkout / "weft", openmp_program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "on weft\n0 arguments\n", "")


def test_program_with_blank_in_its_path(weft: Path, openmp_program: Path, tmp_path: Path) -> None:
    program = tmp_path / "a program"
    shutil.copy(openmp_program, program)
    assert run(weft, program).stdout.startswith("on weft")


def test_launcher_through_symbolic_links_and_path(weft: Path, openmp_program: Path, tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(weft)
    (tmp_path / "weft").symlink_to("one")
    environment = dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}")
    command = ["weft", "run", f"./{openmp_program.name}"]
    result = subprocess.run(
        command, env=environment, cwd=openmp_program.parent, capture_output=True, text=True, check=False
    )
    assert result.stdout.startswith("on weft")


def test_exit_status_passes_through(weft: Path, openmp_program: Path) -> None:
    assert run(weft, openmp_program, "7").returncode == 7
    assert run(weft, "sh", "-c", "exit 200").returncode == 200


def test_arguments_pass_through(weft: Path) -> None:
    words = ["a b", "", "--report", "--", "*", "$HOME", "new\nline", "\udcff\udcfe"]
    result = run(weft, "printf", "%s\\0", *words, text=False)
    assert result.stdout == b"\0".join(map(os.fsencode, words)) + b"\0"


def test_double_dash_ends_the_options(weft: Path, tmp_path: Path) -> None:
    make_script(tmp_path / "--report", "#!/bin/sh\necho ran $*\n")
    environment = dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert run(weft, "--", "--report", "x", env=environment).stdout == "ran x\n"


def test_input_passes_through(weft: Path) -> None:
    assert run(weft, "cat", input="line 1\nline 2\n").stdout == "line 1\nline 2\n"


def test_name_and_process_are_the_programs(weft: Path, tmp_path: Path) -> None:
    script = "import os, sys; print(os.getpid(), sys.orig_argv[0])"
    process = subprocess.Popen([weft, "run", "python3", "-c", script], stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate(timeout=120)
    assert output.split()[0] == str(process.pid)
    assert Path(output.split()[1]).name.startswith("python3")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE])
def test_death_by_signal_passes_through(weft: Path, number: signal.Signals) -> None:
    assert run(weft, "sh", "-c", f"kill -{number.value} $$").returncode == -number


def test_signal_reaches_the_program(weft: Path) -> None:
    command = "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done"
    process = subprocess.Popen([weft, "run", "sh", "-c", command], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=120)[0] == "caught\n"
    assert process.returncode == 3


@pytest.mark.parametrize("setup", ["", "trap '' PIPE;", "trap '' PIPE INT XFSZ;", "trap '' HUP;"])
def test_ignored_signals_are_kept(weft: Path, setup: str) -> None:
    show = "grep SigIgn /proc/self/status"
    plain = subprocess.run(["sh", "-c", f"{setup} exec {show}"], capture_output=True, check=True)
    woven = subprocess.run(["sh", "-c", f"{setup} exec '{weft}' run {show}"], capture_output=True, check=True)
    assert woven.stdout == plain.stdout


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LANG": "C.UTF-8"}, {}])
def test_environment_is_kept(weft: Path, locale: dict[str, str]) -> None:
    given = {
        "PATH": os.environ["PATH"],
        "PWD": str(Path.cwd()),
        "PYTHONPATH": "/nowhere",
        "PYTHONHOME": "/nowhere",
        "LD_LIBRARY_PATH": "/some/where:/else where",
        "WEFT_STACKSIZE": "1M",
    } | locale
    result = run(weft, "env", "-0", env=given)
    seen = dict(entry.split("=", 1) for entry in result.stdout.split("\0") if entry)
    folder = weft.parent / "build" / "dropin"
    assert seen.pop("LD_PRELOAD") == f"{folder}/libgomp.so.1"
    assert seen.pop("LD_LIBRARY_PATH") == f"{folder}:/some/where:/else where"
    assert seen == {name: value for name, value in given.items() if name != "LD_LIBRARY_PATH"}


def test_preloads_are_kept_and_weft_is_not_doubled(weft: Path) -> None:
    other = "/usr/lib/x86_64-linux-gnu/libz.so.1"
    environment = dict(os.environ, LD_PRELOAD=other)
    result = run(weft, weft, "run", "sh", "-c", "echo $LD_PRELOAD", env=environment)
    assert result.stdout.strip() == f"{weft.parent}/build/dropin/libgomp.so.1:{other}"


def test_sanitizer_that_the_program_is_linked_to_comes_first(weft: Path, compile_c) -> None:
    program = compile_c(PROGRAM, "sanitized", "-fopenmp", "-fsanitize=address")
    result = run(weft, program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "on weft\n0 arguments\n", "")


def test_sanitizer_that_is_preloaded_comes_first(weft: Path) -> None:
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    sanitizer = Path(runtime.stdout.strip()).resolve()
    other = "/usr/lib/x86_64-linux-gnu/libz.so.1"
    environment = dict(os.environ, LD_PRELOAD=f"{other} {sanitizer}", ASAN_OPTIONS="verify_asan_link_order=0")
    result = run(weft, "/bin/sh", "-c", "echo $LD_PRELOAD", env=environment)
    assert result.stdout.strip() == f"{sanitizer}:{weft.parent}/build/dropin/libgomp.so.1:{other}"


def test_options_become_the_runtimes_settings(weft: Path) -> None:
    show = "echo $WEFT_REPORT $WEFT_NUM_WORKERS"
    assert run(weft, "--report", "--workers", "3", "sh", "-c", show).stdout == "1 3\n"
    assert run(weft, "--workers=12", "sh", "-c", show).stdout == "12\n"
    assert run(weft, "--workers=1024", "sh", "-c", show).stdout == "1024\n"
    assert run(weft, "sh", "-c", show).stdout == "\n"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--workers", "0", "true"], "'0'"),
        (["--workers", "x", "true"], "'x'"),
        (["--workers=-1", "true"], "'-1'"),
        (["--workers=", "true"], "''"),
        (["--workers=1025", "true"], "'1025' is not a whole number from 1 to 1024"),
        (["--workers=99999", "true"], "'99999' is not a whole number from 1 to 1024"),
        (["--workers", "9999999999", "true"], "'9999999999' is not a whole number from 1 to 1024"),
        (["--workers"], "--workers"),
        (["--wrokers", "2", "true"], "'--wrokers'"),
        (["-x", "true"], "'-x'"),
        ([], "usage"),
        (["--report"], "usage"),
    ],
)
def test_wrong_option_is_named(weft: Path, words: list[str], named: str) -> None:
    result = run(weft, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("weft: run: ")
    assert named in result.stderr
    assert result.stderr.count("\n") == 1


def test_help(weft: Path) -> None:
    result = run(weft, "--help")
    assert result.returncode == 0
    assert "--workers N" in result.stdout


@pytest.mark.parametrize("name", ["no-such-program", "./no-such-program", "/no/such/program", "", "n" * 5000])
def test_not_found_is_127(weft: Path, name: str) -> None:
    result = run(weft, name)
    assert result.returncode == 127
    assert result.stderr.count("\n") == 1
    assert "not found" in result.stderr


def test_program_in_the_current_folder_alone_is_named(weft: Path, openmp_program: Path) -> None:
    result = run(weft, openmp_program.name, cwd=openmp_program.parent)
    name = openmp_program.name
    assert (result.returncode, result.stderr) == (127, f"weft: run: {name}: not found in PATH; is ./{name} meant?\n")


def run_as_nobody(*command: str | Path, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[str]:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    return subprocess.run(
        command,
        env=dict(os.environ, PATH=path),
        cwd="/",
        user=65534,
        group=65534,
        capture_output=True,
        text=True,
        check=False,
    )


def test_folder_of_path_that_cannot_be_entered(open_checkout: Path) -> None:
    closed = open_checkout / "closed"
    closed.mkdir(mode=0o700)
    result = run_as_nobody(open_checkout / "weft", "run", "echo", "ran", path=f"{closed}:/usr/bin:/bin")
    assert (result.stdout, result.stderr) == ("ran\n", "")


def test_unreadable_program_is_named_and_run(open_checkout: Path, openmp_program: Path) -> None:
    program = open_checkout / "program"
    shutil.copy(openmp_program, program)
    program.chmod(0o711)
    result = run_as_nobody(open_checkout / "weft", "run", program)
    assert result.stdout == "on weft\n0 arguments\n"
    assert result.stderr.startswith(f"weft: run: cannot tell whether weft reaches {program}: ")
    assert result.stderr.count("\n") == 1


def test_missing_interpreter_is_127(weft: Path, tmp_path: Path) -> None:
    result = run(weft, make_script(tmp_path / "script", "#!/no/such/interpreter\n"))
    assert result.returncode == 127
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("/bin/sh\r", 127, "its interpreter '/bin/sh\\r' is not found"),
        ("/no/such/interpreter", 127, "its interpreter '/no/such/interpreter' is not found"),
        ("./script", 126, "more than 5 interpreters in a row are scripts"),
        ("/etc/passwd", 126, "its interpreter '/etc/passwd' cannot be started: /etc/passwd: not executable"),
    ],
)
def test_interpreter_that_cannot_be_started_is_named(
    weft: Path, tmp_path: Path, line: str, status: int, said: str
) -> None:
    (tmp_path / "script").write_bytes(f"#!{line}\n".encode())
    (tmp_path / "script").chmod(0o755)
    result = run(weft, "./script", cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (status, "", f"weft: run: ./script: {said}\n")


def test_loader_that_is_not_found_is_named(weft: Path, compile_c) -> None:
    program = compile_c(PROGRAM, "no-loader", "-fopenmp", "-Wl,--dynamic-linker=/no/such/loader")
    result = run(weft, program)
    said = f"weft: run: {program}: its loader '/no/such/loader' is not found\n"
    assert (result.returncode, result.stdout, result.stderr) == (127, "", said)


def test_not_executable_is_126(weft: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"\0\1\2\3" * 64)
    garbage.chmod(0o755)
    os.mkfifo(tmp_path / "fifo", 0o755)
    environment = dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}")
    for word in (tmp_path / "data", tmp_path, garbage, tmp_path / "fifo", ".", ".."):
        result = run(weft, word)
        assert result.returncode == 126
        assert result.stderr.startswith(f"weft: run: {word}: ")
        assert result.stderr.count("\n") == 1
    assert run(weft, "data", env=environment).returncode == 126


# `weft run` ended with a traceback.
@pytest.mark.parametrize("size", [30, 100])
def test_program_that_was_cut_short_is_126(weft: Path, openmp_program: Path, tmp_path: Path, size: int) -> None:
    program = tmp_path / "short"
    program.write_bytes(openmp_program.read_bytes()[:size])
    program.chmod(0o755)
    result = run(weft, program)
    assert result.returncode == 126
    assert result.stderr.startswith(f"weft: run: {program}: ")
    assert result.stderr.count("\n") == 1


# It crashed without a word.
def test_program_that_was_cut_short_and_starts_is_named(weft: Path, openmp_program: Path, tmp_path: Path) -> None:
    program = tmp_path / "short"
    program.write_bytes(openmp_program.read_bytes()[:3000])
    program.chmod(0o755)
    result = run(weft, program)
    assert result.returncode in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGKILL)
    assert result.stderr == f"weft: run: {program}: a damaged ELF file\n"


def test_script_without_interpreter_is_run_by_the_shell(weft: Path, tmp_path: Path) -> None:
    result = run(weft, make_script(tmp_path / "script", "echo $1 from $0\n"), "hello")
    assert (result.stdout, result.stderr) == (f"hello from {tmp_path}/script\n", "")


def test_script_runs_through_its_interpreter(weft: Path, tmp_path: Path, openmp_program: Path) -> None:
    script = make_script(tmp_path / "script", f'#!/bin/sh\nexec "{openmp_program}" "$@"\n')
    assert run(weft, script, "x").stdout == "on weft\n1 arguments\n"


def test_unbuilt_dropin_is_named(tmp_path: Path, checkout: Path) -> None:
    shutil.copy(checkout / "weft", tmp_path / "weft")
    shutil.copytree(checkout / "python", tmp_path / "python")
    result = run(tmp_path / "weft", "true")
    assert result.returncode == 125
    assert "make build" in result.stderr
    assert result.stderr.count("\n") == 1


def assert_named_and_run(result: subprocess.CompletedProcess[str], reason: str) -> None:
    assert result.returncode == 7
    assert result.stdout.endswith("1 arguments\n")
    assert "on weft" not in result.stdout
    assert result.stderr.startswith("weft: run: weft does not reach ")
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1


def test_static_program_is_named_and_run(weft: Path, static_program: Path) -> None:
    assert_named_and_run(run(weft, static_program, "7"), "static executable")


def test_static_libgomp_is_named_and_run(weft: Path, static_libgomp_program: Path, tmp_path: Path) -> None:
    assert_named_and_run(run(weft, static_libgomp_program, "7"), "static libgomp")
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, static_libgomp_program], check=True)
    assert_named_and_run(run(weft, stripped, "7"), "static libgomp")


@pytest.mark.parametrize(("mode", "reason"), [(0o4755, "setuid"), (0o2755, "setgid")])
def test_privileged_program_is_named_and_run(
    weft: Path, openmp_program: Path, tmp_path: Path, mode: int, reason: str
) -> None:
    program = tmp_path / "privileged"
    shutil.copy(openmp_program, program)
    as_owner_nobody(program, mode)
    for parent in tmp_path.parents:
        if os.statvfs(parent).f_flag & os.ST_NOSUID:
            pytest.skip("the temporary folder's file system ignores setuid")
    assert_named_and_run(run(weft, program, "7"), reason)


def test_setuid_program_of_the_caller_is_reached(weft: Path, openmp_program: Path, tmp_path: Path) -> None:
    program = tmp_path / "own"
    shutil.copy(openmp_program, program)
    program.chmod(0o4755)
    result = run(weft, program)
    assert (result.stdout, result.stderr) == ("on weft\n0 arguments\n", "")


def test_program_for_another_machine_is_named(weft: Path, foreign_program: Path) -> None:
    result = run(weft, foreign_program)
    assert result.returncode == 126
    assert "another architecture (aarch64)" in result.stderr


def test_x32_is_told_from_x86_64(openmp_program: Path) -> None:
    image = bytearray(openmp_program.read_bytes())
    assert Elf(bytes(image)).architecture_name == "x86-64"
    image[4] = 1  # of 32 bits
    assert Elf(bytes(image)).architecture_name == "x32"


def test_names_that_no_program_can_have(weft: Path, openmp_program: Path, tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    for name, reason in (
        (f"{openmp_program}/", "not a directory"),  # Bug: it was run
        (f"{tmp_path}/one", "too many levels of symbolic links"),
        (f"/tmp/{'n' * 300}", "file name too long"),
    ):
        result = run(weft, name)
        assert (result.returncode, result.stderr) == (126, f"weft: run: {name}: {reason}\n")


def test_a_dropin_that_cannot_be_used(checkout: Path, openmp_program: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy)
    dropin = copy / "build" / "dropin" / "libgomp.so.1"
    for content in (b"", dropin.read_bytes()[:700]):
        dropin.write_bytes(content)
        result = run(copy / "weft", openmp_program)
        assert (result.returncode, result.stdout) == (125, "")
        assert f"{dropin} cannot be used" in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_the_program_is_named_as_it_was_given(weft: Path, static_program: Path) -> None:
    result = run(weft, f"./{static_program.name}", cwd=static_program.parent)
    assert result.stderr.startswith(f"weft: run: weft does not reach ./{static_program.name}: ")


def test_without_proc_weft_reaches_the_program_all_the_same(weft: Path, openmp_program: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can hide /proc")
    script = 'mount -t tmpfs none /proc && exec "$0" "$@"'
    command = ["unshare", "-m", "sh", "-c", script, weft, "run", openmp_program]
    if subprocess.run([*command[:4], "mount -t tmpfs none /proc"], capture_output=True, check=False).returncode != 0:
        pytest.skip("/proc cannot be hidden here")
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "on weft\n0 arguments\n", "")


def test_llvm_runtime_is_taken_over(weft: Path, compile_c, tmp_path: Path) -> None:
    runtime = compile_c("void __kmpc_fork_call(void) {}", "libomp.so.5", "-shared", "-Wl,-soname,libomp.so.5")
    program = compile_c(
        "void __kmpc_fork_call(void); int main(void) { __kmpc_fork_call(); return 7; }",
        "llvm",
        str(runtime),
        f"-Wl,-rpath,{runtime.parent}",
    )
    result = run(weft, program)
    assert result.returncode == 7
    assert "libomp" not in result.stderr


def test_run_needs_only_the_standard_library(checkout: Path, openmp_program: Path) -> None:
    command = ["/usr/bin/python3", "-S", "-X", "importtime", checkout / "python", "run", openmp_program]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("on weft")
    assert not {"typer", "rich", "click"} & set(result.stderr.replace("|", " ").split())


def test_file_capabilities_are_named(weft: Path, openmp_program: Path, tmp_path: Path) -> None:
    sys.path.insert(0, str(weft.parent / "python"))
    from weft.program import find_privileges

    program = tmp_path / "capable"
    shutil.copy(openmp_program, program)
    try:
        os.setxattr(program, "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0))
    except OSError:
        pytest.skip("file capabilities cannot be set here")
    obstacles = find_privileges(program)
    assert ["capabilities" in obstacle.reason for obstacle in obstacles] == [True]
    assert obstacles[0].applies == (os.getuid() != 0)
