#!/usr/bin/python3
"""Makes tests/data/imports/: tiny models in published formats, with their logits.

    /usr/bin/python3 tests/data/make_imports.py

Made with torch 1.13.0a0 (python3-torch of Debian 12). PyTorch is needed to make the files,
not to run the tests: tests/lab/test_import.c reads them. Needs neither the network nor
lengthen nor transformers: the forward passes below are written from the published layouts
(the names and shapes of the tensors, the keys of config.json) and use nothing of docs/MATH.md.

A folder holds config.json and model.safetensors (or shards with their index), a llama2.c file
is NAME.bin. Beside each model lie tokens and logits, NAME/expected.bin or NAME.expected.bin:

    int32      tokens n, vocabulary V
    int32[n]   the tokens
    float[n,V] logits after each, computed in float64 from the weights as they are stored

For each model the script prints how far the same pass in float32 is from it: the tests allow
1e-4.
"""
import json
import math
import os
import shutil
import struct
import sys

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "U8": torch.uint8}

# ---- safetensors -------------------------------------------------------------------------


def raw(t):
    return t.contiguous().view(torch.uint8).numpy().tobytes()


def write_safetensors(path, tensors):
    names = {v: k for k, v in DTYPES.items()}
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, t in tensors.items():
        bits = raw(t)
        header[name] = {"dtype": names[t.dtype], "shape": list(t.shape),
                        "data_offsets": [len(data), len(data) + len(bits)]}
        data += bits
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as f:
        all_bytes = f.read()
    n = struct.unpack("<Q", all_bytes[:8])[0]
    out = {}
    for name, row in json.loads(all_bytes[8:8 + n]).items():
        if name == "__metadata__":
            continue
        a, b = row["data_offsets"]
        bits = torch.frombuffer(bytearray(all_bytes[8 + n + a:8 + n + b]),
                                dtype=DTYPES[row["dtype"]])
        out[name] = bits.view(row["shape"])
    return out


def read_folder(folder):
    with open(os.path.join(folder, "config.json")) as f:
        config = json.load(f)
    index = os.path.join(folder, "model.safetensors.index.json")
    files = ["model.safetensors"]
    if os.path.exists(index):
        with open(index) as f:
            files = sorted(set(json.load(f)["weight_map"].values()))
    tensors = {}
    for name in files:
        tensors.update(read_safetensors(os.path.join(folder, name)))
    return config, tensors


# ---- The forward passes --------------------------------------------------------------------


def causal(q, k, v):
    """q, k, v: [heads, T, D]."""
    T = q.shape[1]
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[2])
    mask = torch.ones(T, T, dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(mask, -math.inf), -1) @ v


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


def rotary(x, base, dims, factor=1.0):
    """The first `dims` dimensions of x [heads, T, D] in Hugging Face's way."""
    inverse = 1.0 / base ** (torch.arange(0, dims, 2, dtype=torch.float64) / dims) / factor
    angles = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * inverse[None]
    angles = torch.cat((angles, angles), -1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    turned, rest = x[..., :dims], x[..., dims:]
    return torch.cat((turned * cos + rotate_half(turned) * sin, rest), -1)


def gelu(name, x):
    if name == "gelu":
        return F.gelu(x)
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def rms(x, w, eps):
    return w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))


def linear(w, name, x):
    return F.linear(x, w[name + ".weight"], w.get(name + ".bias"))


def norm(w, name, x, eps):
    return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], eps)


def heads_of(x, heads):
    return x.view(x.shape[0], heads, -1).transpose(0, 1)


def merged(x):
    return x.transpose(0, 1).reshape(x.shape[1], -1)


