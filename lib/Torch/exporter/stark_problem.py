"""What ends an import, as one sentence, and where in the user's file it was."""
import os
import traceback


class Problem(Exception):
    """The message is the whole story: one line, lower case, no full stop."""


def first_line(error):
    """What an exception says, without the paragraphs of advice below it."""
    for line in str(error).splitlines():
        line = line.strip().rstrip(".")
        if line:
            return line[:300]
    return type(error).__name__


def place(error, task):
    """"task.py:12: " where the traceback was in the user's file last."""
    found = ""
    while error is not None:
        for frame in traceback.extract_tb(error.__traceback__):
            if os.path.realpath(frame.filename) == os.path.realpath(task):
                found = f"{os.path.basename(task)}:{frame.lineno}: "
        if found:
            return found
        error = error.__cause__ or error.__context__
    return f"{os.path.basename(task)}: "


def missing_package(error):
    """The name of a package that an import wanted and that is not there."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name.split(".")[0]
        error = error.__cause__ or error.__context__
    return ""
