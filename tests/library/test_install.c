/* test_install.c: what `make install` gives a user: a program of their own links liblengthen.so with -llengthen alone, or
 * the archive with what pkg-config --static says; the symbols and sizes that such a program depends on are those of
 * docs/ABI.txt; the completion is that of the option tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The shell's exit code; its output goes to the test's. */
static int shell(const char *command)
{
    char all[4000];
    snprintf(all, sizeof all,
             "set -e; W=/tmp/lg_install_%ld; S='" LG_SOURCE_DIR "'; B='" LG_BUILD_DIR
             "'; SO='" LG_SHARED_LIBRARY "'; P='" LG_PROGRAM "'; %s",
             (long)getpid(), command);
    return system(all);
}

static int install(void **state)
{
    (void)state;
    return shell("rm -rf $W; cmake --install \"$B\" --prefix $W/usr >/dev/null");
}

static int remove_all(void **state)
{
    (void)state;
    return shell("rm -rf $W");
}

#define PC "export PKG_CONFIG_PATH=$(dirname $(find $W -name lengthen.pc)); "

static void everything_is_in_its_place(void **state)
{
    (void)state;
    assert_int_equal(
        shell("cd $W/usr; test -x bin/lengthen -a -e include/lengthen_own.h -a -e "
              "share/man/man1/lengthen.1; "
              "test -e share/bash-completion/completions/lengthen -a -e "
              "share/zsh/site-functions/_lengthen; "
              "test -e share/lengthen/experiments/parity.yaml; ls lib*/liblengthen.so.0 >/dev/null "
              "2>&1 || "
              "ls lib/*/liblengthen.so.0 >/dev/null; bin/lengthen --version >/dev/null"),
        0);
}

/* pkg-config is Debian's; where it is missing the flags are written out. */
static void a_program_links_with_one_word(void **state)
{
    (void)state;
    if (shell("command -v pkg-config >/dev/null")) skip();
    assert_int_equal(
        shell(PC
              "test \"$(pkg-config --libs lengthen | sed 's/-L[^ ]* *//; s/ *$//')\" = -llengthen; "
              "cc -std=c11 -o $W/own $S/examples/own.c $(pkg-config --cflags --libs lengthen); "
              "LD_LIBRARY_PATH=$(pkg-config --variable=libdir lengthen) $W/own $W/model >$W/out; "
              "grep -q ^certified: $W/out"),
        0);
}

static void the_archive_links_with_the_rest(void **state)
{
    (void)state;
    if (shell("command -v pkg-config >/dev/null")) skip();
    assert_int_equal(
        shell(PC "L=$(pkg-config --variable=libdir lengthen); "
                 "cc -std=c11 -o $W/static $S/examples/parity.c -I$W/usr/include $L/liblengthen.a "
                 "$(pkg-config --static --libs lengthen | sed 's/-L[^ ]*//; s/-llengthen//'); "
                 "! ldd $W/static | grep -q liblengthen"),
        0);
}

static void the_header_is_cxx_too(void **state)
{
    (void)state;
    if (shell("command -v c++ >/dev/null")) skip();
    assert_int_equal(
        shell("echo '#include \"lengthen_lab.h\"\n#include \"lengthen_theory.h\"\nint main() { "
              "return !lg_version(); }' "
              ">$W/a.cc; c++ -Wall -Wextra -Werror -fsyntax-only -I$W/usr/include $W/a.cc"),
        0);
}

static void nothing_but_lg_is_exported(void **state)
{
    (void)state;
    assert_int_equal(
        shell("! nm -D --defined-only $SO | awk '$2 != \"A\" { print $3 }' | grep -v '^lg_[a-z]'"),
        0);
    assert_int_equal(shell("readelf -d $SO | grep -q 'SONAME.*liblengthen.so.0'"), 0);
}

/* If this fails because the header has changed on purpose: scripts/abi build/liblengthen.so >docs/ABI.txt. */
static void symbols_and_sizes_are_as_committed(void **state)
{
    (void)state;
    assert_int_equal(shell("$S/scripts/abi $SO >$W/abi; diff -u $S/docs/ABI.txt $W/abi >&2"), 0);
}

/* Every declared function is exported: a prototype without its function would link here, and nowhere else. */
static void every_declared_function_is_there(void **state)
{
    (void)state;
    assert_int_equal(
        shell(
            "cat $S/include/*.h | sed 's:/\\*.*\\*/::' | grep -E '^[a-z].*[ *]lg_[a-z0-9_]+\\(' | "
            "grep -v ^typedef | "
            "grep -oE 'lg_[a-z0-9_]+\\(' | tr -d '(' | sort -u >$W/declared; test $(wc -l "
            "<$W/declared) -gt 150; "
            "nm -D --defined-only $SO | awk '{ sub(/@.*/, \"\", $3); print $3 }' | sort >$W/there; "
            "! comm -23 $W/declared $W/there | grep . >&2"),
        0);
}

static void the_completion_is_that_of_the_tables(void **state)
{
    (void)state;
    assert_int_equal(shell("for s in bash zsh; do $P help --completion $s | diff -u "
                           "$S/completion/lengthen.$s - >&2; done"),
                     0);
    assert_int_equal(shell("bash -c 'source $0/completion/lengthen.bash; COMP_WORDS=(lengthen eval "
                           "--sou); COMP_CWORD=2; "
                           "_lengthen; test \"${COMPREPLY[*]}\" = --source; COMP_WORDS=(lengthen "
                           "eval --source pre); "
                           "COMP_CWORD=3; _lengthen; test \"${COMPREPLY[*]}\" = predicted; "
                           "COMP_WORDS=(lengthen cer); "
                           "COMP_CWORD=1; _lengthen; test \"${COMPREPLY[*]}\" = certify' $S"),
                     0);
    if (shell("command -v zsh >/dev/null") == 0)
        assert_int_equal(shell("zsh -n $S/completion/lengthen.zsh"), 0);
}

static void uninstall_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(
        shell("cd $S; cp $B/install_manifest.txt $W.manifest 2>/dev/null || true; "
              "while read -r f || test -n \"$f\"; do rm -f \"$f\"; done <$B/install_manifest.txt; "
              "rm -rf $W/usr/share/lengthen $W.manifest; ! find $W/usr -type f -o -type l | grep . "
              ">&2"),
        0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_in_its_place),
        cmocka_unit_test(a_program_links_with_one_word),
        cmocka_unit_test(the_archive_links_with_the_rest),
        cmocka_unit_test(the_header_is_cxx_too),
        cmocka_unit_test(nothing_but_lg_is_exported),
        cmocka_unit_test(symbols_and_sizes_are_as_committed),
        cmocka_unit_test(every_declared_function_is_there),
        cmocka_unit_test(the_completion_is_that_of_the_tables),
        cmocka_unit_test(uninstall_leaves_nothing),
    };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    puts("skipped: an installation is not of a build with sanitizers");
    return 0;
#endif
    return cmocka_run_group_tests(tests, install, remove_all);
}