def forward_neox(c, w, tokens):
    H, D = c["num_attention_heads"], c["hidden_size"] // c["num_attention_heads"]
    dims, base, eps = int(D * c["rotary_pct"]), c["rotary_emb_base"], c["layer_norm_eps"]
    x = w["gpt_neox.embed_in.weight"][tokens]
    for n in range(c["num_hidden_layers"]):
        p = f"gpt_neox.layers.{n}."
        qkv = linear(w, p + "attention.query_key_value", norm(w, p + "input_layernorm", x, eps))
        q, k, v = heads_of(qkv, H).chunk(3, -1)  # [H, T, 3D]
        a = linear(w, p + "attention.dense",
                   merged(causal(rotary(q, base, dims), rotary(k, base, dims), v)))
        y = x if c["use_parallel_residual"] else x + a
        m = linear(w, p + "mlp.dense_h_to_4h", norm(w, p + "post_attention_layernorm", y, eps))
        m = linear(w, p + "mlp.dense_4h_to_h", gelu(c["hidden_act"], m))
        x = x + a + m
    x = norm(w, "gpt_neox.final_layer_norm", x, eps)
    tied = c.get("tie_word_embeddings", False)
    return x @ w["gpt_neox.embed_in.weight" if tied else "embed_out.weight"].T


