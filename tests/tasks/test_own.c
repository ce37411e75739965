/* test_own.c: the user's own data from a file, jsonl:FILE. A line that is not understood must never
 * be trained on in part or in silence: it is refused with its place, its value and a remedy. What
 * is understood comes back as it was written. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "check.h"
#include "tasks/lines.h"

static char folder[] = "/tmp/lengthen-own-XXXXXX";
static char data[64], words[64], task[80], vocab[80];

static int open_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(data, sizeof data, "%s/data.jsonl", folder);
    snprintf(words, sizeof words, "%s/words.txt", folder);
    snprintf(task, sizeof task, "jsonl:%s", data);
    snprintf(vocab, sizeof vocab, "vocab=%s", words);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    unlink(data);
    unlink(words);
    return rmdir(folder);
}

static void put(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void assert_in(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("\"%s\" is not in: %s", part, text);
}

/* The task cannot be opened; the reason starts with `start` and has the other parts in it. */
static void refuse(const char *name, const char *setting, int code, const char *start,
                   const char *says, const char *remedy)
{
    lg_error err = {0};
    lg_task *t = lg_task_new(name, &setting, setting ? 1 : 0, &err);
    if (t) fail_msg("accepted, without: %s", says);
    if (strncmp(err.text, start, strlen(start)) != 0)
        fail_msg("does not start with \"%s\": %s", start, err.text);
    assert_int_equal(err.code, code);
    assert_in(err.text, says);
    assert_in(err.text, remedy);
}

static lg_task *open_lines(const char *text)
{
    put(data, text, strlen(text));
    return ck_task_new(task, NULL, 0);
}

/* "a b $ | 1 2 - | 001 | 3 0": the text, the labels of each level, the loss, length, sparsity. */
static const char *describe(const lg_task *t, const lg_example *x)
{
    static char text[1 << 21];
    const lg_task_shape *s = lg_task_get_shape(t);
    size_t at = lg_example_text(t, x, text, sizeof text);
    int answer = 0;
    while (answer < x->n && !x->loss[answer]) answer++;
    assert_int_equal(x->answer, answer); /* where the loss starts */
    for (int l = 0; l < LG_LEVELS; l++) {
        if (l < s->levels) at += (size_t)sprintf(text + at, " |");
        for (int i = 0; i < x->n; i++) {
            int32_t label = x->labels[l][i];
            if (l >= s->levels) assert_int_equal(label, LG_ABSENT);
            if (l < s->levels && label == LG_ABSENT) at += (size_t)sprintf(text + at, " -");
            if (l < s->levels && label != LG_ABSENT) at += (size_t)sprintf(text + at, " %d", label);
        }
    }
    at += (size_t)sprintf(text + at, " | ");
    for (int i = 0; i < x->n; i++) text[at++] = (char)('0' + x->loss[i]);
    sprintf(text + at, " | %d %d", x->length, x->sparsity);
    return text;
}

static const lg_draw all = {.length_lo = 1, .length_hi = 1 << 30}; /* any line */

/* Example `index` of the draw, described. */
static const char *draw(lg_task *t, lg_draw d, uint64_t index)
{
    lg_example x;
    d.index = index;
    lg_example_init(&x);
    ck_example(t, &d, &x);
    const char *text = describe(t, &x);
    lg_example_clear(&x);
    return text;
}

static void refuse_draw(lg_task *t, lg_draw d, uint64_t index, int code, const char *start,
                        const char *says, const char *remedy)
{
    lg_error err = {0};
    lg_example x;
    d.index = index;
    lg_example_init(&x);
    assert_int_equal(lg_task_example(t, &d, &x, &err), code);
    assert_int_equal(err.code, code);
    if (strncmp(err.text, start, strlen(start)) != 0)
        fail_msg("does not start with \"%s\": %s", start, err.text);
    assert_in(err.text, says);
    assert_in(err.text, remedy);
    lg_example_clear(&x);
}

/* ---- jsonl: lines that are refused ------------------------------------------------------------ */

#define GOOD "{\"tokens\": [\"a\", \"b\", 7, \"$\"]}\n"

