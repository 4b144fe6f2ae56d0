"""Prints which torch this Python has, which takes no loading of it; fails where
there is none."""
import importlib.util
import os
import runpy

found = importlib.util.find_spec("torch")
print(runpy.run_path(os.path.join(os.path.dirname(found.origin), "version.py"))["__version__"])
