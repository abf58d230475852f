"""Writes a tiny model that recites texts of our choosing, for tests against a real model server.

It is an ordinary network of the qwen2 architecture with one layer, and its weights are a table: every token has a
random vector, and the output row of a token holds the vector of the one it follows, so the last token picks the next.
Three attention heads look for marks in the prompt (tools are declared, a result is there, the tool of a test is named)
and so choose between the scripts. Nothing is downloaded, and at any temperature the answer is the same.

    python tiny_model.py DIRECTORY TEMPLATE PLAIN CALL FINAL [TEST]      (needs numpy and safetensors)
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

DIM, HEADS, CONTEXT = 96, 3, 32_768
HEAD = DIM // HEADS
SLOWEST = HEAD // 2 - 1  # the rotary pair that turns so slowly that distance does not matter

# Dimensions with a fixed meaning; the others tell tokens apart.
CONST, TOOLS_MARK, RESULT_MARK, TEST_MARK, TOOLS, RESULT, TEST = range(7)
FREE = slice(7, DIM)

FOLLOWS = 3.0  # weight of "A is followed by B"
NEVER = -30.0  # weight of the constant for tokens that no script has
SEEN = 3.6  # what a head adds once it has seen its mark
SURE = 15.0  # least lead of the next token of a script, in logits

START, END = "<|im_start|>", "<|im_end|>"
HIDDEN = ("<unk>", "<s>", START, END)
MARKS = {"<tools>": TOOLS_MARK, "<tool_response>": RESULT_MARK, "lookup_ticket": TEST_MARK}
SHOWN = (*MARKS, "<tool_call>", "</tool_call>")
# When a script is recited: the states (tools, result, test) of the prompt.
STATES = {
    "plain": [(False, False, False), (False, False, True)],
    "call": [(True, False, False)],
    "final": [(True, True, False), (False, True, False), (True, True, True), (False, True, True)],
    "test": [(True, False, True)],
}
# What the first token of a script gets in logits where scripts part: always, and for each of the three states.
CHOICE = {"call": (-25.0, 50.0, 0.0, 0.0), "final": (-25.0, 0.0, 100.0, 0.0), "test": (-70.0, 70.0, 0.0, 50.0)}


def letters() -> list[str]:
    """The letter that byte-level tokenizers write for each byte: itself where it can be printed."""
    printed = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


@dataclass
class Words:
    """The tokens: hidden and shown marks, one for each byte, and the pieces that the scripts are cut into.

    No piece is ever made from a prompt, since there are no merges: a person cannot set a script off by typing it.
    """

    ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for token in (*HIDDEN, *letters(), *SHOWN):
            self.add(token)

    def add(self, token: str) -> int:
        return self.ids.setdefault(token, len(self.ids))

    def cut(self, text: str) -> list[int]:
        """The text as marks and as pieces that stand once in all scripts, so that each is followed by one other."""
        mark = next((mark for mark in SHOWN if mark in text), None)
        before, _, after = text.partition(mark) if mark else (text, "", "")
        pieces = self._pieces(before, frozenset())
        if pieces is None:
            raise ValueError(f"{before!r} cannot be cut into fresh pieces")
        found = [self.add(as_token(piece)) for piece in pieces]
        return [*found, self.ids[mark], *self.cut(after)] if mark else found

    def _pieces(self, text: str, taken: frozenset[str]) -> list[str] | None:
        """Pieces of three characters and more that no script has yet; None where there are none."""
        if not text:
            return []
        for length in range(3, min(len(text), 12) + 1):
            piece = text[:length]
            if as_token(piece) in self.ids or piece in taken:
                continue
            rest = self._pieces(text[length:], taken | {piece})
            if rest is not None:
                return [piece, *rest]
        return None


def as_token(text: str) -> str:
    return "".join(letters()[byte] for byte in text.encode())


Step = tuple[int, int, tuple[bool, bool, bool]]


@dataclass
class Scripts:
    """What is recited, and when: each step is (token, the next one, the states of the prompt)."""

    words: Words
    cut: dict[str, list[int]]

    @classmethod
    def of(cls, plain: str, call: str, final: str, test: str = "") -> Scripts:
        words = Words()
        texts = {"plain": plain, "call": call, "final": final, "test": test}
        return cls(words, {name: words.cut(text) for name, text in texts.items() if text})

    def pairs(self, name: str) -> list[tuple[int, int]]:
        entry, end = self.words.ids[as_token("\n")], self.words.ids[END]
        return list(pairwise([entry, *self.cut[name], end]))

    def choices(self) -> dict[int, tuple[float, ...]]:
        """What the states add to a token before which scripts part."""
        following: dict[int, dict[int, str]] = {}
        for name in self.cut:
            for token, then in self.pairs(name):
                following.setdefault(token, {}).setdefault(then, name)
        parted = [then for then in following.values() if len(then) > 1]
        return {token: CHOICE[name] for then in parted for token, name in then.items() if name in CHOICE}

    def steps(self) -> list[Step]:
        """Where no script is given for tests, the one for tools is recited there too."""
        when = STATES if "test" in self.cut else {**STATES, "call": STATES["call"] + STATES["test"]}
        return [(*pair, state) for name in self.cut for pair in self.pairs(name) for state in when[name]]


Weights = dict[str, "np.ndarray"]


def drawn(scripts: Scripts, seed: int) -> Weights:
    """The table of tokens and what follows them, with the random vectors of this seed."""
    chance = np.random.default_rng(seed)
    count, ids = len(scripts.words.ids), scripts.words.ids
    vectors = np.zeros((count, DIM), np.float32)
    vectors[:, FREE] = chance.choice([-1.0, 1.0], size=(count, DIM - FREE.start))
    vectors[:, CONST] = 2.0
    for text, mark in MARKS.items():
        vectors[ids[text], mark] = 4.0
    out = np.zeros((count, DIM), np.float32)
    out[:, CONST] = NEVER
    for token, following in sorted({pair for name in scripts.cut for pair in scripts.pairs(name)}):
        out[following, FREE] += FOLLOWS * vectors[token, FREE]
        out[following, CONST] = 0.0
    for token, (always, *seen) in scripts.choices().items():
        out[token, CONST], out[token, TOOLS : TEST + 1] = always / 2, np.array(seen) / SEEN
    return {"model.embed_tokens.weight": vectors, "lm_head.weight": out}


def lead(weights: Weights, scripts: Scripts) -> float:
    """How far the next token of a script is ahead of all others, at the least."""
    least = math.inf
    for token, following, states in scripts.steps():
        state = weights["model.embed_tokens.weight"][token].copy()
        state[TOOLS : TEST + 1] += SEEN * np.array(states)
        logits = weights["lm_head.weight"] @ (state / np.sqrt(np.mean(state * state)))
        wanted = logits[following]
        logits[following] = -np.inf
        least = min(least, float(wanted - logits.max()))
    return least


def layer() -> Weights:
    """One layer whose heads look for the marks; everything else in it does nothing."""
    query, key, value, output = (np.zeros((DIM, DIM), np.float32) for _ in range(4))
    for head, (mark, state) in enumerate([(TOOLS_MARK, TOOLS), (RESULT_MARK, RESULT), (TEST_MARK, TEST)]):
        query[head * HEAD + SLOWEST, CONST] = 8.0
        key[head * HEAD + SLOWEST, mark] = 4.0
        value[head * HEAD, mark] = 1.0
        output[state, head * HEAD] = 1.0
    ones, none = np.ones(DIM, np.float32), np.zeros((DIM, DIM), np.float32)
    made: Weights = {"input_layernorm.weight": ones, "post_attention_layernorm.weight": ones}
    for name, matrix in (("q", query), ("k", key), ("v", value)):
        made |= {f"self_attn.{name}_proj.weight": matrix, f"self_attn.{name}_proj.bias": np.zeros(DIM, np.float32)}
    made["self_attn.o_proj.weight"] = output
    made |= {f"mlp.{name}_proj.weight": none for name in ("gate", "up", "down")}
    return {f"model.layers.0.{name}": matrix for name, matrix in made.items()} | {"model.norm.weight": ones}


def tokenizer(words: Words) -> dict[str, object]:
    """Byte-level pairs without a single merge: a prompt becomes marks and bytes."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    marks = [{"id": words.ids[mark], "content": mark, "special": mark in HIDDEN, **flags} for mark in (*HIDDEN, *SHOWN)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    model: dict[str, object] = {
        "type": "BPE",
        "unk_token": None,
        "byte_fallback": False,
        "vocab": words.ids,
        "merges": [],
    }
    return {"version": "1.0", "added_tokens": marks, "pre_tokenizer": level, "decoder": level, "model": model}


