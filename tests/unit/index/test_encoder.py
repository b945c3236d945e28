"""The sentence encoder as a second layer."""

from pathlib import Path

import numpy as np
import pytest

from pegboard import index
from pegboard.index.encoder import bundled_encoder
from pegboard.index.protocol import names_of

from .conftest import tool

pytestmark = [pytest.mark.slow]
CATALOG = [
    tool("travel.book_flight", "Reserve a seat on a plane"),
    tool("travel.find_hotel", "Look up rooms for the night"),
    tool("shop.refund_order", "Give a customer their money back"),
    tool("desk.close_ticket", "Mark a support case as solved"),
]


@pytest.fixture(scope="module")
def engine():
    made = index.with_encoder()
    made.update(put=CATALOG)
    assert made.wait(120)
    return made


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("I want to fly to Oslo", "travel.book_flight"),
        ("somewhere to sleep in Paris", "travel.find_hotel"),
        ("reimburse the buyer", "shop.refund_order"),
        ("the problem is fixed, we are done with this issue", "desk.close_ticket"),
    ],
)
def test_what_is_said_in_other_words_is_found(engine, query, name):
    assert names_of(engine.search(query).hits)[0] == name


def test_it_is_small_its_vectors_are_unit_and_nothing_is_downloaded(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    encoder = bundled_encoder()
    import pegboard_encoder

    assert (Path(pegboard_encoder.FOLDER) / "model.onnx").stat().st_size < 25_000_000
    vectors = encoder.embed_docs(["book a flight", "", "\ud800", "word " * 5000])
    assert vectors.shape == (4, encoder.dim)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


def test_vectors_are_kept_and_taken_over(engine, tmp_path):
    engine.save(tmp_path / "index.bin")
    again = index.with_encoder()
    assert again.load(tmp_path / "index.bin", CATALOG) == len(CATALOG)
    assert again.wait(0)
    assert again.search("reimburse the buyer") == engine.search("reimburse the buyer")


def test_while_vectors_are_made_search_goes_on_without_them():
    made = index.with_encoder()
    made.update(put=CATALOG)
    assert names_of(made.search("book_flight").hits)[0] == "travel.book_flight"
    made.wait(120)


def test_a_vector_depends_on_its_text_alone():
    encoder = bundled_encoder()
    texts = ["book a flight", "Look up rooms for the night in a city of your choice, by price", "word " * 200]
    together = encoder.embed_docs(texts)
    for text, row in zip(texts, together, strict=True):
        assert np.array_equal(encoder.embed_docs([text])[0], row)
    assert np.array_equal(encoder.embed_docs(texts[::-1])[::-1], together)


def test_what_stands_out_to_the_encoder_is_surer_and_what_does_not_is_less_sure(engine):
    without = index.default()
    without.update(put=CATALOG)

    def surer(query):
        return engine.search(query).confidence - without.search(query).confidence

    assert surer("reimburse the buyer") > surer("water the plants on the balcony")
    assert engine.search("reimburse the buyer").confidence > engine.search("water the plants on the balcony").confidence


def test_its_sums_overflow_on_no_processor():
    import onnxruntime
    import pegboard_encoder

    encoder = bundled_encoder()
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # slower, and exact with any weights
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    exact = onnxruntime.InferenceSession(Path(pegboard_encoder.FOLDER) / "model.onnx", options)
    for text in ("book a flight", "Look up rooms for the night in a city of your choice, by price", "word " * 200):
        ids = np.array([encoder._tokenizer.encode(text).ids])
        assert np.array_equal(exact.run(None, {"ids": ids})[0], encoder.embed_docs([text]))
