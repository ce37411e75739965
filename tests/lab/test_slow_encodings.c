/* test_slow_encodings.c: every encoding, in a model of two layers, learns to copy at training
 * length. Without this test an encoding whose gradient is right on paper could still enter the
 * network in a way that nothing can be learned from. */
#include "lab/training.h"

/* parallel: whether the feed-forward reads the stream before the attention or after it; both are
 * architectures that we have, and some encodings learn faster in one of them. */
static void learns(const char *encoding, int steps, int parallel)
{
    struct training x = training_default("copy");
    x.setting = "kind=unique";
    x.model.encoding = encoding;
    x.model.parallel = parallel;
    x.model.max_id = 32;
    x.model.window_lo[0] = -24; /* the ends of `relative` */
    x.model.window_hi[0] = 0;
    x.steps = steps;
    struct trained r = train(&x);
    lg_draw d = draw_of(&x, TEST_STREAM, x.length, 0);
    d.length_lo = 1;
    double share = exact(&r, &d, 1000, 0);
    print_message("%s: %.3f exact at lengths 1 to 10 after %d steps\n", encoding, share, steps);
    trained_free(&r);
    if (share < 0.99) fail_msg("%s: %.3f exact, want 0.99", encoding, share);
}

#define LEARNS(name, encoding, steps, parallel)                                                    \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        learns(encoding, steps, parallel);                                                         \
    }

LEARNS(none, "none", 4000, 0)
LEARNS(learned, "learned", 1000, 0)
LEARNS(sinusoidal, "sinusoidal", 800, 0)
LEARNS(rope, "rope", 1000, 1)
LEARNS(relative, "relative", 1500, 0)
LEARNS(alibi, "alibi", 1500, 0)
LEARNS(t5, "t5", 1500, 0)
LEARNS(fire, "fire", 1000, 1)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none), cmocka_unit_test(learned),  cmocka_unit_test(sinusoidal),
        cmocka_unit_test(rope), cmocka_unit_test(relative), cmocka_unit_test(alibi),
        cmocka_unit_test(t5),   cmocka_unit_test(fire),
    };
    /* A new encoding comes with a row here. */
    if ((size_t)lg_encoding_count() != sizeof tests / sizeof *tests) {
        fprintf(stderr, "an encoding has no test\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
