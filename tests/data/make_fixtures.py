#!/usr/bin/python3
"""Makes tests/data/fixtures/*.bin: whole models in PyTorch float64, as a reference.

    /usr/bin/python3 tests/data/make_fixtures.py

Made with torch 1.13.0a0 (python3-torch of Debian 12). PyTorch is needed to make the
fixtures, not to run the tests: tests/engine/test_fixtures.c reads the committed files.
Needs neither the network nor lengthen itself; the model below is written from its
definition (docs/MATH.md). Everything is drawn from random.Random(case name, attempt).

For each case the script also
  - checks the gradients by central differences along a random direction,
  - runs the same model in float32 and prints the worst max|d|/max|ref| of any tensor: the
    tests allow 1e-4, and a case that single precision can barely meet would test nothing.

A file is lines of text, arrays in between as raw little-endian bytes:

    lengthen-fixture 1
    KEY VALUE                  config fields as in lg_model_config, id_weight, loss, id_loss,
                               right, id_right, grad_norm. A field that has no part in the
                               case (the window of a full span) is left out.
    i32|f32|f64 NAME ROWS COLS then ROWS*COLS numbers and a newline:
                               offsets tokens ids targets id_targets (i32, one row),
                               param:NAME (f32), grad:NAME (f64) of loss + id_weight*id_loss,
                               logits, id_logits (f64) of every row of the batch
    end
"""
import math
import os
import random
import struct
import sys

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
NONE = -1

# ---- The cases ---------------------------------------------------------------------

NEOX = dict(arch="neox", norm="layer", norm_eps=1e-5, act="gelu", biases=1, parallel=1,
            tied=0, encoding="rope", rope_share=1.0, rope_base=10000.0, span="full",
            scores="softmax", id_classes=0)
OLMO = dict(NEOX, arch="olmo", norm="plain", act="swiglu", biases=0, parallel=0)
MIXED = (1, 2, 5, 17, 40)


def case(name, base, lengths, ids, loss, vocab, layers, width, heads, ff, **changes):
    shape = dict(vocab=vocab, layers=layers, width=width, heads=heads, ff=ff)
    return name, dict(base, **shape, **changes), lengths, ids, loss


CASES = [
    # name, arch, lengths, ids, loss on, vocab, layers, width, heads, ff, then what differs
    case("neox_default", NEOX, MIXED, "plain", "all", 11, 2, 24, 3, 28),
    case("neox_window_tied", NEOX, MIXED, "coupled", "last", 7, 1, 24, 2, 0, tied=1,
         span="window", window_lo=-1, window_hi=1, rope_share=0.25),
    case("neox_long_far_ids", NEOX, (150, 7), "far", "scattered", 9, 2, 16, 2, 24,
         rope_share=0.5),
    case("neox_relative_window_ids", NEOX, MIXED, "repeated", "scattered", 8, 2, 20, 2, 28,
         encoding="relative", span="window", window_lo=-3, window_hi=2, id_classes=6,
         id_weight=0.5),
    case("neox_relative_full_tied", NEOX, (40, 17, 3), "shuffled", "all", 10, 2, 14, 2, 20,
         tied=1, encoding="relative", window_lo=-4, window_hi=1),
    case("neox_none_window_tanh", NEOX, MIXED, "coupled", "all", 8, 2, 20, 4, 24,
         encoding="none", span="window", window_lo=0, window_hi=1, act="gelu_tanh"),
    case("neox_share0_ssmax", NEOX, (40, 5, 2), "shuffled", "scattered", 8, 2, 16, 2, 24,
         rope_share=0.0, scores="ssmax"),
    case("neox_ssmax_relative_window", NEOX, (150, 1, 12), "coupled", "all", 6, 2, 12, 2, 16,
         encoding="relative", span="window", window_lo=-2, window_hi=2, scores="ssmax"),
    case("neox_entmax_long", NEOX, (150, 17), "repeated", "scattered", 8, 2, 16, 2, 20,
         rope_base=500.0, scores="entmax15"),
    case("neox_entmax_relative_window", NEOX, MIXED, "repeated", "all", 8, 1, 36, 1, 24,
         encoding="relative", span="window", window_lo=-2, window_hi=4, scores="entmax15",
         act="gelu_tanh", id_classes=3, id_weight=2.0),
    case("neox_rms_sequential", NEOX, (40, 5, 9), "repeated", "last", 8, 3, 16, 4, 20,
         norm="rms", biases=0, parallel=0, rope_share=0.5),
    case("olmo_default", OLMO, MIXED, "plain", "all", 11, 2, 24, 3, 20),
    case("olmo_window_tied_ids", OLMO, MIXED, "coupled", "last", 7, 3, 16, 2, 20, tied=1,
         span="window", window_lo=0, window_hi=1, id_classes=5, id_weight=1.0),
    case("olmo_rms_relative_full", OLMO, (40, 17, 1, 2), "repeated", "scattered", 9, 2, 18, 3,
         24, norm="rms", norm_eps=1e-6, encoding="relative", window_lo=-5, window_hi=3,
         id_classes=4, id_weight=0.3),
    case("olmo_layer_window_far_ids", OLMO, (150, 40), "far_window", "all", 8, 2, 16, 2, 20,
         norm="layer", rope_share=0.5, span="window", window_lo=-2, window_hi=3),
    case("olmo_relative_window", OLMO, (2, 17, 40), "repeated", "scattered", 8, 2, 14, 2, 20,
         encoding="relative", span="window", window_lo=-1, window_hi=3, tied=1),
    case("olmo_ssmax_full", OLMO, (40, 150), "coupled", "last", 8, 2, 16, 2, 20,
         scores="ssmax"),
    case("olmo_ssmax_window", OLMO, MIXED, "repeated", "all", 8, 2, 20, 2, 20, rope_share=0.25,
         scores="ssmax", span="window", window_lo=-4, window_hi=0),
    case("olmo_entmax_window", OLMO, MIXED, "coupled", "all", 8, 2, 16, 2, 20, tied=1,
         scores="entmax15", span="window", window_lo=-3, window_hi=3),
    case("olmo_entmax_none_biases", OLMO, (40, 17, 5), "shuffled", "scattered", 8, 2, 14, 1, 16,
         encoding="none", scores="entmax15", norm="rms", biases=1, parallel=1),
]

