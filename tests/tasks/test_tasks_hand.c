/* test_tasks_hand.c: the checkers on texts written by hand. They accept the right ones, refuse
 * the wrong ones, and the solvers find the right answers: a checker that says yes to all, or no
 * to all, fails here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"

struct by_hand {
    const char *task, *setting[4];
    const char *right;     /* with a / in front of the answer, which is no word of it */
    const char *wrong[14]; /* the same settings; NULL ends */
};

/* clang-format off */
static const struct by_hand cases[] = {
    {"parity", {NULL}, "1 1 1 0 = / 1",
     {"1 1 1 0 = 0", "1 1 1 0 1", "1 1 1 0 =", "1 1 1 0 = 1 $", "1 2 1 0 = 1", "= 0", "1  1 = 0", " 1 = 1",
      "1 = 1 ", "1 1 1 0 = 2", ""}},
    {"parity-scratchpad", {NULL}, "1 0 1 1 = / 1 1 0 1 $",
     {"1 0 1 1 = 1 1 0 0 $", "1 0 1 1 = 1 0 0 1 $", "1 0 1 1 = 1 1 0 $", "1 0 1 1 = 1 1 0 1",
      "1 0 1 1 = 1 1 0 1 $ $", "1 0 1 1 = 1 1 0 1 1 $", "1 0 0 1 = 1 1 0 1 $", "1 0 1 1 1 1 0 1 $"}},
    {"parity-scratchpad", {"scan=backward"}, "1 0 1 1 = / 1 0 0 1 $",
     {"1 0 1 1 = 1 1 0 1 $", "1 0 1 1 = 1 0 0 0 $", "0 0 1 1 = 1 0 0 1 $"}},
    {"sparse-parity", {NULL}, ". 1 * 1 . 0 * 0 * 1 / 0",
     {". 1 * 1 . 0 * 0 * 1 1", ". 1 * 1 . 0 * 0 * 1", ". 1 . 1 . 0 . 0 . 1 0", ". 1 * 1 . 0 * 1 * 1 0",
      ". 1 * 1 . 0 * 0 * 1 0 $", "1 . 1 * 0 . 0 * 1 * 0", "* * 0", "0"}},
    {"sparse-parity-scratchpad", {NULL}, "* 1 . 1 * 0 * 1 | = / > 1 1 > 0 1 > 1 0 > $",
     {"* 1 . 1 * 0 * 1 | = > 1 1 > 1 0 > 0 0 > 1 1 > $", "* 1 . 1 * 0 * 1 | = > 1 1 > 0 1 > 1 0 $",
      "* 1 . 1 * 0 * 1 | = > 1 1 > 0 1 > 1 1 > $", "* 1 . 1 * 0 * 1 | = > 1 1 > 1 1 > 1 0 > $",
      "* 1 . 1 * 0 * 1 | = > 1 1 > 1 0 > $", "* 1 . 1 * 0 * 1 | = > 1 1 > 0 1 > 1 0 > > $",
      "* 1 . 1 * 0 * 1 = > 1 1 > 0 1 > 1 0 > $", "* 1 . 1 * 0 * 1 | = 1 1 1 0 $",
      ". 1 . 1 . 0 . 1 | = > $", "* 1 . 1 . 0 * 1 | = > 1 1 > 0 1 > 1 0 > $",
      "* 1 . 1 * 0 * 1 | = > 1 1 > 0 1 > 1 0 >"}},
    {"sparse-parity-scratchpad", {"walk=dense"}, "* 1 . 1 * 0 * 1 | = / 1 1 1 0 $",
     {"* 1 . 1 * 0 * 1 | = > 1 1 > 0 1 > 1 0 > $", "* 1 . 1 * 0 * 1 | = 1 0 0 1 $",
      "* 1 . 1 * 0 * 1 | = 1 1 0 $", "* 1 . 1 * 0 * 1 | = 1 1 1 0 0 $"}},
    {"variable-assignment", {NULL}, "v7 := v3 v9 := c1 v3 := c4 v2 := v7 ? v2 / > v7 > v3 > c4 $",
     {"v7 := v3 v9 := c1 v3 := c4 v2 := v7 ? v2 > v7 > v3 > c1 $",
      "v7 := v3 v9 := c1 v3 := c4 v2 := v7 ? v2 > v7 > c4 $",
      "v7 := v3 v9 := c1 v3 := c4 v2 := v7 ? v2 > v3 > v7 > c4 $",
      "v7 := v3 v9 := c1 v3 := v7 v2 := v7 ? v9 > c1 $", /* a circle beside the chain */
      "v7 := v3 v7 := c1 v3 := c4 v2 := v9 ? v3 > c4 $",
      "v7 := v3 v9 := c1 v3 := c4 v2 := v8 ? v7 > v3 > c4 $",
      "v7 := v3 v9 := c1 v3 := c4 v2 := v7 ? v8 > c4 $",
      "v7 := v3 v9 := c1 v3 := c10 v2 := v7 ? v2 > v7 > v3 > c10 $",
      "v200 := c1 ? v200 > c1 $", "v7 := c1 v07 := c1 ? v7 > c1 $",
      "v7 := v3 v9 := c1 v3 := c4 v2 := v7 ? v2 > v7 > v3 > c4", "v7 v3 v9 := c1 ? v9 > c1 $"}},
    {"variable-assignment", {"shuffled=no"}, "v3 := c4 v7 := v3 v1 := v3 ? v7 / > v3 > c4 $",
     {"v7 := v3 v3 := c4 v1 := v3 ? v7 > v3 > c4 $", "v3 := c4 v7 := v7 ? v3 > c4 $"}},
    {"variable-assignment", {"scratchpad=no"}, "v7 := v3 v3 := c4 ? v7 / c4 $",
     {"v7 := v3 v3 := c4 ? v7 > v3 > c4 $", "v7 := v3 v3 := c4 ? v7 c3 $", "v7 := v3 v3 := c4 ? v7 v3 $",
      "v7 := v3 v3 := c4 ? v7 $"}},
    {"variable-assignment", {"name_tokens=2", "names=5"},
     "v1 v2 := v2 v1 v2 v1 := c9 v1 v1 := v1 v2 ? v1 v2 / > v2 v1 > c9 $",
     {"v1 v2 := v2 v1 v2 v1 := c9 v1 v2 := v1 v2 ? v1 v2 > v2 v1 > c9 $",
      "v1 v2 := v2 v1 v2 v1 := c9 v1 v1 := v1 v2 ? v1 v2 > v2 v2 > c9 $",
      "v1 v2 := v2 v2 v1 := c9 v1 v1 := v1 v2 ? v2 v1 > c9 $",
      "v1 v2 := v2 v1 v2 v1 := c9 v1 v1 := v1 v2 ? v1 v2 > v2 > v1 > c9 $",
      "v1 v5 := c9 ? v1 v5 > c9 $"}},
    {"retrieval", {NULL}, "k3 : v5 k1 : v7 k2 : v5 ? k1 / > v7 $",
     {"k3 : v5 k1 : v7 k2 : v5 ? k1 > v5 $", "k3 : v5 k1 : v7 k1 : v7 ? k1 > v7 $",
      "k3 : v5 k1 : v7 k2 : v5 ? k4 > v5 $", "k3 : v5 k1 : v7 k2 : v5 ? k1 v7 $",
      "k3 : v5 k1 : v7 k2 : v5 ? k1 > v7", "k3 : v5 k1 v7 k2 : v5 ? k1 > v7 $",
      "k3 : v5 k1 : v7 k2 : v200 ? k1 > v7 $", "k3 : v5 k1 : v7 ? k1 > v7 v7 $", "? k1 > v7 $"}},
    {"retrieval", {"key_tokens=2", "value_tokens=3", "scratchpad=no"},
     "k1 k2 : v1 v2 v3 k2 k1 : v4 v5 v6 ? k2 k1 / v4 v5 v6 $",
     {"k1 k2 : v1 v2 v3 k2 k1 : v4 v5 v6 ? k2 k1 v4 v5 v3 $",
      "k1 k2 : v1 v2 v3 k1 k2 : v4 v5 v6 ? k1 k2 v1 v2 v3 $",
      "k1 k2 : v1 v2 v3 k2 k1 : v4 v5 v6 ? k1 k2 v4 v5 v6 $",
      "k1 k2 : v1 v2 v3 k2 k1 : v4 v5 v6 ? k2 k1 > v4 v5 v6 $",
      "k1 k2 : v1 v2 k2 k1 : v4 v5 v6 ? k2 k1 v4 v5 v6 $"}},
    {"planted", {NULL}, "a C b b h C / same",
     {"a C b b h C other", "a C b b h D same", "a C b b h a same", "a C b C h C same", "a C b b i C same",
      "a C b b h C", "a C b b h C same $", "a C b b h E other"}},
    {"planted", {"table=lookup"}, "P1 a b P1 P0 c / y6",
     {"P1 a b P1 P0 c y3", "P1 a b P1 P1 c y6", "P1 a b P1 c c y6", "P1 a b P2 P0 c y6", "P1 a b P1 P0 c y8"}},
    {"planted", {"table=/some/where/span.yaml"}, "a b A c B a B c / even",
     {"a b A c B a B c odd", "A b B c c B a c even", "a b A c B a A c even", "a b A c B d B c even"}},
    {"planted", {"table=/some/where/patterns.yaml"}, "x A y z B x / no",
     {"x A y z B x yes", "x B y z A x no", "x A y B z x no", "x B y z B x yes", "x a y z B x no"}},
    /* The worked example of the definition. */
    {"addition", {NULL}, "6 5 3 + 0 4 9 = / 2 0 7 0 $",
     {"6 5 3 + 0 4 9 = 0 7 0 2 $", "6 5 3 + 0 4 9 = 2 0 7 $", "6 5 3 + 4 9 = 2 0 7 0 $",
      "6 5 3 + 0 4 9 = 2 0 7 0", "6 5 3 + 0 4 9 = 2 1 7 0 $", "6 5 3 + 0 4 9 = 2 9 6 0 $",
      "0 5 3 + 0 4 9 = 2 0 1 0 $", "6 5 3 - 0 4 9 = 2 0 7 0 $", "6 5 A + 0 4 9 = 2 0 7 0 $",
      "6 5 3 + 0 4 9 = 2 0 7 0 0 $", "6 5 3 + 0 4 9 2 0 7 0 $", "+ 0 4 9 = 9 4 0 0 $",
      "6 5 3 + 0 4 9 = 2 0 7 1 $"}},
    {"addition", {"answer=plain"}, "9 + 8 = / 1 7 $", {"9 + 8 = 7 1 $", "9 + 8 = 1 6 $", "0 9 + 0 8 = 0 1 7 $"}},
    {"addition", {"operands=reversed"}, "3 5 6 + 9 4 0 = / 2 0 7 0 $",
     {"6 5 3 + 0 4 9 = 2 0 7 0 $", "3 5 0 + 9 4 0 = 2 0 1 0 $"}},
    {"addition", {"padded=no"}, "6 5 3 + 4 9 = / 2 0 7 $",
     {"6 5 3 + 4 9 = 2 0 7 0 $", "6 5 3 + 0 4 9 = 2 0 7 $", "6 5 3 + 4 9 = 2 0 6 $"}},
    {"addition", {"padded=no"}, "0 + 0 = / 0 $", {"0 + 0 = 0 0 $", "0 0 + 0 = 0 $", "0 + 0 = $"}},
    {"addition", {"base=16"}, "F 0 + 1 F = / F 0 1 $", {"F 0 + 1 F = F 1 1 $", "F 0 + 1 G = F 0 1 $"}},
    {"addition", {"base=2"}, "1 1 + 0 1 = / 0 0 1 $", {"1 2 + 0 1 = 1 1 0 $", "1 1 + 0 1 = 0 1 1 $"}},
    {"addition", {"lengths=equal"}, "6 5 3 + 1 4 9 = / 2 0 8 0 $", {"6 5 3 + 0 4 9 = 2 0 7 0 $"}},
    {"addition", {"carry=hard"}, "6 5 3 + 3 4 9 = / 2 0 0 1 $",
     {"6 5 3 + 3 4 6 = 9 9 9 0 $", "6 5 3 + 2 4 9 = 2 0 9 0 $", "9 5 3 + 0 4 9 = 2 0 0 1 $"}},
    {"addition", {"carry=hard"}, "6 0 3 + 4 0 1 = / 4 0 0 1 $", {"6 0 3 + 3 0 1 = 4 0 9 0 $"}},
    {"addition", {"carry=hard", "base=2"}, "1 0 1 + 0 1 1 = / 0 0 0 1 $", {"1 0 1 + 0 1 0 = 1 1 1 0 $"}},
    {"addition", {"hints=5"}, "h0 6 h4 5 + h0 1 h4 5 = / h4 0 h0 8 h1 0 $",
     {"h1 6 h4 5 + h0 1 h4 5 = h4 0 h0 8 h1 0 $", "h0 6 h4 5 + h0 1 h4 5 = h4 0 h0 8 h0 0 $",
      "h0 6 h4 5 + h1 1 h0 5 = h4 0 h0 8 h1 0 $", "h0 6 h4 5 + h0 1 h4 5 = 0 8 0 $",
      "h0 6 h4 5 + h0 1 h4 5 = h1 0 h0 8 h4 0 $", "6 5 + 1 5 = 0 8 0 $",
      "h0 6 h5 5 + h0 1 h5 5 = h5 0 h0 8 h1 0 $"}},
    {"addition", {"hints=2", "padded=no"}, "h0 6 + h0 1 = / h0 7 $", {"h1 1 h0 6 + h0 1 = h0 7 h1 1 $"}},
    {"subtraction", {NULL}, "6 5 3 - 0 4 9 = / 4 0 6 $",
     {"6 5 3 - 0 4 9 = 4 0 6 0 $", "6 5 3 - 0 4 9 = 6 0 4 $", "0 4 9 - 6 5 3 = 6 9 3 $",
      "6 5 3 - 0 4 9 = 4 1 6 $", "6 5 3 - 0 4 9 = 4 0 5 $", "6 5 3 + 0 4 9 = 4 0 6 $", "6 5 3 - 4 9 = 4 0 6 $"}},
    {"subtraction", {"wrap=yes"}, "0 4 9 - 6 5 3 = / 6 9 3 $",
     {"0 4 9 - 6 5 3 = 4 0 6 $", "0 4 9 - 6 5 3 = 6 9 2 $", "0 4 9 - 0 5 3 = 6 9 9 $"}},
    {"subtraction", {"padded=no"}, "1 0 0 - 9 9 = / 1 $", {"1 0 0 - 9 9 = 1 0 0 $", "1 0 0 - 9 9 = $"}},
    {"subtraction", {"padded=no", "answer=plain"}, "1 0 0 - 1 = / 9 9 $",
     {"1 0 0 - 1 = 0 9 9 $", "1 0 0 - 1 = 9 8 $"}},
    {"subtraction", {"padded=no", "wrap=yes"}, "1 - 1 0 0 = / 1 0 9 $", {"1 - 1 0 0 = 9 9 $"}},
    {"multi-addition", {NULL}, "0 7 + 0 8 + 0 9 = / 0 0 > 7 0 > 5 1 > 4 2 $",
     {"0 7 + 0 8 + 0 9 = 0 0 > 7 0 > 5 1 > 3 2 $", "0 7 + 0 8 + 0 9 = 0 0 > 7 0 > 4 2 $",
      "0 7 + 0 8 + 0 9 = 7 0 > 5 1 > 4 2 $", "0 7 + 0 8 + 0 9 = 0 0 > 8 0 > 5 1 > 4 2 $",
      "7 + 8 + 9 = 0 > 7 > 5 > 4 $", "1 7 + 0 8 + 0 9 = 0 0 > 7 1 > 5 2 > 4 3 $",
      "0 7 + 0 8 + 9 = 0 0 > 7 0 > 5 1 > 4 2 $", "0 7 + 0 8 + 0 9 = 4 2 $",
      "0 7 = 0 0 > 7 0 $", "0 7 + 0 8 + 0 9 = 0 0 > 0 7 > 1 5 > 2 4 $"}},
    {"multi-addition", {"scratchpad=no", "base=4"}, "0 3 3 + 0 0 2 = / 1 0 1 $",
     {"0 3 3 + 0 0 2 = 1 1 1 $", "0 3 3 + 0 0 2 = 1 0 1 0 $", "0 3 3 + 1 0 2 = 1 0 2 $",
      "0 3 3 + 0 0 2 = 1 0 1", "0 3 3 + 0 0 4 = 3 0 1 $"}},
    {"multiplication", {NULL}, "1 2 3 * 4 5 = / 5 3 5 5 0 $",
     {"1 2 3 * 4 5 = 5 3 5 5 $", "1 2 3 * 4 5 = 0 5 5 3 5 $", "0 2 3 * 4 5 = 5 3 0 1 0 $",
      "1 2 3 * 4 5 = 5 3 5 5 1 $", "1 2 3 + 4 5 = 8 6 1 0 0 $", "1 2 3 * 4 6 = 5 3 5 5 0 $",
      "1 2 3 * = 5 3 5 5 0 $", "1 2 3 * 4 5 = 5 3 5 5 0"}},
    {"multiplication", {NULL}, "9 9 * 0 9 = / 1 9 8 0 $", {"9 9 * 9 = 1 9 8 0 $"}},
    {"multiplication", {"multiplier=7"}, "1 2 * 7 = / 4 8 0 $", {"1 2 * 8 = 6 9 0 $", "1 2 * 0 7 = 4 8 0 0 $"}},
    {"multiplication", {"scratchpad=yes"}, "1 2 * 3 4 = / 8 4 0 + 6 3 0 = 8 4 0 0 > 8 0 4 0 $",
     {"1 2 * 3 4 = 8 0 4 0 $", "1 2 * 3 4 = 6 3 0 + 8 4 0 = 8 4 0 0 > 8 0 4 0 $",
      "1 2 * 3 4 = 8 4 0 + 6 3 0 = 8 4 0 0 > 8 0 5 0 $", "1 2 * 3 4 = 8 4 0 + 6 3 0 = 8 4 0 1 > 8 0 4 0 $",
      "1 2 * 3 4 = 8 4 0 + 6 3 0 > 8 4 0 0 > 8 0 4 0 $", "1 2 * 3 4 = 8 4 + 6 3 = 8 4 0 0 > 8 0 4 0 $",
      "1 2 * 3 4 = 8 4 0 + 6 3 0 = 8 4 0 > 8 0 4 $", "1 2 * 3 4 = 8 4 0 + 6 3 0 = 8 4 0 0 + 8 0 4 0 $",
      "1 2 * 3 4 = 8 5 0 + 6 3 0 = 8 5 0 0 > 8 1 4 0 $"}},
    {"copy", {NULL}, "a z a = / a z a $",
     {"a z a = a z b $", "a z a = a z $", "a z a = a z a a $", "a z a = a a z $", "a Z a = a Z a $",
      "a z a a z a $", "= $", "w0 = w0 $"}},
    {"copy", {"kind=unique", "alphabet=30"}, "w0 w29 w5 = / w0 w29 w5 $",
     {"w0 w29 w0 = w0 w29 w0 $", "w0 w30 = w0 w30 $", "a b = a b $", "w00 = w00 $"}},
    {"copy", {"hints=3"}, "h2 a h0 a = / h2 a h0 a $",
     {"h2 a h1 a = h2 a h1 a $", "h2 a h0 a = h0 a h2 a $", "a a = a a $", "h2 a h3 a = h2 a h3 a $",
      "h0 a h1 a h2 a h0 a = h0 a h1 a h2 a h0 a $", "h2 a h0 a = h2 a h0 b $"}},
    {"reverse", {NULL}, "a b c = / c b a $", {"a b c = a b c $", "a b c = c b $", "a b c = c b a", "a b c = c a b $"}},
    {"reverse", {"hints=3"}, "h2 a h0 b = / h0 b h2 a $", {"h2 a h0 b = h2 b h0 a $", "h2 a h0 b = b h0 a h2 $"}},
    {"sort", {NULL}, "w10 w9 w99 = / w9 w10 w99 $",
     {"w10 w9 w99 = w10 w9 w99 $", "w10 w9 w99 = w9 w10 $", "w10 w9 w99 = w9 w10 w98 $", "w9 w9 = w9 w9 $",
      "w10 w100 = w10 w100 $", "w10 w9 w99 = w9 w10 w10 $", "w10 w9 w99 = w9 w10 w99"}},
    {"sort", {"kind=random"}, "w3 w1 w3 = / w1 w3 w3 $", {"w3 w1 w3 = w1 w1 w3 $", "w3 w1 w3 = w3 w3 w1 $"}},
    {"majority", {NULL}, "a b b = / b", {"a b b = a", "a b b b", "a b = a", "a b c = b", "a b b = b $", "a b b ="}},
    {"majority", {"alphabet=4"}, "a b c b d = / b", {"a b c b d = a", "a b c b a = b", "a b c b e = b"}},
    {"flip-flop", {NULL}, "w 1 i 0 r 1 w 0 i 1 r / 0",
     {"w 1 i 0 r 1 w 0 i 1 r 1", "w 1 i 0 r 0 w 0 i 1 r 0", "i 1 i 0 r 1 w 0 i 1 r 0", "w 1 i 0 r 1 w 0 i 1 i 0",
      "w 1 r", "r 0", "w 1 i 0 r 1 w 0 i 1 w 0", "w 1 i 0 r 1 w 0 i r 0", "w 1 x 0 r 1", "w 2 r 2"}},
    {"flip-flop", {"ignore=0"}, "w 1 w 0 r 0 r / 0", {"w 1 i 0 r 1", "w 1 w 0 r 0 r 1"}},
    {"machine", {NULL}, "7 2 , 5 1 = / 2 4 0 $",
     {"7 2 , 5 1 = 2 3 0 $", "7 2 , 5 1 = 2 4 $", "7 2 , 5 = 2 4 0 $", "7 2 5 1 = 2 4 0 $", "7 2 , 5 1 = 2 4 1 $",
      "7 2 , 5 1 = 2 c1 4 c0 0 $", "7 2 , 5 1 , 0 0 = 2 4 0 $", "7 A , 5 1 = 2 1 1 $", "7 2 , 5 1 = 2 4 0"}},
    {"machine", {"emit=state"}, "7 2 , 5 1 = / 2 c1 4 c0 0 $", {"7 2 , 5 1 = 2 4 0 $", "7 2 , 5 1 = 2 c0 4 c0 0 $"}},
    {"machine", {"table=times-7"}, "9 8 = / 3 2 6 $", {"9 8 = 3 6 5 $", "9 8 = 3 2 5 $", "9 8 , 0 0 = 3 2 6 $"}},
    {"machine", {"table=times-0"}, "9 8 = / 0 0 0 $", {"9 8 = 0 0 1 $"}},
    {"machine", {"table=count-3"}, "1 1 0 1 1 = / m1 m2 m2 m0 m1 $",
     {"1 1 0 1 1 = m1 m2 m2 m3 m1 $", "1 1 0 1 1 = m1 m2 m0 m1 m2 $", "1 1 0 1 2 = m1 m2 m2 m0 m2 $"}},
    {"machine", {"table=comparison"}, "5 1 7 , 2 3 7 = / gt lt lt $",
     {"5 1 7 , 2 3 7 = gt lt eq $", "5 1 7 , 2 3 7 = gt gt gt $", "5 1 7 , 2 3 7 = lt $"}},
    {"machine", {"table=add-2"}, "1 1 , 1 0 = / 0 0 1 $", {"1 2 , 1 0 = 0 1 1 $"}},
    {"machine", {"table=/some/where/carry.yaml"}, "1 1 , 1 0 = / 0 0 1 $", {"1 1 , 1 0 = 0 0 0 $"}},
    {"machine", {"table=/some/where/toggle.yaml"}, "off flip flip on = / dark light dark light $",
     {"off flip flip on = dark light light light $", "off flip flip on = dark light dark light 0 $"}},
    {"machine", {"table=/some/where/vote.yaml"}, "n n y , n n n , y n y = / won s1 lost s0 won s1 $",
     {"n n y , n n n , y n y = won s1 lost s0 lost s0 $", "n n y , n n n , y n y = won lost won $"}},
};
/* clang-format on */

