/* test_stats.c: an interval holds its share, for every count: at 0 and n the formula alone misses
 * by a rounding error, which a test on one sample size does not see. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/stats.h"

static void an_interval_holds_its_share(void **state)
{
    (void)state;
    for (int n = 1; n <= 1000; n++) {
        for (int right = 0; right <= n; right++) {
            double low, high, share = (double)right / n;
            lg__wilson(right, n, &low, &high);
            if (!(0 <= low && low <= share && share <= high && high <= 1)) {
                fail_msg("%d of %d: %.17g is not in %.17g to %.17g", right, n, share, low, high);
            }
        }
    }
}

/* By hand, 0 of 10: high = (z^2/n) / (1 + z^2/n) = 0.384146 / 1.384146; 10 of 10 mirrors it. */
static void an_interval_is_wilsons(void **state)
{
    (void)state;
    double low, high;
    lg__wilson(0, 10, &low, &high);
    assert_true(low == 0 && fabs(high - 0.277533) < 1e-6);
    lg__wilson(10, 10, &low, &high);
    assert_true(high == 1 && fabs(low - 0.722467) < 1e-6);
    lg__wilson(5, 10, &low, &high);
    assert_true(fabs(low - 0.236593) < 1e-6 && fabs(high - 0.763407) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_holds_its_share),
        cmocka_unit_test(an_interval_is_wilsons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
