/* test_checkpoint_harm.c: a save that dies anywhere, a flipped bit, a cut file, a full disk, a
 * folder without rights and no memory lose nothing but the one save, and a load never takes damage
 * for state. Without it a machine that is switched off could take the whole run with it. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "helpers/saving.h"

enum { KILLS = 8 };

static void spill(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void refuse_load(struct pair *p, int code, const char *words)
{
    lg_error err = {0}, warning = {0};
    char *note = NULL;
    struct pair before = small();
    set_state(p, 77, 7);
    set_state(&before, 77, 7);
    assert_int_equal(lg__checkpoint_load(folder, p->m, p->t, 1, &note, &warning, &err), code);
    assert_int_equal(err.code, code);
    if (!strstr(err.text, words)) fail_msg("\"%s\" is not in: %s", words, err.text);
    assert_non_null(strchr(err.text, ';')); /* a remedy */
    assert_null(note);
    assert_true(same(p, &before));
    pair_free(&before);
}

/* ---- Death -------------------------------------------------------------------------------- */

/* Saves state k at step, dying at point n: 1 if it was reached. */
static int die(struct pair *p, int n, int k, int64_t step, int keep)
{
    lg_error err = {0};
    set_state(p, k, step);
    lg__checkpoint_stop_at(n, 0);
    int e = lg__checkpoint_save(folder, p->m, p->t, "n", keep, &err);
    lg__checkpoint_stop_at(-1, 0);
    if (e && !strstr(err.text, "stopped by a test")) fail_msg("%s", err.text);
    return e != 0;
}

static void death_at_any_point_of_a_new_step(void **state)
{
    (void)state;
    struct pair p = small();
    int alive = 0, arrived = 0, n;
    for (n = 0; !alive; n++) {
        save_state(&p, 1, 10, 2);
        save_state(&p, 2, 20, 2);
        alive = !die(&p, n, 3, 30, 2);
        /* Once in place it stays so. */
        arrived |= is_there(30);
        assert_int_equal(arrived, is_there(30));
        expect(&p, arrived ? 3 : 2, arrived ? 30 : 20, NULL);
        save_state(&p, 4, 40, 2);
        expect(&p, 4, 40, NULL);
        assert_true(is_there(arrived ? 30 : 20));
        assert_int_equal(count_names(""), 2);
        empty(folder);
    }
    assert_true(arrived && n > 20);
    pair_free(&p);
}

static void death_at_any_point_of_a_replacement(void **state)
{
    (void)state;
    struct pair p = small();
    int alive = 0, between = 0;
    for (int n = 0; !alive; n++) {
        struct pair right = small();
        save_state(&p, 1, 10, 2);
        save_state(&p, 2, 20, 2);
        alive = !die(&p, n, 3, 20, 2);
        between += !is_there(20);
        assert_int_equal(lg__checkpoint_load(folder, p.m, p.t, 0, NULL, NULL, NULL), 0);
        set_state(&right, 2, 20);
        int earlier = same(&p, &right);
        set_state(&right, 3, 20);
        assert_int_equal(same(&p, &right), !earlier);
        if (between && is_there(20)) assert_false(earlier); /* the new one is in place */
        save_state(&p, 4, 30, 2); /* brings step-20.old back, or removes it */
        assert_int_equal(count_names(""), 2);
        assert_true(is_there(20) && is_there(30));
        expect(&p, 4, 30, NULL);
        pair_free(&right);
        empty(folder);
    }
    assert_int_equal(between, 1);
    pair_free(&p);
}

/* A child saves one step after the other until it is killed. */
static void a_real_kill(void **state)
{
    (void)state;
    struct pair p = small();
    save_state(&p, 1, 1, 2);
    for (int i = 0; i < KILLS; i++) {
        int64_t before = lg_trainer_steps(p.t);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            for (int64_t step = before;; step++) {
                set_state(&p, (int)step % 1000, step);
                if (lg__checkpoint_save(folder, p.m, p.t, "n", 2, NULL)) _exit(1);
            }
        }
        usleep((useconds_t)(7000 + 3571 * i));
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        lg_error err = {0};
        if (lg__checkpoint_load(folder, p.m, p.t, 0, NULL, NULL, &err)) fail_msg("%s", err.text);
        int64_t step = lg_trainer_steps(p.t);
        assert_true(step >= before);
        expect(&p, (int)step % 1000, step, NULL);
    }
    save(&p, "n", 2);
    assert_int_equal(count_names(".tmp"), 0);
    assert_int_equal(count_names(""), count_names("step-"));
    pair_free(&p);
}

static void leftovers_of_the_dead_alone_are_removed(void **state)
{
    (void)state;
    struct pair p = small();
    char dead[PATH], alive[PATH], file[PATH + 8], foreign[PATH];
    pid_t child = fork();
    if (child == 0) _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    save_state(&p, 1, 1, 1);
    snprintf(dead, sizeof dead, "%s/.tmp-%ld", folder, (long)child);
    snprintf(alive, sizeof alive, "%s/.tmp-%ld", folder, (long)getppid());
    snprintf(foreign, sizeof foreign, "%s/.tmp-notes", folder);
    snprintf(file, sizeof file, "%s/model", dead);
    assert_int_equal(mkdir(dead, 0777) | mkdir(alive, 0777) | mkdir(foreign, 0777), 0);
    spill(file, "half", 4);
    expect(&p, 1, 1, NULL);
    assert_int_equal(access(file, F_OK), 0); /* a load removes nothing */
    save_state(&p, 2, 2, 1);
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
    assert_int_equal(access(foreign, F_OK), 0);
    pair_free(&p);
}

