#!/usr/bin/python3
"""The whole training step of the `neox` model in PyTorch (fp32, CPU), as a careful user of
torch 1.13 writes it: the peer that `lengthen bench --against torch` measures.

    /usr/bin/python3 bench/torch_step.py --width 256 --layers 4 --heads 8 --batch 64 --length 50
    /usr/bin/python3 bench/torch_step.py --width 128 --layers 4 --heads 4 --batch 64 \\
        --min-length 20 --max-length 50 --last-only --tuned

Forward, loss, backward, clipping of the global norm, AdamW with decoupled decay. LayerNorm,
exact GELU, biases, parallel residual, full rotary (halves), causal attention, untied head.
With --min-length and --max-length the batch holds every length between them equally often
(sequence i: min + i (max - min) / (batch - 1), rounded down) and is padded on the right: no
real query sees a padded key under the causal mask, so padding needs no mask of its own; it
only costs time. Tokens per second count real tokens.

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
    a = p.parse_args()
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


class Block(nn.Module):
    def __init__(self, C, H):
        super().__init__()
        self.H = H
        self.norm1, self.norm2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.qkv, self.out = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.up, self.down = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)

    def forward(self, x, cos, sin, mask):
        B, T, C = x.shape
        H, D = self.H, C // self.H
        y = self.qkv(self.norm1(x)).view(B, T, 3, H, D).permute(2, 0, 3, 1, 4)
        # split, chunk, unbind: the backward of a slice fills a whole tensor with zeros
        qk, v = y.split((2, 1))
        a, b = qk.chunk(2, -1)
        q, k = torch.cat((a * cos - b * sin, b * cos + a * sin), -1).view(2, B * H, T, D).unbind()
        v = v.reshape(B * H, T, D)
        z = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=1 / math.sqrt(D))
        o = torch.bmm(torch.softmax(z, -1), v).view(B, H, T, D).transpose(1, 2).reshape(B, T, C)
        return x + self.out(o) + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, V, C, H, L, T):
        super().__init__()
        self.embed = nn.Embedding(V, C)
        self.blocks = nn.ModuleList([Block(C, H) for _ in range(L)])
        self.norm = nn.LayerNorm(C)
        self.head = nn.Linear(C, V, bias=False)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)
        D = C // H
        freq = 10000.0 ** (-2.0 * torch.arange(D // 2, dtype=torch.float64) / D)
        angle = torch.arange(T, dtype=torch.float64)[:, None] * freq
        self.register_buffer("cos", torch.cos(angle).float())
        self.register_buffer("sin", torch.sin(angle).float())
        self.register_buffer("mask", torch.full((T, T), -math.inf).triu(1))

    def forward(self, tokens, places, targets):
        """Mean loss at `places` of the flattened batch (None: everywhere)."""
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin, self.mask)
        x = x.flatten(0, 1)
        if places is not None:
            x = x[places]
        return F.cross_entropy(self.head(self.norm(x)), targets)


def main():
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    B = args.batch
    lo = args.length if args.min_length is None else args.min_length
    hi = args.length if args.max_length is None else args.max_length
    lengths = [lo + i * (hi - lo) // max(B - 1, 1) for i in range(B)]
    T, real = max(lengths), sum(lengths)
    model = Model(args.vocab, args.width, args.heads, args.layers, T)

    if args.last_only:
        places = torch.tensor([b * T + n - 1 for b, n in enumerate(lengths)])
    elif lo == hi:
        places = None
    else:
        places = torch.tensor([b * T + t for b, n in enumerate(lengths) for t in range(n)])
    count = B * T if places is None else len(places)
    batches = [(torch.randint(args.vocab, (B, T)), torch.randint(args.vocab, (count,)))
               for _ in range(4)]

    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() != 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                                   {"params": vectors, "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.95), foreach=True)
    parameters = matrices + vectors

    def step(i):
        tokens, targets = batches[i % len(batches)]
        optimizer.zero_grad(set_to_none=True)
        loss = model(tokens, places, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        return loss

    for i in range(3):  # warm-up
        loss = step(i)
    best, n, start = math.inf, 0, time.perf_counter()
    while n < args.steps if args.steps else n < 3 or time.perf_counter() - start < args.seconds:
        t = time.perf_counter()
        loss = step(n)
        best = min(best, time.perf_counter() - t)
        n += 1
    print(json.dumps({"tokens_per_s": round(real / best, 1), "step_ms": round(1e3 * best, 3),
                      "steps": n, "threads": torch.get_num_threads(),
                      "torch": torch.__version__, "loss": round(float(loss), 6)}))


main()