static const struct {
    const char *line, *says, *remedy;
} bad_lines[] = {
    {"tokens: a b", "cannot be read as JSON", "write one object per line"},
    {"{\"tokens\": [\"a\", \"b\"]", "cannot be read as JSON", "write one object per line"},
    {"{\"tokens\": [\"a\", \"b\"]} x", "cannot be read as JSON", "write one object per line"},
    {"{\"tokens\": [\"a\", \"b\",]}", "cannot be read as JSON", "write one object per line"},
    {"{\"tokens\": [\"a\", 'b']}", "cannot be read as JSON", "write one object per line"},
    {"{\"tokens\": [\"a\", \"\xFF\"]}", "UTF-8", "write one object per line"},
    {"{\"tokens\": [\"a\", \"\xC3\"]}", "UTF-8", "write one object per line"},
    {"{\"tokens\": [\"a\", 123456789012345678901]}", "too big integer",
     "write one object per line"},
    {"{\"tokens\": [\"a\", \"b\"], \"tokens\": [\"a\", \"b\"]}", "\"tokens\"", "write one object"},
    {"[\"a\", \"b\"]", "this is [\"a\",\"b\"]", "write an object, {\"tokens\": [..]}"},
    {"7", "this is 7", "write an object"},
    {"null", "this is null", "write an object"},
    {"{}", "there is no key \"tokens\"", "{\"tokens\": ["},
    {"{\"ids\": [1, 2]}", "there is no key \"tokens\"", "{\"tokens\": ["},
    {"{\"input\": \"1 2\", \"output\": \"2 1\"}", "there is no key \"input\"",
     "{\"tokens\": [\"2\", \"7\", \"=\", \"7\", \"2\"], \"loss\": [0, 0, 0, 1, 1]}"},
    {"{\"token\": [\"a\", \"b\"]}", "no key \"token\"", "did you mean \"tokens\"?"},
    {"{\"tokens\": [\"a\", \"b\"], \"id\": [1, 2]}", "no key \"id\"", "did you mean \"ids\"?"},
    {"{\"tokens\": [\"a\", \"b\"], \"lenght\": 2}", "no key \"lenght\"",
     "did you mean \"length\"?"},
    {"{\"tokens\": [\"a\", \"b\"], \"comment\": 1}", "no key \"comment\"", "leave it out"},
    {"{\"tokens\": \"a b\"}", "tokens is \"a b\"", "write a list"},
    {"{\"tokens\": null}", "tokens is null", "write a list"},
    {"{\"tokens\": []}", "tokens has 0 entries", "write two or more"},
    {"{\"tokens\": [\"a\"]}", "tokens has 1 entries", "write two or more"},
    {"{\"tokens\": [\"a\", 1.5]}", "tokens[1] is 1.5", "a string or a whole number"},
    {"{\"tokens\": [\"a\", 1e3]}", "tokens[1] is 1000.0", "a string or a whole number"},
    {"{\"tokens\": [\"a\", \"b\", null]}", "tokens[2] is null", "a string or a whole number"},
    {"{\"tokens\": [true, \"b\"]}", "tokens[0] is true", "a string or a whole number"},
    {"{\"tokens\": [\"a\", [\"b\"]]}", "tokens[1] is [\"b\"]", "a string or a whole number"},
    {"{\"tokens\": [\"a\", \"\"]}", "tokens[1] is \"\", which is empty", "split or rename it"},
    {"{\"tokens\": [\"a b\", \"b\"]}", "tokens[0] is \"a b\"", "split or rename it"},
    {"{\"tokens\": [\"a\", \"b\\n\"]}", "tokens[1] is \"b\\n\"", "split or rename it"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [0, -2]}", "ids[1] is -2; IDs are -1 to 2147483646",
     "shift them all up"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [2147483647, 0]}", "ids[0] is 2147483647",
     "-1 to 2147483646; shift them all down"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [4294967297, 0]}", "ids[0] is 4294967297", "shift"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [1]}", "ids has 1 entries for 2 tokens", "write one"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [1, 2, 3]}", "ids has 3 entries for 2",
     "write one per"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": []}", "ids has 0 entries for 2", "write one per token"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [1, 2.5]}", "ids[1] is 2.5", "a whole number, or null"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [\"1\", 2]}", "ids[0] is \"1\"", "a whole number, or"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": 5}", "ids is 5", "write a list of IDs, one per token"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [[1, 2], [1]]}", "ids[1] has 1 entries for 2", "write"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [[1, 2], 3]}", "ids[1] is 3", "write a list of IDs"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [[1, 2], [1, -3]]}", "ids[1][1] is -3", "shift them"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [[1, 2], [1, 2], [1, 2], [1, 2]]}", "for 4 levels",
     "there may be 3"},
    {"{\"tokens\": [\"a\", \"b\"], \"loss\": [0]}", "loss has 1 entries for 2",
     "write one per token"},
    {"{\"tokens\": [\"a\", \"b\"], \"loss\": [0, 1, 1]}", "loss has 3 entries for 2",
     "write one per"},
    {"{\"tokens\": [\"a\", \"b\"], \"loss\": [0, 2]}", "loss[1] is 2", "must be 0 or 1, or false"},
    {"{\"tokens\": [\"a\", \"b\"], \"loss\": [0, 0.5]}", "loss[1] is 0.5", "must be 0 or 1"},
    {"{\"tokens\": [\"a\", \"b\"], \"loss\": [null, 1]}", "loss[0] is null", "must be 0 or 1"},
    {"{\"tokens\": [\"a\", \"b\"], \"loss\": 1}", "loss is 1", "write a list of 0 and 1"},
    {"{\"tokens\": [\"a\", \"b\"], \"loss\": [0, 0]}", "loss is 0 at every token",
     "write 1 at the"},
    {"{\"tokens\": [\"a\", \"b\"], \"loss\": [1, 1]}", "loss[0] is 1, but nothing comes",
     "write 0"},
    {"{\"tokens\": [\"a\", \"b\"], \"length\": 0}", "length is 0",
     "a whole number in 1..1073741824"},
    {"{\"tokens\": [\"a\", \"b\"], \"length\": \"2\"}", "length is \"2\"", "a whole number in 1.."},
    {"{\"tokens\": [\"a\", \"b\"], \"length\": 9999999999}", "length is 9999999999",
     "whole number"},
    /* more digits than 64 bits hold */
    {"{\"tokens\": [\"a\", \"b\"], \"length\": 9999999999999999999}", "cannot be read as JSON",
     "write one object per line"},
    {"{\"tokens\": [\"a\", \"b\"], \"ids\": [1, -9999999999999999999]}", "cannot be read as JSON",
     "write one object per line"},
    {"{\"tokens\": [\"a\", \"b\"], \"sparsity\": -1}", "sparsity is -1", "a whole number in 0.."},
    {"{\"tokens\": [\"a\", \"b\"], \"sparsity\": 1.0}", "sparsity is 1.0", "a whole number in 0.."},
    {"{\"lengthen\": 1, \"tokens\": [\"a\", \"b\"]}", "no key \"lengthen\"", "did you mean"},
};

