"""Other people's models as embedders: model2vec, sentence-transformers, OpenAI-compatible endpoints and Ollama.

    ToolIndex(bundled(), Model2Vec(StaticModel.from_pretrained("...")))
    ToolIndex(bundled(), OpenAICompatible("https://api.example.com/v1", "text-embedding-3-small", dim=1536, key=key))

Their vectors are made in the background; until all tools have theirs, search does without them. Scores are normalised
per model, since some models' cosines all lie between .7 and 1.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pegboard.errors import MissingExtraError, PegboardError
from pegboard.index.dense import Floats


class Model2Vec:
    """A `model2vec.StaticModel`.

    Parameters:
        model: the loaded model.
        name: identifies it.
        english: whether it reads English alone.
    """

    ordered = False

    def __init__(self, model: Any, *, name: str = "model2vec", english: bool = True) -> None:
        self.name = name
        self.english = english
        self.dim = int(model.dim)
        self._model = model

    def embed_docs(self, texts: Sequence[str]) -> Floats:
        """One row a text."""
        return np.asarray(self._model.encode(list(texts)), np.float32)

    def embed_query(self, text: str) -> Floats:
        """The vector of a request."""
        return self.embed_docs([text])[0]


class SentenceTransformers:
    """A `sentence_transformers.SentenceTransformer`.

    Parameters:
        model: the loaded model.
        name: identifies it.
        english: whether it reads English alone.
        query_prompt: the name of the model's prompt for requests, where it has one.
    """

    ordered = False

    def __init__(
        self, model: Any, *, name: str = "sentence-transformers", english: bool = False, query_prompt: str | None = None
    ) -> None:
        self.name = name
        self.english = english
        self.dim = int(model.get_sentence_embedding_dimension())
        self._model = model
        self._prompt = query_prompt

    def embed_docs(self, texts: Sequence[str]) -> Floats:
        """One row a text."""
        return np.asarray(self._model.encode(list(texts), show_progress_bar=False), np.float32)

    def embed_query(self, text: str) -> Floats:
        """The vector of a request."""
        found = self._model.encode([text], prompt_name=self._prompt, show_progress_bar=False)
        vector: Floats = np.asarray(found, np.float32)[0]
        return vector


class Remote:
    """A model behind HTTP. The request is made when it is asked; it is never made for a plain install.

    Parameters:
        url: where requests are posted to.
        model: the model's name there.
        dim: how many dimensions its vectors have.
        rows: the place of the vectors in an answer: a key, and the key of the vector in each of its rows if they are
            objects.
        key: the API key, sent as a bearer token.
        seconds: how long one request may take.
    """

    ordered = False
    english = False

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dim: int,
        rows: tuple[str, str | None],
        key: str | None = None,
        seconds: float = 30,
    ) -> None:
        self.name = f"{url} {model}"
        self.dim = dim
        self._url = url
        self._model = model
        self._rows = rows
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._seconds = seconds

    def embed_docs(self, texts: Sequence[str]) -> Floats:
        """One row a text.

        Raises:
            PegboardError: the endpoint refused, or answered something else.
        """
        try:
            import httpx2
        except ImportError:
            raise MissingExtraError("gateway", feature="An embedder behind HTTP") from None
        body = {"model": self._model, "input": [text or " " for text in texts]}
        try:
            answer = httpx2.post(self._url, json=body, headers=self._headers, timeout=self._seconds)
            answer.raise_for_status()
            found = self._vectors(answer.json())
        except (httpx2.HTTPError, ValueError, KeyError, TypeError) as problem:
            raise PegboardError(
                f"The embedder gave no vectors: {problem}",
                where=self._url,
                next_step="Check the address, the model's name and the key.",
            ) from problem
        if found.shape != (len(texts), self.dim):
            raise PegboardError(
                f"The embedder gave vectors of shape {found.shape}, not {(len(texts), self.dim)}.",
                where=self._url,
                next_step=f"Set dim to {found.shape[-1]}.",
            )
        return found

    def embed_query(self, text: str) -> Floats:
        """The vector of a request."""
        return self.embed_docs([text])[0]

    def _vectors(self, answer: Mapping[str, Any]) -> Floats:
        key, inner = self._rows
        return np.array([row[inner] if inner else row for row in answer[key]], np.float32)


class OpenAICompatible(Remote):
    """An OpenAI-compatible `/embeddings` endpoint; `base` is what stands before it, such as `.../v1`."""

    def __init__(self, base: str, model: str, *, dim: int, key: str | None = None) -> None:
        super().__init__(f"{base.rstrip('/')}/embeddings", model, dim=dim, rows=("data", "embedding"), key=key)


class Ollama(Remote):
    """A model of a local Ollama; `base` is its address."""

    def __init__(self, model: str, *, dim: int, base: str = "http://127.0.0.1:11434") -> None:
        super().__init__(f"{base.rstrip('/')}/api/embed", model, dim=dim, rows=("embeddings", None))
