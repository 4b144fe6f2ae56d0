"""constant.py FILE NAME: writes the text that NAME is in FILE, which is not run."""
import ast
import sys

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    tree = ast.parse(file.read())
for statement in tree.body:
    if isinstance(statement, ast.Assign) and statement.targets[0].id == sys.argv[2]:
        sys.stdout.buffer.write(ast.literal_eval(statement.value).encode())
