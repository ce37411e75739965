/* test_bench_torch.c: the Python that `lengthen bench` measures against is a path, whatever letters it
 * has. Without it a name with a quote or a semicolon would be read by a shell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/bench.h"
#include "helpers/home.h"

/* Stands for Python: says what it was given, and a speed. */
static const char python[] = "#!/bin/sh\n"
                             "[ \"$1\" = -c ] && { [ \"$2\" = 'import torch' ]; exit; }\n"
                             "[ -z \"$OPENBLAS_CORETYPE$ATEN_CPU_CAPABILITY\" ] || exit 7\n"
                             "printf '<%s>' \"$@\" > given\n"
                             "[ \"$2\" = fails ] && exit 3\n"
                             "echo '{\"tokens_per_s\": 1234.5}'\n";

static lg_bench_options make_python(const char *name)
{
    lg_bench_options o = lg_bench_options_default();
    FILE *f = fopen(in_home(name), "w");
    assert_non_null(f);
    fputs(python, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(in_home(name), 0755), 0);
    o.torch_python = in_home(name);
    o.torch_script = "a script's; touch broken";
    return o;
}

static void a_path_is_just_a_path(void **state)
{
    (void)state;
    static const char *const names[] = {"it's; touch broken", "a 'b' $(touch broken)",
                                        "-c `touch broken`", "' || touch broken #"};
    setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lg_error err = {0};
        char given[200] = "", *words[] = {"--width", "1 2", "$HOME", NULL};
        lg_bench_options o = make_python(names[i]);
        if (lg_bench_torch_check(&o, &err)) fail_msg("%s", err.text);
        double rate = lg__torch_measure(&o, words, &err);
        if (rate != 1234.5) fail_msg("%s: %g, %s", names[i], rate, err.text);
        FILE *f = fopen("given", "r");
        assert_non_null(f);
        assert_non_null(fgets(given, sizeof given, f));
        fclose(f);
        assert_string_equal(given, "<a script's; touch broken><--width><1 2><$HOME>");
        assert_int_equal(access("broken", F_OK), -1);
    }
    unsetenv("OPENBLAS_CORETYPE");
}

static void what_fails_is_named(void **state)
{
    (void)state;
    lg_error err = {0};
    char *words[] = {"fails", NULL};
    lg_bench_options o = make_python("py");
    assert_true(lg__torch_measure(&o, words, &err) < 0);
    assert_non_null(strstr(err.text, "/py a script's; touch broken fails' failed; run it by hand"));
    o.torch_python = in_home("none");
    assert_true(lg__torch_measure(&o, words, &err) < 0);
    assert_non_null(strstr(err.text, "No such file"));
    assert_int_equal(lg_bench_torch_check(&o, &err), LG_ERROR_SYSTEM);
    assert_non_null(strstr(err.text, "/none cannot import torch"));
}

static int enter_home(void **state) { return make_home(state) ? -1 : chdir(home); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_just_a_path),
        cmocka_unit_test(what_fails_is_named),
    };
    return cmocka_run_group_tests(tests, enter_home, remove_home);
}
