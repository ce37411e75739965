/* test_comm.c: what ranks compare before they work together; and a program that was started alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/comm.h"

static struct lg__comm_card card(void)
{
    struct lg__comm_card c = {.host = "n4", .kernels = "avx2-3", .config = 7};
    lg__comm_card_fill(&c, "train");
    snprintf(c.host, sizeof c.host, "n4");
    c.isa_set = 0;
    return c;
}

static void refused(const struct lg__comm_card *other, const char *words)
{
    struct lg__comm_card own = card();
    lg_error err = {0};
    assert_int_equal(lg__comm_compare(&own, other, 3, &err), LG_ERROR_ARGUMENT);
    if (!strstr(err.text, words) || !strstr(err.text, "rank 3 (host n4)"))
        fail_msg("\"%s\" is not in: %s", words, err.text);
}

static void cards_are_compared(void **state)
{
    struct lg__comm_card own = card(), other = card();
    lg_error err = {0};
    (void)state;
    assert_int_equal(lg__comm_compare(&own, &other, 3, &err), 0);
    snprintf(other.build, sizeof other.build, "0.0.1");
    refused(&other, "another build (0.0.1)");
    other = card();
    snprintf(other.kernels, sizeof other.kernels, "avx2-2");
    refused(&other, "other kernels (avx2-2) than rank 0 (avx2-3)");
    other = card();
    other.config = 8;
    refused(&other, "another config");
    other = card();
    snprintf(other.what, sizeof other.what, "sweep");
    refused(&other, "runs the command sweep, but rank 0 train");
}

/* CPUs of two kinds compute alike only where the kernels were chosen by hand in both. */
static void other_cpus_are_refused_unless_the_kernels_are_set(void **state)
{
    struct lg__comm_card own = card(), other = card();
    lg_error err = {0};
    (void)state;
    snprintf(other.cpu, sizeof other.cpu, "Abacus 3000");
    refused(&other, "another CPU (Abacus 3000)");
    other.isa_set = 1;
    refused(&other, "set LENGTHEN_ISA alike");
    own.isa_set = 1;
    assert_int_equal(lg__comm_compare(&own, &other, 3, &err), 0);
}

static void alone(void **state)
{
    lg_comm *c = (lg_comm *)1;
    struct lg__comm_card own = card();
    char word = 'x';
    (void)state;
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                            "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    assert_int_equal(lg_comm_open(&c, NULL), 0);
    assert_null(c);
    assert_int_equal(lg_comm_rank(c), 0);
    assert_int_equal(lg_comm_size(c), 1);
    assert_int_equal(lg__comm_agree(c, &own, NULL), 0);
    assert_int_equal(lg__comm_spread(c, &word, 1, 0, NULL), 0);
    assert_int_equal(lg__comm_gather(c, &word, 1, NULL), 0);
    assert_int_equal(lg__comm_follow(c, LG_ERROR_SYSTEM, NULL), LG_ERROR_SYSTEM);
    assert_int_equal(lg__comm_threads(c, 3), 3);
    lg_comm_close(c, 0);
}

static void a_rank_without_the_module_is_refused(void **state)
{
    lg_comm *c;
    lg_error err = {0};
    (void)state;
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    setenv("LENGTHEN_MPI", "/nowhere/liblengthen_mpi.so", 1);
    assert_int_equal(lg_comm_open(&c, &err), LG_ERROR_SYSTEM);
    assert_non_null(strstr(err.text, "one of 4 ranks"));
    assert_non_null(strstr(err.text, "libopenmpi-dev"));
    assert_null(c);
    unsetenv("OMPI_COMM_WORLD_SIZE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_are_compared),
        cmocka_unit_test(other_cpus_are_refused_unless_the_kernels_are_set),
        cmocka_unit_test(alone),
        cmocka_unit_test(a_rank_without_the_module_is_refused),
    };
    return cmocka_run_group_tests_name("comm", tests, NULL, NULL);
}
