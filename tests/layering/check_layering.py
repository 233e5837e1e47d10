#!/usr/bin/env python3
"""Checks the files under src/ and include/ against layering.txt.

    check_layering.py [ROOT]

Each violation is one line, FILE:LINE: what was found, and the rule that forbids it. The exit status is 1 if there
is one, 2 if layering.txt itself is wrong.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

INCLUDE = re.compile(r"^\s*#\s*include(?:_next)?\b\s*(.*)")
TARGET = re.compile(r'["<]([^">]+)[">]')
CODE_FOLDERS = ("src", "include")
CODE_SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp", ".S", ".inc", ".def"}


class RuleError(Exception):
    """layering.txt says something that cannot be meant."""


@dataclass
class Rules:
    """layering.txt, read."""

    may_include: dict[str, set[str]] = field(default_factory=dict)
    forbidden_words: dict[str, set[str]] = field(default_factory=dict)

    def folder_of(self, path: PurePosixPath) -> str | None:
        """The longest folder with a rule that holds this file."""
        return next((str(parent) for parent in path.parents if str(parent) in self.may_include), None)

    def words_forbidden_in(self, path: PurePosixPath) -> set[str]:
        return {word for parent in path.parents for word in self.forbidden_words.get(str(parent), ())}


def read_rules(text: str) -> Rules:
    rules = Rules()
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        head, colon, tail = content.partition(":")
        if not colon:
            raise RuleError(f"layering.txt:{number}: expected 'FOLDER: FOLDER...', found '{content}'")
        folders = head.split()
        if folders[-1:] == ["without"]:
            for folder in folders[:-1]:
                rules.forbidden_words.setdefault(folder, set()).update(tail.split())
        elif len(folders) != 1:
            raise RuleError(f"layering.txt:{number}: expected one folder before the colon, found '{head}'")
        elif folders[0] in rules.may_include:
            raise RuleError(f"layering.txt:{number}: a second rule for '{folders[0]}'")
        else:
            rules.may_include[folders[0]] = set(tail.split())
    check_rules(rules)
    return rules


def check_rules(rules: Rules) -> None:
    """Every folder on a right-hand side has a rule, and no two folders may include each other, however indirectly."""
    for folder, allowed in rules.may_include.items():
        for other in sorted(allowed - rules.may_include.keys()):
            raise RuleError(f"layering.txt: '{folder}' may include '{other}', which has no rule of its own")

    above: list[str] = []
    done: set[str] = set()

    def descend(folder: str) -> None:
        if folder in above:
            raise RuleError(f"layering.txt: a cycle: {' -> '.join([*above[above.index(folder) :], folder])}")
        if folder in done:
            return
        above.append(folder)
        for other in sorted(rules.may_include[folder]):
            descend(other)
        above.pop()
        done.add(folder)

    for folder in rules.may_include:
        descend(folder)


def resolve(root: Path, source: Path, name: str) -> PurePosixPath | None:
    """The file of this checkout that an #include names, searched as the compiler does; None for a system header."""
    for base in (source.parent, root / "src", root / "include", root):
        candidate = (base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return PurePosixPath(candidate.relative_to(root).as_posix())
    return None


def check_include(root: Path, source: Path, folder: str, argument: str, rules: Rules) -> str | None:
    """What is wrong with one #include of a file in this folder; None if nothing is."""
    target = TARGET.match(argument)
    if target is None:
        return f"#include {argument.strip()}: a computed include cannot be checked"
    included = resolve(root, source, target[1])
    if included is None:
        return None
    owner = rules.folder_of(included)
    allowed = rules.may_include[folder]
    if owner == folder or owner in allowed:
        return None
    rule = f"{folder}: {' '.join(sorted(allowed))}".rstrip()
    return f"includes {included}, of {owner or 'a folder without a rule'}; the rule is '{rule}'"


def check_file(root: Path, source: Path, rules: Rules) -> Iterator[str]:
    path = PurePosixPath(source.relative_to(root).as_posix())
    folder = rules.folder_of(path)
    is_code = source.suffix in CODE_SUFFIXES
    if is_code and folder is None:
        yield f"{path}:1: no rule in layering.txt covers {path.parent}"
        return
    words = rules.words_forbidden_in(path)
    pattern = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(map(re.escape, sorted(words)))})(?![A-Za-z0-9])", re.IGNORECASE)
    for number, line in enumerate(source.read_text(errors="replace").splitlines(), start=1):
        include = INCLUDE.match(line)
        if is_code and folder is not None and include:
            problem = check_include(root, source, folder, include[1], rules)
            if problem:
                yield f"{path}:{number}: {problem}"
        word = pattern.search(line) if words else None
        if word:
            yield f"{path}:{number}: contains '{word[1]}'; the rule is '{folder} without: {' '.join(sorted(words))}'"


def check(root: Path) -> list[str]:
    """Every violation in the checkout at this root."""
    root = root.resolve()
    rules = read_rules((root / "layering.txt").read_text())
    files = sorted(path for top in CODE_FOLDERS for path in (root / top).rglob("*") if path.is_file())
    return [problem for source in files for problem in check_file(root, source, rules)]


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    try:
        problems = check(root)
    except (RuleError, OSError) as error:
        print(error)
        return 2
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
