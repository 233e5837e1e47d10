"""Compares the names that the drop-in exports with those of LLVM's libomp: llvm_symbols.py STOCK DROP-IN

Every name that the stock library exports under its version for programs must be there under that version too, but
for those below, each with its reason. A name in the list that the drop-in has is an error as well.
"""

import re
import subprocess
import sys

VERSION = "VERSION"

# Reasons why a name of the stock library is not exported.
NOT_OURS = {
    r"_?__kmp_.*": "the runtime's own functions, which its tools and tests look into; in no header",
    r"kmp_[a-f]_debug|kmp_diag|kmp_mutex_impl_info": "variables of a debugging build",
    r"kmp_threadprivate_insert(_private_data)?": "inner functions of __kmpc_threadprivate; only the library calls them",
    r"__kmpc_invoke_task_func": "an inner function of the library under a name of the interface",
    r"ompt_.*": "the tools interface",
    r"OMP_.*": "GCC's versions, which symbols.py compares with libgomp's",
}


def names(library: str) -> set[str]:
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    found = (line.split()[-1].partition("@") for line in output.splitlines())
    return {name for name, _, version in found if version.lstrip("@") == VERSION}


def is_ours(name: str) -> bool:
    return not any(re.fullmatch(pattern, name) for pattern in NOT_OURS)


def main() -> None:
    stock, dropin = (names(library) for library in sys.argv[1:])
    missing = sorted(name for name in stock - dropin if is_ours(name))
    unexpected = sorted(name for name in dropin - stock)
    excluded = sorted(name for name in dropin if not is_ours(name))
    for name in missing:
        print(f"{name}@{VERSION} is missing")
    for name in unexpected:
        print(f"{name}@{VERSION} is none of the stock library's")
    for name in excluded:
        print(f"{name}@{VERSION} is there, although the list says why not")
    if len(stock) < 800:
        print(f"only {len(stock)} names in the stock library: was it read?")
    sys.exit(bool(missing or unexpected or excluded or len(stock) < 800))


if __name__ == "__main__":
    main()
