/* test_pictures.c: what a figure shows beside its curves: how wide training is, which lines were never learned, its
 * size and kind; and maps, which show what many crossing lines would hide. */
#include "report/drawing.h"

/* Lengths of training are there to be seen, not to be looked at: at most a fifth of the width. */
static void training_takes_a_fifth(void **state)
{
    (void)state;
    lg_error err;
    static const double x[] = {10, 20, 50, 200}, y[] = {1, 1, 0.5, 0};
    lg_curve c = {.name = "c", .n = 4, .x = x, .y = y};
    lg_figure f = {.curves = &c, .count = 1, .trained_low = 1, .trained_high = 50};
    gnuplot_is("/bin/cat > script; echo '<svg></svg>'");
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    has(text, "set xrange [0:1]");
    has(text, "to graph 0.200000,1 behind");
    has(text, "0.2 50 50 50\n"); /* the point at the end of training */
    has(text, "training, 1 to 50 (narrowed)");
    lacks(text, "logscale x");
    f.trained_high = 200; /* all is training: nothing to make room for */
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    has(text, "set logscale x");
}

/* What was never learned says nothing about positions, and is marked wherever it is drawn. */
static void lines_that_were_not_learned_are_marked(void **state)
{
    (void)state;
    lg_error err;
    static const double x[] = {10, 20, 40}, good[] = {0.9, 1, 0}, bad[] = {1, 0.98, 1};
    lg_curve c[] = {{.name = "good", .n = 3, .x = x, .y = good},
                    {.name = "bad", .n = 3, .x = x, .y = bad},
                    {.name = "denser", .n = 3, .x = x, .y = bad},
                    {.name = "untested", .n = 1, .x = x + 2, .y = good + 2}};
    static const char outside[] = {0, 0, 1, 0};
    lg_figure f = {.curves = c, .count = 4, .trained_low = 1, .trained_high = 20};
    gnuplot_is("/bin/cat > script; echo '<svg></svg>'");
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    lacks(text, "not learned"); /* of what x and y are nothing was said */
    f.answers = 1;
    f.outside = outside;
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    has(text, "title 'bad'.' (not learned)'");
    has(text, "title 'good', ");
    has(text, "title 'denser', ");
    has(text, "title 'untested'\n");
}

static void size_and_kind_are_chosen(void **state)
{
    (void)state;
    lg_error err;
    lg_figure f = plain;
    f.width = 500;
    f.height = 300;
    gnuplot_is("/bin/cat > script; echo '%%EOF'");
    must(lg_figure_write(&f, in_home("out/a.pdf"), &err), &err);
    load(in_home("script"));
    has(text, "set terminal pdfcairo noenhanced size 5.208in,3.125in");
    gnuplot_is("/bin/cat > script; echo '<svg></svg>'");
    must(lg_figure_write(&f, svg, &err), &err);
    load(in_home("script"));
    has(text, "size 500,300");
    setenv("PATH", real_path, 1);
    need_gnuplot();
    must(lg_figure_write(&f, in_home("out/a.pdf"), &err), &err);
    load(in_home("out/a.pdf"));
    assert_memory_equal(text, "%PDF-", 5);
}

static void a_map_has_every_cell(void **state)
{
    (void)state;
    lg_error err;
    static const double x[] = {20, 50, 20, 50, 500}, y[] = {4, 4, 8, 8, 8},
                        value[] = {1, 0.5, 0.25, 0, 0.125};
    lg_heatmap m = {.title = "It's a map",
                    .x_label = "tokens",
                    .y_label = "pairs",
                    .caption = "Exact answers.",
                    .n = 5,
                    .x = x,
                    .y = y,
                    .value = value,
                    .trained_x = {1, 50},
                    .trained_y = {1, 4}};
    gnuplot_is("/bin/cat > script; echo '<svg></svg>'");
    must(lg_heatmap_write(&m, svg, &err), &err);
    load(in_home("script"));
    has(text, "set xtics ('20' 0.5, '50' 1.5, '500' 2.5)");
    has(text, "set ytics ('4' 0.5, '8' 1.5)");
    has(text, "from 0,0 to 1,1 fillcolor rgb '#0072b2'"); /* 100% */
    has(text, "from 1,1 to 2,2 fillcolor rgb '#ffffff'"); /* 0% */
    has(text, "'12' at 2.5,1.5");
    has(text, "rectangle from 0,0 to 2,1 front fillstyle empty"); /* what training shows */
    has(text, "It'.quote.'s a map");
    m.trained_x[0] = 30; /* shorter ones are not trained on */
    must(lg_heatmap_write(&m, svg, &err), &err);
    load(in_home("script"));
    has(text, "rectangle from 1,0 to 2,1 front fillstyle empty");
    m.n = 0;
    assert_int_equal(lg_heatmap_write(&m, svg, &err), LG_ERROR_ARGUMENT);
    static const double twice[] = {20, 20, 20, 50, 500}, over[] = {1, 1.5, 0, 0, 0};
    m.n = 5;
    m.x = twice;
    assert_int_equal(lg_heatmap_write(&m, svg, &err), LG_ERROR_ARGUMENT);
    has(err.text, "two cells of the map are at x 20, y 4");
    m.x = x;
    m.value = over;
    assert_int_equal(lg_heatmap_write(&m, svg, &err), LG_ERROR_ARGUMENT);
    has(err.text, "value 1.5");
    m.value = value;
    setenv("PATH", real_path, 1);
    need_gnuplot();
    must(lg_heatmap_write(&m, svg, &err), &err);
    load(svg);
    has(text, "Exact answers.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(training_takes_a_fifth, clear),
        cmocka_unit_test_setup(lines_that_were_not_learned_are_marked, clear),
        cmocka_unit_test_setup(size_and_kind_are_chosen, clear),
        cmocka_unit_test_setup(a_map_has_every_cell, clear),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
