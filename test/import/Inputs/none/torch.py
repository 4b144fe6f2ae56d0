raise ModuleNotFoundError("No module named 'torch'", name="torch")
