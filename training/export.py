"""Write the tuned encoder as ONNX: few operators, the weights in whole numbers of one byte.

    python training/export.py --base encoder.safetensors --tokenizer tokenizer.json --bench BENCH --out DIR

The graph reads one text at a time, so it needs neither a mask nor padding. How great the inputs of each product are,
and which go together, is seen on tools and requests of the training sets and on mcp-catalog's tools. `Add` and then
`LayerNormalization` is faster than `SkipLayerNormalization`, so sessions must not fuse them (`ORT_ENABLE_BASIC`).
"""

import argparse
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto, TensorProto, helper, numpy_helper
from prepare import SEED, TRAIN, rows
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from whole import Inputs, whole

from pegboard.bench import spec_of
from pegboard.index.encoder import TOKENS
from pegboard.index.fields import passage

HEADS, LAYERS = 12, 6
MANY = 60
"""So many tools, and requests, of each set are looked at."""
OURS = "com.microsoft"
"""Operators of the runtime itself, which every build of it for processors has."""
Weights = Mapping[str, np.ndarray]


class Graph:
    """An encoder in the making.

    Parameters:
        weights: of the tuned model, by name.
        seen: what goes into each product; without it the graph computes in floats, and `inputs` names what to look at.
    """

    def __init__(self, weights: Weights, seen: Mapping[str, Inputs] | None = None) -> None:
        self._weights = weights
        self._seen = seen
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self.inputs: dict[str, str] = {}

    def model(self) -> ModelProto:
        """The whole of it."""
        found = self._embedded()
        for layer in range(LAYERS):
            found = self._layer(f"layers.{layer}.", found)
        mean = self._add("ReduceMean", found, self._constant("axis", np.array([1])), keepdims=0)
        self._nodes.append(helper.make_node("LpNormalization", [mean], ["vectors"], axis=-1, p=2))
        outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, [1, 384])]
        if self._seen is None:
            outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.inputs.values()]
        ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "tokens"])
        graph = helper.make_graph(self._nodes, "encoder", [ids], outputs, self._constants)
        versions = [helper.make_opsetid("", 18), helper.make_opsetid(OURS, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=8)

    def _embedded(self) -> str:
        words, least = self._weights["words.weight"], self._weights["words.weight"].min()
        scale = np.float32((words.max() - least) / 255)
        zero = np.uint8(np.rint(-least / scale))
        table = self._constant("words", np.clip(np.rint(words / scale) + zero, 0, 255).astype(np.uint8))
        scales = self._constant("words.scale", scale), self._constant("words.zero", zero)
        word = self._add("DequantizeLinear", self._add("Gather", table, "ids"), *scales)
        places = (self._weights["places.weight"][:TOKENS] + self._weights["kind.weight"][0])[None]
        count = self._add("Shape", "ids", start=1)
        first, axis = self._constant("first", np.array([0])), self._constant("along", np.array([1]))
        return self._normal("norm", word, self._add("Slice", self._constant("places", places), first, count, axis))

    def _layer(self, name: str, found: str) -> str:
        heard = self._product(f"{name}mix", self._attention(name, found))
        found = self._normal(f"{name}mix_norm", found, heard)
        inner = self._add("Gelu", self._product(f"{name}up", found), domain=OURS)
        return self._normal(f"{name}norm", found, self._product(f"{name}down", inner))

    def _attention(self, name: str, found: str) -> str:
        """Every token hears the others."""
        names = [f"{name}{part}" for part in ("query", "key", "value")]
        if self._seen is None:
            parts = self._add("Split", self._product(*names, found), outputs=3, axis=-1, num_outputs=3)
            return self._add("MultiHeadAttention", *parts, domain=OURS, num_heads=HEADS)
        found, weights, scales, bias = self._whole(names, found)
        rows, scale, zero = self._add("DynamicQuantizeLinear", found, outputs=3)
        none = self._constant(f"{name}zero", np.int8(0))
        return self._add("QAttention", rows, weights, bias, scale, scales, "", zero, none, domain=OURS, num_heads=HEADS)

    def _product(self, *names: str) -> str:
        """What the last of the names holds times the weights of the others, side by side."""
        *names, found = names
        if self._seen is not None:
            found, weights, scales, bias = self._whole(names, found)
            return self._add("DynamicQuantizeMatMul", found, weights, scales, "", bias, domain=OURS)
        self.inputs[names[0]] = found
        weights, bias = self._joined(names)
        product = self._add("MatMul", found, self._constant(names[0], weights))
        return self._add("Add", product, self._constant(f"{names[0]}.bias", bias))

    def _whole(self, names: list[str], found: str) -> tuple[str, str, str, str]:
        """The inputs, evened out; the weights, whole; their scales; what is added."""
        assert self._seen is not None
        name, (weights, bias), inputs = names[0], self._joined(names), self._seen[names[0]]
        parts = np.ones(len(weights)) if name.endswith("mix") else inputs.parts()
        if parts.max() > 1:
            found = self._add("Mul", found, self._constant(f"{name}.parts", (1 / parts).astype(np.float32)))
        numbers, scales = whole(weights.astype(np.float64) * parts[:, None], inputs.squares / np.outer(parts, parts))
        constants = {name: numbers, f"{name}.scales": scales, f"{name}.bias": bias}
        return found, *(self._constant(key, value) for key, value in constants.items())

    def _joined(self, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
        weights = [self._weights[f"{name}.weight"].T for name in names]
        return np.concatenate(weights, axis=1), np.concatenate([self._weights[f"{name}.bias"] for name in names])

    def _normal(self, name: str, one: str, other: str) -> str:
        kept = [self._constant(f"{name}.{part}", self._weights[f"{name}.{part}"]) for part in ("weight", "bias")]
        return self._add("LayerNormalization", self._add("Add", one, other), *kept, epsilon=1e-12, axis=-1)

    def _constant(self, name: str, value: Any) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name))
        return name

    def _add(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **options: Any) -> Any:
        """A node; what it makes."""
        made = [f"{kind}.{len(self._nodes)}.{n}" for n in range(outputs)]
        self._nodes.append(helper.make_node(kind, inputs, made, domain=domain, **options))
        return made[0] if outputs == 1 else made


