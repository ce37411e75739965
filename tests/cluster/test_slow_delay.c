/* test_slow_delay.c: two ranks in network namespaces of their own, with a wire of 10 ms between them: the run ends with
 * the same bits, and `bench --scale` predicts its own measurement within 25%, by the median of five. Needs root. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/delay.h"
#include "cluster/ranks.h"
#include "helpers/home.h"

static const char config[] =
    "task: {name: parity}\n"
    "positions: {ids: coupled, encoding: relative, span: window, window: [-2, 2]}\n"
    "model: {width: 64, heads: 2, layers: 2}\n"
    "train: {steps: 20, lr: 2e-3, warmup: 5, length: [1, 20], batch: 32}\n"
    "eval: {lengths: [10], samples: 10}\n";

static char spaces[2][32];
static int wire = -1;

static int put(const char *name, const char *text, int mode)
{
    FILE *f = fopen(in_home(name), "w");
    if (!f) return -1;
    fputs(text, f);
    return fclose(f) || chmod(in_home(name), (mode_t)mode);
}

/* mpirun runs in the first namespace, and starts its daemon in the second by an agent in place of ssh. */
static int make(void **state)
{
    char text[1000];
    if (make_home(state)) return -1;
    set_mpi(home);
    for (int i = 0; i < 2; i++) snprintf(spaces[i], sizeof spaces[i], "lg%d%c", getpid(), 'a' + i);
    snprintf(
        text, sizeof text,
        "#!/bin/bash\nshift\nexec ip netns exec %s unshare -u bash -c 'hostname far; exec bash "
        "-c \"$1\"' bash \"$*\"\n",
        spaces[1]);
    int e = put("agent", text, 0700) || put("c.yaml", config, 0600);
    snprintf(
        text, sizeof text,
        "#!/bin/bash\nexec ip netns exec %s unshare -u bash -c 'hostname near; exec \"$@\"' bash "
        "mpirun --mca plm_rsh_agent %s --mca btl tcp,self --mca btl_tcp_if_include lgt --mca "
        "oob_tcp_if_include lgt --host 10.77.0.1:1,10.77.0.2:1 -n 2 \"$@\"\n",
        spaces[0], in_home("agent"));
    return e || put("far", text, 0700);
}

static int end(void **state)
{
    char command[200];
    if (wire > 0) {
        kill(wire, SIGKILL);
        waitpid(wire, NULL, 0);
    }
    snprintf(command, sizeof command, "ip netns del %s 2>/dev/null; ip netns del %s 2>/dev/null",
             spaces[0], spaces[1]);
    if (system(command)) print_message("the namespaces were not there\n");
    return remove_home(state);
}

static void lay_wire(void)
{
    char *text;
    need_mpi();
    if (wire > 0) return;
    if (geteuid() != 0 || access("/dev/net/tun", R_OK | W_OK) != 0 ||
        run(&text, "ip netns add %s && ip netns add %s", spaces[0], spaces[1]) != 0) {
        print_message(
            "no namespaces or no TUN here: this test needs root, iproute2, /dev/net/tun\n");
        skip();
    }
    free(text);
    wire = start_delay(spaces[0], spaces[1], "lgt", 10);
    assert_true(wire > 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(&text,
                             "ip -n %s addr add 10.77.0.%d/24 dev lgt && ip -n %s link set lgt up "
                             "&& ip -n %s link set lo up",
                             spaces[i], i + 1, spaces[i], spaces[i]),
                         0);
        free(text);
    }
}

static void same_bits_over_a_slow_wire(void **state)
{
    char *text;
    (void)state;
    lay_wire();
    assert_int_equal(run(&text, "%s train c.yaml --out near --threads 1", LG_PROGRAM), 0);
    free(text);
    int code = run(&text, "./far %s train c.yaml --out over --threads 1", LG_PROGRAM);
    if (code) fail_msg("%s", text);
    assert_words(text, "2 ranks (");
    free(text);
    assert_true(weights_of("near") == weights_of("over"));
}

static double number_of(const char *text, const char *key)
{
    char words[64];
    snprintf(words, sizeof words, "\"%s\":", key);
    const char *row = strstr(text, "\"ranks\":2,");
    const char *at = row ? strstr(row, words) : NULL;
    if (!at) fail_msg("no %s in: %s", key, text);
    return atof(at + strlen(words));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void the_prediction_is_within_a_quarter(void **state)
{
    double ratio[5];
    (void)state;
    lay_wire();
    for (int i = 0; i < 5; i++) {
        char *text;
        int code =
            run(&text, "./far %s bench --scale --threads 1 --shape parity-w64 --json", LG_PROGRAM);
        if (code) fail_msg("%s", text);
        assert_true(number_of(text, "latency_ms") > 9);
        ratio[i] =
            number_of(text, "predicted_tokens_per_s") / number_of(text, "measured_tokens_per_s");
        print_message("predicted / measured: %.2f\n", ratio[i]);
        free(text);
    }
    qsort(ratio, 5, sizeof *ratio, by_value);
    assert_true(fabs(ratio[2] - 1) < 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_over_a_slow_wire),
        cmocka_unit_test(the_prediction_is_within_a_quarter),
    };
    return cmocka_run_group_tests_name("delay", tests, make, end);
}
