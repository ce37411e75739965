/* test_resume_kernels.c: a run that goes on with other kernels than its checkpoint was made with is
 * told of, and marked in the store. Kernels are chosen once in a process: this program calls itself
 * for each half, as `test_resume_kernels FOLDER STOP`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "runs/checkpoint.h"
#include "helpers/home.h"
#include "runs/run.h"
#include "lengthen_lab.h"

static char self[1024], out[4096];
static const char *const sets[] = {"task.name=copy",      "model.width=16",  "model.heads=2",
                                   "train.steps=30",      "train.batch=8",   "train.warmup=2",
                                   "train.length=[1, 5]", "eval.lengths=[3]"};
enum { SETS = sizeof sets / sizeof *sets };

static int prepare(void **state)
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    return n > 0 ? make_home(state) : -1;
}

/* In the process of a half: prints what the run says, and stops after a step. */
static int64_t stop;

static int watch(void *context, const lg_run_step *s)
{
    (void)context;
    if (s->note) printf("step %lld: %s\n", (long long)s->step, s->note);
    return s->step < stop;
}

static int train_half(char **argv)
{
    char store[1100];
    lg_error err = {0};
    int done;
    stop = atoi(argv[2]);
    snprintf(store, sizeof store, "%s.db", argv[1]);
    lg_run_options o = {.sets = sets,
                        .set_count = SETS,
                        .folder = argv[1],
                        .store = store,
                        .resume = LG_RUN_EITHER,
                        .threads = 1,
                        .watch = watch};
    int e = lg_run_train(&o, &done, &err);
    if (e) printf("%s\n", err.text);
    return e != 0;
}

/* Runs a command line; what it prints is in out. */
static void run(const char *command)
{
    FILE *f = popen(command, "r");
    assert_non_null(f);
    out[fread(out, 1, sizeof out - 1, f)] = 0;
    int status = pclose(f);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("%s:\n%s", command, out);
}

static void half(const char *name, const char *isa, int to)
{
    char command[2400];
    snprintf(command, sizeof command, "LENGTHEN_ISA=%s '%s' %s/%s %d", isa, self, home, name, to);
    run(command);
}

static void shows(const char *name, const char *kernels)
{
    char command[2400], line[200];
    snprintf(command, sizeof command, "'%s' runs show %s --store %s/%s.db", LG_PROGRAM, name, home,
             name);
    run(command);
    snprintf(line, sizeof line, "\n  kernels     %s\n", kernels);
    if (!strstr(out, line)) fail_msg("\"%s\" is not in:\n%s", line, out);
}

static void the_same_kernels_say_nothing(void **state)
{
    (void)state;
    half("same", "c", 10);
    half("same", "c", 20);
    assert_string_equal(out, "");
    half("same", "c", 30);
    assert_string_equal(out, "");
    shows("same", "c-3");
}

static void other_kernels_are_told_and_marked(void **state)
{
    (void)state;
    half("other", "c", 10);
    half("other", "naive", 20);
    assert_non_null(strstr(out, "step 11: step 10 was made with the kernels c-3, and the run goes "
                                "on with naive-3"));
    shows("other", "c-3+naive-3 (resumed with others)");
    half("other", "naive", 25); /* no news, and the mark stays */
    assert_string_equal(out, "");
    half("other", "naive", 30);
    half("other", "c", 30); /* nothing is left to do: nothing changes */
    assert_string_equal(out, "");
    shows("other", "c-3+naive-3 (resumed with others)");
}

/* The lines of a note from last to first, without that of the key `without`. */
static char *turned(const char *note, const char *without)
{
    char *to = calloc(strlen(note) + 1, 1);
    assert_non_null(to);
    for (const char *end = note + strlen(note), *at; end > note; end = at) {
        for (at = end - 1; at > note && at[-1] != '\n';) at--;
        if (!without || strncmp(at, without, strlen(without)) != 0)
            strncat(to, at, (size_t)(end - at));
    }
    return to;
}

/* Saves the checkpoint again, with its note turned. */
static void turn_note(const char *name, const char *without)
{
    char path[200], *note = NULL;
    struct lg__run r = {0};
    lg_error err = {0}, warning = {0};
    assert_int_equal(lg__run_open(&r, NULL, sets, SETS, &err), 0);
    lg_trainer *t = lg_trainer_new(r.model, &r.options, &err);
    assert_non_null(t);
    snprintf(path, sizeof path, "%s/%s/checkpoint", home, name);
    assert_int_equal(lg__checkpoint_load(path, r.model, t, 0, &note, &warning, &err), 0);
    char *other = turned(note, without);
    assert_string_not_equal(note, other);
    snprintf(path, sizeof path, "rm -r %s/%s/checkpoint", home, name);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/%s/checkpoint", home, name);
    if (lg__checkpoint_save(path, r.model, t, other, 1, &err)) fail_msg("%s", err.text);
    free(note);
    free(other);
    lg_trainer_free(t);
    lg__run_close(&r);
}

static void a_note_in_another_order_is_read(void **state)
{
    (void)state;
    half("turned", "c", 10);
    turn_note("turned", NULL);
    half("turned", "naive", 20);
    assert_non_null(strstr(out, "step 10 was made with the kernels c-3"));
    shows("turned", "c-3+naive-3 (resumed with others)");
}

static void a_note_without_a_key_is_refused(void **state)
{
    (void)state;
    char command[2400];
    half("lost", "c", 10);
    turn_note("lost", "learned ");
    snprintf(command, sizeof command, "LENGTHEN_ISA=c '%s' %s/lost 20 || true", self, home);
    run(command);
    assert_non_null(strstr(out, "the checkpoint's note has no \"learned\""));
}

int main(int argc, char **argv)
{
    if (argc == 3) return train_half(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_kernels_say_nothing),
        cmocka_unit_test(other_kernels_are_told_and_marked),
        cmocka_unit_test(a_note_in_another_order_is_read),
        cmocka_unit_test(a_note_without_a_key_is_refused),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
