# The GoogleTest programs, each of their tests a lit test.
import os
import lit.formats

config.name = "stark-unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = os.path.join(config.stark_build, "test", "unit")
config.test_exec_root = config.test_source_root
