"""An exported program as plain data: inputs, nodes and outputs (docs/import.md).

torch.export's graph -> one record a node: the operator, its arguments by the
names that the operator's schema gives them, what comes out. What C++ cannot say
is a Problem that names the node."""
import operator
import os
import re

import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils._pytree import tree_flatten, tree_map

from stark_problem import Problem

DTYPES = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8",
    torch.bool: "bool", torch.complex64: "c64", torch.complex128: "c128",
}
FORMATS = {torch.contiguous_format: "contiguous", torch.preserve_format: "preserve",
           torch.channels_last: "channels_last", torch.channels_last_3d: "channels_last_3d"}
KINDS = {InputKind.USER_INPUT: "input", InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer",
         InputKind.CONSTANT_TENSOR: "constant"}
# They check what holds for these shapes and compute nothing.
CHECKS = {"_assert_tensor_metadata", "_assert_async", "sym_constrain_range", "sym_constrain_range_for_size"}
# Composite operators that change arguments which their schemas do not mark:
# the argument that switches it on, and what is changed.
CHANGES = {"batch_norm": ("training", ("running_mean", "running_var")),
           "instance_norm": ("use_input_stats", ("running_mean", "running_var"))}
DROPOUTS = {"dropout", "dropout_", "feature_dropout", "feature_dropout_", "alpha_dropout", "alpha_dropout_",
            "feature_alpha_dropout", "feature_alpha_dropout_", "native_dropout"}
RANDOM = {"rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "bernoulli", "bernoulli_", "normal",
          "normal_", "uniform_", "randperm", "multinomial", "poisson", "exponential_", "rrelu"}


def tensor_type(value, node):
    """{"dtype", "shape"} of a fake tensor."""
    shape = []
    for extent in value.shape:
        if not isinstance(extent, int):
            raise Problem(f"node '{node}' has a shape that depends on values: {list(value.shape)}")
        shape.append(extent)
    if value.dtype not in DTYPES:
        raise Problem(f"node '{node}' has elements of type {value.dtype}, which is not supported")
    return {"dtype": DTYPES[value.dtype], "shape": shape}


class Headers:
    """Which of ATen's operators are functions and which methods, as its headers say."""

    def __init__(self):
        self.root = os.path.join(os.path.dirname(torch.__file__), "include", "ATen")
        try:
            with open(os.path.join(self.root, "core", "TensorBody.h")) as body:
                text = body.read()
        except OSError:
            text = ""
        self.methods = set(re.findall(r"^ +[^\n(]*?\b(\w+)\([^\n]*\) const ?[;{]", text, re.M))
        self.known = {}

    def call(self, name):
        if name not in self.known:
            self.known[name] = self._call(name)
        return self.known[name]

    def _call(self, name):
        if name.endswith("_") and name in self.methods:
            return "method"  # a function would want a tensor that is not const
        try:
            with open(os.path.join(self.root, "ops", name.rstrip("_") + ".h")) as header:
                text = header.read()
        except OSError:
            text = ""
        if not self.methods and not text:  # torch without its headers
            return "method" if name.endswith("_") or name in ("view", "expand", "contiguous", "to") else "function"
        if re.search(rf"^inline [^\n]*\b{re.escape(name)}\(", text, re.M):
            return "function"
        return "method" if name in self.methods else ""


def schema_type(jit):
    """"Tensor", "Tensor?", "int[]", ...: what decides how C++ writes a value."""
    kind = jit.kind()
    if kind == "OptionalType":
        return schema_type(jit.getElementType()) + "?"
    if kind == "ListType":
        return schema_type(jit.getElementType()) + "[]"
    plain = {"TensorType": "Tensor", "IntType": "int", "SymIntType": "int", "FloatType": "float", "BoolType": "bool",
             "NumberType": "Scalar", "StringType": "str"}
    return plain.get(kind, "other")


