"""A BERT encoder with mean pooling (the shape of all-MiniLM-L6-v2) in plain torch, from its safetensors file."""

import copy
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

HEADS = 12


class Layer(nn.Module):
    """One transformer layer."""

    def __init__(self, size: int, inner: int) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)
        self.mix, self.mix_norm = nn.Linear(size, size), nn.LayerNorm(size, eps=1e-12)
        self.up, self.down, self.norm = nn.Linear(size, inner), nn.Linear(inner, size), nn.LayerNorm(size, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, size = x.shape
        q, k, v = (
            part(x).view(batch, length, HEADS, size // HEADS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        weights = (q @ k.transpose(-1, -2) * (size // HEADS) ** -0.5 + mask).softmax(-1)
        x = self.mix_norm(x + self.mix((weights @ v).transpose(1, 2).reshape(batch, length, size)))
        return self.norm(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    """Token ids and mask to one normalised vector a text."""

    def __init__(
        self, words: int = 30522, size: int = 384, layers: int = 6, inner: int = 1536, places: int = 512
    ) -> None:
        super().__init__()
        self.words, self.places, self.kind = (
            nn.Embedding(words, size),
            nn.Embedding(places, size),
            nn.Embedding(2, size),
        )
        self.norm = nn.LayerNorm(size, eps=1e-12)
        self.layers = nn.ModuleList(Layer(size, inner) for _ in range(layers))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))[None] + self.kind.weight[0]
        x = self.norm(x)
        bias = (1.0 - mask.to(x.dtype))[:, None, None, :] * -1e4
        for layer in self.layers:
            x = layer(x, bias)
        weight = mask.to(x.dtype)[..., None]
        pooled = (x * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
        return F.normalize(pooled.float(), dim=-1)


NAMES = {
    "attention.self.query": "query", "attention.self.key": "key", "attention.self.value": "value",
    "attention.output.dense": "mix", "attention.output.LayerNorm": "mix_norm",
    "intermediate.dense": "up", "output.dense": "down", "output.LayerNorm": "norm",
}  # fmt: skip


def load(path: Path) -> Bert:
    """The encoder from a Hugging Face BERT file or one of ours."""
    state = load_file(str(path))
    if "words.weight" not in state:
        state = {
            _rename(name): value for name, value in state.items() if "pooler" not in name and "position_ids" not in name
        }
    model = Bert()
    model.load_state_dict(state)
    return model


def _rename(name: str) -> str:
    name = name.removeprefix("bert.")
    for old, new in (
        ("word_embeddings", "words"),
        ("position_embeddings", "places"),
        ("token_type_embeddings", "kind"),
    ):
        name = name.replace(f"embeddings.{old}", new)
    name = name.replace("embeddings.LayerNorm", "norm").replace("encoder.layer.", "layers.")
    for old, new in NAMES.items():
        if f".{old}." in name and name.startswith("layers."):
            return name.replace(f".{old}.", f".{new}.")
    return name


def save(model: Bert, path: Path) -> None:
    """Write the weights."""
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, str(path))


class Texts:
    """Texts to padded ids and masks."""

    def __init__(self, tokenizer: Path, length: int = 96) -> None:
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.enable_truncation(length)
        self.tokenizer.enable_padding()

    def __call__(self, texts: list[str]) -> tuple[Tensor, Tensor]:
        found = self.tokenizer.encode_batch(texts)
        return torch.tensor([row.ids for row in found]), torch.tensor([row.attention_mask for row in found])


@torch.no_grad()
def embed(model: Bert, read: Texts, texts: list[str], batch: int = 256) -> Tensor:
    """The texts' vectors, in order; texts of like length share a batch."""
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
    out = torch.zeros(len(texts), 384)
    fast = copy.deepcopy(model).eval().bfloat16()
    for start in range(0, len(order), batch):
        part = order[start : start + batch]
        out[part] = fast(*read([texts[n] for n in part]))
    return out
