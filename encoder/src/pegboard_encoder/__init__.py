"""The weights of Pegboard's sentence encoder: `model.onnx`, `tokenizer.json` and `axes.npy`, beside this file."""

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the files are."""