class GraphReader:
    def __init__(self, program, dropout):
        self.program, self.dropout = program, dropout
        self.headers = Headers()
        self.nodes, self.notes = [], []
        self.values = {}  # fx node -> {"value": name, "item": index}
        self.corrected = {}  # fx node -> what its operator returns, where the export has it wrong
        self.roots = {}  # fx node -> the inputs whose memory it may share
        self.changed = set()
        self.without_dropout = 0

    def read(self):
        inputs = self._inputs()
        outputs = []
        for node in self.program.graph.nodes:
            if node.op == "call_function":
                self._call(node)
            elif node.op == "get_attr":
                raise Problem(f"node '{node.name}' is a graph of its own, which an operator of higher order calls")
            elif node.op == "output":
                outputs = self._outputs(node)
        if self.without_dropout:
            self.notes.append(f"dropout is off in {self.without_dropout} places: what it drops is not the same twice")
        for record in inputs:
            record["changed"] = record["name"] in self.changed
        return {"inputs": inputs, "nodes": self.nodes, "outputs": outputs}

    def _inputs(self):
        records = []
        placeholders = [n for n in self.program.graph.nodes if n.op == "placeholder"]
        for node, spec in zip(placeholders, self.program.graph_signature.input_specs):
            value = node.meta.get("val")
            if spec.kind not in KINDS:
                raise Problem(f"input '{node.name}' is a {spec.kind.name}, which is not supported")
            if not isinstance(value, torch.Tensor):
                if node.users:
                    raise Problem(f"input '{node.name}' is used as a {type(value).__name__}, wanted a tensor")
                constant = getattr(spec.arg, "value", value)
                self.notes.append(f"the input '{node.name}' is {constant!r} at every call")
                continue
            record = {"name": node.name, "kind": KINDS[spec.kind], "path": spec.target or node.name}
            record.update(tensor_type(value, node.name))
            records.append(record)
            self.values[node] = {"value": node.name}
            self.roots[node] = {node.name}
        return records

    def _outputs(self, node):
        outputs = []
        for value, spec in zip(tree_flatten(list(node.args[0]))[0], self.program.graph_signature.output_specs):
            if spec.kind != OutputKind.USER_OUTPUT:
                raise Problem(f"output '{value}' is a {spec.kind.name}, which is not supported")
            if isinstance(value, torch.fx.Node) and isinstance(value.meta.get("val"), torch.Tensor):
                outputs.append(dict(self.values[value], **tensor_type(self._result(value), value.name)))
            else:
                self.notes.append(f"an output that is always {value!r} is left out")
        if not outputs:
            raise Problem("the module returns no tensor")
        return outputs

    def _call(self, node):
        if node.target is operator.getitem:
            source, index = node.args
            if source not in self.values or "item" in self.values[source]:
                raise Problem(f"node '{node.name}' takes an item of what is no tuple of tensors")
            self.values[node] = dict(self.values[source], item=index)
            if source in self.corrected:
                self.corrected[node] = self.corrected[source][index]
            self.roots[node] = self.roots.get(source, set())
            return
        if not isinstance(node.target, torch._ops.OpOverload):
            name = getattr(node.target, "__name__", str(node.target))
            raise Problem(f"node '{node.name}' calls {name}, which is no operator on tensors: a branch or a loop that "
                          "depends on values cannot be written as a list of calls" if "cond" in name or "while" in name
                          else f"node '{node.name}' calls {name}, which is none of ATen's operators")
        schema = node.target._schema
        space, name = schema.name.split("::")
        if space != "aten":
            raise Problem(f"node '{node.name}' calls {schema.name}, which is none of ATen's operators")
        if name in CHECKS:
            return
        self._correct(node, name)
        if node.target is torch.ops.aten.view.default:
            # A contiguous() before it leaves no trace where the export's device had nothing to do; a GPU may.
            name = "reshape"
        call = self.headers.call(name)
        if not call:
            raise Problem(f"node '{node.name}' calls aten::{name}, which ATen's C++ interface does not have")
        given = self._given(node, schema)
        if name in RANDOM:
            self.notes.append(f"node '{node.name}' draws random numbers: no two calls give the same")
        record = {"name": node.name, "op": name, "call": call, "arguments": given, "results": self._results(node, schema)}
        record.update(self._module(node))
        returned = schema.returns[0].alias_info if schema.returns else None
        first = schema.arguments[0].alias_info if schema.arguments else None
        record["in_place"] = bool(returned and first and returned.is_write and first.is_write)
        self.nodes.append(record)
        self.values[node] = {"value": node.name}
        self._aliases(node, schema)

    def _result(self, node):
        return self.corrected.get(node, node.meta.get("val"))

    def _correct(self, node, name):
        """An export gives an LSTM's states a dimension too many (torch 2.11), and what is made of them one, too."""
        if name == "lstm" and isinstance(node.args[1], (list, tuple)):
            states = [torch.empty_like(self._result(state), device="meta") for state in node.args[1]]
            self.corrected[node] = [node.meta["val"][0], *states]
        elif any(n in self.corrected for n in node.all_input_nodes):
            def meta(n):
                return tree_map(lambda v: torch.empty_like(v, device="meta") if isinstance(v, torch.Tensor) else v,
                                self._result(n))
            arguments = torch.fx.map_arg((node.args, node.kwargs), meta)
            keywords = {k: "meta" if k == "device" and v is not None else v for k, v in arguments[1].items()}
            self.corrected[node] = node.target(*arguments[0], **keywords)

    def _given(self, node, schema):
        """The arguments that are not what the schema says anyway."""
        given, switch = [], CHANGES.get(schema.name.split("::")[1])
        values = {}
        for position, argument in enumerate(schema.arguments):
            if position < len(node.args):
                values[argument.name] = node.args[position]
            elif argument.name in node.kwargs:
                values[argument.name] = node.kwargs[argument.name]
        if schema.name.split("::")[1] in DROPOUTS and "train" in values and values.get("p") != 0:
            if values["train"] and self.dropout == "off":
                values["train"] = False
                self.without_dropout += 1
        for argument in schema.arguments:
            if argument.name not in values:
                if argument.default_value is None and not argument.has_default_value():
                    raise Problem(f"node '{node.name}' leaves out the argument '{argument.name}'")
                value, plain = argument.default_value, True
            else:
                value = values[argument.name]
                plain = argument.has_default_value() and not isinstance(value, torch.fx.Node) and \
                    type(value) is type(argument.default_value) and value == argument.default_value
            given.append({"name": argument.name, "type": schema_type(argument.type), "default": plain,
                          "value": self._value(value, node, argument.name)})
        if switch and values.get(switch[0]):
            for name in switch[1]:
                if isinstance(values.get(name), torch.fx.Node):
                    self.changed |= self.roots.get(values[name], set())
        return given

    def _value(self, value, node, argument):
        if isinstance(value, torch.fx.Node):
            if value not in self.values:
                raise Problem(f"node '{node.name}': argument '{argument}' is what '{value.name}' made of a tensor's value")
            return self.values[value]
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return {"real": repr(value)}
        if isinstance(value, str):
            return {"text": value}
        if isinstance(value, torch.dtype) and value in DTYPES:
            return {"dtype": DTYPES[value]}
        if isinstance(value, torch.memory_format) and value in FORMATS:
            return {"format": FORMATS[value]}
        if isinstance(value, torch.device):
            return {"device": value.type}
        if value is torch.strided:
            return {"layout": "strided"}
        if isinstance(value, (list, tuple)):
            return [self._value(v, node, argument) for v in value]
        raise Problem(f"node '{node.name}': argument '{argument}' is a {type(value).__name__}, which C++ cannot be given")

    def _results(self, node, schema):
        value = self._result(node)
        kinds = [schema_type(r.type) for r in schema.returns]
        if not kinds:
            return {"kind": "nothing", "types": []}
        if any(k not in ("Tensor", "Tensor[]") for k in kinds):
            raise Problem(f"node '{node.name}' ({schema.name.replace('::', '.')}) makes a number of a tensor's value, "
                          "which the rest depends on")
        kind = "list" if kinds == ["Tensor[]"] else "tensor" if len(kinds) == 1 else "tuple"
        values = [value] if kind == "tensor" else list(value)
        types = [tensor_type(v, node.name) if isinstance(v, torch.Tensor) else {"dtype": "f32", "shape": []}
                 for v in values]
        return {"kind": kind, "types": types}

    @staticmethod
    def _module(node):
        """Where in the tree of modules the node was called."""
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        if not stack:
            return {"path": "", "module": ""}
        path, kind = stack[-1]
        return {"path": path, "module": (kind if isinstance(kind, str) else kind.__name__).rsplit(".", 1)[-1]}

    def _aliases(self, node, schema):
        """Whose memory the result may share, and what was written to."""
        shared = set()
        for position, argument in enumerate(schema.arguments):
            value = node.args[position] if position < len(node.args) else node.kwargs.get(argument.name)
            for tensor in tree_flatten(value)[0] if value is not None else []:
                if not isinstance(tensor, torch.fx.Node):
                    continue
                roots = self.roots.get(tensor, set())
                if argument.alias_info and argument.alias_info.is_write:
                    self.changed |= roots
                # Composite operators return what they were given without a word
                # in the schema (reshape, contiguous, dropout that is off).
                shared |= roots
        may_share = any(r.alias_info for r in schema.returns) or \
            schema.name.split("::")[1] in ("reshape", "contiguous", "flatten", "to", "dropout", "view_as", "reshape_as",
                                           "type_as", "ravel")
        self.roots[node] = shared if may_share else set()
