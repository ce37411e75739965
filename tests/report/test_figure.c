/* test_figure.c: figures by gnuplot and in letters. A script in gnuplot's place shows what it is
 * given and how its failures are met, so that this is tested on machines without gnuplot too; what
 * only the real one can tell is skipped there. */
#include "report/drawing.h"

/* ---- What can be asked before long work ----------------------------------------------------- */

static void a_wrong_name_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a.eps", "svg", ".svg", "", "a.svg/", NULL};
    lg_error err;
    gnuplot_is("echo '<svg></svg>'");
    for (int i = 0; i < 6; i++) {
        assert_int_equal(lg_figure_check(names[i], &err), LG_ERROR_ARGUMENT);
        has(err.text, "let it end in .svg, .png or .pdf");
        assert_int_equal(lg_figure_write(&plain, names[i], &err), LG_ERROR_ARGUMENT);
    }
    assert_int_equal(lg_figure_check("a.eps", &err), LG_ERROR_ARGUMENT);
    has(err.text, "a.eps");
}

static void a_wrong_folder_is_refused(void **state)
{
    (void)state;
    lg_error err;
    gnuplot_is("echo '<svg></svg>'");
    assert_int_equal(lg_figure_check(in_home("none/a.svg"), &err), LG_ERROR_ARGUMENT);
    has(err.text, "none/a.svg");
    has(err.text, "No such file");
    has(err.text, "make the folder");
    assert_int_equal(lg_figure_write(&plain, in_home("none/a.svg"), &err), LG_ERROR_ARGUMENT);
    assert_int_equal(mkdir(in_home("out/b.svg"), 0700), 0);
    assert_int_equal(lg_figure_check(in_home("out/b.svg"), &err), LG_ERROR_ARGUMENT);
    has(err.text, "is a folder");
    assert_int_equal(rmdir(in_home("out/b.svg")), 0);
    if (geteuid() == 0) return; /* root writes anywhere */
    assert_int_equal(chmod(in_home("out"), 0500), 0);
    assert_int_equal(lg_figure_check(svg, &err), LG_ERROR_ARGUMENT);
    assert_int_equal(chmod(in_home("out"), 0700), 0);
}

static void without_gnuplot_the_remedy_is_said(void **state)
{
    (void)state;
    lg_error err;
    setenv("PATH", in_home("bin"), 1); /* an empty folder */
    assert_int_equal(lg_figure_check(svg, &err), LG_ERROR_SYSTEM);
    has(err.text, "out/a.svg");
    has(err.text, REMEDY);
    assert_int_equal(lg_figure_write(&plain, in_home("out/a.png"), &err), LG_ERROR_SYSTEM);
    has(err.text, REMEDY);
    assert_int_equal(files(), 0);
}

/* A check that left a file, or took the one that is there, would spoil an earlier figure. */
static void a_check_leaves_nothing(void **state)
{
    (void)state;
    lg_error err;
    gnuplot_is("echo '<svg></svg>'");
    must(lg_figure_check(svg, &err), &err);
    must(lg_figure_check(in_home("out/A.SVG"), &err), &err);
    assert_int_equal(files(), 0);
    save(svg, "earlier");
    must(lg_figure_check(svg, &err), &err);
    assert_int_equal(load(svg), 7);
    assert_int_equal(files(), 1);
    /* a gnuplot that has no such terminal */
    gnuplot_is("echo 'unknown terminal' >&2; exit 1");
    assert_int_equal(lg_figure_check(svg, &err), LG_ERROR_SYSTEM);
    has(err.text, "unknown terminal");
    has(err.text, REMEDY);
    assert_int_equal(files(), 1);
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, 1.5, -0.1}, good[] = {0.5};
    lg_error err;
    gnuplot_is("echo '<svg></svg>'");
    lg_curve c = {.name = "c", .n = 1, .x = good, .y = good};
    lg_figure f = {.curves = &c, .count = 1};
    must(lg_figure_write(&f, svg, &err), &err);
    assert_int_equal(unlink(svg), 0);
    for (int i = 0; i < 4; i++) {
        c.y = bad + i;
        assert_int_equal(lg_figure_write(&f, svg, &err), LG_ERROR_ARGUMENT);
        has(err.text, "curve \"c\": point 1");
    }
    c.y = good;
    c.x = bad;
    assert_int_equal(lg_figure_write(&f, svg, &err), LG_ERROR_ARGUMENT);
    c.n = 0;
    assert_int_equal(lg_figure_write(&f, svg, &err), LG_ERROR_ARGUMENT);
    f.count = 0;
    assert_int_equal(lg_figure_write(&f, svg, &err), LG_ERROR_ARGUMENT);
    has(err.text, "give it at least one");
    f = plain;
    f.trained_low = 21;
    assert_int_equal(lg_figure_write(&f, svg, &err), LG_ERROR_ARGUMENT);
    lg__alloc_fail_after(0);
    assert_int_equal(lg_figure_write(&plain, svg, &err), LG_ERROR_MEMORY);
    lg__alloc_fail_after(-1);
    assert_int_equal(files(), 0);
}

