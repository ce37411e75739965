#!/usr/bin/python3
"""The whole training step in PyTorch (CPU), as a careful user of torch 1.13 writes it: the peer
that `lengthen bench --against torch` measures. By default the `neox` model on random tokens; with
--data a model and a batch that lengthen wrote (lg__shape_save). fp32, or its bf16 autocast.

    /usr/bin/python3 bench/torch_step.py --width 256 --layers 4 --heads 8 --batch 64 --length 50
    /usr/bin/python3 bench/torch_step.py --width 128 --layers 4 --heads 4 --batch 64 \\
        --min-length 20 --max-length 50 --last-only --tuned

Forward, loss, backward, clipping of the global norm, AdamW with decoupled decay. LayerNorm,
exact GELU, biases, parallel residual, full rotary (halves), causal attention, untied head.
--data can also ask for the sequential and tied GPT-2 with learned positions, for windows over IDs
(as a mask), the `relative` encoding (a learned bias per ID difference), a sink, ID heads and
pointers; masks and indexes are made before the time is taken.
With --min-length and --max-length the batch holds every length between them equally often
(sequence i: min + i (max - min) / (batch - 1), rounded down) and is padded on the right: no
real query sees a padded key under the causal mask, so padding needs no mask of its own; it
only costs time. Tokens per second count real tokens.

--generate N times the generation of N tokens after the prompts of --data, with a key-value cache.

--tuned and --tuned-more set, where the environment does not already, what suits this CPU
(see tune()).
One JSON line on stdout; the best step counts.
"""
import argparse
import ctypes
import json
import math
import os
import time


def arguments():
    p = argparse.ArgumentParser(description="Time PyTorch's training step of the neox model.")
    p.add_argument("--vocab", type=int, default=8)
    p.add_argument("--width", type=int, default=256)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--heads", type=int, default=8)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--length", type=int, default=50)
    p.add_argument("--min-length", type=int)
    p.add_argument("--max-length", type=int)
    p.add_argument("--last-only", action="store_true", help="loss on the last real token alone")
    p.add_argument("--seconds", type=float, default=10, help="stop after these (warm-up apart)")
    p.add_argument("--steps", type=int, default=0, help="stop after these instead")
    p.add_argument("--threads", type=int, default=0, help="0: as PyTorch chooses")
    p.add_argument("--tuned", action="store_true", help="with the kernels of this CPU")
    p.add_argument("--tuned-more", action="store_true", help="and threads and memory set up")
    p.add_argument("--bf16", action="store_true", help="under torch.autocast(bfloat16)")
    p.add_argument("--data", help="JSON: the model and its batch; sizes above do not count then")
    p.add_argument("--generate", type=int, default=0, help="tokens to generate, not a step")
    a = p.parse_args()
    if a.generate and not a.data:
        p.error("--generate needs the prompts of --data")
    if (a.min_length is None) != (a.max_length is None):
        p.error("--min-length and --max-length go together")
    if a.width % a.heads or a.width // a.heads % 2:
        p.error("--width must be a multiple of 2 * --heads")
    return a


def tune(more):
    """The kernels of this CPU: OpenBLAS knows by itself no CPU newer than it is. With `more`
    also what takes an expert to find: workers that sleep when idle (two thread pools,
    OpenBLAS's and OpenMP's, spin against each other on the same cores otherwise), and memory
    that is kept from step to step instead of being mapped anew at every operation."""
    try:
        with open("/proc/cpuinfo") as f:
            cpu = f.read()
    except OSError:
        cpu = ""
    wide = " avx512f" in cpu
    core = "SKYLAKEX" if wide else "ZEN" if "AuthenticAMD" in cpu else "HASWELL"
    if wide or " avx2" in cpu:
        os.environ.setdefault("OPENBLAS_CORETYPE", core)
        os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512" if wide else "avx2")
    if not more:
        return
    os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    try:
        libc = ctypes.CDLL(None)
        libc.mallopt(-4, 0)  # M_MMAP_MAX: no block by mmap
        libc.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: the heap is not given back
    except (OSError, AttributeError):
        pass  # another C library


args = arguments()
if args.tuned or args.tuned_more:
    tune(args.tuned_more)  # before the libraries are loaded, which read the environment then

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

