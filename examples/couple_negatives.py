#!/usr/bin/env python3
"""couple_negatives.py NAME LENGTH COUNT SEED: lines in which `lengthen couple` should find nothing.

An answer that depends on all of the prompt at once, or on nothing in it.
"""
import collections, hashlib, random

import couple_tasks


def digits(n, r, base):
    return [r.randrange(base) for _ in range(n)]


def hashed(a, i):
    return hashlib.sha256(repr((a, i)).encode()).digest()[0]


def majority(n, r):
    a = digits(2 * n + 3, r, 2)
    return a, [int(2 * sum(a) > len(a))]


def random_labels(n, r):
    a = digits(n + 4, r, 8)
    return a, [r.randrange(4)]


def parity_token(n, r):
    a = digits(n + 6, r, 2)
    return a, [sum(a) % 2]


def random_strings(n, r):
    return digits(n + 4, r, 8), digits(n, r, 4)


def sort(n, r):
    a = digits(n + 3, r, 10)
    return a, sorted(a)


def median(n, r):
    a = digits(2 * n + 3, r, 10)
    return a, [sorted(a)[len(a) // 2]]


def sum_token(n, r):
    a = digits(n + 4, r, 7)
    return a, [sum(a) % 7]


def most_frequent_pair(n, r):
    a = digits(n + 6, r, 3)
    pairs = collections.Counter(zip(a, a[1:]))
    return a, list(min(pairs, key=lambda p: (-pairs[p], p)))


def shuffle(n, r):
    a = digits(n + 4, r, 8)
    order = sorted(range(len(a)), key=lambda i: hashed(a, i))
    return a, [a[i] for i in order]


def hash_string(n, r):
    a = digits(n + 4, r, 8)
    return a, [hashed(a, i) % 4 for i in range(n)]


if __name__ == "__main__":
    couple_tasks.main({"majority": majority, "random-labels": random_labels, "parity-token": parity_token,
                       "random-strings": random_strings, "sort": sort, "median": median, "sum-token": sum_token,
                       "most-frequent-pair": most_frequent_pair, "shuffle": shuffle, "hash": hash_string})
