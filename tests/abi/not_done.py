"""An entry point that is not there yet ends the process with one line that names it.

not_done.py PROGRAM NAME [PATTERN]   PATTERN: what the line must contain, NAME if absent
"""

import re
import subprocess
import sys

program, name = sys.argv[1:3]
pattern = sys.argv[3] if len(sys.argv) > 3 else re.escape(name) + r"\b"
for _ in range(10 if name.startswith("construct-") else 1):  # several members may come to it at once
    result = subprocess.run([program, name], capture_output=True, text=True, timeout=20)
    lines = result.stderr.splitlines()
    if result.returncode in (0, 2, 3):
        sys.exit(f"{name}: exit status {result.returncode}, the process should have ended: {result.stderr!r}")
    if result.stdout != "" or len(lines) != 1 or not re.search(pattern, lines[0]):
        sys.exit(f"{name}: expected one line with {pattern!r}, stderr is {result.stderr!r}")
