"""Coupled position IDs and Predictive Position Coupling in PyTorch: a small reference, to read and to copy from.

The mechanism is in three functions. `window_mask` says which keys a query sees: those not later in the text whose ID differs
from the query's by window_lo to window_hi. `relative_bias` adds a learned number for each such difference. The ID head of
`CoupledTransformer` predicts by how much the ID of the next token differs from the last one (delta): that is PPC. The tests
compare logits and gradients with the C engine's (docs/MATH.md, 4 to 9).

IDs are [batch, levels, n], ABSENT where a token has none at a level, as `lengthen.Batches` gives them.
"""
from __future__ import annotations

from typing import Optional, Sequence

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from .models import Model
from .tasks import ABSENT, Batch


def differences(ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Key ID - query ID [batch, levels, query, key], and where both tokens have an ID at the level."""
    ids = ids.long()
    there = ids != ABSENT
    return ids[..., None, :] - ids[..., :, None], there[..., None, :] & there[..., :, None]


def window_mask(ids: torch.Tensor, lo: Sequence[int], hi: Sequence[int]) -> torch.Tensor:
    """[batch, query, key]: True where the key is seen.

    At least one level has an ID in both tokens, at every such level the difference is from lo to hi, and the key is not later in
    the text. A token without any ID sees itself alone.

    >>> window_mask(torch.tensor([[[2, 3, 1, 2]]]), [0], [1])[0].int().tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]]
    """
    d, both = differences(ids)
    low, high = (torch.tensor(list(x)[:ids.shape[1]], device=ids.device).view(1, -1, 1, 1) for x in (lo, hi))
    inside = (d >= low) & (d <= high)
    n = ids.shape[-1]
    seen = (inside | ~both).all(1) & both.any(1)
    return (seen | torch.eye(n, dtype=torch.bool, device=ids.device)) & \
        torch.ones(n, n, dtype=torch.bool, device=ids.device).tril()


def relative_bias(table: torch.Tensor, ids: torch.Tensor, lo: Sequence[int], hi: Sequence[int]) -> torch.Tensor:
    """[batch, heads, query, key] from table [heads, sum over levels of hi - lo + 1]; differences past the ends are clipped."""
    d, both = differences(ids)
    bias, start = 0.0, 0
    for level in range(ids.shape[1]):
        entry = d[:, level].clamp(lo[level], hi[level]) - lo[level] + start
        start += hi[level] - lo[level] + 1
        bias = bias + table[:, entry].transpose(0, 1) * both[:, level, None]
    return bias  # type: ignore[return-value]


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, ff: int, table: int, sink: bool) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, ff), nn.Linear(ff, width)
        self.bias = nn.Parameter(torch.zeros(heads, table))
        self.sink = nn.Parameter(torch.zeros(heads)) if sink else None

    def attention(self, x: torch.Tensor, seen: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        batch, n, width = x.shape
        q, k, v = (y.view(batch, n, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(width, -1))
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias
        scores = scores.masked_fill(~seen[:, None], float("-inf"))
        if self.sink is not None:  # one more score that takes weight and has no value
            extra = self.sink.view(1, -1, 1, 1).expand(batch, -1, n, 1)
            weights = torch.softmax(torch.cat([scores, extra], -1), -1)[..., :-1]
        else:
            weights = torch.softmax(scores, -1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, n, width))

    def forward(self, x: torch.Tensor, seen: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return x + self.attention(self.norm1(x), seen, bias) + self.down(F.gelu(self.up(self.norm2(x))))


class CoupledTransformer(nn.Module):
    """A decoder whose attention is a window of IDs, with a token head and a delta head per level.

    `reach`: the IDs of generated tokens change by -reach..reach; class c of the head stands for c - reach.
    """

    def __init__(self, vocab: int, *, width: int = 64, heads: int = 4, layers: int = 2, ff: int = 0,
                 window_lo: Sequence[int] = (0,), window_hi: Sequence[int] = (1,), sink: bool = True, reach: int = 1,
                 id_classes: Optional[Sequence[int]] = None) -> None:
        super().__init__()
        self.lo, self.hi, self.reach = list(window_lo), list(window_hi), reach
        table = sum(h - l + 1 for l, h in zip(self.lo, self.hi))
        classes = list(id_classes) if id_classes is not None else [2 * reach + 1] * len(self.lo)
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(Layer(width, heads, ff or 4 * width, table, sink) for _ in range(layers))
        self.final_norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.id_heads = nn.ModuleList(nn.Linear(width, c, bias=False) if c else nn.Identity() for c in classes)
        self.classes = classes

    def forward(self, tokens: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, list[Optional[torch.Tensor]]]:
        """Logits [batch, n, vocab], and those of the ID head of each level (None: it has none)."""
        x, seen = self.embed(tokens), window_mask(ids, self.lo, self.hi)
        for layer in self.layers:
            x = layer(x, seen, relative_bias(layer.bias, ids, self.lo, self.hi))
        x = self.final_norm(x)
        return self.head(x), [h(x) if c else None for h, c in zip(self.id_heads, self.classes)]

    def losses(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Token loss and ID loss of a batch of `lengthen.Batches`, each a mean over its targets."""
        device = self.head.weight.device
        tokens, ids, targets, id_targets = (torch.as_tensor(np.ascontiguousarray(a), device=device).long() for a in
                                            (batch.tokens, batch.ids, batch.targets, batch.id_targets))
        logits, id_logits = self(tokens, ids)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)
        id_loss = sum((F.cross_entropy(x.flatten(0, 1), id_targets[:, l].flatten(), ignore_index=-1)
                       for l, x in enumerate(id_logits) if x is not None), torch.zeros((), device=device))
        return loss, id_loss

    @torch.no_grad()
    def generate(self, tokens: Sequence[int], ids: Sequence[int], stop: Optional[int], most: int) -> tuple[list[int], list[int]]:
        """Goes on with a prompt greedily, with one level of predicted IDs: the tokens and the IDs of all."""
        tokens, ids, n = list(tokens), list(ids), len(tokens)
        device = self.head.weight.device
        while len(tokens) - n < most and (len(tokens) == n or tokens[-1] != stop):
            logits, id_logits = self(torch.tensor([tokens], device=device), torch.tensor([[ids]], device=device))
            step = int(id_logits[0][0, -1].argmax()) - self.reach
            tokens.append(int(logits[0, -1].argmax()))
            ids.append(ids[-1] + step)
        return tokens, ids

    # ---- The C engine's parameters ---------------------------------------------------------------

    def _pairs(self) -> dict[str, torch.Tensor]:
        """Our parameters by the engine's names."""
        pairs = {"embed.weight": self.embed.weight, "head.weight": self.head.weight,
                 "final_norm.weight": self.final_norm.weight, "final_norm.bias": self.final_norm.bias}
        for i, layer in enumerate(self.layers):
            for theirs, ours in (("norm1", layer.norm1), ("norm2", layer.norm2), ("attn.qkv", layer.qkv),
                                 ("attn.out", layer.out), ("ff.up", layer.up), ("ff.down", layer.down)):
                pairs[f"layers.{i}.{theirs}.weight"], pairs[f"layers.{i}.{theirs}.bias"] = ours.weight, ours.bias
            pairs[f"layers.{i}.position.bias"] = layer.bias
            if layer.sink is not None:
                pairs[f"layers.{i}.attn.sink"] = layer.sink
        for l, (head, c) in enumerate(zip(self.id_heads, self.classes)):
            if c:
                pairs["id_head.weight" if l == 0 else f"id_head.{l}.weight"] = head.weight
        return pairs

    @classmethod
    def from_model(cls, model: Model) -> "CoupledTransformer":
        """The same function as a model of the C engine; one that this module cannot say is refused."""
        c = model.config
        if c["encoding"] != "relative" or c["span"] != 1 or c["arch"] != 0 or not c["parallel"] or c["attention"] or \
                c["norm"] or c["act"] or not c["biases"] or c["tied"] or any(c["pointer"]):
            raise ValueError("this module is the architecture neox with encoding relative, span window and softmax, without "
                             "pointers; the model is another one")
        n = c["levels"]
        made = cls(c["vocab"], width=c["width"], heads=c["heads"], layers=c["layers"], ff=c["ff"],
                   window_lo=c["window_lo"][:n], window_hi=c["window_hi"][:n], sink=bool(c["sink"]),
                   id_classes=c["id_classes"][:n], reach=max(c["id_classes"][0] // 2, 0))
        theirs, ours = model.parameters, made._pairs()
        if set(theirs) != set(ours):
            raise ValueError(f"the model has other parameters: {sorted(set(theirs) ^ set(ours))}")
        with torch.no_grad():
            for name, p in ours.items():
                p.copy_(torch.from_numpy(theirs[name].copy()).view_as(p))
        return made

    def to_model(self, model: Model) -> None:
        """Writes the parameters into a model of the C engine with the same shapes, to certify it or to run it at length."""
        theirs = model.parameters
        for name, p in self._pairs().items():
            theirs[name][:] = p.detach().cpu().numpy().reshape(theirs[name].shape)
        model.touch()