/* ---- What gnuplot is given ------------------------------------------------------------------ */

/* Names of files and curves reach no shell and no other meaning in gnuplot; the points are in
 * order; shares become percent. */
static void the_script_says_it_all(void **state)
{
    (void)state;
    lg_error err;
    gnuplot_is("/bin/cat > script; echo \"$GNUTERM\" > terminal; echo '<svg>new</svg>'");
    setenv("GNUTERM", "nonsense", 1);
    const char *file = in_home("out/a b'c\"$(touch bad);`touch bad`.svg");
    save(file, "earlier");
    must(lg_figure_write(&plain, file, &err), &err);
    load(file);
    assert_string_equal(text, "<svg>new</svg>\n");
    assert_int_equal(files(), 1);
    assert_int_not_equal(access(in_home("bad"), F_OK), 0);
    load(in_home("terminal")); /* one that does not exist would end gnuplot */
    assert_string_equal(text, "\n");
    load(in_home("script"));
    has(text, "set terminal svg noenhanced size 760,420");
    has(text, "set title 'Copy $HOME'");
    has(text, "title ''.quote.'a_b{2} \"q\" it'.quote.''.quote.'s \\n <&> `touch bad` @x é  ?'");
    has(text, "$curve0 << EOD\n20 100 90 100\n100 75 70 80\n1000 50 40 60\n500000 0 0 12.5\nEOD\n");
    has(text, "set logscale x");
    has(text, "'10' 10 0");
    has(text, "'1,000' 1000 0");
    has(text, "'' 20 1");
    lacks(text, "out/a b");
}

static void the_axis_is_as_wide_as_it_must(void **state)
{
    (void)state;
    static const double linear[] = {5, 49}, decade[] = {5, 50}, zero[] = {0, 1000},
                        large[] = {1, 3e9}, few[] = {1, 3}, y[] = {1, 0};
    lg_error err;
    gnuplot_is("/bin/cat > script; echo '<svg></svg>'");
    lg_curve c = {.name = NULL, .n = 2, .x = linear, .y = y};
    lg_figure f = {.curves = &c, .count = 1};
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    lacks(text, "logscale");
    lacks(text, "rectangle");
    has(text, "'5' 5 0, '10' 10 0");
    has(text, "notitle");
    c.x = decade;
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    has(text, "set logscale x");
    has(text, "'5' 5 0");
    has(text, "'20' 20 0");
    has(text, "'50' 50 0");
    c.x = few;
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    has(text, "set xtics ('1' 1 0, '2' 2 0, '3' 3 0)"); /* whole numbers only */
    c.x = zero;
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    lacks(text, "logscale");
    has(text, "'0' 0 0");
    c.x = large;
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    has(text, "'10⁸' 100000000 0");
}

/* ---- Failures ------------------------------------------------------------------------------- */

