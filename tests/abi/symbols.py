"""Compares the dynamic symbols of the drop-in with those of the stock libgomp: symbols.py STOCK DROP-IN

Every host symbol of the stock library (not OpenACC, not its plugin interface) must be there, with its version, default
(@@) or not (@). A second check: the drop-in needs libc and hwloc only.
"""

import re
import subprocess
import sys

NOT_OURS = re.compile(r"(acc_|GOACC_|GOMP_PLUGIN_|GOMP_offload_|OACC_)")
ALLOWED = re.compile(r"(libc\.so\.6|ld-linux-x86-64\.so\.2|libhwloc\.so\.\d+)$")


def symbols(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    found = set()
    for line in output.splitlines():
        kind, name = line.split()[-2:]
        if not NOT_OURS.match(name):
            found.add((("version" if kind == "A" else "symbol"), name))
    return found


def main():
    stock, dropin = sys.argv[1:]
    missing = sorted(symbols(stock) - symbols(dropin))
    for kind, name in missing:
        print(f"{kind} {name} is missing")
    dynamic = subprocess.run(["readelf", "-dW", dropin], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    wrong = [name for name in needed if not ALLOWED.match(name)]
    for name in wrong:
        print(f"{dropin} needs {name}")
    soname = re.findall(r"\(SONAME\).*\[(.*)\]", dynamic)
    if soname != ["libgomp.so.1"]:
        print(f"SONAME is {soname}")
    if "(TEXTREL)" in dynamic:
        print("the drop-in has text relocations")
    sys.exit(bool(missing or wrong or soname != ["libgomp.so.1"] or "(TEXTREL)" in dynamic))


if __name__ == "__main__":
    main()
