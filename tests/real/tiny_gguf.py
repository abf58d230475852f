"""Writes the tiny model of a directory as one GGUF file, for llama-server and Ollama.

python tiny_gguf.py DIRECTORY FILE      (needs numpy and safetensors)
"""

from __future__ import annotations

import json
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "model.layers.0.input_layernorm.weight": "blk.0.attn_norm.weight",
    "model.layers.0.post_attention_layernorm.weight": "blk.0.ffn_norm.weight",
    "model.layers.0.self_attn.o_proj.weight": "blk.0.attn_output.weight",
}
NAMES |= {
    f"model.layers.0.self_attn.{letter}_proj.{part}": f"blk.0.attn_{letter}.{part}"
    for letter in "qkv"
    for part in ("weight", "bias")
}
NAMES |= {f"model.layers.0.mlp.{name}_proj.weight": f"blk.0.ffn_{name}.weight" for name in ("gate", "up", "down")}

ALIGNED = 32
# Numbers of GGUF's types, of a token's kinds and of tensors.
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
NORMAL, CONTROL, USER_DEFINED = 1, 3, 4
TENSOR_F32 = 0


@dataclass(frozen=True)
class Array:
    """A list of values of one of GGUF's types."""

    kind: int
    values: list[Any]


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def plain(kind: int, value: Any) -> bytes:
    if kind == STRING:
        return text(value)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}[kind], value)


def entry(key: str, value: Any) -> bytes:
    """One key with its value; the type follows from the value."""
    if isinstance(value, Array):
        head = struct.pack("<IIQ", ARRAY, value.kind, len(value.values))
        return text(key) + head + b"".join(plain(value.kind, one) for one in value.values)
    kind = {bool: BOOL, int: UINT32, float: FLOAT32, str: STRING}[type(value)]
    return text(key) + struct.pack("<I", kind) + plain(kind, value)


def described(config: dict[str, Any]) -> dict[str, Any]:
    """What the network is."""
    return {
        "general.architecture": "qwen2",
        "general.name": "tiny",
        "qwen2.context_length": config["max_position_embeddings"],
        "qwen2.embedding_length": config["hidden_size"],
        "qwen2.block_count": config["num_hidden_layers"],
        "qwen2.feed_forward_length": config["intermediate_size"],
        "qwen2.attention.head_count": config["num_attention_heads"],
        "qwen2.attention.head_count_kv": config["num_key_value_heads"],
        "qwen2.attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        "qwen2.rope.freq_base": config["rope_theta"],
    }


def spoken(tokenizer: dict[str, Any], speech: dict[str, Any]) -> dict[str, Any]:
    """What the tokens are, and the chat template."""
    ids = tokenizer["model"]["vocab"]
    kinds = dict.fromkeys(ids, NORMAL)
    kinds |= {mark["content"]: CONTROL if mark["special"] else USER_DEFINED for mark in tokenizer["added_tokens"]}
    words = sorted(ids, key=ids.__getitem__)
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": Array(STRING, words),
        "tokenizer.ggml.token_type": Array(INT32, [kinds[word] for word in words]),
        "tokenizer.ggml.merges": Array(STRING, []),
        "tokenizer.ggml.bos_token_id": ids[speech["bos_token"]],
        "tokenizer.ggml.eos_token_id": ids[speech["eos_token"]],
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": speech["chat_template"],
    }


def padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNED)


def write(directory: Path, file: Path) -> None:
    """The model of this directory, as one file."""
    config, tokenizer, speech = (
        json.loads((directory / f"{name}.json").read_text()) for name in ("config", "tokenizer", "tokenizer_config")
    )
    told = described(config) | spoken(tokenizer, speech)
    tensors = {NAMES[name]: values for name, values in load_file(directory / "model.safetensors").items()}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(told))
    head += b"".join(entry(key, value) for key, value in told.items())
    data = b""
    for name, values in tensors.items():
        sizes = values.shape[::-1]
        head += text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, TENSOR_F32, len(data))
        data += padded(values.astype("<f4").tobytes())
    file.write_bytes(padded(head) + data)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
