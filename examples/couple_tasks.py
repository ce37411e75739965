#!/usr/bin/env python3
"""couple_tasks.py NAME LENGTH COUNT SEED: lines of eight small tasks, for `lengthen couple`.

None of them was run while `lengthen couple` was written: results/couple calls them "not built on". Each line is a
prompt, `=`, the answer and `$`; there are no labels.
"""
import json, random, sys


def interleave(n, r):
    """Two strings, letter by letter in turn."""
    a, b = ([r.choice("abcdefgh") for _ in range(n)] for _ in range(2))
    return a + [","] + b, [x for pair in zip(a, b) for x in pair]


def shifted_copy(n, r):
    """A string without its first two letters."""
    a = [r.choice("abcdefgh") for _ in range(n + 2)]
    return a, a[2:]


def running_max(n, r):
    """The largest digit so far of two strings, the second read from its end."""
    a, b = ([r.randrange(6) for _ in range(n)] for _ in range(2))
    out, most = [], 0
    for x, y in zip(a, reversed(b)):
        most = max(most, x, y)
        out.append(most)
    return a + [","] + b, out


def toggles(n, r):
    """A switch that is turned whenever a new run of equal letters begins."""
    a = [r.choice("abc") for _ in range(n)]
    out, state = [], 0
    for i, x in enumerate(a):
        state ^= i > 0 and x != a[i - 1]
        out.append("on" if state else "off")
    return a, out


def carryless_sum(n, r):
    """The digits of three numbers in base 5 added without carry, the lowest first."""
    a, b, c = ([r.randrange(5) for _ in range(n)] for _ in range(3))
    return a + ["+"] + b + ["+"] + c, [(x + y + z) % 5 for x, y, z in zip(a, b, c)][::-1]


def cipher(n, r):
    """Letters moved on in the alphabet by as many places as the first token says."""
    shift, a = r.randrange(6), [r.randrange(6) for _ in range(n)]
    return [str(shift)] + ["abcdef"[x] for x in a], ["abcdef"[(x + shift) % 6] for x in a]


def complement(n, r):
    """A string of n blocks of two bits, each block followed by its complement."""
    a = [r.randrange(2) for _ in range(2 * n)]
    out = []
    for i in range(0, 2 * n, 2):
        out += a[i:i + 2] + [1 - x for x in a[i:i + 2]]
    return a, out


def window_sum(n, r):
    """Each digit with the two behind it, added modulo 4."""
    a = [r.randrange(4) for _ in range(n)]
    return a, [sum(a[i:i + 3]) % 4 for i in range(n)]


TASKS = {"interleave": interleave, "shifted-copy": shifted_copy, "running-max": running_max, "toggles": toggles,
         "carryless-sum": carryless_sum, "cipher": cipher, "complement": complement, "window-sum": window_sum}


def main(tasks):
    name, length, count, seed = sys.argv[1], *map(int, sys.argv[2:5])
    r = random.Random(seed)
    for _ in range(count):
        prompt, answer = tasks[name](length, r)
        tokens = [str(t) for t in prompt + ["="] + answer + ["$"]]
        loss = [0] * (len(prompt) + 1) + [1] * (len(answer) + 1)
        print(json.dumps({"tokens": tokens, "loss": loss, "length": length}))


if __name__ == "__main__":
    main(TASKS)
