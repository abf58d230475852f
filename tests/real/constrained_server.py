"""Serves a model of mlx-lm with constrained decoding by llguidance, which mlx-lm's own server does not have.

It has `/v1/models` and `/v1/chat/completions` with `response_format`, `max_tokens`, `seed`, `temperature` and `stream`.
Tools are ignored; a schema that does not compile is refused with 400.

    python constrained_server.py MODEL --port PORT
"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from llguidance import LLMatcher, LLTokenizer
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask
from mlx_lm import load, stream_generate
from mlx_lm.sample_utils import make_sampler

ANY_OBJECT = {"type": "object"}
MOST_TOKENS = 256
FORBIDDEN = -1e9


class Mask:
    """A logits processor that admits only tokens by which the text can still come to fit."""

    def __init__(self, matcher: LLMatcher, vocabulary: int) -> None:
        self.matcher, self.vocabulary = matcher, vocabulary
        self.bits = allocate_token_bitmask(1, vocabulary)
        self.began = False

    def __call__(self, tokens: Any, logits: Any) -> Any:
        if self.began:
            self.matcher.consume_token(int(tokens[-1].item()))
        self.began = True
        fill_next_token_bitmask(self.matcher, self.bits, 0)
        admitted = np.unpackbits(self.bits.view(np.uint8), bitorder="little")[: self.vocabulary].astype(bool)
        return mx.where(mx.array(admitted), logits, FORBIDDEN)


class ServedModel:
    """The model, used by one request at a time."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.model, self.tokenizer = load(path)
        self.turn = threading.Lock()
        text = (Path(path) / "tokenizer.json").read_text()
        self.vocabulary = len(json.loads(text)["model"]["vocab"])
        self.guide = LLTokenizer(text, n_vocab=self.vocabulary, eos_token=self.tokenizer.eos_token_id)

    def matcher(self, asked: dict[str, Any]) -> LLMatcher | None:
        """Return the grammar of a request, None if it demands no schema. Raises ValueError if it does not compile."""
        shape = asked.get("response_format") or {}
        schema = ANY_OBJECT if shape.get("type") == "json_object" else (shape.get("json_schema") or {}).get("schema")
        if schema is None:
            return None
        made = LLMatcher(self.guide, LLMatcher.grammar_from_json_schema(json.dumps(schema)))
        if made.is_error():
            raise ValueError(made.get_error())
        return made

    def pieces(self, asked: dict[str, Any], matcher: LLMatcher | None) -> Iterator[tuple[str, str | None]]:
        """Yield pieces of the text, each with the reason why it ends there, None where it goes on."""
        prompt = self.tokenizer.apply_chat_template(asked["messages"], add_generation_prompt=True)
        processors = [Mask(matcher, self.vocabulary)] if matcher else []
        sampler = make_sampler(temp=float(asked.get("temperature", 1.0)))
        limit = int(asked.get("max_tokens") or asked.get("max_completion_tokens") or MOST_TOKENS)
        with self.turn:
            if asked.get("seed") is not None:
                mx.random.seed(int(asked["seed"]))
            parts = stream_generate(
                self.model, self.tokenizer, prompt, limit, sampler=sampler, logits_processors=processors
            )
            for part in parts:
                yield part.text, part.finish_reason


class ConstrainedHandler(BaseHTTPRequestHandler):
    """Answers one client."""

    protocol_version = "HTTP/1.1"
    served: ServedModel

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": self.served.path, "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            pieces = self.served.pieces(asked, self.served.matcher(asked))
        except ValueError as error:
            self._send(400, {"error": {"message": str(error), "type": "invalid_request_error"}})
            return
        if asked.get("stream"):
            self._stream(pieces)
            return
        texts, reason = [], None
        for text, ending in pieces:
            texts.append(text)
            reason = ending or reason
        message = {"role": "assistant", "content": "".join(texts)}
        self._send(200, {**self._frame(), "choices": [{"index": 0, "message": message, "finish_reason": reason}]})

    def _stream(self, pieces: Iterator[tuple[str, str | None]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for text, reason in pieces:
            choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
            self.wfile.write(b"data: " + json.dumps({**self._frame(), "choices": [choice]}).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _frame(self) -> dict[str, Any]:
        return {"id": "c", "object": "chat.completion", "created": 0, "model": self.served.path}

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None: ...


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model")
    arguments.add_argument("--host", default="127.0.0.1")
    arguments.add_argument("--port", type=int, required=True)
    options = arguments.parse_args()
    ConstrainedHandler.served = ServedModel(options.model)
    ThreadingHTTPServer((options.host, options.port), ConstrainedHandler).serve_forever()


if __name__ == "__main__":
    main()