/* ---- Damage ------------------------------------------------------------------------------- */

static void flipped_bits(void **state)
{
    (void)state;
    struct pair p = small();
    lg_rng r;
    lg_rng_init(&r, 6, 0, 0);
    save_state(&p, 1, 10, 2);
    save_state(&p, 2, 20, 2);
    for (int f = 0; f < 4; f++) {
        size_t size;
        char path[PATH];
        snprintf(path, sizeof path, "%s", path_of(20, files[f]));
        unsigned char *good = slurp(path, &size);
        int fd = open(path, O_WRONLY);
        assert_true(fd >= 0);
        for (int i = 0; i < 200; i++) {
            off_t at = (off_t)lg_rng_below(&r, (uint32_t)size);
            unsigned char bad = (unsigned char)(good[at] ^ 1u << lg_rng_below(&r, 8));
            assert_int_equal(pwrite(fd, &bad, 1, at), 1);
            expect(&p, 1, 10, "step 10 is used instead");
            if (f != 2) expect(&p, 1, 10, path);
            assert_int_equal(pwrite(fd, &good[at], 1, at), 1);
        }
        close(fd);
        free(good);
        expect(&p, 2, 20, NULL);
    }
    pair_free(&p);
}

static void cut_and_missing_files(void **state)
{
    (void)state;
    struct pair p = small();
    lg_rng r;
    lg_rng_init(&r, 7, 0, 0);
    save_state(&p, 1, 10, 2);
    save_state(&p, 2, 20, 2);
    for (int f = 0; f < 4; f++) {
        size_t size;
        char path[PATH];
        snprintf(path, sizeof path, "%s", path_of(20, files[f]));
        unsigned char *good = slurp(path, &size);
        for (size_t i = 0; i < 50; i++) {
            size_t cut = i < 10 ? i : i < 20 ? size - (i - 9) : lg_rng_below(&r, (uint32_t)size);
            spill(path, good, cut);
            expect(&p, 1, 10, "step 10 is used instead");
        }
        good[size] = '\n';
        spill(path, good, size + 1);
        expect(&p, 1, 10, "is damaged");
        unlink(path);
        expect(&p, 1, 10, path);
        expect(&p, 1, 10, "is missing");
        assert_int_equal(mkdir(path, 0777), 0);
        expect(&p, 1, 10, "is no file");
        rmdir(path);
        spill(path, good, size);
        free(good);
        expect(&p, 2, 20, NULL);
    }
    pair_free(&p);
}

/* Files of two checkpoints, each whole, are no checkpoint (the notes are the same); nor is one under
 * another's name. */
static void mixed_checkpoints(void **state)
{
    (void)state;
    struct pair p = small();
    char from[PATH], to[PATH];
    for (int f = 0; f < 3; f++) {
        for (int k = 1; k <= 3; k++) save_state(&p, k, 10 * k, 3);
        snprintf(from, sizeof from, "%s", path_of(20, files[f]));
        snprintf(to, sizeof to, "%s", path_of(30, files[f]));
        assert_int_equal(rename(from, to), 0);
        expect(&p, 1, 10, "step 10 is used instead (others");
        empty(folder);
    }
    save_state(&p, 1, 10, 1);
    snprintf(from, sizeof from, "%s", path_of(10, ""));
    assert_int_equal(rename(from, path_of(50, "")), 0);
    refuse_load(&p, LG_ERROR_SYSTEM, "no whole checkpoint (of 1)");
    pair_free(&p);
}

static void nothing_whole_and_nothing_at_all(void **state)
{
    (void)state;
    struct pair p = small();
    refuse_load(&p, LG_ERROR_ARGUMENT, "holds no checkpoint");
    assert_int_equal(mkdir(folder, 0777), 0);
    refuse_load(&p, LG_ERROR_ARGUMENT, "holds no checkpoint");
    die(&p, 5, 1, 1, 1);
    assert_int_equal(count_names(".tmp"), 1);
    refuse_load(&p, LG_ERROR_ARGUMENT, "holds no checkpoint");
    save_state(&p, 1, 10, 2);
    save_state(&p, 1, 20, 2);
    for (int step = 10; step <= 20; step += 10) unlink(path_of(step, "sum"));
    refuse_load(&p, LG_ERROR_SYSTEM, "step-000000020/sum is missing");
    assert_int_equal(lg__checkpoint_load("", p.m, p.t, 0, NULL, NULL, NULL), LG_ERROR_ARGUMENT);
    char *name = malloc(PATH_MAX + 1);
    memset(name, 'a', PATH_MAX);
    name[PATH_MAX] = 0;
    assert_int_equal(lg__checkpoint_load(name, p.m, p.t, 0, NULL, NULL, NULL), LG_ERROR_ARGUMENT);
    assert_int_equal(lg__checkpoint_save(name, p.m, p.t, "", 1, NULL), LG_ERROR_ARGUMENT);
    free(name);
    pair_free(&p);
}

