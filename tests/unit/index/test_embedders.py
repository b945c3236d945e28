"""Other models beside the words: made in the background, and never missed when they fail."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from pegboard.errors import PegboardError
from pegboard.index.embedders import Model2Vec, Ollama, OpenAICompatible, SentenceTransformers
from pegboard.index.engine import ToolIndex
from pegboard.index.protocol import names_of

from .conftest import tool

TOPICS = {"canine": 0, "dog": 0, "puppy": 0, "feline": 1, "cat": 1, "kitten": 1}
CATALOG = [tool("a.walk", "Walk a dog"), tool("a.stroke", "Stroke a cat"), tool("a.sail", "Sail a boat")]


def vector(text: str) -> list[float]:
    """By topic: a model so small that it can be read."""
    found = np.zeros(3)
    for word in text.lower().replace(":", " ").split():
        found[TOPICS.get(word, 2)] += 5 if word in TOPICS else 0.1
    return found.tolist()


class Small:
    """Has the methods of a model2vec and of a sentence-transformers model."""

    dim = 3

    def get_sentence_embedding_dimension(self) -> int:
        return 3

    def encode(self, texts, **_) -> np.ndarray:
        return np.array([vector(text) for text in texts])


class Handler(BaseHTTPRequestHandler):
    """Answers as an OpenAI-compatible endpoint and as Ollama; a model named `broken` answers nonsense."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = [vector(text) for text in body["input"]]
        if self.path.endswith("/api/embed"):
            answer = {"embeddings": rows}
        else:
            answer = {"data": [{"embedding": row} for row in rows]}
        if body["model"] == "broken" or self.headers.get("Authorization") not in (None, "Bearer secret"):
            answer = {"error": "no"}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("kind", ["model2vec", "sentence-transformers", "openai", "ollama"])
def test_what_no_word_says_is_found_by_meaning(kind, address):
    embedder = {
        "model2vec": lambda: Model2Vec(Small(), english=False),
        "sentence-transformers": lambda: SentenceTransformers(Small()),
        "openai": lambda: OpenAICompatible(f"{address}/v1", "small", dim=3, key="secret"),
        "ollama": lambda: Ollama("small", dim=3, base=address),
    }[kind]()
    engine = ToolIndex(embedder)
    engine.update(put=CATALOG)
    assert engine.wait(10)
    assert names_of(engine.search("puppy").hits)[0] == "a.walk"
    assert names_of(engine.search("kitten").hits)[0] == "a.stroke"
    assert engine.failures == []


def test_a_model_that_fails_leaves_the_words_and_says_why(address):
    engine = ToolIndex(OpenAICompatible(f"{address}/v1", "broken", dim=3))
    engine.update(put=CATALOG)
    assert engine.wait(10)
    assert names_of(engine.search("sail").hits) == ["a.sail"]
    assert "Check the address" in engine.failures[0]


def test_vectors_of_another_length_are_refused(address):
    with pytest.raises(PegboardError, match="Set dim to 3"):
        Ollama("small", dim=5, base=address).embed_query("dog")


def test_a_changed_tool_gets_a_new_vector_and_a_removed_one_goes():
    engine = ToolIndex(Model2Vec(Small(), english=False))
    engine.update(put=CATALOG)
    engine.wait(10)
    engine.update(put=[tool("a.walk", "Walk a feline")], remove=[CATALOG[1].name])
    assert engine.wait(10)
    assert names_of(engine.search("kitten").hits)[0] == "a.walk"