# ---- What is drawn -----------------------------------------------------------------


def draw_ids(kind, n, r):
    """Position IDs of one sequence."""
    if kind == "plain":
        return list(range(n))
    if kind == "coupled":  # a question, a separator, an answer with the question's IDs
        m, start = (n - 1) // 2, r.randrange(20)
        return [start + 1 + i for i in range(m)] + [start] + \
               [start + 1 + i for i in range(n - m - 1)]
    if kind == "repeated":
        return [r.randrange(max(3, n // 3)) for _ in range(n)]
    if kind == "shuffled":
        return r.sample(range(2 * n), n)
    if kind == "far":  # angles must be made in double: an ID uses all bits of a float
        return [r.randrange(2_000_000) for _ in range(n)]
    if kind == "far_window":
        return [1_234_567 + r.randrange(max(3, n // 4)) for _ in range(n)]
    raise ValueError(kind)


def draw_batch(c, lengths, ids, loss, r):
    b = dict(offsets=[0], tokens=[], ids=[], targets=[], id_targets=[])
    for s, n in enumerate(lengths):
        b["offsets"].append(b["offsets"][-1] + n)
        b["tokens"] += [r.randrange(c["vocab"]) for _ in range(n)]
        b["ids"] += draw_ids(ids, n, r)
        # scattered: the second sequence has no token loss at all
        on = {"all": [True] * n, "last": [t == n - 1 for t in range(n)],
              "scattered": [s != 1 and r.random() < 0.3 for t in range(n)]}[loss]
        b["targets"] += [r.randrange(c["vocab"]) if o else NONE for o in on]
        b["id_targets"] += [r.randrange(c["id_classes"]) if c["id_classes"] and
                            r.random() < 0.4 else NONE for _ in range(n)]
    return b


def param_shapes(c):
    """name -> shape, in the order of the model's table."""
    V, C, H, I = c["vocab"], c["width"], c["heads"], c["id_classes"]
    ff = c["ff"] or 4 * C
    shapes = {"embed.weight": (V, C)}

    def norm(name):
        if c["norm"] != "plain":
            shapes[name + ".weight"] = (1, C)
        if c["norm"] == "layer":
            shapes[name + ".bias"] = (1, C)

    def linear(name, rows, cols):
        shapes[name + ".weight"] = (rows, cols)
        if c["biases"]:
            shapes[name + ".bias"] = (1, rows)

    for n in range(c["layers"]):
        p = "layers.%d." % n
        norm(p + "norm1")
        linear(p + "attn.qkv", 3 * C, C)
        linear(p + "attn.out", C, C)
        if c["scores"] == "ssmax":
            shapes[p + "attn.scale"] = (1, H)
        if c["encoding"] == "relative":
            shapes[p + "position.bias"] = (H, c["window_hi"] - c["window_lo"] + 1)
        norm(p + "norm2")
        linear(p + "ff.up", 2 * ff if c["act"] == "swiglu" else ff, C)
        linear(p + "ff.down", C, ff)
    norm("final_norm")
    if not c["tied"]:
        shapes["head.weight"] = (V, C)
    if I:
        shapes["id_head.weight"] = (I, C)
    return shapes


def draw_params(c, r):
    """Values that a float32 holds exactly; large enough that attention is far from uniform."""
    params = {}
    for name, (rows, cols) in param_shapes(c).items():
        mean, std = 0.0, 0.6 / math.sqrt(cols)
        if "norm" in name and name.endswith(".weight"):
            mean, std = 1.0, 0.2
        elif name.endswith("attn.scale"):
            mean, std = 0.8, 0.2
        elif name.endswith("position.bias"):
            std = 1.0
        elif name.endswith(".bias"):
            std = 0.2
        elif name == "embed.weight":
            std = 1.0 if not c["tied"] else 0.5
        elif name in ("head.weight", "id_head.weight"):
            std = 1.0 / math.sqrt(cols)
        rows_qk = 2 * c["width"] if name.endswith("qkv.weight") else 0
        data = [[r.gauss(mean, 1.3 / math.sqrt(cols) if i < rows_qk else std)
                 for _ in range(cols)] for i in range(rows)]
        params[name] = torch.tensor(data, dtype=torch.float32)
    return params


# ---- The model ----------------------------------------------------------------------


def norm(c, p, name, x):
    C, eps = c["width"], c["norm_eps"]
    if c["norm"] == "rms":
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * p[name + ".weight"][0]
    if c["norm"] == "plain":
        return F.layer_norm(x, (C,), eps=eps)
    return F.layer_norm(x, (C,), p[name + ".weight"][0], p[name + ".bias"][0], eps)


def linear(c, p, name, x):
    return F.linear(x, p[name + ".weight"], p[name + ".bias"][0] if c["biases"] else None)


def rotate(c, x, ids):
    """x[H,T,D], ids[T]: pairs (i, i + R/2) of the first R dims, by ID * base^(-2i/R)."""
    D = x.shape[-1]
    R = 2 * int(c["rope_share"] * D / 2)
    if R == 0:
        return x
    i = torch.arange(R // 2, dtype=torch.float64)
    angle = ids.double()[:, None] * c["rope_base"] ** (-2.0 * i / R)
    cos, sin = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
    a, b, rest = x[..., :R // 2], x[..., R // 2:R], x[..., R:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


def entmax15(z, seen):
    """p = max(z/2 - tau, 0)^2 with sum 1 over the seen keys. The support is found by sorting
    (no gradient); on it tau = mean - sqrt((1 - n var) / n) is differentiated."""
    z = z / 2
    with torch.no_grad():
        s = torch.sort(z.masked_fill(~seen, -math.inf), -1, descending=True)[0]
        n = torch.arange(1, s.shape[-1] + 1, dtype=z.dtype)
        finite = torch.isfinite(s)
        s0 = s.masked_fill(~finite, 0.0)
        mean, square = s0.cumsum(-1) / n, (s0 * s0).cumsum(-1) / n
        tau = mean - torch.sqrt(torch.clamp((1 - n * (square - mean ** 2)) / n, min=0))
        size = ((tau <= s) & finite).sum(-1, keepdim=True)
        least = torch.gather(s, -1, size - 1)
        support = seen & (z >= least)
    n = support.sum(-1, keepdim=True).to(z.dtype)
    mean = z.masked_fill(~support, 0.0).sum(-1, keepdim=True) / n
    off = (z - mean).masked_fill(~support, 0.0)
    up = torch.sqrt((1 - (off ** 2).sum(-1, keepdim=True)) / n)  # mean - tau
    return ((off + up) ** 2).masked_fill(~support, 0.0)


STATS = {}


def attention(c, p, layer, q, k, v, ids):
    """One sequence: q, k, v [H,T,D] -> [H,T,D]."""
    H, T, D = q.shape
    if c["encoding"] == "rope":
        q, k = rotate(c, q, ids), rotate(c, k, ids)
    z = q @ k.transpose(1, 2) / math.sqrt(D)
    delta = ids[None, :] - ids[:, None]  # [query, key]
    seen = torch.ones(T, T).tril().bool()
    if c["span"] == "window":
        seen &= (delta >= c["window_lo"]) & (delta <= c["window_hi"])
    if c["encoding"] == "relative":
        lo, hi = c["window_lo"], c["window_hi"]
        z = z + p[layer + "position.bias"][:, delta.clamp(lo, hi) - lo]
    n = seen.sum(-1)
    if c["scores"] == "ssmax":
        z = z * p[layer + "attn.scale"][0][:, None, None] * torch.log(n.to(z.dtype))[:, None]
    if c["scores"] == "entmax15":
        a = entmax15(z, seen)
    else:
        a = torch.softmax(z.masked_fill(~seen, -math.inf), -1)
    assert float((a.sum(-1) - 1).abs().max()) < 1e-5
    with torch.no_grad():  # for the line that is printed
        far = n > 1
        if far.any():
            STATS.setdefault("top", []).append(float(a[:, far].max(-1)[0].mean()))
            STATS.setdefault("keys", []).append(float(n[far].double().mean()))
            STATS.setdefault("support", []).append(
                float(((a[:, far] > 0).sum(-1) / n[far]).double().mean()))
    return a @ v


def feed_forward(c, p, layer, x):
    u = linear(c, p, layer + "ff.up", x)
    if c["act"] == "swiglu":
        gate, up = u.chunk(2, -1)
        h = F.silu(gate) * up
    else:
        h = F.gelu(u, approximate="tanh" if c["act"] == "gelu_tanh" else "none")
    return linear(c, p, layer + "ff.down", h)


def forward(c, p, b):
    """-> logits [rows,V], id_logits [rows,I] or None."""
    H, D = c["heads"], c["width"] // c["heads"]
    ids = torch.tensor(b["ids"])
    x = p["embed.weight"][torch.tensor(b["tokens"])]
    for layer in ("layers.%d." % n for n in range(c["layers"])):
        qkv = linear(c, p, layer + "attn.qkv", norm(c, p, layer + "norm1", x))
        parts = []
        for lo, hi in zip(b["offsets"], b["offsets"][1:]):
            q, k, v = (y.reshape(hi - lo, H, D).transpose(0, 1)
                       for y in qkv[lo:hi].chunk(3, -1))
            a = attention(c, p, layer, q, k, v, ids[lo:hi])
            parts.append(a.transpose(0, 1).reshape(hi - lo, H * D))
        o = linear(c, p, layer + "attn.out", torch.cat(parts))
        if c["parallel"]:
            x = x + o + feed_forward(c, p, layer, norm(c, p, layer + "norm2", x))
        else:
            x = x + o
            x = x + feed_forward(c, p, layer, norm(c, p, layer + "norm2", x))
    h = norm(c, p, "final_norm", x)
    logits = h @ p["embed.weight" if c["tied"] else "head.weight"].T
    return logits, h @ p["id_head.weight"].T if c["id_classes"] else None


def losses(c, p, b):
    logits, id_logits = forward(c, p, b)
    loss = F.cross_entropy(logits, torch.tensor(b["targets"]), ignore_index=NONE)
    id_loss = torch.zeros((), dtype=logits.dtype)
    if c["id_classes"]:
        id_loss = F.cross_entropy(id_logits, torch.tensor(b["id_targets"]), ignore_index=NONE)
    return logits, id_logits, loss, id_loss


def solve(c, params, b, dtype):
    """Everything that a test compares, by tensor name."""
    p = {k: v.to(dtype).requires_grad_() for k, v in params.items()}
    logits, id_logits, loss, id_loss = losses(c, p, b)
    (loss + c.get("id_weight", 0.0) * id_loss).backward()
    out = {"loss": loss.detach().reshape(1, 1), "logits": logits.detach()}
    if c["id_classes"]:
        out["id_loss"] = id_loss.detach().reshape(1, 1)
        out["id_logits"] = id_logits.detach()
    for k, v in p.items():
        out["grad:" + k] = v.grad
    return out


# ---- Checks of the reference itself -----------------------------------------------------


def check_directions(name, c, params, b, ref, r):
    """Central differences along one random direction in each tensor."""
    p = {k: v.double() for k, v in params.items()}

    def total(q):
        with torch.no_grad():
            _, _, loss, id_loss = losses(c, q, b)
            return float(loss + c.get("id_weight", 0.0) * id_loss)

    for k, v in p.items():
        d = torch.tensor([[r.gauss(0, 1) for _ in range(v.shape[1])]
                          for _ in range(v.shape[0])], dtype=torch.float64)
        d /= d.norm()
        e = 1e-5
        slope = (total(dict(p, **{k: v + e * d})) - total(dict(p, **{k: v - e * d}))) / (2 * e)
        exact = float((ref["grad:" + k] * d).sum())
        size = float(ref["grad:" + k].norm())
        if abs(slope - exact) > 1e-6 * max(size, 1e-2):
            sys.exit("%s: %s: difference %.10g, gradient %.10g" % (name, k, slope, exact))


def count_right(logits, targets):
    """Argmaxes that hit; None if two best logits are so close that a float could see another
    argmax."""
    right = 0
    for row, t in zip(logits, targets):
        if t != NONE:
            top = torch.sort(row, descending=True)[0]
            if float(top[0] - top[1]) < 1e-3:
                return None
            right += int(row.argmax()) == t
    return right


# ---- The file -------------------------------------------------------------------------


class Writer:
    def __init__(self, path):
        self.f = open(path, "wb")
        self.f.write(b"lengthen-fixture 1\n")

    def value(self, key, x):
        text = repr(x) if isinstance(x, float) else str(x)
        self.f.write(("%s %s\n" % (key, text)).encode())

    def array(self, kind, name, rows):
        self.f.write(("%s %s %d %d\n" % (kind, name, len(rows), len(rows[0]))).encode())
        code = {"i32": "i", "f32": "f", "f64": "d"}[kind]
        for row in rows:
            self.f.write(struct.pack("<%d%s" % (len(row), code), *row))
        self.f.write(b"\n")

    def close(self):
        self.f.write(b"end\n")
        self.f.close()


def has_part(c, key):
    if key in ("window_lo", "window_hi"):
        return c["span"] == "window" or c["encoding"] == "relative"
    if key in ("rope_share", "rope_base"):
        return c["encoding"] == "rope"
    return True


def make(name, c, lengths, ids, loss):
    right = id_right = None
    for attempt in range(100):
        r = random.Random("%s %d" % (name, attempt))
        b = draw_batch(c, lengths, ids, loss, r)
        params = draw_params(c, r)
        STATS.clear()
        ref = solve(c, params, b, torch.float64)
        right = count_right(ref["logits"], b["targets"])
        id_right = count_right(ref["id_logits"], b["id_targets"]) if c["id_classes"] else 0
        if right is not None and id_right is not None:
            break
    else:
        sys.exit(name + ": no draw without logits that are almost tied")
    stats = {k: sum(v) / len(v) for k, v in STATS.items()}
    check_directions(name, c, params, b, ref, r)
    single = solve(c, params, b, torch.float32)
    worst, where = 0.0, ""
    for k, v in ref.items():
        top = float(v.abs().max())
        assert top > 1e-5, "%s: %s is nothing but zeros" % (name, k)
        e = float((single[k].double() - v).abs().max()) / top
        if e > worst:
            worst, where = e, k

    path = os.path.join(HERE, "fixtures", name + ".bin")
    w = Writer(path)
    for key, x in c.items():
        if has_part(c, key):
            w.value(key, x)
    w.value("loss", float(ref["loss"]))
    w.value("id_loss", float(ref["id_loss"]) if c["id_classes"] else 0.0)
    w.value("right", right)
    w.value("id_right", id_right)
    w.value("grad_norm", math.sqrt(sum(float((v ** 2).sum()) for k, v in ref.items()
                                       if k.startswith("grad:"))))
    for key in ("offsets", "tokens", "ids", "targets", "id_targets"):
        w.array("i32", key, [b[key]])
    for k, v in params.items():
        w.array("f32", "param:" + k, v.tolist())
    for k in ("logits", "id_logits"):
        if k in ref:
            w.array("f64", k, ref[k].tolist())
    for k in params:
        w.array("f64", "grad:" + k, ref["grad:" + k].tolist())
    w.close()
    size = os.path.getsize(path)
    print("%-28s %7d bytes  rows %3d  targets %3d  loss %.4f  of %5.1f keys the top has %.2f, "
          "%3.0f%% not 0  float32 %.1e %s" %
          (name, size, len(b["tokens"]), sum(t != NONE for t in b["targets"]),
           float(ref["loss"]), stats["keys"], stats["top"], 100 * stats["support"], worst, where))
    return size


def main():
    torch.set_num_threads(1)
    os.makedirs(os.path.join(HERE, "fixtures"), exist_ok=True)
    print("torch", torch.__version__)
    print("total", sum(make(*x) for x in CASES), "bytes,", len(CASES), "cases")


if __name__ == "__main__":
    main()