/* Each as the first line, where all words are new, and further on, where a quicker reader has
 * a look at it first. */
static void wrong_lines_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_lines / sizeof *bad_lines; i++) {
        for (int later = 0; later < 2; later++) {
            char text[400], start[80];
            snprintf(text, sizeof text, "%s%s\n" GOOD, later ? GOOD "\n" GOOD : "",
                     bad_lines[i].line);
            put(data, text, strlen(text));
            snprintf(start, sizeof start, "%s:%d: ", data, later ? 4 : 1);
            refuse(task, NULL, LG_ERROR_ARGUMENT, start, bad_lines[i].says, bad_lines[i].remedy);
        }
    }
}

static void refuse_text(const char *text, int line, const char *says, const char *remedy)
{
    char start[80];
    put(data, text, strlen(text));
    snprintf(start, sizeof start, line ? "%s:%d: " : "%s: ", data, line);
    refuse(task, NULL, LG_ERROR_ARGUMENT, start, says, remedy);
}

static void lines_must_agree(void **state)
{
    (void)state;
    refuse_text("{\"tokens\":[1,2],\"ids\":[1,2]}\n\n{\"tokens\":[1,2]}\n", 3,
                "IDs at 0 levels, but the lines before have them at 1", "give all lines the same");
    refuse_text("{\"tokens\":[1,2]}\n{\"tokens\":[1,2],\"ids\":[1,2]}\n", 2,
                "IDs at 1 levels, but the lines before have them at 0", "give all lines the same");
    refuse_text("{\"tokens\":[1,2],\"ids\":[1,2]}\n{\"tokens\":[1,2],\"ids\":[[1,2],[1,2]]}\n", 2,
                "IDs at 2 levels, but the lines before have them at 1", "give all lines the same");
    refuse_text("{\"tokens\":[1,2],\"ids\":[1,2]}\n{\"tokens\":[1,2],\"ids\":[1,null]}\n", 2,
                "token 1 has no ID (ids[1] is null)", "give it one at one level or more");
    refuse_text("{\"tokens\":[1,2],\"ids\":[[1,null],[1,null]]}\n", 1,
                "token 1 has no ID (ids[..][1] is null)", "give it one at one level or more");
    refuse_text("", 0, "there is no example in it", "write one JSON object per line");
    refuse_text("\n \t\r\n\n", 0, "there is no example in it", "write one JSON object per line");
    refuse_text("{\"lengthen\": {\"index\": true}}\n", 0, "there is no example in it", "write one");
    refuse_text("{\"lengthen\": 5}\n" GOOD, 1, "lengthen is 5", "write {\"index\": true}");
    refuse_text("{\"lengthen\": {\"indx\": true}}\n" GOOD, 1, "no key \"indx\"", "\"index\"?");
    refuse_text(GOOD "{\"lengthen\": {\"index\": true}}\n", 2, "no key \"lengthen\"", "\"length\"");
    put(data, "{\"tokens\": [1, \0002]}\n", 19); /* a zero byte does not end the line */
    char start[80];
    snprintf(start, sizeof start, "%s:1: ", data);
    refuse(task, NULL, LG_ERROR_ARGUMENT, start, "cannot be read as JSON", "write one object");
    refuse("jsonl:", NULL, LG_ERROR_ARGUMENT, "task jsonl", "needs to know what to read", "FILE");
    refuse("jsonl", NULL, LG_ERROR_ARGUMENT, "task jsonl", "needs to know what to read", "FILE");
    refuse("jsonl:/no/such", NULL, LG_ERROR_SYSTEM, "/no/such cannot be read", "No such file",
           "check the name");
    refuse("jsonl:/tmp", NULL, LG_ERROR_SYSTEM, "/tmp cannot be read", "Is a directory", "check");
    refuse(task, "vocap=x", LG_ERROR_ARGUMENT, "task jsonl", "no setting \"vocap\"", "\"vocab\"?");
}

static void put_words(const char *text) { put(words, text, strlen(text)); }