def forward_llama(c, w, tokens):
    H = c["num_attention_heads"]
    KV = c.get("num_key_value_heads", H)
    D, base = c["hidden_size"] // H, c["rope_theta"]
    factor = (c.get("rope_scaling") or {}).get("factor", 1.0)

    def normed(name, x):
        if "rms_norm_eps" in c:
            return rms(x, w[name + ".weight"], c["rms_norm_eps"])
        return F.layer_norm(x, x.shape[-1:], None, None, 1e-5)  # OLMo

    x = w["model.embed_tokens.weight"][tokens]
    for n in range(c["num_hidden_layers"]):
        p = f"model.layers.{n}."
        h = normed(p + "input_layernorm", x)
        q = rotary(heads_of(linear(w, p + "self_attn.q_proj", h), H), base, D, factor)
        k = rotary(heads_of(linear(w, p + "self_attn.k_proj", h), KV), base, D, factor)
        v = heads_of(linear(w, p + "self_attn.v_proj", h), KV)
        k, v = k.repeat_interleave(H // KV, 0), v.repeat_interleave(H // KV, 0)
        x = x + linear(w, p + "self_attn.o_proj", merged(causal(q, k, v)))
        h = normed(p + "post_attention_layernorm", x)
        gate, up = linear(w, p + "mlp.gate_proj", h), linear(w, p + "mlp.up_proj", h)
        x = x + linear(w, p + "mlp.down_proj", F.silu(gate) * up)
    x = normed("model.norm", x)
    tied = c.get("tie_word_embeddings", False)
    return x @ w["model.embed_tokens.weight" if tied else "lm_head.weight"].T


def forward_gpt2(c, w, tokens):
    start = "transformer." if "transformer.wte.weight" in w else ""
    H, eps = c["n_head"], c["layer_norm_epsilon"]
    act = c.get("activation_function", "gelu_new")

    def conv1d(name, x):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    x = w[start + "wte.weight"][tokens] + w[start + "wpe.weight"][:len(tokens)]
    for n in range(c["n_layer"]):
        p = f"{start}h.{n}."
        q, k, v = conv1d(p + "attn.c_attn", norm(w, p + "ln_1", x, eps)).split(c["n_embd"], 1)
        a = merged(causal(heads_of(q, H), heads_of(k, H), heads_of(v, H)))
        x = x + conv1d(p + "attn.c_proj", a)
        m = gelu(act, conv1d(p + "mlp.c_fc", norm(w, p + "ln_2", x, eps)))
        x = x + conv1d(p + "mlp.c_proj", m)
    x = norm(w, start + "ln_f", x, eps)
    tied = c.get("tie_word_embeddings", True)
    return x @ w[start + "wte.weight" if tied else "lm_head.weight"].T


def forward(c, w, tokens):
    kind = c["architectures"][0]
    return {"GPTNeoXForCausalLM": forward_neox, "OlmoForCausalLM": forward_llama,
            "LlamaForCausalLM": forward_llama, "GPT2LMHeadModel": forward_gpt2}[kind](c, w, tokens)


# ---- llama2.c --------------------------------------------------------------------------------


def llama2c_shapes(h):
    dim, hidden, layers, heads, kv, vocab, length = h
    D = dim // heads
    yield "embed", (abs(vocab), dim)
    yield "rms_att", (layers, dim)
    yield "wq", (layers, dim, dim)
    yield "wk", (layers, kv * D, dim)
    yield "wv", (layers, kv * D, dim)
    yield "wo", (layers, dim, dim)
    yield "rms_ffn", (layers, dim)
    yield "w1", (layers, hidden, dim)
    yield "w2", (layers, dim, hidden)
    yield "w3", (layers, hidden, dim)
    yield "rms_final", (dim,)
    yield "angles", (2, length, D // 2)
    if vocab < 0:
        yield "wcls", (-vocab, dim)


def read_llama2c(path):
    with open(path, "rb") as f:
        data = f.read()
    h, at, w = struct.unpack("<7i", data[:28]), 28, {}
    for name, shape in llama2c_shapes(h):
        n = math.prod(shape)
        w[name] = torch.frombuffer(bytearray(data[at:at + 4 * n]), dtype=torch.float32).view(shape)
        at += 4 * n
    assert at == len(data), (at, len(data))
    return h, w


def adjacent(x):
    """Pairs (2i, 2i + 1) of x [heads, T, D] as complex numbers, turned."""
    D = x.shape[2]
    inverse = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angles = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * inverse[None]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(2)


def forward_llama2c(h, w, tokens):
    dim, hidden, layers, heads, kv, vocab, length = h
    x = w["embed"][tokens]
    for n in range(layers):
        a = rms(x, w["rms_att"][n], 1e-5)
        q = adjacent(heads_of(a @ w["wq"][n].T, heads))
        k = adjacent(heads_of(a @ w["wk"][n].T, kv)).repeat_interleave(heads // kv, 0)
        v = heads_of(a @ w["wv"][n].T, kv).repeat_interleave(heads // kv, 0)
        x = x + merged(causal(q, k, v)) @ w["wo"][n].T
        a = rms(x, w["rms_ffn"][n], 1e-5)
        x = x + (F.silu(a @ w["w1"][n].T) * (a @ w["w3"][n].T)) @ w["w2"][n].T
    return rms(x, w["rms_final"], 1e-5) @ w["wcls" if vocab < 0 else "embed"].T


# ---- Both, and the files of expected logits ----------------------------------------------------


def logits_of(model, tokens, dtype=torch.float64):
    """Of a folder or a llama2.c file."""
    if os.path.isdir(model):
        config, w = read_folder(model)
        run = forward
    else:
        config, w = read_llama2c(model)
        run = forward_llama2c
    w = {name: t.to(dtype) for name, t in w.items() if t.is_floating_point()}
    return run(config, w, torch.tensor(tokens))


def write_expected(path, tokens, logits):
    with open(path, "wb") as f:
        f.write(struct.pack("<2i", *logits.shape) + struct.pack(f"<{len(tokens)}i", *tokens))
        f.write(raw(logits.to(torch.float32)))


def read_expected(path):
    with open(path, "rb") as f:
        data = f.read()
    n, V = struct.unpack("<2i", data[:8])
    tokens = list(struct.unpack(f"<{n}i", data[8:8 + 4 * n]))
    logits = torch.frombuffer(bytearray(data[8 + 4 * n:]), dtype=torch.float32)
    return tokens, logits.view(n, V)


# ---- The cases ---------------------------------------------------------------------------------

V, C, L, H, FF = 40, 24, 2, 4, 28


def draw(seed, shapes):
    """Norm weights near 1, biases small, matrices large enough for attention to choose."""
    g = torch.Generator().manual_seed(seed)
    out = {}
    for name, shape in shapes.items():
        x = torch.randn(shape, generator=g)
        is_norm = len(shape) == 1 and name.endswith("weight") or name.startswith("rms")
        out[name] = 1 + 0.3 * x if is_norm else 0.3 * x
    return out


def neox_shapes(c):
    s = {"gpt_neox.embed_in.weight": (V, C)}
    for n in range(L):
        p = f"gpt_neox.layers.{n}."
        for name in ("input_layernorm", "post_attention_layernorm"):
            s[p + name + ".weight"] = s[p + name + ".bias"] = (C,)
        s[p + "attention.query_key_value.weight"] = (3 * C, C)
        s[p + "attention.dense.weight"] = (C, C)
        if c.get("attention_bias", True):
            s[p + "attention.query_key_value.bias"] = (3 * C,)
            s[p + "attention.dense.bias"] = (C,)
        s[p + "mlp.dense_h_to_4h.weight"] = (FF, C)
        s[p + "mlp.dense_h_to_4h.bias"] = (FF,)
        s[p + "mlp.dense_4h_to_h.weight"] = (C, FF)
        s[p + "mlp.dense_4h_to_h.bias"] = (C,)
    s["gpt_neox.final_layer_norm.weight"] = s["gpt_neox.final_layer_norm.bias"] = (C,)
    if not c["tie_word_embeddings"]:
        s["embed_out.weight"] = (V, C)
    return s


def llama_shapes(c):
    s = {"model.embed_tokens.weight": (V, C)}
    K = C // H * c.get("num_key_value_heads", H)
    for n in range(L):
        p = f"model.layers.{n}."
        for name, shape in (("self_attn.q_proj", (C, C)), ("self_attn.k_proj", (K, C)),
                            ("self_attn.v_proj", (K, C)), ("self_attn.o_proj", (C, C)),
                            ("mlp.gate_proj", (FF, C)), ("mlp.up_proj", (FF, C)),
                            ("mlp.down_proj", (C, FF))):
            s[p + name + ".weight"] = shape
            if c.get("attention_bias" if "attn" in name else "mlp_bias"):
                s[p + name + ".bias"] = shape[:1]
        if "rms_norm_eps" in c:
            s[p + "input_layernorm.weight"] = s[p + "post_attention_layernorm.weight"] = (C,)
    if "rms_norm_eps" in c:
        s["model.norm.weight"] = (C,)
    if not c["tie_word_embeddings"]:
        s["lm_head.weight"] = (V, C)
    return s


def gpt2_shapes(c, start):
    F4 = c["n_inner"] or 4 * C
    s = {start + "wte.weight": (V, C), start + "wpe.weight": (c["n_positions"], C)}
    for n in range(L):
        p = f"{start}h.{n}."
        for name, shape in (("attn.c_attn", (C, 3 * C)), ("attn.c_proj", (C, C)),
                            ("mlp.c_fc", (C, F4)), ("mlp.c_proj", (F4, C))):
            s[p + name + ".weight"], s[p + name + ".bias"] = shape, shape[1:]
        for name in ("ln_1", "ln_2"):
            s[p + name + ".weight"] = s[p + name + ".bias"] = (C,)
    s[start + "ln_f.weight"] = s[start + "ln_f.bias"] = (C,)
    return s


COMMON = {"vocab_size": V, "hidden_size": C, "num_hidden_layers": L, "num_attention_heads": H,
          "intermediate_size": FF, "max_position_embeddings": 64}
NEOX = dict(COMMON, architectures=["GPTNeoXForCausalLM"], model_type="gpt_neox",
            hidden_act="gelu", rotary_pct=0.7, rotary_emb_base=10000, layer_norm_eps=1e-5,
            use_parallel_residual=True, tie_word_embeddings=False, torch_dtype="float16")
LLAMA = dict(COMMON, architectures=["LlamaForCausalLM"], model_type="llama", hidden_act="silu",
             rms_norm_eps=1e-6, rope_theta=10000.0, rope_scaling=None, num_key_value_heads=2,
             attention_bias=False, tie_word_embeddings=False, pretraining_tp=1)
OLMO = dict(COMMON, architectures=["OlmoForCausalLM"], model_type="olmo", hidden_act="silu",
            rope_theta=10000.0, clip_qkv=None, attention_bias=False, tie_word_embeddings=True)
GPT2 = dict(architectures=["GPT2LMHeadModel"], model_type="gpt2", vocab_size=V, n_embd=C,
            n_layer=L, n_head=H, n_positions=32, n_ctx=32, n_inner=None,
            activation_function="gelu_new", layer_norm_epsilon=1e-5)


def cases():
    yield "neox", NEOX, draw(1, neox_shapes(NEOX)), "F32", 1
    c = dict(NEOX, hidden_act="gelu_new", rotary_pct=1.0, rotary_emb_base=500,
             use_parallel_residual=False, tie_word_embeddings=True, attention_bias=False)
    w = draw(2, neox_shapes(c))
    for n in range(L):
        p = f"gpt_neox.layers.{n}.attention."
        w[p + "bias"] = torch.ones(1, 1, 4, 4, dtype=torch.uint8).tril()
        w[p + "masked_bias"] = torch.tensor([-1e4])
        w[p + "rotary_emb.inv_freq"] = torch.ones(2)
    yield "neox_serial_f16", c, w, "F16", 1
    yield "olmo_bf16", OLMO, draw(3, llama_shapes(OLMO)), "BF16", 1
    yield "llama_shards", LLAMA, draw(4, llama_shapes(LLAMA)), "F32", 3
    c = dict(LLAMA, attention_bias=True, mlp_bias=True, tie_word_embeddings=True,
             rope_scaling={"type": "linear", "factor": 4.0}, num_key_value_heads=1)
    yield "llama_biases_bf16", c, draw(5, llama_shapes(c)), "BF16", 2
    yield "gpt2", GPT2, draw(6, gpt2_shapes(GPT2, "transformer.")), "F32", 1
    c = dict(GPT2, n_inner=FF, activation_function="gelu_pytorch_tanh")
    w = draw(7, gpt2_shapes(c, ""))
    for n in range(L):
        w[f"h.{n}.attn.bias"] = torch.ones(1, 1, 4, 4, dtype=torch.uint8).tril()
    yield "gpt2_bare_f16", c, w, "F16", 1


def write_folder(folder, config, w, shards):
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f, indent=1)
        f.write("\n")
    if shards == 1:
        write_safetensors(os.path.join(folder, "model.safetensors"), w)
        return
    names, where = list(w), {}
    for i in range(shards):
        file = f"model-{i + 1:05d}-of-{shards:05d}.safetensors"
        part = names[i::shards]
        write_safetensors(os.path.join(folder, file), {k: w[k] for k in part})
        where.update({k: file for k in part})
    total = sum(t.numel() * t.element_size() for t in w.values())
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
        json.dump({"metadata": {"total_size": total}, "weight_map": where}, f, indent=1)
        f.write("\n")


def finish(name, model, expected, seed):
    g = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, V, (24,), generator=g).tolist()
    exact, single = logits_of(model, tokens), logits_of(model, tokens, torch.float32)
    write_expected(expected, tokens, exact)
    worst = (exact - single.double()).abs().max().item()
    print(f"{name:20s} logits up to {exact.abs().max().item():6.2f}, float32 off by {worst:.1e}")


def main():
    out = os.path.join(HERE, "imports")
    shutil.rmtree(out, ignore_errors=True)
    for i, (name, config, w, dtype, shards) in enumerate(cases()):
        folder = os.path.join(out, name)
        w = {k: t.to(DTYPES[dtype]) if t.is_floating_point() else t for k, t in w.items()}
        write_folder(folder, config, w, shards)
        finish(name, folder, os.path.join(folder, "expected.bin"), 100 + i)
    for i, (name, vocab, kv) in enumerate((("llama2c_tied", V, 2), ("llama2c_untied", -V, 4))):
        header = (C, FF, L, H, kv, vocab, 32)
        w = draw(50 + i, dict(llama2c_shapes(header)))
        path = os.path.join(out, name + ".bin")
        with open(path, "wb") as f:
            f.write(struct.pack("<7i", *header) + b"".join(raw(t) for t in w.values()))
        finish(name, path, os.path.join(out, name + ".expected.bin"), 200 + i)
    return 0


if __name__ == "__main__":
    sys.exit(main())
