/* test_series.c: points become curves by their names; a figure that lacks memory is refused, never drawn with
 * fewer points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/memory.h"
#include "lengthen_report.h"

/* 100 points of 5 curves, one after the other or curve by curve; the second of them has no band. */
static void fill(lg_series *s, int by_curve)
{
    for (int i = 0; i < 100; i++) {
        int curve = by_curve ? i / 20 : i % 5, at = by_curve ? i % 20 : i / 5;
        char name[20];
        snprintf(name, sizeof name, "curve %d", curve);
        double y = 10 * curve + 0.1 * at, band = curve == 1 ? NAN : 0.5;
        lg_series_add(s, name, at, y, y - band, y + band);
    }
}

static void points_are_gathered_by_name(void **state)
{
    (void)state;
    for (int by_curve = 0; by_curve < 2; by_curve++) {
        lg_series s = {0};
        lg_figure f = {0};
        lg_error err;
        fill(&s, by_curve);
        assert_int_equal(lg_series_put(&s, &f, &err), 0);
        assert_int_equal(f.count, 5);
        for (int c = 0; c < 5; c++) {
            assert_int_equal(f.curves[c].name[6], '0' + c);
            assert_int_equal(f.curves[c].n, 20);
            assert_true((f.curves[c].low == NULL) == (c == 1));
            for (int i = 0; i < 20; i++) {
                assert_true(f.curves[c].x[i] == i);
                assert_true(fabs(f.curves[c].y[i] - (10 * c + 0.1 * i)) < 1e-12);
                if (c != 1) assert_true(fabs(f.curves[c].high[i] - f.curves[c].y[i] - 0.5) < 1e-12);
            }
        }
        lg_series_axis(&s, &f);
        assert_true(f.y_low == -0.5 && f.y_high == 42.5);
        lg_series_clear(&s);
    }
}

static void no_memory_is_no_figure(void **state)
{
    (void)state;
    int failures = 0;
    for (int n = 0, reached = 1; reached; n++) {
        lg_series s = {0};
        lg_figure f = {0};
        lg_error err;
        int64_t before = lg__alloc_count();
        lg__alloc_fail_after(n);
        fill(&s, 0);
        lg__alloc_fail_after(-1);
        reached = lg__alloc_count() - before > n || s.lost;
        int e = lg_series_put(&s, &f, &err);
        assert_true(e == (s.lost ? LG_ERROR_MEMORY : 0));
        assert_int_equal(f.count, s.lost ? 0 : 5);
        failures += s.lost;
        lg_series_clear(&s);
    }
    assert_true(failures > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_gathered_by_name),
        cmocka_unit_test(no_memory_is_no_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
