/* test_ranks.c: one run, trained by several ranks under mpirun: the same bits whatever their number, also after a
 * resume with another; what does not fit is refused by name; a rank that is killed or hangs ends the job. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/ranks.h"
#include "helpers/home.h"

static const char config[] =
    "task: {name: sparse-parity-scratchpad}\n"
    "positions: {ids: coupled, source: [pointer, delta], encoding: relative, span: window,"
    " window: [[0, 0], [-1, 0]]}\n"
    "model: {width: 64, heads: 2, sink: yes}\n"
    "train: {steps: 24, batch: 16, warmup: 5, length: [2, 8], sparsity: [1, 3], curriculum: both,"
    " curriculum_steps: 10, checkpoint_every: 10}\n"
    "eval: {lengths: [4], sparsities: [2], samples: 4, every: 12}\n";

static int make(void **state)
{
    if (make_home(state)) return -1;
    set_mpi(home);
    FILE *f = fopen(in_home("c.yaml"), "w");
    if (!f) return -1;
    fputs(config, f);
    return fclose(f);
}

static void same_bits_on_1_2_4_8_ranks(void **state)
{
    (void)state;
    char *text;
    need_mpi();
    assert_int_equal(run(&text, "%s train c.yaml --out alone --threads 1", LG_PROGRAM), 0);
    free(text);
    unsigned long long alone = weights_of("alone");
    for (int ranks = 1; ranks <= 8; ranks *= 2)
        for (int threads = 1; threads <= (ranks == 2 ? 2 : 1); threads++) {
            char folder[32];
            snprintf(folder, sizeof folder, "r%d-%d", ranks, threads);
            int code = run(&text, "mpirun -n %d %s train c.yaml --out %s --threads %d", ranks,
                           LG_PROGRAM, folder, threads);
            if (code) fail_msg("%d ranks: %s", ranks, text);
            char words[32];
            snprintf(words, sizeof words, "%d ranks (", ranks);
            if (ranks > 1) assert_words(text, words);
            free(text);
            if (weights_of(folder) != alone) fail_msg("%s: other bits than alone", folder);
        }
}

static void refused(const char *command, const char *words)
{
    char *text;
    int code = run(&text, "%s", command);
    assert_int_not_equal(code, 0);
    assert_words(text, words);
    free(text);
    assert_int_not_equal(access(in_home("none"), F_OK), 0); /* before anything was written */
}

static void what_does_not_fit_is_refused_by_name(void **state)
{
    char command[4000];
    (void)state;
    need_mpi();
#define PROGRAM LG_PROGRAM " train c.yaml --out none "
    refused("mpirun -n 3 " PROGRAM, "3 ranks cannot share 8 groups");
    refused("mpirun -n 16 " PROGRAM, "start 8, or raise");
    refused("mpirun -n 1 " PROGRAM ": -n 1 " PROGRAM "--set seed=2", "rank 1 (host ");
    refused("mpirun -n 1 " PROGRAM ": -n 1 " PROGRAM "--set seed=2",
            "has another config than rank");
    refused("mpirun -n 1 -x LENGTHEN_ISA=c " PROGRAM ": -n 1 -x LENGTHEN_ISA=naive " PROGRAM,
            "has other kernels (naive-");
    /* The same program with a byte more is another build; its module is beside it. */
    snprintf(command, sizeof command,
             "mkdir -p b && cp %s b/lengthen && echo >> b/lengthen && cp $(dirname %s)/"
             "liblengthen_mpi.so b/ && mpirun -n 1 " PROGRAM ": -n 1 b/lengthen train c.yaml "
             "--out none",
             LG_PROGRAM, LG_PROGRAM);
    refused(command, "has another build (");
    refused("mpirun -n 1 " PROGRAM ": -n 1 " LG_PROGRAM " train no.yaml --out none", "no.yaml");
}

static void wait_for_checkpoint(const char *folder, int pid)
{
    char *text;
    for (int i = 0; i < 200; i++) {
        int code = run(&text, "ls -d %s/checkpoint/step-*", folder);
        free(text);
        if (!code) return;
        usleep(50000);
    }
    finish(pid, 0);
    fail_msg("%s has no checkpoint", folder);
}

/* Steps enough that it does not end before it is killed. */
#define LONG "--set train.steps=%d --set eval.every=0 --set train.checkpoint_every=20 --threads 1"
enum { STEPS = 800 };

static void killed_and_resumed_with_other_ranks(void **state)
{
    char *text;
    (void)state;
    need_mpi();
    int pid = start("killed", "exec mpirun -n 2 %s train c.yaml --out k " LONG, LG_PROGRAM, STEPS);
    wait_for_checkpoint("k", pid);
    kill(find_process(1, "--out k "), SIGKILL);
    assert_true(finish(pid, 10) > 0);
    assert_int_equal(
        run(&text, "mpirun -n 4 %s train c.yaml --out k --resume " LONG, LG_PROGRAM, STEPS), 0);
    assert_words(text, "going on from the checkpoint of step ");
    free(text);
    assert_int_equal(run(&text, "%s train c.yaml --out whole " LONG, LG_PROGRAM, STEPS), 0);
    free(text);
    assert_true(weights_of("k") == weights_of("whole"));
}

static void a_hung_rank_is_named(void **state)
{
    (void)state;
    need_mpi();
    int pid = start("hung", "exec mpirun -n 4 %s train c.yaml --out h --timeout 2 " LONG,
                    LG_PROGRAM, 1000000);
    wait_for_checkpoint("h", pid);
    kill(find_process(2, "--out h "), SIGSTOP);
    int code = finish(pid, 30);
    char *text = read_home("hung");
    if (code <= 0) fail_msg("exit code %d: %s", code, text);
    assert_words(text, "rank 2 (host ");
    assert_words(text, "is taken for hung");
    assert_null(strstr(text, "rank 1 (host "));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_on_1_2_4_8_ranks),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
        cmocka_unit_test(killed_and_resumed_with_other_ranks),
        cmocka_unit_test(a_hung_rank_is_named),
    };
    return cmocka_run_group_tests_name("ranks", tests, make, remove_home);
}