def write(directory: Path, scripts: Scripts, template: str) -> None:
    """The files of the model. Raises RuntimeError where the scripts are too long for a table of this size."""
    tables = (drawn(scripts, seed) for seed in range(200))
    weights = next((table for table in tables if lead(table, scripts) > SURE), None)
    if weights is None:
        raise RuntimeError("no table follows these scripts: make them shorter")
    end = scripts.words.ids[END]
    config = {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "hidden_size": DIM, "num_hidden_layers": 1}
    config |= {"intermediate_size": DIM, "num_attention_heads": HEADS, "num_key_value_heads": HEADS}
    config |= {"rms_norm_eps": 1e-5, "rope_theta": 1e6, "max_position_embeddings": CONTEXT, "hidden_act": "silu"}
    config |= {
        "vocab_size": len(scripts.words.ids),
        "tie_word_embeddings": False,
        "bos_token_id": 1,
        "eos_token_id": end,
    }
    speech: dict[str, object] = {
        "tokenizer_class": "Qwen2Tokenizer",
        "bos_token": "<s>",
        "eos_token": END,
        "unk_token": "<unk>",
    }
    speech |= {"model_max_length": CONTEXT, "chat_template": Path(__file__).with_name(f"{template}.jinja").read_text()}
    if template != "plain":
        speech["tool_parser_type"] = "json_tools"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "tokenizer_config.json").write_text(json.dumps(speech))
    (directory / "tokenizer.json").write_text(json.dumps(tokenizer(scripts.words)))
    save_file(weights | layer(), directory / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    write(Path(sys.argv[1]), Scripts.of(*sys.argv[3:]), sys.argv[2])