/* ---- A machine that says no --------------------------------------------------------------- */

static void a_full_disk(void **state)
{
    (void)state;
    struct pair p = small();
    struct rlimit full, limit;
    struct stat model, st;
    save_state(&p, 1, 10, 1);
    assert_int_equal(stat(path_of(10, files[0]), &model), 0);
    assert_int_equal(stat(path_of(10, files[1]), &st), 0);
    const off_t room[] = {0, 3, 8, 100, model.st_size - 1, model.st_size, st.st_size - 1};
    getrlimit(RLIMIT_FSIZE, &full);
    void (*earlier)(int) = signal(SIGXFSZ, SIG_IGN);
    set_state(&p, 2, 20);
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
        lg_error err = {0};
        limit = full;
        limit.rlim_cur = (rlim_t)room[i];
        setrlimit(RLIMIT_FSIZE, &limit);
        int e = lg__checkpoint_save(folder, p.m, p.t, "n", 1, &err);
        setrlimit(RLIMIT_FSIZE, &full);
        assert_int_equal(e, LG_ERROR_SYSTEM);
        assert_non_null(strstr(err.text, "ulimit -f"));
        assert_int_equal(count_names(""), 1);
    }
    signal(SIGXFSZ, earlier);
    expect(&p, 1, 10, NULL);
    save_state(&p, 2, 20, 1);
    expect(&p, 2, 20, NULL);
    pair_free(&p);
}

static void a_folder_without_rights(void **state)
{
    (void)state;
    struct pair p = small();
    char other[PATH];
    save_state(&p, 1, 10, 1);
    assert_int_equal(chmod(top, 0755) | chmod(folder, 0555), 0);
    pid_t child = fork(); /* as nobody: root may write anywhere */
    if (child == 0) {
        lg_error err = {0};
        if (getuid() == 0 && setuid(65534)) _exit(2);
        set_state(&p, 2, 20);
        int e = lg__checkpoint_save(folder, p.m, p.t, "n", 1, &err);
        _exit(e == LG_ERROR_SYSTEM && strstr(err.text, "; check its") ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(count_names(""), 1);
    expect(&p, 1, 10, NULL);
    lg_error err = {0};
    snprintf(other, sizeof other, "%s/none/below", top);
    assert_int_equal(lg__checkpoint_save(other, p.m, p.t, "n", 1, &err), LG_ERROR_SYSTEM);
    assert_non_null(strstr(err.text, "none/below cannot be made"));
    snprintf(other, sizeof other, "%s", path_of(10, "sum")); /* a file */
    assert_int_equal(lg__checkpoint_save(other, p.m, p.t, "n", 1, &err), LG_ERROR_SYSTEM);
    assert_int_equal(lg__checkpoint_load(other, p.m, p.t, 0, NULL, NULL, &err), LG_ERROR_SYSTEM);
    expect(&p, 1, 10, NULL);
    pair_free(&p);
}

static void no_memory(void **state)
{
    (void)state;
    struct pair p = small();
    int e = LG_ERROR_MEMORY, n;
    save_state(&p, 1, 10, 1);
    set_state(&p, 2, 20);
    for (n = 0; e && !is_there(20); n++) {
        lg_error err = {0};
        lg__alloc_fail_after(n);
        e = lg__checkpoint_save(folder, p.m, p.t, "n", 1, &err);
        lg__alloc_fail_after(-1);
        assert_int_equal(e, e ? LG_ERROR_MEMORY : 0);
        assert_int_equal(err.code, e);
        assert_int_equal(count_names(".tmp"), 0);
        assert_true(is_there(10) || is_there(20));
    }
    assert_true(n > 3);
    save_state(&p, 2, 20, 1);
    for (n = 0, e = LG_ERROR_MEMORY; e; n++) {
        struct pair other = small(), before = small();
        char *note = NULL;
        lg_error err = {0}, warning = {0};
        lg__alloc_fail_after(n);
        e = lg__checkpoint_load(folder, other.m, other.t, 0, &note, &warning, &err);
        lg__alloc_fail_after(-1);
        assert_int_equal(e, e ? LG_ERROR_MEMORY : 0);
        assert_int_equal(warning.code, 0);
        if (e) assert_true(!note && same(&other, &before));
        if (!e) assert_true(same(&other, &p));
        free(note);
        pair_free(&other);
        pair_free(&before);
    }
    assert_true(n > 5);
    pair_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(death_at_any_point_of_a_new_step),
        TEST(death_at_any_point_of_a_replacement),
        TEST(a_real_kill),
        TEST(leftovers_of_the_dead_alone_are_removed),
        TEST(flipped_bits),
        TEST(cut_and_missing_files),
        TEST(mixed_checkpoints),
        TEST(nothing_whole_and_nothing_at_all),
        TEST(a_full_disk),
        TEST(a_folder_without_rights),
        TEST(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
