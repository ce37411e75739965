#!/usr/bin/python3
"""Compares a model's logits, as lengthen computed them, with PyTorch's.

    /usr/bin/python3 tests/data/check_export.py MODEL [LOGITS]

MODEL is a Hugging Face folder or a llama2.c file, LOGITS a file as make_imports.py describes
(expected.bin in the folder if none is given). The forward passes are those of make_imports.py,
written against the published layouts, in float64. To make such a folder and its logits:

    LG_KEEP_EXPORTS=/tmp/exports build/tests/lab/test_import
    for m in /tmp/exports/*; do /usr/bin/python3 tests/data/check_export.py $m; done

Prints the largest difference of the logits and that of the mean loss of the tokens, and fails if
one is over 1e-4.
"""
import os
import sys

import torch
import torch.nn.functional as F

sys.dont_write_bytecode = True
from make_imports import logits_of, read_expected


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    model = sys.argv[1]
    path = sys.argv[2] if len(sys.argv) == 3 else os.path.join(model, "expected.bin")
    tokens, ours = read_expected(path)
    theirs = logits_of(model, tokens)
    worst = (theirs - ours.double()).abs().max().item()
    next_tokens = torch.tensor(tokens[1:])
    loss = F.cross_entropy(theirs[:-1], next_tokens).item()
    ours_loss = F.cross_entropy(ours[:-1].double(), next_tokens).item()
    print(f"{model}: {len(tokens)} tokens, logits up to {theirs.abs().max().item():.2f}, "
          f"largest difference {worst:.1e}; loss {loss:.6f}, difference {ours_loss - loss:+.1e}")
    return 0 if max(worst, abs(ours_loss - loss)) <= 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
