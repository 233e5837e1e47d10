"""Lets a Python interpreter run this folder: `python3 CHECKOUT/python run ...`, with nothing installed."""

import sys

from weft.__main__ import main

sys.exit(main())
