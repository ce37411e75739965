#!/usr/bin/env python3
"""Makes fixtures/theory.txt: sums over subsets at length 100,000 and k = 8, with 200 digits.

    python3 tests/data/make_theory.py > tests/data/fixtures/theory.txt

Needs Python alone (the module decimal). Scores, words, signs and tables come from closed formulas on
whole numbers and halves, so that the test in C has the same doubles bit by bit. A line of the result:
form, scores, quantity, its value with 30 digits.
"""
from decimal import Decimal, getcontext

getcontext().prec = 200
N, K, SPAN = 100_000, 8, 20
SIGN = [Decimal(1), Decimal("-0.75"), Decimal("0.5")]
PATTERNS = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 2, 3, 5, 7, 11, 13, 17], [0, 1, 4, 9, 16, 25, 36, 49]]


def word(i):
    return (i * i + 3 * i) % 7 % 3


def bit(i):
    return (i * 5 + i // 11) % 3 % 2


def score(kind, i):
    if kind == "wide":  # over -200 .. 200
        return Decimal((i * 7919 + 12345) % 100003 / 100003 * 400 - 200)
    return Decimal(601 if i == 77777 else (i * 7919 + 12345) % 1024 / 1024)  # one 600 above


def table(tuple_number):
    return Decimal((tuple_number * 37 + 11) % 128) / 64 - 1


def multiply(p, a):
    for j in range(len(p) - 1, 0, -1):
        p[j] += a * p[j - 1]


def polynomial(values, degree):
    p = [Decimal(1)] + [Decimal(0)] * degree
    for a in values:
        multiply(p, a)
    return p


def say(form, kind, what, value):
    print(form, kind, what, "%.30e" % value if isinstance(value, float) else f"{value:.30e}")


def anywhere(kind, a):
    b = [x * SIGN[word(i)] for i, x in enumerate(a)]
    den, num = polynomial(a, K)[K], polynomial(b, K)[K]
    say("anywhere", kind, "h", num / den)
    say("anywhere", kind, "log", den.ln())
    for i in (0, 29_498, 77_777):
        without = [polynomial(x[:i] + x[i + 1:], K - 1)[K - 1] for x in (a, b)]
        say("anywhere", kind, f"score{i}", (b[i] * without[1] - num / den * a[i] * without[0]) / den)


def within(kind, a):
    """The first member, times e_(k-1) of the window behind it."""
    b = [x * SIGN[word(i)] for i, x in enumerate(a)]
    total = []
    for x in (a, b):
        total.append(sum((x[i] * polynomial(x[i + 1:i + SPAN], K - 1)[K - 1] for i in range(N)),
                         Decimal(0)))
    say("within", kind, "h", total[1] / total[0])
    say("within", kind, "log", total[0].ln())


def tuples(kind, a):
    """Of two words, in order: 2^j sums for each j."""
    levels = [[Decimal(0)] * 2 ** j for j in range(K + 1)]
    levels[0][0] = Decimal(1)
    for i in range(N):
        for j in range(K, 0, -1):
            up, low, at = levels[j], levels[j - 1], bit(i) << (j - 1)
            for s, value in enumerate(low):
                if value:
                    up[at + s] += a[i] * value
    num = sum(t * table(s) for s, t in enumerate(levels[K]))
    den = sum(levels[K])
    say("tuples", kind, "h", num / den)
    say("tuples", kind, "log", den.ln())


def patterns(kind, a):
    num = den = Decimal(0)
    for p, offsets in enumerate(PATTERNS):
        for i in range(N - offsets[-1]):
            weight, number = Decimal(p + 1), 0
            for j, o in enumerate(offsets):
                weight *= a[i + o]
                number += bit(i + o) << j
            den += weight
            num += weight * table(number)
    say("patterns", kind, "h", num / den)
    say("patterns", kind, "log", den.ln())


def main():
    for kind in ("wide", "one"):
        a = [score(kind, i).exp() for i in range(N)]
        for form in (anywhere, within, tuples, patterns):
            form(kind, a)


main()
