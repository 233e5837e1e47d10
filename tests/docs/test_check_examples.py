"""The check of the documents' programs finds what it is there for."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_examples

PROGRAM = '#include <stdio.h>\nint main(void) { return puts("one") < 0; }\n'


def document_of(folder: Path, *, source: str = PROGRAM, shown: str = PROGRAM, output: str = "one\n") -> Path:
    (folder / "examples").mkdir()
    (folder / "examples" / "one.c").write_text(source)
    document = folder / "page.md"
    document.write_text(f"[`examples/one.c`](examples/one.c):\n\n```c\n{shown}```\n\n```text\n{output}```\n")
    return document


def complaints(document: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    # -lweft is asked for, and not needed here: an empty archive will do.
    (document.parent / "libweft.a").write_bytes(b"!<arch>\n")
    folder = str(document.parent)
    monkeypatch.setattr("sys.argv", ["check_examples.py", str(document), "gcc", "g++", folder, folder])
    return check_examples.main()


def test_accepts_what_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complaints(document_of(tmp_path), monkeypatch) == 0


def test_finds_another_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complaints(document_of(tmp_path, output="two\n"), monkeypatch) == 1


def test_finds_another_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complaints(document_of(tmp_path, shown=PROGRAM.replace("one", "two")), monkeypatch) == 1


def test_finds_what_does_not_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = PROGRAM.replace("return", "return none +")
    assert complaints(document_of(tmp_path, source=wrong, shown=wrong), monkeypatch) == 1


def test_finds_a_program_that_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = document_of(tmp_path)
    (tmp_path / "examples" / "two.c").write_text(PROGRAM)
    assert complaints(document, monkeypatch) == 1


def test_wants_a_file_and_an_output() -> None:
    with pytest.raises(SystemExit, match="no link"):
        check_examples.examples_of("```c\nint x;\n```\n\n```text\n```\n")
    with pytest.raises(SystemExit, match="no text block"):
        check_examples.examples_of("[`examples/a.c`](examples/a.c):\n\n```c\nint x;\n```\n")


def test_compiles_cpp_as_cpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = '#include <iostream>\nint main() { std::cout << "one\\n"; }\n'
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "one.cpp").write_text(source)
    page = f"[`examples/one.cpp`](examples/one.cpp):\n\n```cpp\n{source}```\n\n```text\none\n```\n"
    document = tmp_path / "page.md"
    document.write_text(page)
    assert complaints(document, monkeypatch) == 0
    document.write_text(page.replace("```cpp", "```c"))
    with pytest.raises(SystemExit):
        complaints(document, monkeypatch)
