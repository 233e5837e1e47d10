"""What the documents say of the command and its variables."""

from __future__ import annotations

import re

from conftest import ROOT


def test_every_variable_is_in_the_table() -> None:
    source = [path.read_text() for path in (ROOT / "src").rglob("*.cpp")]
    read = {
        name
        for text in source
        for name in re.findall(r'(?:getenv\(|read_(?:variable|slice|word|microseconds)\(|\{)\s*"(WEFT_[A-Z_]+)"', text)
        if not name.startswith(("WEFT_ERR", "WEFT_OK"))
    }
    assert {"WEFT_NUM_WORKERS", "WEFT_REPORT", "WEFT_IO", "WEFT_WATCHDOG_SLICE"} <= read
    command = [path.read_text() for path in (ROOT / "python" / "weft").rglob("*.py") if "tests" not in path.parts]
    read |= {name for text in command for name in re.findall(r'(?:environ\.get\(|VARIABLE = )"(WEFT_[A-Z_]+)"', text)}
    assert {"WEFT_BENCH_MKL", "WEFT_BUILD_DIR"} <= read
    rows = re.findall(r"^\| `(WEFT_[A-Z_]+)` \|", (ROOT / "docs" / "environment.md").read_text(), re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == read
    # Whatever else begins with WEFT_ is taken for a misspelt one.
    environment = (ROOT / "src" / "core" / "environment.cpp").read_text()
    known = re.search(r"known_variables\[\] = \{(.*?)\};", environment, re.DOTALL)
    assert known is not None
    assert re.findall(r'"(\w+)"', known[1]) == rows


def test_commands_to_type_can_be_typed_in_a_checkout() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for block in re.findall(r"^```[a-z]*\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            assert not re.search(r"(?:^|[^./\w])weft (?:run|ctl|doctor|info|bench)\b", block, re.MULTILINE), page


def test_links_between_documents_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), (page, target)