static void a_vocabulary_may_be_fixed(void **state)
{
    (void)state;
    char start[80];
    const char *const settings[] = {vocab};
    put(data, GOOD GOOD, 2 * strlen(GOOD));
    put_words("$\nunused\r\n\nb\na\n7"); /* an empty line, a CRLF, no end */
    lg_task *t = ck_task_new(task, settings, 1);
    const lg_task_shape *s = lg_task_get_shape(t);
    static const char *const order[] = {"$", "unused", "b", "a", "7"};
    assert_int_equal(s->vocab, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(s->words[i], order[i]);
    assert_int_equal(s->stop, 0);
    assert_string_equal(draw(t, all, 1), "a b 7 $ | 0111 | 4 0");
    lg_task_free(t);

    snprintf(start, sizeof start, "%s:1: ", data);
    put_words("a\nb\n$\n");
    refuse(task, vocab, LG_ERROR_ARGUMENT, start, "tokens[2] is 7, which is not in ", "vocab=FILE");
    refuse(task, vocab, LG_ERROR_ARGUMENT, start, words, "add it to the file");
    put_words("a\n7\n$\n");
    refuse(task, vocab, LG_ERROR_ARGUMENT, start, "tokens[1] is \"b\"", "one word per line");
    snprintf(start, sizeof start, "%s:2: ", words);
    put_words("a\nb c\n");
    refuse(task, vocab, LG_ERROR_ARGUMENT, start, "the word \"b c\" is made of more", "one word");
    put_words("a\na\n");
    refuse(task, vocab, LG_ERROR_ARGUMENT, start, "the word \"a\" is there twice", "one word per");
    put_words("a\n\xFF\n");
    refuse(task, vocab, LG_ERROR_ARGUMENT, start, "not UTF-8", "one word per line");
    put(words, "a\nb\0c\n", 6);
    refuse(task, vocab, LG_ERROR_ARGUMENT, start, "is made of more than one word", "one word per");
    put_words("\n\n");
    refuse(task, vocab, LG_ERROR_ARGUMENT, words, "there is no word in it",
           "write one word per line");
    unlink(words);
    refuse(task, vocab, LG_ERROR_SYSTEM, "the vocabulary ", "No such file",
           "check the setting vocab");
}

/* ---- jsonl: lines that are read ----------------------------------------------------------------- */

static void expect(const char *text, int lines, const char *const *described)
{
    lg_task *t = open_lines(text);
    for (int i = 0; i < 2 * lines; i++) /* behind the last comes the first */
        assert_string_equal(draw(t, all, (uint64_t)i), described[i % lines]);
    lg_task_free(t);
}

static void lines_are_as_written(void **state)
{
    (void)state;
    expect("{\"tokens\": [\"a\", 7, -3, \"7\", \"\xC3\xA4\", \"\\u00e4\", 0]}\n", 1,
           (const char *const[]){"a 7 -3 7 \xC3\xA4 \xC3\xA4 0 | 0111111 | 7 0"});
    expect("{\"tokens\":[1,0,\"=\",1,1,\"$\"],\"ids\":[1,2,0,1,2,3],\"loss\":[0,0,0,1,1,1],"
           "\"length\":2,\"sparsity\":1}\n"
           "{ \"sparsity\" : 4 , \"loss\" : [ false , true , 0 ], \"ids\" : [ 2147483646 ,0, 9],"
           " \"length\":1073741824, \"tokens\" :[ \"1\",0,1 ] }\n",
           2,
           (const char *const[]){"1 0 = 1 1 $ | 1 2 0 1 2 3 | 000111 | 2 1",
                                 "1 0 1 | 2147483646 0 9 | 010 | 1073741824 4"});
    expect("{\"tokens\":[1,2,3],\"ids\":[[1,2,3]]}\n{\"tokens\":[1,2],\"ids\":[1,2]}\n", 2,
           (const char *const[]){"1 2 3 | 1 2 3 | 011 | 3 0", "1 2 | 1 2 | 01 | 2 0"});
    expect("{\"tokens\":[1,2,3],\"ids\":[[1,null,3],[null,2,0],[null,null,null]]}\n"
           "{\"tokens\":[3,2,1],\"ids\":[[1,null,3],[null,2,0],[null,null,5]]}\n",
           2,
           (const char *const[]){"1 2 3 | 1 - 3 | - 2 0 | - - - | 011 | 3 0",
                                 "3 2 1 | 1 - 3 | - 2 0 | - - 5 | 011 | 3 0"});
    expect("{\"lengthen\": {\"index\": true}}\n{\"tokens\":[1,2]}\n", 1,
           (const char *const[]){"1 2 | 01 | 2 0"});
}

static void line_ends_do_not_matter(void **state)
{
    (void)state;
    static const char *const two[] = {"a b | 01 | 2 0", "b a a | 011 | 3 0"};
#define A "{\"tokens\":[\"a\",\"b\"]}"
#define B "{\"tokens\":[\"b\",\"a\",\"a\"]}"
    expect(A "\n" B "\n", 2, two);
    expect(A "\n" B, 2, two);
    expect(A "\r\n" B "\r\n", 2, two);
    expect("\n \n" A "\n\r\n\t\n" B "\n\n\n", 2, two);
    expect("  " A "  \n\t" B "\t", 2, two);
}

/* A line longer than any buffer to start with, between many that end anywhere in one. */
static void long_files(void **state)
{
    (void)state;
    enum { TOKENS = 200000, LINES = 20000 };
    char *text = malloc(TOKENS * 8 + LINES * 48), *at = text, want[100];
    assert_non_null(text);
    for (int i = 0; i < LINES; i++) {
        if (i == LINES / 2) {
            at += sprintf(at, "{\"tokens\":[0");
            for (int j = 1; j < TOKENS; j++) at += sprintf(at, ",%d", j % 1000);
            at += sprintf(at, "]}\n");
        }
        at += sprintf(at, "{\"tokens\":[%d,%d,%d]}\n", i % 997, i % 991, i % 7);
    }
    lg_task *t = open_lines(text);
    free(text);
    assert_int_equal(lg_task_get_shape(t)->length_most, TOKENS);
    lg_example x;
    lg_draw d = all;
    lg_example_init(&x);
    for (; d.index < LINES; d.index += 97) {
        int i = (int)d.index - (d.index > LINES / 2);
        if (d.index == LINES / 2) continue;
        snprintf(want, sizeof want, "%d %d %d | 011 | 3 0", i % 997, i % 991, i % 7);
        assert_string_equal(draw(t, d, d.index), want);
    }
    d = (lg_draw){.index = 5, .length_lo = TOKENS, .length_hi = TOKENS};
    ck_example(t, &d, &x);
    for (int j = 0; j < TOKENS; j++)
        assert_int_equal(atoi(lg_task_get_shape(t)->words[x.tokens[j]]), j % 1000);
    lg_example_clear(&x);
    lg_task_free(t);
}

static void the_shape_is_that_of_the_lines(void **state)
{
    (void)state;
    lg_task *t = open_lines("{\"tokens\":[1,\"$\",2,3,\"$\"],\"ids\":[[50,5,5,2,2],[1,1,1,1,1]],"
                            "\"loss\":[0,0,0,1,1],\"sparsity\":2}\n"
                            "{\"tokens\":[4,1,\"$\"],\"ids\":[[1,null,1],[0,9,9]],\"length\":9,"
                            "\"loss\":[0,1,1]}\n");
    const lg_task_shape *s = lg_task_get_shape(t);
    assert_int_equal(s->vocab, 5);
    static const char *const order[] = {"1", "$", "2", "3", "4"}; /* as they appear */
    for (int i = 0; i < 5; i++) assert_string_equal(s->words[i], order[i]);
    assert_int_equal(s->stop, 1); /* it is in a prompt, but only at the end of answers */
    assert_int_equal(s->levels, 2);
    assert_int_equal(s->needed, 2);   /* one token has an ID at the second level only */
    assert_int_equal(s->reach[0], 3); /* 50 to 5 is in the prompt, where nothing is predicted */
    assert_int_equal(s->reach[1], 9);
    assert_int_equal(s->length_least, 5);
    assert_int_equal(s->length_most, 9);
    assert_int_equal(s->sparsity_least, 0);
    assert_int_equal(s->sparsity_most, 2);
    lg_task_free(t);
    t = open_lines(
        "{\"tokens\":[1,2,9]}\n{\"tokens\":[1,9,9]}\n"); /* in an answer before its end */
    assert_int_equal(lg_task_get_shape(t)->stop, LG_NONE);
    assert_int_equal(lg_task_get_shape(t)->levels, 0);
    lg_task_free(t);
    t = open_lines("{\"tokens\":[1,9]}\n{\"tokens\":[1,2]}\n{\"tokens\":[1,9]}\n");
    assert_int_equal(lg_task_get_shape(t)->stop, LG_NONE);
    lg_task_free(t);
}

static void draws_choose_by_length_and_sparsity(void **state)
{
    (void)state;
    lg_task *t = open_lines("{\"tokens\":[0,1],\"length\":3,\"sparsity\":1}\n"
                            "{\"tokens\":[0,2],\"length\":5,\"sparsity\":1}\n"
                            "{\"tokens\":[0,3],\"length\":3,\"sparsity\":2}\n"
                            "{\"tokens\":[0,4],\"length\":8,\"sparsity\":7}\n");
    lg_draw three = {.length_lo = 3, .length_hi = 3}, some = {.length_lo = 4, .length_hi = 8},
            one = {.length_lo = 3, .length_hi = 5, .sparsity_lo = 1, .sparsity_hi = 1};
    for (uint64_t i = 0; i < 6; i += 2) {
        assert_string_equal(draw(t, three, i), "0 1 | 01 | 3 1");
        assert_string_equal(draw(t, three, i + 1), "0 3 | 01 | 3 2");
        assert_string_equal(draw(t, some, i), "0 2 | 01 | 5 1");
        assert_string_equal(draw(t, some, i + 1), "0 4 | 01 | 8 7");
        assert_string_equal(draw(t, one, i), "0 1 | 01 | 3 1");
        assert_string_equal(draw(t, one, i + 1), "0 2 | 01 | 5 1");
    }
    lg_draw none = {.length_lo = 6, .length_hi = 7};
    refuse_draw(t, none, 0, LG_ERROR_ARGUMENT, data, "no line with length 6..7",
                "its lengths are 3..8 and sparsities 1..7: ask for those");
    none = (lg_draw){.length_lo = 3, .length_hi = 3, .sparsity_lo = 7, .sparsity_hi = 9};
    refuse_draw(t, none, 0, LG_ERROR_ARGUMENT, data, "sparsity 7..9", "ask for those");
    for (int i = 0; i < 50; i++) { /* more ranges than are kept in mind */
        lg_draw d = {.length_lo = 1, .length_hi = 8 + i};
        assert_string_equal(draw(t, d, 3), "0 4 | 01 | 8 7");
    }
    assert_string_equal(draw(t, three, 3), "0 3 | 01 | 3 2");
    lg_task_free(t);
}

#define FOUR "{\"tokens\":[0,0]}\n{\"tokens\":[0,1]}\n{\"tokens\":[0,2]}\n{\"tokens\":[0,3]}\n"

/* The lines of one pass over FOUR, as a number; each comes once. */
static int pass(lg_task *t, uint64_t seed, uint32_t stream, uint64_t first)
{
    lg_draw d = {.seed = seed, .stream = stream, .index = first, .length_lo = 1, .length_hi = 9};
    lg_example x;
    int order = 0, seen = 0;
    lg_example_init(&x);
    for (int i = 0; i < 4; i++, d.index++) {
        ck_example(t, &d, &x);
        order = 4 * order + x.tokens[1];
        seen |= 1 << x.tokens[1];
    }
    lg_example_clear(&x);
    assert_int_equal(seen, 15);
    return order;
}

/* Streams but 0 are shuffled, anew at each pass: every order as often as any other. */
static void other_streams_are_shuffled(void **state)
{
    (void)state;
    enum { ORDERS = 24, TRIES = 24000 };
    lg_task *t = open_lines(FOUR), *again = open_lines(FOUR);
    int bin[256], count[ORDERS] = {0}, again_count[ORDERS] = {0}, bins = 0;
    memset(bin, -1, sizeof bin);
    for (int i = 0; i < TRIES; i++) {
        int by_seed = pass(t, (uint64_t)i, 1, 0), by_pass = pass(t, 7, 2, 4 * (uint64_t)i);
        if (bin[by_seed] < 0) bin[by_seed] = bins++;
        if (bin[by_pass] < 0) bin[by_pass] = bins++;
        count[bin[by_seed]]++;
        again_count[bin[by_pass]]++;
        if (i % 100 == 0) { /* the same again, whatever was drawn in between */
            assert_int_equal(pass(again, (uint64_t)i, 1, 0), by_seed);
            assert_int_equal(pass(again, 7, 2, 4 * (uint64_t)i), by_pass);
        }
    }
    assert_int_equal(bins, ORDERS);
    ck_chi_square("orders by seed", count, NULL, ORDERS, 1);
    ck_chi_square("orders by pass", again_count, NULL, ORDERS, 1);
    for (uint64_t seed = 0; seed < 9; seed++) /* stream 0: 0 1 2 3, whatever the seed */
        assert_int_equal(pass(t, seed, 0, 4 * seed), 0 * 64 + 1 * 16 + 2 * 4 + 3);
    lg_task_free(t);
    lg_task_free(again);
}

struct worker {
    lg_task *t;
    int number, wrong;
};

static void *draw_many(void *of)
{
    struct worker *w = of;
    lg_example x;
    lg_example_init(&x);
    for (int i = 0; i < 2000; i++) {
        lg_draw d = {.seed = 1, .index = (uint64_t)i, .length_lo = 1};
        d.length_hi = 2 + (i + w->number) % 40;
        if (lg_task_example(w->t, &d, &x, NULL) || x.tokens[1] != i % 4) w->wrong++;
    }
    lg_example_clear(&x);
    return NULL;
}

/* Threads ask for more ranges than are kept in mind, so that they replace each other's. */
static void threads_get_the_same(void **state)
{
    (void)state;
    lg_task *t = open_lines(FOUR);
    pthread_t thread[4];
    struct worker w[4];
    for (int i = 0; i < 4; i++) {
        w[i] = (struct worker){t, 10 * i, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, draw_many, &w[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(w[i].wrong, 0);
    }
    lg_task_free(t);
}

/* `lengthen sample TASK --json` writes what jsonl: reads: the same examples with the same labels. */
static void saved_samples_come_back(void **state)
{
    (void)state;
    static const struct {
        const char *name, *setting;
    } tasks[] = {{"addition", NULL},
                 {"multiplication", "scratchpad=yes"},
                 {"multiplication", "orientation=down"}, /* its $ has label -1 */
                 {"sparse-parity-scratchpad", NULL},
                 {"copy", "hints=50"}};
    for (size_t k = 0; k < sizeof tasks / sizeof *tasks; k++) {
        char command[2000];
        snprintf(command, sizeof command,
                 "'%s' sample %s %s%s --length 1..9 --count 60 --json > %s", LG_PROGRAM,
                 tasks[k].name, tasks[k].setting ? "--set task." : "",
                 tasks[k].setting ? tasks[k].setting : "", data);
        assert_int_equal(system(command), 0);
        lg_task *from = ck_task_new(tasks[k].name, &tasks[k].setting, tasks[k].setting ? 1 : 0);
        lg_task *back = ck_task_new(task, NULL, 0);
        lg_example x;
        lg_example_init(&x);
        assert_int_equal(lg_task_get_shape(from)->levels, lg_task_get_shape(back)->levels);
        for (lg_draw d = {.length_lo = 1, .length_hi = 9}; d.index < 60; d.index++) {
            ck_example(from, &d, &x);
            char *want = strdup(describe(from, &x));
            assert_string_equal(draw(back, d, d.index), want);
            free(want);
        }
        lg_example_clear(&x);
        lg_task_free(from);
        lg_task_free(back);
    }
}

/* Two readers share the work: a quick one for ordinary lines, and JSON's library. On lines with
 * random slips both must say the same. A key written with an escape is one that only the library
 * reads. */
static void both_readers_agree(void **state)
{
    (void)state;
    static const char line[] = "{\"tokens\": [1, \"ab\", 20, \"1\"], \"ids\": [[1, null, 0, 3], "
                               "[null,2,3,4]], \"loss\": [0, 1,true, 0],\"length\": 12, "
                               "\"sparsity\":3}";
    static const char letters[] = "0123,[]{}\":-+.eE \t\r\n\\nulltrueab";
    struct lg_task t = {0};
    struct lg__line_parser p = {.t = &t, .name = "x", .between = ":", .levels = -1};
    lg_example quick, slow;
    lg_rng r;
    int accepted = 0;
    lg_example_init(&quick);
    lg_example_init(&slow);
    lg_rng_init(&r, 1, 2, 3);
    assert_int_equal(lg__line_parse(&p, line, strlen(line), 1, &quick, NULL), 1);
    p.fixed = "the list";
    t.shape.levels = 2;
    for (int i = 0; i < 100000; i++) {
        char text[300], escaped[310];
        lg_error why[2] = {{0}, {0}};
        strcpy(text, line);
        for (int slips = 1 + (int)lg_rng_below(&r, 3); slips--;) {
            size_t at = lg_rng_below(&r, (uint32_t)strlen(text));
            char letter = letters[lg_rng_below(&r, sizeof letters - 1)];
            uint32_t kind = lg_rng_below(&r, 3);
            if (kind == 0) text[at] = letter;
            if (kind == 1) memmove(text + at, text + at + 1, strlen(text + at));
            if (kind == 2) memmove(text + at + 1, text + at, strlen(text + at) + 1);
            if (kind == 2) text[at] = letter;
        }
        const char *key = strstr(text, "\"tokens\"");
        if (!key) continue;
        snprintf(escaped, sizeof escaped, "%.*s\"\\u0074%s", (int)(key - text), text, key + 2);
        p.levels = 2;
        int a = lg__line_parse(&p, text, strlen(text), 0, &quick, &why[0]);
        int b = lg__line_parse(&p, escaped, strlen(escaped), 0, &slow, &why[1]);
        if (a != b ||
            (a < 0 && !strstr(why[0].text, "(column") && strcmp(why[0].text, why[1].text)))
            fail_msg("%s\n%d %s\n%d %s", text, a, why[0].text, b, why[1].text);
        if (a < 0) continue;
        accepted++;
        char *first = strdup(describe(&t, &quick));
        if (strcmp(first, describe(&t, &slow)) != 0) fail_msg("%s: %s", text, first);
        free(first);
    }
    assert_true(accepted > 1000);
    lg_example_clear(&quick);
    lg_example_clear(&slow);
    lg__texts_free(&p.words);
    for (int i = 0; i < t.shape.vocab; i++) free(t.words[i]);
    free(t.words);
    free(t.digit);
}

/* Every allocation fails once. The quick reader of lines may do without; else there is a reason. */
static void no_memory_is_told(void **state)
{
    (void)state;
    const char *const settings[] = {vocab};
    int failures = 0, n = 0, reached = 1;
    put(data, FOUR GOOD, strlen(FOUR GOOD));
    put_words("0\n1\n2\n3\na\nb\n7\n$\n");
    for (; reached; n++) {
        lg_error err = {0};
        long before = lg__alloc_count();
        lg__alloc_fail_after(n);
        lg_task *t = lg_task_new(task, settings, 1, &err);
        lg__alloc_fail_after(-1);
        reached = !t || lg__alloc_count() - before > n;
        if (t) assert_string_equal(draw(t, all, 4), "a b 7 $ | 0111 | 4 0");
        if (!t && err.code != LG_ERROR_MEMORY) fail_msg("allocation %d: %s", n, err.text);
        failures += !t;
        lg_task_free(t);
    }
    assert_true(failures > 15);
    assert_true(n > 25);
    lg_task *t = ck_task_new(task, settings, 1);
    lg_example x;
    lg_example_init(&x);
    lg__alloc_fail_after(0);
    assert_int_equal(lg_task_example(t, &all, &x, NULL), LG_ERROR_MEMORY);
    lg__alloc_fail_after(-1);
    assert_string_equal(draw(t, all, 4), "a b 7 $ | 0111 | 4 0");
    lg_example_clear(&x);
    lg_task_free(t);
}

/* 60 lines of length 2, 40 of length 3 and 3 of length 4, each of the first two kinds twice; from the last
 * to the first if `reversed`. */
static lg_task *open_many(int reversed, const char *test)
{
    static char text[1 << 15];
    size_t at = 0;
    for (int k = 0; k < 203; k++) {
        int i = reversed ? 202 - k : k, one = i % 100;
        if (i >= 200)
            at += (size_t)sprintf(text + at, "{\"tokens\":[\"x\",\"y\",\"z\",%d]}\n", i);
        else if (one < 60)
            at += (size_t)sprintf(text + at, "{\"tokens\":[%d,\"b\"]}\n", one);
        else
            at += (size_t)sprintf(text + at, "{\"tokens\":[\"a\",%d,\"b\"]}\n", one);
    }
    put(data, text, at);
    return ck_task_new(task, &test, 1);
}

/* Which of 0..202 the lines of a side with this length have as their number, and how often; their count. */
static int take_side(lg_task *t, lg_side side, int length, int times[203])
{
    lg_draw d = {.seed = 3, .stream = 2, .length_lo = length, .length_hi = length, .side = side};
    const lg_task_shape *shape = lg_task_get_shape(t);
    int count = lg__task_count(t, &d);
    lg_example x;
    lg_example_init(&x);
    memset(times, 0, 203 * sizeof *times);
    for (int i = 0; i < count; i++, d.index++) {
        ck_example(t, &d, &x);
        for (int k = 0; k < x.n; k++)
            if (shape->words[x.tokens[k]][0] <= '9') times[atoi(shape->words[x.tokens[k]])]++;
    }
    lg_example_clear(&x);
    return count;
}

/* A test on a line that training has seen measures memory. */
static void lines_are_held_out_by_content(void **state)
{
    (void)state;
    int test[2][203], train[203], all_of[203];
    for (int length = 2; length <= 3; length++) {
        int contents = length == 2 ? 60 : 40;
        for (int reversed = 0; reversed < 2; reversed++) {
            lg_task *t = open_many(reversed, "test=0.1");
            assert_int_equal(take_side(t, LG_SIDE_TEST, length, test[reversed]), 2 * contents / 10);
            assert_int_equal(take_side(t, LG_SIDE_TRAIN, length, train), 2 * contents * 9 / 10);
            assert_int_equal(take_side(t, LG_SIDE_ANY, length, all_of), 2 * contents);
            for (int i = 0; i < 100; i++) {
                assert_true(test[reversed][i] % 2 == 0 && train[i] % 2 == 0); /* twins together */
                assert_int_equal(test[reversed][i] + train[i], all_of[i]);
            }
            lg_task_free(t);
        }
        assert_memory_equal(test[0], test[1], sizeof test[0]); /* in whatever order they come */
    }
}

static void a_side_without_lines_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *test;
        int length;
        lg_side side;
        const char *says, *remedy;
    } cases[] = {{"test=0.1", 4, LG_SIDE_TEST, "of its 3 lines with length 4..4 none is held out",
                  "set task.test higher"},
                 {"test=0", 2, LG_SIDE_TEST, "of its 120 lines with length 2..2 none is held out",
                  "--task jsonl:FILE"},
                 {"test=1", 2, LG_SIDE_TRAIN, "none is left to train on", "set task.test lower"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_error err;
        lg_example x;
        lg_task *t = open_many(0, cases[i].test);
        lg_draw d = {
            .length_lo = cases[i].length, .length_hi = cases[i].length, .side = cases[i].side};
        lg_example_init(&x);
        assert_int_equal(lg_task_example(t, &d, &x, &err), LG_ERROR_ARGUMENT);
        assert_in(err.text, cases[i].says);
        assert_in(err.text, cases[i].remedy);
        lg_example_clear(&x);
        lg_task_free(t);
    }
}

/* Test files that share lines with the training file are told apart from those that do not. */
static void overlap_is_counted(void **state)
{
    (void)state;
    lg_error err;
    lg_task *trained = open_many(0, "test=0.1");
    lg_task *same = lg__task_new_like(task, NULL, 0, trained, &err);
    assert_non_null(same);
    lg_draw d = {.length_lo = 2, .length_hi = 9, .side = LG_SIDE_TRAIN};
    assert_int_equal(lg__task_overlap(same, trained, &d),
                     203 - 20);    /* 6 and 4 contents, twice each */
    d.length_lo = d.length_hi = 3; /* the others are not trained on */
    assert_int_equal(lg__task_overlap(same, trained, &d), 80 - 8);
    static const char other[] = "{\"tokens\":[5,5]}\n{\"tokens\":[\"a\",5]}\n";
    put(data, other, strlen(other));
    lg_task *apart = lg__task_new_like(task, NULL, 0, trained, &err);
    assert_non_null(apart);
    assert_int_equal(lg__task_overlap(apart, trained, &all), 0);
    lg_task_free(apart);
    lg_task_free(same);
    lg_task_free(trained);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_lines_are_refused),
        cmocka_unit_test(lines_must_agree),
        cmocka_unit_test(a_vocabulary_may_be_fixed),
        cmocka_unit_test(lines_are_as_written),
        cmocka_unit_test(line_ends_do_not_matter),
        cmocka_unit_test(long_files),
        cmocka_unit_test(the_shape_is_that_of_the_lines),
        cmocka_unit_test(draws_choose_by_length_and_sparsity),
        cmocka_unit_test(other_streams_are_shuffled),
        cmocka_unit_test(threads_get_the_same),
        cmocka_unit_test(saved_samples_come_back),
        cmocka_unit_test(both_readers_agree),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(lines_are_held_out_by_content),
        cmocka_unit_test(a_side_without_lines_is_refused),
        cmocka_unit_test(overlap_is_counted),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