ABSENT = -1


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        C = c["width"]
        self.H, self.parallel, self.tanh = c["heads"], c["parallel"], c["tanh"]
        self.norm1, self.norm2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.qkv, self.out = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.up, self.down = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)
        self.bias = nn.ModuleList()  # `relative`: a table a level; the last row, of zeros, for none
        if c["encoding"] == "relative":
            for l in c["levels"]:
                n = l["hi"] - l["lo"] + 1
                self.bias.append(nn.Embedding(n + 1, self.H, padding_idx=n))
        self.sink = nn.Parameter(torch.zeros(self.H, 1, 1)) if c["sink"] else None

    def feed(self, x):
        return self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh" if self.tanh else "none"))

    def heads(self, x, turn):
        """q, k, v [B * H, T, D] of the normed stream."""
        B, T, C = x.shape
        H, D = self.H, C // self.H
        y = self.qkv(x).view(B, T, 3, H, D).permute(2, 0, 3, 1, 4)
        if turn is None:
            return y.reshape(3, B * H, T, D).unbind()
        # split, chunk, unbind: the backward of a slice fills a whole tensor with zeros
        cos, sin = turn
        qk, v = y.split((2, 1))
        a, b = qk.chunk(2, -1)
        q, k = torch.cat((a * cos - b * sin, b * cos + a * sin), -1).view(2, B * H, T, D).unbind()
        return q, k, v.reshape(B * H, T, D)

    def weights(self, z, data):
        """Softmax of the scores z [B * H, T, T]; a window's mask, bias and sink come in here."""
        if not data["window"]:
            return torch.softmax(z, -1)
        B, T = data["tokens"].shape
        z = z.view(B, self.H, T, T) + data["mask"]
        for table, index in zip(self.bias, data["difference"]):
            z = z + table(index).permute(0, 3, 1, 2)
        if self.sink is None:
            return torch.softmax(z, -1).view(-1, T, T)
        z = torch.cat((z, self.sink.to(z.dtype).expand(B, -1, T, 1)), -1)
        return torch.softmax(z, -1)[..., :-1].reshape(-1, T, T)

    def forward(self, x, turn, causal, data):
        B, T, C = x.shape
        h = self.norm1(x)
        q, k, v = self.heads(h, turn)
        scale = 1 / math.sqrt(C // self.H)
        if data["window"]:
            z = torch.bmm(q * scale, k.transpose(1, 2))
        else:
            z = torch.baddbmm(causal.to(q.dtype), q, k.transpose(1, 2), alpha=scale)
        o = torch.bmm(self.weights(z, data), v)
        o = self.out(o.view(B, self.H, T, -1).transpose(1, 2).reshape(B, T, C))
        if self.parallel:
            return x + o + self.feed(x), h
        x = x + o
        return x + self.feed(x), h

    def step(self, x, turn, cache, t):
        """One token x [B, 1, C] at place t of each sequence."""
        B, _, C = x.shape
        q, k, v = self.heads(self.norm1(x), turn)
        cache[0][:, t : t + 1], cache[1][:, t : t + 1] = k, v
        z = torch.bmm(q, cache[0][:, : t + 1].transpose(1, 2)) / math.sqrt(C // self.H)
        o = torch.bmm(torch.softmax(z, -1), cache[1][:, : t + 1]).view(B, 1, C)
        return x + self.out(o) + self.feed(x)


class Pointer(nn.Module):
    def __init__(self, C):
        super().__init__()
        self.query, self.key = nn.Linear(C, C), nn.Linear(C, C)
        self.place = nn.Parameter(torch.zeros(4))

    def forward(self, final, h, data, l):
        """Mean loss of finding an ID: 64 (q . k / sqrt(C) + u(ID difference)) over earlier tokens."""
        C = final.shape[-1]
        u = torch.stack((self.place[0], self.place[1].clamp(min=0), self.place[2],
                         self.place[3].clamp(min=0)))
        s = torch.bmm(self.query(final), self.key(h).transpose(1, 2)).float() * (64 / math.sqrt(C))
        s = (s + 64 * (data["bent"][l] @ u)).flatten(0, 1)[data["pointed"][l]]
        every = s.masked_fill(data["unseen"][l], -math.inf)
        right = s.masked_fill(data["others"][l], -math.inf)
        return (torch.logsumexp(every, -1) - torch.logsumexp(right, -1)).mean()


class Model(nn.Module):
    def __init__(self, c, T):
        super().__init__()
        C, V = c["width"], c["vocab"]
        self.c = c
        self.embed = nn.Embedding(V, C)
        self.places = nn.Embedding(c["max_id"] + 1, C) if c["encoding"] == "learned" else None
        self.blocks = nn.ModuleList([Block(c) for _ in range(c["layers"])])
        self.norm = nn.LayerNorm(C)
        self.head = nn.Linear(C, V, bias=False)
        if c["tied"]:
            self.head.weight = self.embed.weight
        self.id_heads = nn.ModuleDict({str(i): nn.Linear(C, l["classes"], bias=False)
                                       for i, l in enumerate(c["levels"]) if l["classes"]})
        self.pointers = nn.ModuleDict({str(i): Pointer(C)
                                       for i, l in enumerate(c["levels"]) if l["pointer"]})
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)
        D = C // c["heads"]
        freq = 10000.0 ** (-2.0 * torch.arange(D // 2, dtype=torch.float64) / D)
        angle = torch.arange(T, dtype=torch.float64)[:, None] * freq
        self.register_buffer("cos", torch.cos(angle).float())
        self.register_buffer("sin", torch.sin(angle).float())
        self.register_buffer("mask", torch.full((T, T), -math.inf).triu(1))

    def forward(self, data):
        """Mean loss at the places of the flattened batch (None: everywhere), and those of the IDs."""
        x = self.embed(data["tokens"])
        if self.places is not None:
            x = x + self.places.weight[: x.shape[1]]
        turn = (self.cos, self.sin) if self.c["encoding"] == "rope" else None
        for block in self.blocks:
            x, h = block(x, turn, self.mask, data)
        x = self.norm(x)
        rows = x.flatten(0, 1)
        taken = rows if data["places"] is None else rows[data["places"]]
        loss = F.cross_entropy(self.head(taken).float(), data["targets"])
        for l, head in self.id_heads.items():
            places, targets = data["ids"][int(l)]
            if len(places):
                loss = loss + F.cross_entropy(head(rows[places]).float(), targets)
        for l, pointer in self.pointers.items():
            if len(data["pointed"][int(l)]):
                loss = loss + pointer(x, h, data, int(l))
        return loss

    def generate(self, tokens, n):
        """Greedily n tokens after the prompts; the seconds that this took, the prompts apart."""
        B, P = tokens.shape
        C, H = self.c["width"], self.c["heads"]
        kind = torch.bfloat16 if args.bf16 else torch.float32
        caches = [(torch.zeros(B * H, P + n, C // H, dtype=kind),
                   torch.zeros(B * H, P + n, C // H, dtype=kind)) for _ in self.blocks]
        data = {"window": 0, "tokens": tokens}
        x, turn = self.embed(tokens), (self.cos[:P], self.sin[:P])
        for block, cache in zip(self.blocks, caches):
            _, k, v = block.heads(block.norm1(x), turn)
            cache[0][:, :P], cache[1][:, :P] = k, v
            x, _ = block(x, turn, self.mask[:P, :P], data)
        token = self.head(self.norm(x[:, -1])).argmax(-1)
        start = time.perf_counter()
        for t in range(P, P + n):
            x = self.embed(token[:, None])
            for block, cache in zip(self.blocks, caches):
                x = block.step(x, (self.cos[t : t + 1], self.sin[t : t + 1]), cache, t)
            token = self.head(self.norm(x[:, 0])).argmax(-1)
        return time.perf_counter() - start


def random_shape():
    """The neox model of the arguments, and a batch of random tokens, as lg__shape_save writes them."""
    lo = args.length if args.min_length is None else args.min_length
    hi = args.length if args.max_length is None else args.max_length
    sequences = []
    for i in range(args.batch):
        n = lo + i * (hi - lo) // max(args.batch - 1, 1)
        targets = torch.randint(args.vocab, (n,)).tolist()
        if args.last_only:
            targets[:-1] = [ABSENT] * (n - 1)
        none = [{"of": [ABSENT] * n}]
        sequences.append({"tokens": torch.randint(args.vocab, (n,)).tolist(), "targets": targets,
                          "ids": [{"of": list(range(n))}], "id_targets": none, "point_targets": none})
    return {"vocab": args.vocab, "width": args.width, "layers": args.layers, "heads": args.heads,
            "parallel": 1, "tied": 0, "tanh": 0, "encoding": "rope", "max_id": 0, "sink": 0, "window": 0,
            "levels": [{"lo": 0, "hi": 0, "classes": 0, "pointer": 0}], "sequences": sequences}


def padded(rows, T, value):
    out = torch.full((len(rows), T), value)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row)
    return out


def see(c, data, T):
    """Masks and indexes of windows: which keys each query sees, and the rows of the bias tables."""
    s = c["sequences"]
    seen = torch.zeros(len(s), T, T, dtype=torch.bool)
    near = torch.ones_like(seen)
    data["difference"] = []
    for i, l in enumerate(c["levels"]):
        ids = padded([x["ids"][i]["of"] for x in s], T, ABSENT)
        both = (ids[:, :, None] != ABSENT) & (ids[:, None, :] != ABSENT)
        d = ids[:, None, :] - ids[:, :, None]  # key - query
        seen |= both
        near &= ~both | ((d >= l["lo"]) & (d <= l["hi"]))
        last = l["hi"] - l["lo"] + 1
        data["difference"].append(torch.where(both, d.clamp(l["lo"], l["hi"]) - l["lo"], last))
    seen &= near & torch.ones(T, T, dtype=torch.bool).tril()
    seen |= torch.eye(T, dtype=torch.bool)  # what is padded sees itself
    data["mask"] = torch.zeros(len(s), 1, T, T).masked_fill(~seen[:, None], -math.inf)


def point(c, data, T):
    """For each pointer: features of the ID differences, and which keys count, where there is a target."""
    s = c["sequences"]
    data["bent"], data["pointed"], data["unseen"], data["others"] = {}, {}, {}, {}
    for i, l in enumerate(c["levels"]):
        if not l["pointer"]:
            continue
        ids = padded([x["ids"][i]["of"] for x in s], T, ABSENT)
        targets = padded([x["point_targets"][i]["of"] for x in s], T, ABSENT).flatten()
        carried = ids.clone()
        for t in range(1, T):
            carried[:, t] = torch.where(ids[:, t] == ABSENT, carried[:, t - 1], ids[:, t])
        d = (ids[:, None, :] - carried[:, :, None]).double()
        d = (d / (1 + d.abs())).float()
        data["bent"][i] = torch.stack(((d == 0).float(), -d.clamp(min=0), (d < 0).float(),
                                       d.clamp(max=0)), -1)
        data["pointed"][i] = rows = torch.nonzero(targets != ABSENT).flatten()
        later = torch.ones(T, T, dtype=torch.bool).triu(1)
        unseen = ((ids == ABSENT)[:, None, :] | later).flatten(0, 1)[rows]
        keys = ids[:, None, :].expand(-1, T, -1).flatten(0, 1)[rows]
        data["unseen"][i], data["others"][i] = unseen, unseen | (keys != targets[rows][:, None])


def read(c):
    """The batch as tensors, padded on the right."""
    s = c["sequences"]
    T = max(len(x["tokens"]) for x in s)
    targets = padded([x["targets"] for x in s], T, ABSENT).flatten()
    places = torch.nonzero(targets != ABSENT).flatten()
    data = {"tokens": padded([x["tokens"] for x in s], T, 0), "window": c["window"],
            "places": None if len(places) == len(targets) else places, "targets": targets[places],
            "ids": []}
    for i in range(len(c["levels"])):
        t = padded([x["id_targets"][i]["of"] for x in s], T, ABSENT).flatten()
        at = torch.nonzero(t != ABSENT).flatten()
        data["ids"].append((at, t[at]))
    if c["window"]:
        see(c, data, T)
    point(c, data, T)
    return data, T


def time_generation(model, tokens):
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.bf16):
        best, n, start = math.inf, 0, time.perf_counter()
        model.generate(tokens, args.generate)  # warm-up
        while n < 3 or time.perf_counter() - start < args.seconds:
            best = min(best, model.generate(tokens, args.generate))
            n += 1
    return best, n, 0.0


def time_steps(model, data):
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() != 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                                   {"params": vectors, "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.95), foreach=True)
    parameters = matrices + vectors

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.bf16):
            loss = model(data)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        return loss

    for i in range(3):  # warm-up
        loss = step()
    best, n, start = math.inf, 0, time.perf_counter()
    while n < args.steps if args.steps else n < 3 or time.perf_counter() - start < args.seconds:
        t = time.perf_counter()
        loss = step()
        best = min(best, time.perf_counter() - t)
        n += 1
    return best, n, float(loss)


def main():
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    if args.data:
        with open(args.data) as f:
            c = json.load(f)
    else:
        c = random_shape()
    data, T = read(c)
    model = Model(c, T + args.generate)
    if args.generate:
        best, n, loss = time_generation(model, data["tokens"])
        tokens = len(c["sequences"]) * args.generate
    else:
        best, n, loss = time_steps(model, data)
        tokens = sum(len(x["tokens"]) for x in c["sequences"])
    print(json.dumps({"tokens_per_s": round(tokens / best, 1), "step_ms": round(1e3 * best, 3),
                      "steps": n, "threads": torch.get_num_threads(),
                      "torch": torch.__version__, "loss": round(loss, 6)}))


main()
