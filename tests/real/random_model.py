"""Writes a tiny model of random weights, whose every token is one byte or a mark: all that it writes is noise.

python random_model.py DIRECTORY [SEED]      (needs numpy and safetensors)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tiny_model import CONTEXT, DIM, END, HEADS, Weights, Words, letters, tokenizer

SPREAD = 0.6  # of the weights: noise, not one letter for ever
# Without these a text of noise would hardly ever end; bytes that are no text alone are rare.
LIKELY = {'"': 4.0, "}": 2.0, END: 2.0, **dict.fromkeys((letters()[byte] for byte in range(0x80, 0x100)), -12.0)}


def drawn(words: Words, seed: int) -> Weights:
    """Draw all weights of a network with one layer; the first dimension of each vector is a constant."""
    chance = np.random.default_rng(seed)

    def matrix(*shape: int) -> np.ndarray:
        return chance.normal(0.0, SPREAD, shape).astype(np.float32) / np.sqrt(shape[-1]).astype(np.float32)

    count, ones = len(words.ids), np.ones(DIM, np.float32)
    vectors, out = chance.normal(0.0, 1.0, (count, DIM)).astype(np.float32), matrix(count, DIM)
    vectors[:, 0] = 4.0
    for token, lead in LIKELY.items():
        out[words.ids[token], 0] += lead / 4.0
    layer: Weights = {"input_layernorm.weight": ones, "post_attention_layernorm.weight": ones}
    for name in ("q", "k", "v"):
        layer |= {f"self_attn.{name}_proj.weight": matrix(DIM, DIM), f"self_attn.{name}_proj.bias": 0 * ones}
    layer |= {f"mlp.{name}_proj.weight": matrix(DIM, DIM) for name in ("gate", "up", "down")}
    layer["self_attn.o_proj.weight"] = matrix(DIM, DIM)
    made = {f"model.layers.0.{name}": values for name, values in layer.items()}
    return {"model.embed_tokens.weight": vectors, "lm_head.weight": out, "model.norm.weight": ones} | made


def write(directory: Path, seed: int) -> None:
    words = Words()
    end, count = words.ids[END], len(words.ids)
    config = {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "hidden_size": DIM, "num_hidden_layers": 1}
    config |= {
        "intermediate_size": DIM,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "vocab_size": count,
    }
    config |= {"rms_norm_eps": 1e-5, "rope_theta": 1e6, "max_position_embeddings": CONTEXT, "hidden_act": "silu"}
    config |= {"vocab_size": count, "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": end}
    speech = {"tokenizer_class": "Qwen2Tokenizer", "bos_token": "<s>", "eos_token": END, "unk_token": "<unk>"}
    template = Path(__file__).with_name("plain.jinja").read_text()
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "tokenizer_config.json").write_text(json.dumps({**speech, "chat_template": template}))
    (directory / "tokenizer.json").write_text(json.dumps(tokenizer(words)))
    save_file(drawn(words, seed), directory / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
