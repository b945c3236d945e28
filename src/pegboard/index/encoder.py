"""The sentence encoder (extra `encoder`): our tuned MiniLM through onnxruntime, on one thread, without a network."""

import hashlib
from collections.abc import Sequence
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np

from pegboard.errors import MissingExtraError
from pegboard.index.dense import Bytes, Floats

TOKENS = 96
"""So many tokens of a tool are read."""
ASKED = 64
"""So many tokens of a request are read."""
EXTRA = "encoder"
FEATURE = "Search with the sentence encoder"


class OnnxEmbedder:
    """Texts to vectors by an ONNX model that pools and normalises by itself.

    Parameters:
        folder: holds `model.onnx` (input `ids`, a row of the tokens of one text; output `vectors`), `tokenizer.json`
            and perhaps `axes.npy` (see `Embedder`). `training/export.py` writes such models, whose sums are exact on
            every processor.
        name: identifies the model; its digest is added.
        threads: of the runtime.
    """

    english = True
    ordered = False

    def __init__(self, folder: Path, *, name: str = "pegboard-encoder", threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        model = folder / "model.onnx"
        with model.open("rb") as stream:
            self.name = f"{name}-{hashlib.file_digest(stream, 'sha256').hexdigest()[:12]}"

    @cached_property
    def axes(self) -> Bytes | None:
        """The directions that tell most, a column each."""
        path = self._folder / "axes.npy"
        return np.load(path) if path.is_file() else None

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        return int(self._session.get_outputs()[0].shape[-1])

    @cached_property
    def _session(self) -> Any:
        runtime = cast("Any", _library("onnxruntime"))
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = self._threads
        options.log_severity_level = 3
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_BASIC  # what more fuses is slower
        return runtime.InferenceSession(
            str(self._folder / "model.onnx"), sess_options=options, providers=["CPUExecutionProvider"]
        )

    @cached_property
    def _tokenizer(self) -> Any:
        found = cast("Any", _library("tokenizers")).Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        found.enable_truncation(TOKENS)
        found.no_padding()
        return found

    def embed_docs(self, texts: Sequence[str]) -> Floats:
        """One row a text. Each runs alone, since numbers are scaled by all that runs together; it is no slower."""
        found = np.zeros((len(texts), self.dim), np.float32)
        for n, text in enumerate(texts):
            found[n] = self._run(text, TOKENS)
        return found

    def embed_query(self, text: str) -> Floats:
        """The vector of a request."""
        return self._run(text[:2000], ASKED)

    def _run(self, text: str, length: int) -> Floats:
        ids = np.array([self._tokenizer.encode(_sound(text)).ids[:length]], np.int64)
        return self._session.run(None, {"ids": ids})[0][0]


def _sound(text: str) -> str:
    """The text as UTF-8 can carry it; never empty."""
    return text.encode("utf8", "replace").decode("utf8") or " "


def _library(name: str) -> object:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(EXTRA, feature=FEATURE) from None


@cache
def bundled_encoder() -> OnnxEmbedder:
    """The encoder of the data package `pegboard-encoder`.

    Raises:
        MissingExtraError: it, onnxruntime or tokenizers is not installed.
    """
    for name in ("onnxruntime", "tokenizers"):
        _library(name)
    data = cast("Any", _library("pegboard_encoder"))
    return OnnxEmbedder(Path(data.FOLDER))