def texts(bench: Path) -> Iterator[str]:
    """Tools and requests of the training sets, and mcp-catalog's tools."""
    draw = random.Random(SEED)
    for name in (*TRAIN, "mcp-catalog"):
        yield from (passage(spec_of(tool)) for tool in draw.sample(rows(bench / name / "tools.jsonl.gz"), MANY))
    for name in TRAIN:
        yield from (query["query"] for query in draw.sample(rows(bench / name / "queries.jsonl.gz"), MANY))


def seen(weights: Weights, tokenizer: Tokenizer, bench: Path) -> dict[str, Inputs]:
    """What goes into each product."""
    graph = Graph(weights)
    session = onnxruntime.InferenceSession(graph.model().SerializeToString(), providers=["CPUExecutionProvider"])
    found = {name: Inputs(weights[f"{name}.weight"].shape[1]) for name in graph.inputs}
    for text in texts(bench):
        ids = np.array([tokenizer.encode(text).ids[:TOKENS]])
        read = session.run(list(graph.inputs.values()), {"ids": ids})
        for name, one in zip(graph.inputs, read, strict=True):
            found[name].add(one[0])
    return found


def main() -> None:
    """Write the model and its tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--base", "--tokenizer", "--bench", "--out"):
        parser.add_argument(option, type=Path, required=True)
    options = parser.parse_args()
    weights, tokenizer = load_file(str(options.base)), Tokenizer.from_file(str(options.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    model = Graph(weights, seen(weights, tokenizer, options.bench)).model().SerializeToString()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "model.onnx").write_bytes(model)
    tokenizer.save(str(options.out / "tokenizer.json"), pretty=False)
    print(len(model))


if __name__ == "__main__":
    main()
