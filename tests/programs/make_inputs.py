#!/usr/bin/env python3
"""make_inputs.py FOLDER: writes what the packaged programs are run on; the same each time."""

import random
import sys
from pathlib import Path

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
BASES = "ACGT"


def sequence(source: random.Random, alphabet: str, length: int) -> str:
    return "".join(source.choices(alphabet, k=length))


def mutated(source: random.Random, sequence: str, alphabet: str, rate: float) -> str:
    return "".join(source.choice(alphabet) if source.random() < rate else letter for letter in sequence)


def fasta(sequences: list[str]) -> str:
    return "".join(f">s{number}\n{text}\n" for number, text in enumerate(sequences))


def proteins(source: random.Random) -> list[str]:
    families = [sequence(source, AMINO_ACIDS, 150) for _ in range(6)]
    return [
        mutated(source, family, AMINO_ACIDS, 0.25)[: source.randint(120, 150)] for family in families for _ in range(15)
    ]


def gene_tree(source: random.Random) -> list[str]:
    generation = [sequence(source, BASES, 600)]
    while len(generation) < 128:
        generation = [mutated(source, parent, BASES, 0.03) for parent in generation for _ in range(2)]
    return generation


def genomes(source: random.Random) -> list[str]:
    ancestor = sequence(source, BASES, 60_000)
    return [mutated(source, ancestor, BASES, 0.02) for _ in range(8)]


# Naphthalene, roughly; the program finds the exact places.
CARBONS = [(0, 0.71), (0, -0.71), (1.24, 1.40), (1.24, -1.40), (2.43, 0.70), (2.43, -0.70)]
HYDROGENS = [(1.24, 2.49), (1.24, -2.49), (3.38, 1.24), (3.38, -1.24)]


def molecule() -> str:
    atoms = [("C", x, y) for x, y in CARBONS] + [("C", -x, y) for x, y in CARBONS if x]
    atoms += [("H", side * x, y) for x, y in HYDROGENS for side in (1, -1)]
    lines = [f"{element} {x:.3f} {y:.3f} 0.0" for element, x, y in atoms]
    return "\n".join([str(len(atoms)), "naphthalene", *lines, ""])


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    source = random.Random(5)
    (folder / "proteins.fa").write_text(fasta(proteins(source)))
    (folder / "genes.fa").write_text(fasta(gene_tree(source)))
    (folder / "genomes.fa").write_text(fasta(genomes(source)))
    (folder / "data.bin").write_bytes(source.randbytes(3_000_000))
    (folder / "molecule.xyz").write_text(molecule())


if __name__ == "__main__":
    main()
