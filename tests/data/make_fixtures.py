#!/usr/bin/python3
"""Makes tests/data/fixtures/*.bin: whole models in PyTorch float64, as a reference.

    /usr/bin/python3 tests/data/make_fixtures.py [CASE..]

Made with torch 1.13.0a0 (python3-torch of Debian 12). PyTorch is needed to make the
fixtures, not to run the tests: tests/engine/test_fixtures.c reads the committed files.
Needs neither the network nor lengthen itself; the model below is written from its
definition (docs/MATH.md, docs/POSITIONS.md). Everything is drawn from
random.Random(case name, attempt).

For each case the script also
  - checks the gradients by central differences along a random direction,
  - runs the same model in float32 and prints the worst max|d|/max|ref| of any tensor: the
    tests allow 1e-4, and a case that single precision can barely meet would test nothing.

A file is lines of text, arrays in between as raw little-endian bytes:

    lengthen-fixture 1
    KEY VALUE                  config fields as in lg_model_config (a field that each level
                               has: one value a level), length (of lg_model_set_length),
                               id_weight, loss, id_loss, right, id_right, grad_norm. A field
                               that has no part in the case (the window of a full span) is
                               left out.
    i32|f32|f64 NAME ROWS COLS then ROWS*COLS numbers and a newline:
                               offsets tokens targets (i32, one row),
                               ids id_targets point_targets (i32, a row a level),
                               codes (i32, one row) of match heads,
                               pointed (i32, a row a level): the ID that the pointer finds at
                               every row of the batch, LG_ABSENT if it finds none,
                               param:NAME (f32), grad:NAME (f64) of loss + id_weight*id_loss,
                               logits, id_logits, id_logits.1, id_logits.2 (f64) of every row
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
FIRE = 32  # hidden units
SHARP = 64  # the pointer's score is SHARP (q . k / sqrt(C) + u(D / (1 + |D|)))
NONE = -1
ABSENT = -2 ** 31  # a token that has no ID at a level

# ---- The cases ---------------------------------------------------------------------

NEOX = dict(arch="neox", norm="layer", norm_eps=1e-5, act="gelu", biases=1, parallel=1,
            tied=0, encoding="rope", rope_share=1.0, rope_base=10000.0, span="full",
            scores="softmax", id_classes=0)
OLMO = dict(NEOX, arch="olmo", norm="plain", act="swiglu", biases=0, parallel=0)
LOOPED = dict(NEOX, arch="looped", parallel=0, inject=1)
MIXED = (1, 2, 5, 17, 40)
SHORT = (1, 2, 9, 26)
TWO = dict(levels=2, window_lo=(-1, 0), window_hi=(2, 1))
THREE = dict(levels=3, window_lo=(-2, -1, 0), window_hi=(1, 0, 1))


def case(name, base, lengths, ids, loss, vocab, layers, width, heads, ff, *more, **changes):
    for x in more:
        base = dict(base, **x)
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

    # Each encoding with one level.
    case("neox_learned", NEOX, SHORT, "columns", "all", 6, 2, 12, 2, 12, encoding="learned",
         max_id=24),
    case("olmo_learned_window", OLMO, SHORT, "columns", "scattered", 6, 2, 12, 3, 8,
         encoding="learned", max_id=24, span="window", window_lo=-2, window_hi=1),
    case("neox_sinusoidal", NEOX, SHORT, "jumps", "scattered", 6, 2, 15, 3, 12,
         encoding="sinusoidal"),
    case("olmo_sinusoidal_window", OLMO, SHORT, "jumps", "all", 6, 2, 12, 2, 8,
         encoding="sinusoidal", span="window", window_lo=0, window_hi=2),
    case("neox_alibi", NEOX, (40, 1, 7), "coupled", "all", 6, 2, 12, 6, 12, encoding="alibi"),
    case("olmo_alibi_window", OLMO, SHORT, "jumps", "few", 6, 2, 12, 4, 8, encoding="alibi",
         span="window", window_lo=-3, window_hi=5, scores="ssmax"),
    case("neox_t5", NEOX, (40, 1, 12), "jumps", "scattered", 6, 2, 12, 2, 12, encoding="t5"),
    case("olmo_t5_window", OLMO, (40, 2), "jumps", "all", 6, 2, 12, 2, 8, encoding="t5",
         span="window", window_lo=-20, window_hi=40),
    case("neox_fire", NEOX, (40, 1, 12), "jumps", "few", 6, 2, 12, 2, 12, encoding="fire"),
    case("olmo_fire_window", OLMO, SHORT, "coupled", "all", 6, 2, 12, 3, 8, encoding="fire",
         span="window", window_lo=-4, window_hi=3, scores="ssmax"),

    # Two and three levels, "?": some tokens have no ID there.
    case("olmo_rope_2levels", OLMO, SHORT, ("coupled?", "role?"), "all", 6, 2, 12, 2, 8,
         levels=2, id_classes=(5, 3), id_weight=0.7),
    case("neox_rope_3levels", NEOX, SHORT, ("far?", "columns?", "role?"), "scattered", 6, 2, 16, 2,
         12, levels=3, rope_share=0.75),
    case("neox_rope_window_2levels", NEOX, SHORT, ("coupled?", "role"), "few", 6, 2, 16, 2, 12,
         TWO, span="window", rope_share=0.75),
    case("olmo_rope_window_3levels", OLMO, MIXED, ("columns?", "columns?", "role?"), "all", 6, 3,
         12, 2, 8, THREE, span="window", scores="ssmax"),
    case("neox_relative_2levels", NEOX, SHORT, ("coupled?", "role?"), "scattered", 6, 2, 12, 2, 12,
         TWO, encoding="relative", id_classes=(0, 4), id_weight=0.5),
    case("olmo_relative_3levels", OLMO, SHORT, ("jumps?", "columns?", "role?"), "all", 6, 2, 12, 3,
         8, THREE, encoding="relative", scores="ssmax"),
    case("olmo_relative_window_2levels", OLMO, (40, 1, 5), ("coupled?", "role?"), "few", 6, 2, 12,
         2, 8, TWO, encoding="relative", span="window", scores="entmax15"),
    case("neox_relative_window_3levels", NEOX, MIXED, ("columns?", "columns?", "role"), "all", 6, 2,
         12, 2, 12, THREE, encoding="relative", span="window", id_classes=(4, 2, 3),
         id_weight=0.4),
    case("olmo_alibi_2levels", OLMO, SHORT, ("coupled?", "role?"), "all", 6, 2, 12, 3, 8, levels=2,
         encoding="alibi"),
    case("neox_alibi_window_3levels", NEOX, SHORT, ("columns?", "columns?", "role?"), "scattered",
         6, 2, 12, 2, 12, THREE, encoding="alibi", span="window"),
    case("olmo_t5_3levels", OLMO, SHORT, ("jumps?", "coupled?", "role?"), "scattered", 6, 2, 12, 2,
         8, levels=3, encoding="t5"),
    case("neox_t5_window_2levels", NEOX, SHORT, ("coupled?", "role?"), "all", 6, 2, 12, 2, 12, TWO,
         encoding="t5", span="window", scores="ssmax"),
    case("olmo_fire_2levels", OLMO, SHORT, ("coupled?", "role?"), "few", 6, 2, 12, 2, 8, levels=2,
         encoding="fire", id_classes=(3, 3), id_weight=1.5),
    case("neox_fire_window_3levels", NEOX, SHORT, ("columns?", "columns?", "role?"), "all", 6, 2,
         12, 2, 12, THREE, encoding="fire", span="window"),
    case("olmo_learned_3levels", OLMO, SHORT, ("columns?", "columns?", "role?"), "scattered", 6, 2,
         12, 2, 8, levels=3, encoding="learned", max_id=17, tied=1),
    case("neox_learned_window_2levels", NEOX, SHORT, ("columns?", "role?"), "all", 6, 2, 12, 2, 12,
         TWO, encoding="learned", max_id=17, span="window"),
    case("olmo_sinusoidal_2levels", OLMO, SHORT, ("far?", "role?"), "few", 6, 2, 13, 1, 8,
         levels=2, encoding="sinusoidal"),
    case("neox_sinusoidal_window_3levels", NEOX, SHORT, ("columns?", "columns?", "role?"),
         "scattered", 6, 2, 14, 2, 12, THREE, encoding="sinusoidal", span="window"),
    case("olmo_none_3levels", OLMO, SHORT, ("coupled?", "columns?", "role?"), "few", 6, 2, 12, 2, 8,
         levels=3, encoding="none", id_classes=(2, 0, 5), id_weight=0.6),
    case("neox_none_window_2levels", NEOX, SHORT, ("coupled?", "role?"), "all", 6, 2, 12, 2, 12,
         TWO, encoding="none", span="window", scores="ssmax"),

    # rope for longer texts. Where a length is given, lg_model_set_length tells the model.
    case("neox_rope_linear", NEOX, SHORT, "plain", "all", 6, 2, 12, 1, 12, rope_scaling="linear",
         rope_factor=4.0),
    case("olmo_rope_linear_window", OLMO, SHORT, "coupled", "scattered", 6, 2, 12, 1, 8,
         rope_scaling="linear", rope_factor=2.5, span="window", window_lo=-3, window_hi=3),
    case("olmo_rope_ntk_2levels", OLMO, SHORT, ("jumps?", "role?"), "all", 6, 2, 12, 1, 8,
         levels=2, rope_scaling="ntk", rope_factor=3.0, rope_base=500.0),
    case("neox_rope_ntk_window", NEOX, SHORT, "coupled", "few", 6, 2, 12, 1, 12, rope_scaling="ntk",
         rope_factor=8.0, rope_base=100.0, span="window", window_lo=-3, window_hi=3),
    case("neox_rope_dynamic", NEOX, (40, 3), "plain", "all", 6, 2, 12, 1, 12,
         rope_scaling="dynamic", rope_factor=2.0, rope_length=16, length=40, rope_base=200.0),
    case("olmo_rope_dynamic_window_2levels", OLMO, SHORT, ("coupled?", "columns?"), "all", 6, 2, 12,
         1, 8, TWO, rope_scaling="dynamic", rope_factor=1.5, rope_length=10, length=26,
         rope_base=50.0, span="window"),
    case("olmo_rope_yarn", OLMO, (40, 1, 6), "far", "scattered", 6, 2, 12, 1, 8,
         rope_scaling="yarn", rope_factor=4.0, rope_length=2048),
    case("neox_rope_yarn_window_2levels", NEOX, SHORT, ("coupled?", "columns?"), "all", 6, 2, 16, 1,
         12, TWO, rope_scaling="yarn", rope_factor=16.0, rope_length=600, rope_share=0.75,
         rope_base=1000.0, span="window"),

    # One more score that takes weight and gives nothing.
    case("neox_sink", NEOX, (150, 1, 12), "plain", "scattered", 6, 2, 12, 2, 12, sink=1),
    case("olmo_sink_window", OLMO, SHORT, "coupled", "all", 6, 2, 12, 2, 8, sink=1,
         encoding="relative", span="window", window_lo=0, window_hi=1),
    case("neox_sink_entmax", NEOX, (140, 17), "plain", "all", 6, 1, 12, 2, 12, sink=1,
         encoding="none", scores="entmax15"),
    case("olmo_sink_entmax_window", OLMO, SHORT, "repeated", "few", 6, 2, 12, 1, 8, sink=1,
         encoding="relative", span="window", window_lo=-2, window_hi=1, scores="entmax15"),
    case("neox_sink_ssmax_window", NEOX, SHORT, "coupled", "all", 6, 2, 12, 2, 12, sink=1,
         span="window", window_lo=-1, window_hi=1, scores="ssmax"),

    # Pointers; loss on a few rows: the last layer's queries are a part of the rows.
    case("neox_pointer_1layer", NEOX, SHORT, "coupled", "few", 6, 1, 16, 2, 16, pointer=1,
         id_weight=0.8),
    case("olmo_pointer_window", OLMO, (5, 30, 1, 17), "repeated", "few", 6, 2, 12, 2, 8, pointer=1,
         span="window", window_lo=-1, window_hi=1, id_classes=5, id_weight=1.0, tied=1),
    case("neox_pointer_window_2levels_1layer", NEOX, SHORT, ("columns?", "role?"), "few", 6, 1, 12,
         2, 12, TWO, encoding="none", span="window", pointer=(1, 1), id_weight=0.5),
    case("olmo_pointer_2levels", OLMO, (9, 26, 1, 14), ("columns?", "columns?"), "few", 6, 2, 12, 2,
         8, levels=2, encoding="t5", pointer=(1, 1), id_classes=(3, 5), id_weight=1.2),
    case("neox_pointer_relative_window_3levels", NEOX, SHORT, ("columns?", "role?", "columns?"),
         "all", 6, 2, 12, 2, 12, THREE, encoding="relative", span="window", pointer=(1, 0, 1),
         id_classes=(0, 3, 2), id_weight=0.3),
    case("neox_pointer_cut_slopes", NEOX, (12, 26, 3), "repeated", "few", 6, 2, 12, 2, 12,
         encoding="none", pointer=1, id_weight=1.0, cut_slopes=1),

    # The layers run several times with the same weights, with what enters added each time or not.
    case("looped_inject", LOOPED, MIXED, "plain", "all", 8, 2, 16, 2, 20, loops=3),
    case("looped_alone_window", LOOPED, SHORT, "coupled", "few", 6, 1, 12, 2, 12, loops=4, inject=0,
         encoding="relative", span="window", window_lo=-1, window_hi=1),
    case("looped_inject_learned", LOOPED, SHORT, "columns", "scattered", 6, 1, 12, 2, 12, loops=3,
         encoding="learned", max_id=24, tied=1, id_classes=3, id_weight=0.5),
    # Match heads: keys of the prompt, by their numbers or by the ID alone, in each order.
    case("neox_match_codes_window", NEOX, (9, 26, 14), "repeated", "answer", 6, 2, 12, 2, 12,
         parallel=0, encoding="relative", span="window", window_lo=-1, window_hi=1, match=3,
         key_token=(1, 2, 4), coded=1, id_classes=3, id_weight=0.8),
    case("olmo_match_next", OLMO, (17, 30, 9), "repeated", "answer", 6, 2, 12, 2, 8, encoding="t5",
         match=1, key_token=(), id_weight=1.2),
    case("neox_match_2levels", NEOX, (9, 26, 14), ("columns?", "columns?"), "answer", 6, 2, 12, 2, 8,
         levels=2, encoding="none", match=(2, 3), key_token=(0, 3), id_classes=(3, 5), id_weight=0.7),
    case("looped_parallel_pointer", LOOPED, SHORT, "coupled", "few", 6, 2, 12, 2, 12, loops=2,
         parallel=1, encoding="none", span="window", window_lo=-1, window_hi=2, pointer=1,
         id_weight=0.8),
]

# ---- Levels ------------------------------------------------------------------------


def levels(c):
    return c.get("levels", 1)


def at(c, key, level):
    """The value of a field that each level has; 0: not given."""
    x = c.get(key, 0)
    return x[level] if isinstance(x, tuple) else x if level == 0 else 0


def any_pointer(c):
    return any(at(c, "pointer", l) or at(c, "match", l) for l in range(levels(c)))


def any_match(c):
    return any(at(c, "match", l) for l in range(levels(c)))


NEXT, PREVIOUS, ANY = 1, 2, 3  # which of the keys that match a match head takes


def run_of(n, c, level):
    """The part of n pairs that is this level's."""
    return range(n * level // levels(c), n * (level + 1) // levels(c))


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
    if kind == "columns":  # as coupled, and small
        m, start = max(1, n // 2), r.randrange(4)
        return [start + (i if i < m else i - m) for i in range(n)]
    if kind == "role":
        return [r.randrange(3) for _ in range(n)]
    if kind == "jumps":  # as coupled, and some far away
        return [i + r.choice((0, 0, 0, 0, 30, 130, 100_000)) for i in draw_ids("coupled", n, r)]
    if kind[-1] == "?":  # some tokens have no ID
        return [ABSENT if r.random() < 0.3 else i for i in draw_ids(kind[:-1], n, r)]
    raise ValueError(kind)


def draw_point_targets(ids, share, r):
    """The ID of an earlier token, or of the token itself."""
    targets = []
    for t in range(len(ids)):
        there = [i for i in ids[:t + 1] if i != ABSENT]
        targets.append(r.choice(there) if there and r.random() < share else NONE)
    return targets


def in_order(order, i, carried):
    return order == ANY or carried == ABSENT or (i > carried if order == NEXT else i < carried)


def match_keys(c, b, level, lo, hi):
    """Places of the keys of a sequence: key tokens of the prompt, up to the first row with a loss."""
    end = next((t for t in range(lo, hi) if b["targets"][t] != NONE or
                any(i[t] != NONE for i in b["id_targets"])), hi - 1)
    named = c["key_token"]
    return [t for t in range(lo, end + 1) if b["ids"][level][t] != ABSENT and
            (not named or b["tokens"][t] in named)]


def carried_id(ids, lo, t):
    return next((i for i in reversed(ids[lo:t + 1]) if i != ABSENT), ABSENT)


def draw_matches(c, b, level, lo, hi, r):
    """Targets of a match head: the ID of a key that is in order, and its number if there are any."""
    ids = b["ids"][level]
    for t in range(lo, hi):
        keys = [k for k in match_keys(c, b, level, lo, hi)
                if in_order(at(c, "match", level), ids[k], carried_id(ids, lo, t))]
        if t < (lo + hi) // 2 or not keys or r.random() < 0.4:
            continue
        k = r.choice(keys)
        b["point_targets"][level][t] = ids[k]
        if c.get("coded"):
            b["codes"][t] = b["codes"][k]


def is_whole(c, ids, b):
    """Every head has rows; where all levels lack IDs, some token has none at all."""
    for l in range(levels(c)):
        for key, targets in (("id_classes", "id_targets"), ("pointer", "point_targets"),
                             ("match", "point_targets")):
            if at(c, key, l) and max(b[targets][l]) == NONE:
                return False
    if levels(c) == 1 or not all(kind[-1] == "?" for kind in ids):
        return True
    return any(all(i == ABSENT for i in token) for token in zip(*b["ids"]))


def draw_batch(c, lengths, ids, loss, r):
    kinds = ids if isinstance(ids, tuple) else (ids,)
    L = levels(c)
    assert len(kinds) == L
    share = 0.1 if loss == "few" else 0.4  # of the rows that have an ID loss
    b = dict(offsets=[0], tokens=[], ids=[[] for _ in range(L)], targets=[],
             id_targets=[[] for _ in range(L)])
    if any_pointer(c):
        b["point_targets"] = [[] for _ in range(L)]
    if any_match(c):
        b["codes"] = []
    for s, n in enumerate(lengths):
        b["offsets"].append(b["offsets"][-1] + n)
        b["tokens"] += [r.randrange(c["vocab"]) for _ in range(n)]
        for l in range(L):
            b["ids"][l] += draw_ids(kinds[l], n, r)
        # scattered: the second sequence has no token loss at all
        on = {"all": [True] * n, "last": [t == n - 1 for t in range(n)],
              "scattered": [s != 1 and r.random() < 0.3 for t in range(n)],
              "few": [t % 8 == 3 for t in range(n)],
              "answer": [t >= n // 2 for t in range(n)]}[loss]
        b["targets"] += [r.randrange(c["vocab"]) if o else NONE for o in on]
        for l in range(L):
            classes = at(c, "id_classes", l)
            b["id_targets"][l] += [r.randrange(classes) if classes and r.random() < share
                                   and (loss != "answer" or on[t]) else NONE for t in range(n)]
        for l in range(L):
            if at(c, "pointer", l):
                b["point_targets"][l] += draw_point_targets(b["ids"][l][-n:], share, r)
            elif any_pointer(c):
                b["point_targets"][l] += [NONE] * n
        if any_match(c):
            b["codes"] += [r.randrange(3) if c.get("coded") and t < n // 2 else NONE
                           for t in range(n)]
            for l in range(L):
                if at(c, "match", l):
                    draw_matches(c, b, l, len(b["tokens"]) - n, len(b["tokens"]), r)
    return b


def param_shapes(c):
    """name -> shape, in the order of the model's table."""
    V, C, H, L = c["vocab"], c["width"], c["heads"], levels(c)
    ff = c["ff"] or 4 * C
    shapes = {"embed.weight": (V, C)}
    if c["encoding"] == "learned":
        shapes["position.weight"] = (L * (c["max_id"] + 1), C)

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
        if c.get("sink"):
            shapes[p + "attn.sink"] = (1, H)
        if c["encoding"] == "relative":
            shapes[p + "position.bias"] = (H, sum(
                at(c, "window_hi", l) - at(c, "window_lo", l) + 1 for l in range(L)))
        if c["encoding"] == "t5":
            shapes[p + "position.bias"] = (H, 64 * L)
        if c["encoding"] == "fire":
            shapes[p + "position.bias"] = (L, 2 + 2 * FIRE + (FIRE + 1) * H)
        norm(p + "norm2")
        linear(p + "ff.up", 2 * ff if c["act"] == "swiglu" else ff, C)
        linear(p + "ff.down", C, ff)
    norm("final_norm")
    if not c["tied"]:
        shapes["head.weight"] = (V, C)
    for l in range(L):
        if at(c, "id_classes", l):
            shapes[id_head(l)] = (at(c, "id_classes", l), C)
        if at(c, "pointer", l):
            shapes["pointer.%d.query.weight" % l] = (C, C)
            shapes["pointer.%d.key.weight" % l] = (C, C)
            shapes["pointer.%d.place" % l] = (1, 4)
        if at(c, "match", l):
            shapes["match.%d.query.weight" % l] = (C, C)
            shapes["match.%d.key.weight" % l] = (C, C)
            shapes["match.%d.bias" % l] = (1, 1)
    return shapes


def id_head(level):
    return "id_head.%d.weight" % level if level else "id_head.weight"


def draw_fire(c, cols, r):
    """ln c, ln L (some IDs are below L, some above), a, b, and each head's w and o."""
    row = [math.log(0.3) + r.gauss(0, 0.2), math.log(9) + r.gauss(0, 0.2)]
    row += [r.gauss(0, 1.0) for _ in range(FIRE)] + [r.gauss(0, 0.5) for _ in range(FIRE)]
    return row + [r.gauss(0, 0.35) for _ in range(cols - len(row))]


def draw_place(c, r):
    """At 0, the slope above, below, the slope below."""
    slopes = [r.uniform(0.4, 1.6) for _ in range(2)]
    if c.get("cut_slopes"):
        slopes = [-0.3, -0.2]
    place = [r.gauss(0, 0.5), slopes[0], r.gauss(0, 0.5), slopes[1]]
    return [x / SHARP for x in place]


def draw_params(c, r):
    """Values that a float32 holds exactly; large enough that attention is far from uniform."""
    params = {}
    for name, (rows, cols) in param_shapes(c).items():
        mean, std = 0.0, 0.6 / math.sqrt(cols)
        if "norm" in name and name.endswith(".weight"):
            mean, std = 1.0, 0.2
        elif name.endswith("attn.scale"):
            mean, std = 0.8, 0.2
        elif name.endswith("attn.sink"):
            mean, std = 0.5, 1.0
        elif name.endswith("position.bias"):
            std = 1.0
        elif name.startswith("match") and name.endswith(".bias"):
            std = 0.5 / SHARP
        elif name.endswith(".bias"):
            std = 0.2
        elif name == "embed.weight":
            std = 1.0 if not c["tied"] else 0.5
        elif name == "head.weight" or name.startswith("id_head"):
            std = 1.0 / math.sqrt(cols)
        elif name == "position.weight":
            std = 0.7
        elif name.startswith("pointer") or name.startswith("match"):
            std = 1.2 / math.sqrt(cols * SHARP)
        rows_qk = 2 * c["width"] if name.endswith("qkv.weight") else 0
        data = [[r.gauss(mean, 1.3 / math.sqrt(cols) if i < rows_qk else std)
                 for _ in range(cols)] for i in range(rows)]
        if name.endswith("position.bias") and c["encoding"] == "fire":
            data = [draw_fire(c, cols, r) for _ in range(rows)]
        elif name.endswith(".place"):
            data = [draw_place(c, r)]
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


def yarn_kept(c, d, k):
    """The share of pair k's frequency that YaRN keeps."""
    def pair(turns):
        return d * math.log(c["rope_length"] / (2 * math.pi * turns)) / \
               (2 * math.log(c["rope_base"]))
    lo = min(max(math.floor(pair(32)), 0), d - 1)
    hi = min(max(math.ceil(pair(1)), 0), d - 1)
    if hi == lo:
        hi = lo + 0.001
    return 1 - torch.clamp((k - lo) / (hi - lo), 0, 1)


def frequencies(c, pairs):
    """theta of one level that has so many pairs."""
    d, base, scaling = 2 * pairs, c["rope_base"], c.get("rope_scaling", "plain")
    s, L = c.get("rope_factor", 1.0), c.get("rope_length", 0)
    n = c.get("length", L)
    k = torch.arange(pairs, dtype=torch.float64)
    if scaling == "ntk":
        base *= s ** (d / (d - 2))
    if scaling == "dynamic" and n > L:
        base *= (s * n / L - (s - 1)) ** (d / (d - 2))
    theta = base ** (-2.0 * k / d)
    if scaling == "linear":
        theta = theta / s
    if scaling == "yarn":
        m = yarn_kept(c, d, k)
        theta = theta * ((1 - m) / s + m)
    return theta


def rotate(c, x, ids):
    """x[H,T,D], ids[levels,T]: pairs (i, i + R/2) of the first R dims, by ID * theta_i, each
    level a run of the pairs. Nothing is left of the pairs of a level without an ID."""
    D = x.shape[-1]
    R = 2 * int(c["rope_share"] * D / 2)
    if R == 0:
        return x
    cos, sin = [], []
    for l in range(levels(c)):
        angle = ids[l].double()[:, None] * frequencies(c, len(run_of(R // 2, c, l)))
        absent = (ids[l] == ABSENT)[:, None]
        cos.append(torch.cos(angle).masked_fill(absent, 0.0))
        sin.append(torch.sin(angle).masked_fill(absent, 0.0))
    size = 0.1 * math.log(c["rope_factor"]) + 1 if c.get("rope_scaling") == "yarn" else 1.0
    cos, sin = (size * torch.cat(y, -1).to(x.dtype) for y in (cos, sin))
    a, b, rest = x[..., :R // 2], x[..., R // 2:R], x[..., R:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


def added_input(c, p, ids, dtype):
    """What learned and sinusoidal add to the embedding. ids [levels, rows] -> [rows, C]."""
    C, parts = c["width"], []
    for l in range(levels(c)):
        there = (ids[l] != ABSENT)[:, None]
        known = ids[l].clamp(min=0)
        if c["encoding"] == "learned":
            assert int(known.max()) <= c["max_id"]
            x = p["position.weight"][l * (c["max_id"] + 1) + known]
        else:
            run = run_of(C // 2, c, l)
            D = 2 * len(run)
            x = torch.zeros(ids.shape[1], C, dtype=dtype)
            for k, j in enumerate(run):
                angle = known.double() * 10000.0 ** (-2.0 * k / D)
                x[:, 2 * j], x[:, 2 * j + 1] = torch.sin(angle), torch.cos(angle)
        parts.append(x.masked_fill(~there, 0.0))
    return sum(parts)


def alibi_slopes(H):
    def of(n):  # a power of two
        return [2.0 ** (-8.0 * h / n) for h in range(1, n + 1)]
    P = 2 ** int(math.log2(H))
    return torch.tensor((of(P) + of(2 * P)[0::2])[:H], dtype=torch.float64)


def t5_bucket(d):
    """d = query ID - key ID."""
    a = d.abs()
    large = 16 + torch.floor(16 * torch.log(a.clamp(min=16) / 16.0) / math.log(128 / 16)).long()
    return torch.where(a < 16, a, large.clamp(max=31)) + 32 * (d < 0)


def fire_bias(c, row, query, delta):
    """query [T] IDs, delta [query, key] = key ID - query ID -> [H,T,T]."""
    H = c["heads"]
    scale, L = torch.exp(row[0]), torch.exp(row[1])
    a, b = row[2:2 + FIRE], row[2 + FIRE:2 + 2 * FIRE]
    heads = row[2 + 2 * FIRE:].reshape(H, FIRE + 1)

    def psi(x):
        return torch.log(scale * x + 1)
    d = -delta.to(row.dtype)
    sign = torch.where(d < 0, -1.0, 1.0).to(row.dtype)
    x = sign * psi(d.abs()) / psi(torch.maximum(L, query.to(row.dtype)))[:, None]
    unit = a * x[..., None] + b
    with torch.no_grad():  # near its kink a unit is on in one precision and off in another
        near = float(unit.abs().min())
        STATS.setdefault("kink", []).append(near)
    return torch.einsum("qku,hu->hqk", torch.relu(unit), heads[:, :FIRE]) + \
        heads[:, FIRE][:, None, None]


def level_bias(c, p, layer, l, query, delta):
    """What level l adds to the scores of pairs that both have an ID there: [H,T,T]."""
    if c["encoding"] == "relative":
        first = sum(at(c, "window_hi", i) - at(c, "window_lo", i) + 1 for i in range(l))
        lo, hi = at(c, "window_lo", l), at(c, "window_hi", l)
        return p[layer + "position.bias"][:, first + delta.clamp(lo, hi) - lo]
    if c["encoding"] == "alibi":
        return (-alibi_slopes(c["heads"])[:, None, None] * delta.abs()).to(p["embed.weight"].dtype)
    if c["encoding"] == "t5":
        return p[layer + "position.bias"][:, 64 * l + t5_bucket(-delta)]
    return fire_bias(c, p[layer + "position.bias"][l], query, delta)


def pairs_of(ids):
    """ids [levels,T] -> both have an ID, key ID - query ID (0 where not), [levels,query,key]."""
    there = ids != ABSENT
    both = there[:, :, None] & there[:, None, :]
    return both, (ids[:, None, :] - ids[:, :, None]).masked_fill(~both, 0)


def seen_keys(c, ids):
    """[query, key]"""
    T = ids.shape[1]
    seen = torch.ones(T, T).tril().bool()
    if c["span"] == "full":
        return seen
    both, delta = pairs_of(ids)
    for l in range(levels(c)):
        inside = (delta[l] >= at(c, "window_lo", l)) & (delta[l] <= at(c, "window_hi", l))
        seen &= ~both[l] | inside
    alone = (ids == ABSENT).all(0)
    return seen & both.any(0) | torch.diag(alone)


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
    seen = seen_keys(c, ids)
    if c["encoding"] in ("relative", "alibi", "t5", "fire"):
        both, delta = pairs_of(ids)
        for l in range(levels(c)):
            bias = level_bias(c, p, layer, l, ids[l].clamp(min=0), delta[l])
            z = z + bias.masked_fill(~both[l], 0.0)
    n = seen.sum(-1)
    if c["scores"] == "ssmax":
        z = z * p[layer + "attn.scale"][0][:, None, None] * torch.log(n.to(z.dtype))[:, None]
    scores, keys = z, seen
    if c.get("sink"):  # one more score, without a value
        sink = p[layer + "attn.sink"][0][:, None, None].expand(H, T, 1)
        scores = torch.cat([z, sink], -1)
        keys = torch.cat([seen, torch.ones(T, 1, dtype=torch.bool)], -1)
    if c["scores"] == "entmax15":
        a = entmax15(scores, keys)
    else:
        a = torch.softmax(scores.masked_fill(~keys, -math.inf), -1)
    assert float((a.sum(-1) - 1).abs().max()) < 1e-5
    a = a[..., :T]
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
    """-> logits [rows,V]; final states; norm1 of what enters the last layer."""
    H, D = c["heads"], c["width"] // c["heads"]
    ids = torch.tensor(b["ids"])
    x = p["embed.weight"][torch.tensor(b["tokens"])]
    if c["encoding"] in ("learned", "sinusoidal"):
        x = x + added_input(c, p, ids, x.dtype)
    entered = x
    for n in range(c["layers"] * c.get("loops", 1)):
        layer = "layers.%d." % (n % c["layers"])
        if c.get("inject") and n and n % c["layers"] == 0:
            x = x + entered
        h1 = norm(c, p, layer + "norm1", x)
        qkv = linear(c, p, layer + "attn.qkv", h1)
        parts = []
        for lo, hi in zip(b["offsets"], b["offsets"][1:]):
            q, k, v = (y.reshape(hi - lo, H, D).transpose(0, 1)
                       for y in qkv[lo:hi].chunk(3, -1))
            a = attention(c, p, layer, q, k, v, ids[:, lo:hi])
            parts.append(a.transpose(0, 1).reshape(hi - lo, H * D))
        o = linear(c, p, layer + "attn.out", torch.cat(parts))
        if c["parallel"]:
            x = x + o + feed_forward(c, p, layer, norm(c, p, layer + "norm2", x))
        else:
            x = x + o
            x = x + feed_forward(c, p, layer, norm(c, p, layer + "norm2", x))
    h = norm(c, p, "final_norm", x)
    return h @ p["embed.weight" if c["tied"] else "head.weight"].T, h, h1


def pointer_scores(p, name, q, keys, ids):
    """Of the last of these tokens: keys and ids of it and all before it. A slope is cut at 0;
    its gradient here is as if it were not, see cut_gradients."""
    u = p[name + ".place"][0]
    at_zero, below = u[0], u[2]
    above, under = (u[i] + (u[i].clamp(min=0) - u[i]).detach() for i in (1, 3))
    there = ids != ABSENT
    s = SHARP * (keys @ q) / math.sqrt(len(q))
    if there.any():
        d = (ids - ids[there][-1]).masked_fill(~there, 0).to(s.dtype)
        d = d / (1 + d.abs())
        u = torch.where(d == 0, at_zero, torch.where(d > 0, -above * d, below + under * d))
        s = s + SHARP * u
    return s.masked_fill(~there, -math.inf)


def point(c, p, b, level, h, h1):
    """-> the mean loss, the found IDs of all rows. No found ID where two IDs are almost tied."""
    name = "pointer.%d" % level
    ids = torch.tensor(b["ids"][level])
    keys, queries = h1 @ p[name + ".key.weight"].T, h @ p[name + ".query.weight"].T
    losses, found = [], []
    for lo, hi in zip(b["offsets"], b["offsets"][1:]):
        for t in range(lo, hi):
            before, wanted = ids[lo:t + 1], b["point_targets"][level][t]
            s = pointer_scores(p, name, queries[t], keys[lo:t + 1], before)
            if wanted != NONE:
                right = s.masked_fill(before != wanted, -math.inf)
                losses.append(torch.logsumexp(s, 0) - torch.logsumexp(right, 0))
            best = before[int(s.argmax())] if bool((before != ABSENT).any()) else ABSENT
            other = s[(before != best) & (before != ABSENT)]
            clear = len(other) == 0 or float(s.max() - other.max()) > 1e-3
            found.append(int(best) if clear else None)
    return torch.stack(losses).mean(), found


def match(c, p, b, level, h, h1):
    """-> the mean loss, the found IDs of all rows; None where a score is almost 0. By numbers: logistic,
    the mean over the keys that are asked for and the sum over the others. By the ID alone: the chance that
    no key which is nearer matches, and one with the right ID does. Each sequence is a shard of its own."""
    name, order = "match.%d" % level, at(c, "match", level)
    ids = b["ids"][level]
    keys, queries = h1 @ p[name + ".key.weight"].T, h @ p[name + ".query.weight"].T
    losses, found = [], []
    for lo, hi in zip(b["offsets"], b["offsets"][1:]):
        places = match_keys(c, b, level, lo, hi)
        for t in range(lo, hi):
            wanted, carried = b["point_targets"][level][t], carried_id(ids, lo, t)
            z = SHARP * ((keys[places] @ queries[t]) / math.sqrt(c["width"]) + p[name + ".bias"][0])
            z = dict(zip(places, z))
            # in the order in which they are asked
            asked = [k for k in places if in_order(order, ids[k], carried)]
            asked.sort(key=lambda k: {NEXT: ids[k], PREVIOUS: -ids[k], ANY: -k}[order])
            hit = [ids[k] for k in asked if float(z[k]) > 0]
            clear = all(abs(float(x)) > 1e-3 for x in z.values())
            found.append((hit[0] if hit else ABSENT) if clear else None)
            if wanted == NONE:
                continue
            if b["codes"][t] != NONE:
                right = [z[k] for k in places if b["codes"][k] == b["codes"][t]]
                wrong = [z[k] for k in places if b["codes"][k] != b["codes"][t]]
                loss = sum(F.softplus(-x) for x in right) / len(right)
                losses.append(loss + sum(F.softplus(x) for x in wrong))
                continue
            left, loss = torch.ones((), dtype=h.dtype), 0.0
            first = next(i for i, k in enumerate(asked) if ids[k] == wanted)
            for k in asked:
                if ids[k] == wanted:
                    left = left * torch.sigmoid(-z[k])
            for k in asked[:first]:
                loss = loss + F.softplus(z[k])
            losses.append(loss - torch.log(1 - left))
    return torch.stack(losses).mean(), found


def losses(c, p, b):
    logits, h, h1 = forward(c, p, b)
    out = dict(logits=logits, pointed=[])
    out["loss"] = F.cross_entropy(logits, torch.tensor(b["targets"]), ignore_index=NONE)
    out["id_loss"] = torch.zeros((), dtype=logits.dtype)
    for l in range(levels(c)):
        found = [ABSENT] * len(b["tokens"])
        if at(c, "id_classes", l):
            out[id_logits(l)] = h @ p[id_head(l)].T
            out["id_loss"] = out["id_loss"] + F.cross_entropy(
                out[id_logits(l)], torch.tensor(b["id_targets"][l]), ignore_index=NONE)
        if at(c, "pointer", l):
            loss, found = point(c, p, b, l, h, h1)
            out["id_loss"] = out["id_loss"] + loss
        if at(c, "match", l):
            loss, found = match(c, p, b, l, h, h1)
            out["id_loss"] = out["id_loss"] + loss
        out["pointed"].append(found)
    return out


def id_logits(level):
    return "id_logits.%d" % level if level else "id_logits"


def has_id_loss(c):
    return any_pointer(c) or any(at(c, "id_classes", l) for l in range(levels(c)))


def total(c, out):
    return out["loss"] + c.get("id_weight", 0.0) * out["id_loss"]


def cut_gradients(p):
    """A slope that is cut learns only what would raise it."""
    for k, v in p.items():
        if k.endswith(".place"):
            for i in (1, 3):
                if float(v[0, i]) <= 0 and float(v.grad[0, i]) > 0:
                    v.grad[0, i] = 0.0


def solve(c, params, b, dtype):
    """Everything that a test compares, by tensor name, and the pointers' IDs."""
    p = {k: v.to(dtype).requires_grad_() for k, v in params.items()}
    got = losses(c, p, b)
    total(c, got).backward()
    cut_gradients(p)
    out = {"loss": got["loss"].detach().reshape(1, 1)}
    if has_id_loss(c):
        out["id_loss"] = got["id_loss"].detach().reshape(1, 1)
    for k in got:
        if "logits" in k:
            out[k] = got[k].detach()
    for k, v in p.items():
        out["grad:" + k] = v.grad
    return out, got["pointed"]


# ---- Checks of the reference itself -----------------------------------------------------


def check_directions(name, c, params, b, ref, r):
    """Central differences along one random direction in each tensor."""
    p = {k: v.double() for k, v in params.items()}

    def value(q):
        with torch.no_grad():
            return float(total(c, losses(c, q, b)))

    for k, v in p.items():
        d = torch.tensor([[r.gauss(0, 1) for _ in range(v.shape[1])]
                          for _ in range(v.shape[0])], dtype=torch.float64)
        if k.endswith(".place"):
            d[0, 1::2][v[0, 1::2] <= 0] = 0.0  # cut: the loss does not depend on it
        d /= d.norm()
        e = 1e-5
        slope = (value(dict(p, **{k: v + e * d})) - value(dict(p, **{k: v - e * d}))) / (2 * e)
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


def count_id_right(c, ref, pointed, b):
    """The same of all heads and pointers."""
    right = 0
    for l in range(levels(c)):
        if at(c, "id_classes", l):
            n = count_right(ref[id_logits(l)], b["id_targets"][l])
            if n is None:
                return None
            right += n
        if at(c, "pointer", l) or at(c, "match", l):
            if None in pointed[l]:
                return None
            right += sum(f == t for f, t in zip(pointed[l], b["point_targets"][l]) if t != NONE)
    return right


def clear(c, ref):
    """No unit of fire so near its kink that a float could be on the other side; the two cut
    slopes of cut_slopes: one gradient passes, one does not."""
    if min(STATS.get("kink", [1.0])) < 1e-5:
        return False
    if c.get("cut_slopes"):
        g = ref["grad:pointer.0.place"][0]
        return float(g[1]) < 0 and float(g[3]) == 0
    return True


# ---- The file -------------------------------------------------------------------------


class Writer:
    def __init__(self, path):
        self.f = open(path, "wb")
        self.f.write(b"lengthen-fixture 1\n")

    def value(self, key, x):
        text = repr(x) if isinstance(x, float) else str(x)
        if isinstance(x, tuple):
            text = " ".join(str(i) for i in x)
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
    return key not in ("cut_slopes", "coded") and c[key] != ()


def make(name, c, lengths, ids, loss):
    right = id_right = None
    for attempt in range(100):
        r = random.Random("%s %d" % (name, attempt))
        b = draw_batch(c, lengths, ids, loss, r)
        if not is_whole(c, ids, b):
            continue
        params = draw_params(c, r)
        STATS.clear()
        ref, pointed = solve(c, params, b, torch.float64)
        right = count_right(ref["logits"], b["targets"])
        id_right = count_id_right(c, ref, pointed, b)
        if right is not None and id_right is not None and clear(c, ref):
            break
    else:
        sys.exit(name + ": no draw without logits that are almost tied")
    stats = {k: sum(v) / len(v) for k, v in STATS.items()}
    check_directions(name, c, params, b, ref, r)
    single = solve(c, params, b, torch.float32)[0]
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
    w.value("id_loss", float(ref["id_loss"]) if has_id_loss(c) else 0.0)
    w.value("right", right)
    w.value("id_right", id_right)
    w.value("grad_norm", math.sqrt(sum(float((v ** 2).sum()) for k, v in ref.items()
                                       if k.startswith("grad:"))))
    b = dict(b, **{k: [b[k]] for k in ("offsets", "tokens", "targets")})
    for key in ("offsets", "tokens", "ids", "targets", "id_targets"):
        w.array("i32", key, b[key])
    if any_pointer(c):
        w.array("i32", "point_targets", b["point_targets"])
        w.array("i32", "pointed", pointed)
    if any_match(c):
        w.array("i32", "codes", [b["codes"]])
    for k, v in params.items():
        w.array("f32", "param:" + k, v.tolist())
    for k in ref:
        if "logits" in k:
            w.array("f64", k, ref[k].tolist())
    for k in params:
        w.array("f64", "grad:" + k, ref["grad:" + k].tolist())
    w.close()
    size = os.path.getsize(path)
    print("%-36s %7d bytes  rows %3d  targets %3d  loss %.4f  of %5.1f keys the top has %.2f, "
          "%3.0f%% not 0  float32 %.1e %s" %
          (name, size, len(b["tokens"][0]), sum(t != NONE for t in b["targets"][0]),
           float(ref["loss"]), stats["keys"], stats["top"], 100 * stats["support"], worst, where))
    return size


def main():
    torch.set_num_threads(1)
    os.makedirs(os.path.join(HERE, "fixtures"), exist_ok=True)
    print("torch", torch.__version__)
    cases = [x for x in CASES if not sys.argv[1:] or x[0] in sys.argv[1:]]
    print("total", sum(make(*x) for x in cases), "bytes,", len(cases), "cases")


if __name__ == "__main__":
    main()
