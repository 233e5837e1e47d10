"""Lets a Python interpreter run this folder: `python3 CHECKOUT/python run ...`, with nothing installed."""

import signal
import sys

# Ctrl-C ends the command at once, also while modules are loaded. (Bug: Python told of that by a traceback.)
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from weft.__main__ import main

sys.exit(main())