static void a_failure_leaves_the_earlier_file(void **state)
{
    (void)state;
    static const struct {
        const char *script, *words;
    } cases[] = {
        {"exit 1", "no message"},
        {"printf 'A warning\\n\\nset nothing\\n    ^\\n\"/dev/stdin\" line 3: unrecognized\\n\\n' "
         ">&2; exit 1",
         "(\"\"/dev/stdin\" line 3: unrecognized\")"},
        {"echo '<svg>half'", "disk"},            /* as on a full disk */
        {"echo '<svg></svg>'; kill -9 $$", "5"}, /* ended by another */
        {"exit 127", REMEDY},
    };
    lg_error err;
    save(svg, "earlier");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gnuplot_is(cases[i].script);
        assert_int_equal(lg_figure_write(&plain, svg, &err), LG_ERROR_SYSTEM);
        has(err.text, cases[i].words);
        has(err.text, "out/a.svg");
        has(err.text, REMEDY);
        load(svg);
        assert_string_equal(text, "earlier");
        assert_int_equal(files(), 1);
    }
    /* a picture of the other kind is none */
    gnuplot_is("echo '<svg></svg>'");
    assert_int_equal(lg_figure_write(&plain, in_home("out/a.png"), &err), LG_ERROR_SYSTEM);
    assert_int_equal(files(), 1);
}

/* ---- The real one --------------------------------------------------------------------------- */

/* What XML escapes, as it was. */
static void unescape(char *s)
{
    static const char *const names[] = {"&lt;", "&gt;", "&quot;", "&apos;", "&#34;", "&#39;"};
    static const char letters[] = "<>\"'\"'";
    char *to = s;
    for (; *s; s++, to++) {
        *to = *s;
        for (int i = 0; i < 6; i++)
            if (strncmp(s, names[i], strlen(names[i])) == 0) {
                *to = letters[i];
                s += strlen(names[i]) - 1;
                break;
            }
        if (strncmp(s, "&amp;", 5) == 0) s += 4;
    }
    *to = '\0';
}

static void gnuplot_draws_svg(void **state)
{
    (void)state;
    lg_error err;
    struct stat st;
    need_gnuplot();
    const char *file = in_home("out/it's a \"b\".svg");
    setenv("GNUTERM", "nonsense", 1);
    must(lg_figure_check(file, &err), &err);
    assert_int_equal(files(), 0);
    must(lg_figure_write(&plain, file, &err), &err);
    assert_int_equal(files(), 1);
    mode_t mask = umask(022);
    umask(mask);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
    load(file);
    unescape(text);
    has(text, "<svg");
    has(text, readable);
    has(text, ">one point</text>");
    has(text, ">training, 10 to 20</text>");
    has(text, ">answers right, %</text>");
    has(text, ">0</text>");
    has(text, ">100</text>");
    has(text, ">100,000</text>");
    if (!strstr(text, "rgb(236, 236, 236)")) has(text, "#ECECEC"); /* the training range */
    assert_int_not_equal(access("bad", F_OK), 0);
}

