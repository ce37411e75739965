#!/usr/bin/env python3
"""evens.py: a task of one's own for exec: is the number of 1s even?

    lengthen sample 'exec:python3 examples/evens.py'

An example is n bits, '=', for each bit whether the number of 1s up to it is even (e) or odd
(o), and the stop token '$':

    1 0 1 = o o e $

Position IDs couple bit i with its answer: both have i, '=' has 0, '$' has n + 1. It is one
JSON object per line, for ever; `lengthen tasks exec` and `lengthen tasks jsonl` say what may be in
it. Standard library only.
"""
import itertools
import json
import os
import random


def example(seed, stream, index, lo, hi):
    """Depends on its arguments alone, so that a run may start at any index."""
    r = random.Random(f"{seed} {stream} {index}")
    n = r.randint(lo, hi)
    bits = [r.randint(0, 1) for _ in range(n)]
    answers = ["eo"[ones % 2] for ones in itertools.accumulate(bits)]
    return {
        "tokens": bits + ["="] + answers + ["$"],
        "ids": list(range(1, n + 1)) + [0] + list(range(1, n + 2)),
        "loss": [0] * (n + 1) + [1] * (n + 1),
        "length": n,
    }


def main():
    def variable(name, fallback):
        return int(os.environ.get("LENGTHEN_" + name, fallback))

    seed, stream, index = variable("SEED", 0), variable("STREAM", 0), variable("INDEX", 0)
    lo, hi = variable("LENGTH_LO", 1), variable("LENGTH_HI", 20)
    # The first line says that this program starts where LENGTHEN_INDEX says.
    print(json.dumps({"lengthen": {"index": True}}), flush=True)
    while True:
        print(json.dumps(example(seed, stream, index, lo, hi)), flush=True)
        index += 1


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):  # nobody reads on: that is the normal end
        os._exit(0)
