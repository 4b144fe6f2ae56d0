"""example.py EXAMPLE.md FOLDER: the source and the candidate of the prompts'
example as files. Splices as the tool does: includes after the last one,
declarations before the first anchor's, each anchor by its new text."""
import re
import sys

prompt, folder = sys.argv[1:]
blocks = dict(re.findall(r"^```(.*?)\n(.*?)^```$", open(prompt).read(), re.S | re.M))
base = blocks["cuda"]
include, constants = blocks["cuda declarations"].split("\n\n")
kernel = base[base.index("__global__") : base.index("void scale_add(")]
launch = re.search(r"scale_add_kernel<<<.*?;", base).group()
text = base.replace(launch, blocks["cuda anchor 2"].strip())
text = text.replace(kernel, constants + "\n" + blocks["cuda anchor 1"] + "\n")
text = text.replace('"scale_add.h"\n', '"scale_add.h"\n' + include + "\n")
open(folder + "/scale_add.cu", "w").write(base)
open(folder + "/candidate.cu", "w").write(text)
open(folder + "/scale_add.h", "w").write(
    "void scale_add(const float *a, const float *b, float *out, float alpha,\n"
    "               int n, cudaStream_t stream);\n"
)