static int settings_of(const struct by_hand *c)
{
    int n = 0;
    while (n < 4 && c->setting[n]) n++;
    return n;
}

/* The text without its slash; where the answer starts in it. */
static size_t without_slash(const char *from, char text[200])
{
    const char *slash = strstr(from, "/ ");
    assert_non_null(slash);
    snprintf(text, 200, "%.*s%s", (int)(slash - from), from, slash + 2);
    return (size_t)(slash - from);
}

static void right_texts_are_accepted(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[200];
        without_slash(cases[c].right, text);
        const char *wrong = ck_check(cases[c].task, text, cases[c].setting, settings_of(&cases[c]));
        if (wrong) fail_msg("%s: %s: %s", cases[c].task, text, wrong);
    }
}

static void wrong_texts_are_refused(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int w = 0; w < 14 && cases[c].wrong[w]; w++)
            if (!ck_check(cases[c].task, cases[c].wrong[w], cases[c].setting,
                          settings_of(&cases[c])))
                fail_msg("%s: accepted: %s", cases[c].task, cases[c].wrong[w]);
}

static void solvers_find_the_answers(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[200], said[200] = "";
        size_t answer = without_slash(cases[c].right, text);
        struct ck_text prompt;
        struct ck_words w = {0};
        text[answer - 1] = 0;
        assert_int_equal(ck_open(&prompt, text, cases[c].setting, settings_of(&cases[c])), 0);
        const char *wrong = ck_find(cases[c].task)->solve(&prompt, &w);
        if (wrong) fail_msg("%s: %s: %s", cases[c].task, text, wrong);
        for (int i = 0; i < w.n; i++) {
            if (i) strncat(said, " ", sizeof said - strlen(said) - 1);
            strncat(said, w.word[i], sizeof said - strlen(said) - 1);
        }
        if (strcmp(said, text + answer)) fail_msg("%s: %s gives %s", cases[c].task, text, said);
        free(w.word);
        ck_close(&prompt);
    }
}

/* No task may be left out of the table above. */
static void every_checker_is_tried(void **state)
{
    (void)state;
    for (int i = 0; i < lg_task_count(); i++) {
        const char *name = lg_task_info_at(i)->name;
        int right = 0, wrong = 0;
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            if (strcmp(cases[c].task, name)) continue;
            right++;
            for (int w = 0; w < 14 && cases[c].wrong[w]; w++) wrong++;
        }
        if (ck_find(name) && (!right || wrong < 5))
            fail_msg("%s: %d texts right, %d wrong", name, right, wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_texts_are_accepted),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(solvers_find_the_answers),
        cmocka_unit_test(every_checker_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