static void gnuplot_draws_png(void **state)
{
    (void)state;
    static const unsigned char start[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    lg_error err;
    need_gnuplot();
    must(lg_figure_write(&plain, in_home("out/a.PNG"), &err), &err);
    assert_true(load(in_home("out/a.PNG")) > 1000);
    assert_memory_equal(text, start, sizeof start);
    const unsigned char *u = (const unsigned char *)text;
    assert_int_equal(u[18] << 8 | u[19], 1520);
    assert_int_equal(u[22] << 8 | u[23], 840);
}

/* A single point, one without a name, one without points, a training range of one length, more
 * curves than colours: gnuplot must not stumble over any. */
static void gnuplot_draws_what_is_odd(void **state)
{
    (void)state;
    lg_error err;
    lg_curve c[20];
    need_gnuplot();
    for (int i = 0; i < 20; i++) c[i] = two[i % 2];
    c[2].name = NULL;
    c[3].n = 0;
    c[4].low = NULL;
    lg_figure f = {.curves = c, .count = 20, .trained_low = 7, .trained_high = 7};
    must(lg_figure_write(&f, svg, &err), &err);
    f.curves = &c[1];
    f.count = 1;
    f.trained_low = -3;
    must(lg_figure_write(&f, svg, &err), &err);
    load(svg);
    lacks(text, ">one point</text>"); /* one line needs no key */
}

/* ---- In letters ----------------------------------------------------------------------------- */

static const double ta[] = {10, 20, 40}, up[] = {0, 0.5, 1}, flat[] = {1, 1, 0.9996};
static const lg_curve pair[] = {{.name = "rising", .n = 3, .x = ta, .y = up},
                                {.name = "flat \xc3\xa9", .n = 3, .x = ta, .y = flat}};
static const lg_figure small = {.title = "Copy",
                                .x_label = "length",
                                .y_label = "right, %",
                                .curves = pair,
                                .count = 2,
                                .trained_low = 10,
                                .trained_high = 20};

static void is_text(const lg_figure *f, int width, int height, int colour, int ascii,
                    const char *expected)
{
    char *got = lg_figure_text(f, width, height, colour, ascii);
    assert_non_null(got);
    if (strcmp(got, expected) != 0) fail_msg("got:\n%s\nexpected:\n%s", got, expected);
    free(got);
}

static void letters_are_as_expected(void **state)
{
    (void)state;
    is_text(&small, 40, 13, 0, 1,
            "Copy\n"
            "      right, %\n"
            "100% + b.........b....................b\n"
            "     | :::::::::::     ..........\n"
            " 50% + ::::::::..a.....\n"
            "     | :::.....:::\n"
            "  0% + a..::::::::\n"
            "     +-+---------+--------------------+-\n"
            "      10        20                   40\n"
            "                    length\n"
            "    a rising    100% at 40\n"
            "    b flat ?  >99.9% at 40\n"
            "    : training, 10 to 20\n");
    is_text(&small, 40, 13, 0, 0,
            "Copy\n"
            "      right, %\n"
            "100% ┤ ○·········○····················○\n"
            "     │ ░░░░░░░░░░░     ··········\n"
            " 50% ┤ ░░░░░░░░··●·····\n"
            "     │ ░░░·····░░░\n"
            "  0% ┤ ●··░░░░░░░░\n"
            "     └─┬─────────┬────────────────────┬─\n"
            "      10        20                   40\n"
            "                    length\n"
            "    ● rising    100% at 40\n"
            "    ○ flat é  >99.9% at 40\n"
            "    ░ training, 10 to 20\n");
}

/* A curve under another is not seen; the legend says where it is and what it came to. */
static void a_hidden_curve_is_told(void **state)
{
    (void)state;
    static const double x[] = {1, 10, 100}, y[] = {1, 1, 1};
    static const lg_curve same[] = {{"first", 3, x, y, NULL, NULL},
                                    {"second", 3, x, y, NULL, NULL}};
    lg_figure f = {.curves = same, .count = 2};
    is_text(&f, 60, 9, 0, 1,
            "100% + b.........................b........................b\n"
            "     |\n"
            " 50% +\n"
            "     |\n"
            "  0% +\n"
            "     +-+-------------------------+------------------------+-\n"
            "       1                        10                       100\n"
            "    a first     100% at 100, under b\n"
            "    b second    100% at 100\n");
    is_text(&f, 60, 0, 1, 1,
            "100% + \033[33mb.........................b........................b\033[0m\n"
            " 50% +\n"
            "  0% +\n"
            "     +-+-------------------------+------------------------+-\n"
            "       1                        10                       100\n"
            "    \033[34ma\033[0m first     100% at 100, under b\n"
            "    \033[33mb\033[0m second    100% at 100\n");
}

/* 10 of 5 to 49 is near the left on a linear axis; of 5 to 50 it is further on, on a logarithmic
 * one. Points in any order are joined by x. */
static void log_or_linear(void **state)
{
    (void)state;
    static const double linear[] = {49, 10, 5}, decade[] = {50, 10, 5}, y[] = {0.5, 0.5, 0.5};
    static const struct {
        const double *x;
        const char *line;
    } cases[] = {{linear, " 50% + a...a..........................a\n"},
                 {decade, " 50% + a........a.....................a\n"}};
    for (int i = 0; i < 2; i++) {
        lg_curve c = {.name = "c", .n = 3, .x = cases[i].x, .y = y};
        lg_figure f = {.curves = &c, .count = 1};
        char *got = lg_figure_text(&f, 40, 8, 0, 1);
        has(got, cases[i].line);
        free(got);
    }
}

static int columns(const char *line)
{
    int n = 0;
    for (; *line; line++) n += ((unsigned char)*line & 0xc0) != 0x80;
    return n;
}

/* Whatever the size and the names: within it, no blanks at the end, and nothing that a terminal
 * would obey. */
static void letters_keep_to_their_size(void **state)
{
    (void)state;
    static const double wild[] = {NAN, 999999999999.0, 0.001, 1e300};
    static const int width[] = {-1, 40, 61, 80, 200, 1000}, height[] = {-1, 8, 11, 24, 40, 1000};
    lg_curve c[20];
    char *whole = lg_figure_text(&plain, 40, 8, 0, 1);
    has(whole, "500,000\n"); /* the last length's label is moved, not cut */
    free(whole);
    for (int i = 0; i < 20; i++) c[i] = two[i % 2];
    c[2] = (lg_curve){"a name that is much longer than any that a figure in letters could show "
                      "on its line, for it goes on and on and on",
                      4,
                      x4,
                      wild,
                      NULL,
                      NULL};
    c[3] = (lg_curve){NULL, 0, NULL, NULL, NULL, NULL};
    for (int i = 0; i < 6 * 6 * 4 * 2; i++) {
        static const int counts[] = {1, 2, 5, 20};
        int w = width[i % 6], h = height[i / 6 % 6], ascii = i / 144;
        lg_figure f = plain;
        f.curves = c;
        f.count = counts[i / 36 % 4];
        if (f.count == 20) c[4].x = wild;
        char *got = lg_figure_text(&f, w, h, 0, ascii), *rest = got, *line;
        assert_non_null(got);
        assert_int_equal(got[strlen(got) - 1], '\n');
        got[strlen(got) - 1] = '\0';
        int lines = 0;
        for (; (line = strsep(&rest, "\n")); lines++) {
            assert_true(columns(line) <= (w < 40 ? 40 : w > 200 ? 200 : w));
            assert_true(!*line || line[strlen(line) - 1] != ' ');
            for (const char *s = line; *s; s++)
                assert_true((unsigned char)*s >= 0x20 && (!ascii || (unsigned char)*s < 0x7f));
        }
        assert_true(lines <= (h < 8 ? 8 : h > 40 ? 40 : h));
        free(got);
    }
}

static void few_lines_say_what_is_left_out(void **state)
{
    (void)state;
    lg_curve c[6];
    for (int i = 0; i < 6; i++) c[i] = pair[0];
    lg_figure f = small;
    f.curves = c;
    f.count = 6;
    char *got = lg_figure_text(&f, 40, 8, 0, 1);
    has(got, "and 4 more\n");
    free(got);
    f.count = 0;
    is_text(&f, 40, 20, 0, 1, "Copy\nno points to show\n");
    lg__alloc_fail_after(0);
    assert_null(lg_figure_text(&small, 40, 20, 0, 1));
    lg__alloc_fail_after(-1);
}

/* Broken into lines at blanks below the plot, whatever letters it has; a long word is cut. */
static void a_caption_stands_below(void **state)
{
    (void)state;
    char words[600] = "documented: it's one";
    const lg_curve curve = {"a", 4, x4, y4, NULL, NULL};
    lg_figure f = {.curves = &curve, .count = 1};
    lg_error err = {0};
    for (int i = 0; i < 25; i++) strcat(words, " and another");
    strcat(words, "  ");
    for (int i = 0; i < 151; i++) strcat(words, "x");
    gnuplot_is("/bin/cat > script; echo '<svg></svg>'");
    assert_int_equal(lg_figure_write(&f, svg, &err), 0);
    load(in_home("script"));
    lacks(text, "set origin");
    has(text, "size 760,420 ");
    f.caption = words;
    assert_int_equal(lg_figure_write(&f, svg, &err), 0);
    load(in_home("script"));
    has(text, "set label 10 'documented: it'.quote.'s one and another and ");
    has(text, "set label 14 'x' at screen");
    lacks(text, "set label 15");
    has(text, "size 760,502 ");
    has(text, "set size 1,");
    need_gnuplot();
    setenv("PATH", real_path, 1);
    assert_int_equal(lg_figure_write(&f, svg, &err), 0);
    load(svg);
    has(text, ">documented: it's one and another");
}

/* Errors of many sizes: decades on the y axis, by gnuplot and in letters; nothing at or below 0. */
static void y_may_be_logarithmic(void **state)
{
    (void)state;
    static const double x[] = {10, 100, 1000}, y[] = {2e-5, 1e-3, 0.5}, low[] = {1e-5, 0, 0.2},
                        high[] = {3e-5, 2e-3, 0.7}, bad[] = {1, 0, 1};
    lg_curve c = {"grows", 3, x, y, low, high};
    lg_figure f = {.title = "t", .curves = &c, .count = 1, .log_y = 1};
    lg_error err = {0};
    gnuplot_is("/bin/cat > script; echo '<svg></svg>'");
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    has(text, "set logscale y\nset yrange [1e-5:1e0]\nset ytics ('10⁻⁵' 1e-5, '10⁻⁴' 1e-4");
    has(text, "'1' 1)");
    has(text, "10 2e-05 1e-05 3e-05\n");
    has(text, "100 0.001 0.001 0.002\n"); /* a band has no end at 0 */
    char *got = lg_figure_text(&f, 60, 13, 0, 1);
    assert_non_null(got);
    has(got, "1e-5 +");
    has(got, " 0.1 +");
    has(got, "0.5 at 1,000");
    lacks(got, "%");
    free(got);
    c.y = bad;
    assert_int_equal(lg_figure_write(&f, svg, &err), LG_ERROR_ARGUMENT);
    has(err.text, "point 2 is x 100, y 0; on a logarithmic axis give numbers above 0");
}

/* y that is no share: the axis has its own ends, and numbers in the place of percent. */
static void an_axis_may_have_numbers(void **state)
{
    (void)state;
    static const double loss[] = {4.25, 5.5, 3, 2.5};
    const lg_curve curve = {"loss", 4, x4, loss, NULL, NULL};
    lg_figure f = {.y_label = "nats", .curves = &curve, .count = 1};
    lg_error err = {0};
    gnuplot_is("/bin/cat > script; echo '<svg></svg>'");
    assert_int_equal(lg_figure_write(&f, svg, &err), LG_ERROR_ARGUMENT);
    has(err.text, "y from 0 to 1");
    f.y_low = 2;
    f.y_high = 6;
    assert_int_equal(lg_figure_write(&f, svg, &err), 0);
    load(in_home("script"));
    has(text, "set yrange [2:6]\n");
    has(text, "\n1000 4.25 4.25 4.25\n");
    lacks(text, "[-4:104]");
    char *got = lg_figure_text(&f, 40, 16, 0, 1);
    has(got, "   6 +");
    has(got, "   4 +");
    has(got, "   2 +");
    has(got, "2.5 at 500,000");
    lacks(got, "%");
    free(got);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, clear)
    const struct CMUnitTest tests[] = {
        TEST(a_wrong_name_is_refused),
        TEST(a_wrong_folder_is_refused),
        TEST(without_gnuplot_the_remedy_is_said),
        TEST(a_check_leaves_nothing),
        TEST(what_cannot_be_drawn_is_refused),
        TEST(the_script_says_it_all),
        TEST(the_axis_is_as_wide_as_it_must),
        TEST(y_may_be_logarithmic),
        TEST(a_failure_leaves_the_earlier_file),
        TEST(a_caption_stands_below),
        TEST(an_axis_may_have_numbers),
        TEST(gnuplot_draws_svg),
        TEST(gnuplot_draws_png),
        TEST(gnuplot_draws_what_is_odd),
        TEST(letters_are_as_expected),
        TEST(a_hidden_curve_is_told),
        TEST(log_or_linear),
        TEST(letters_keep_to_their_size),
        TEST(few_lines_say_what_is_left_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
