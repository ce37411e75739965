/* test_checkpoint.c: what is saved comes back byte by byte, and a resumed run has the bits of one
 * never stopped; the newest checkpoints stay, and those of another model are refused. The files
 * are read by a parser of this test's own. Without it a resumed run could be another one than was
 * stopped, and the files something that no other program reads. */
#include "formats/safetensors.h"
#include "helpers/saving.h"

/* Saves that must be refused with these words. */
static void refuse_save(const struct pair *p, const char *note, int keep, int code,
                        const char *words)
{
    lg_error err = {0};
    assert_int_equal(lg__checkpoint_save(folder, p->m, p->t, note, keep, &err), code);
    assert_int_equal(err.code, code);
    if (!strstr(err.text, words)) fail_msg("\"%s\" is not in: %s", words, err.text);
    assert_int_equal(lg__checkpoint_save(folder, p->m, p->t, note, keep, NULL), code);
}

/* ---- Round trips -------------------------------------------------------------------------- */

/* Sequences of mixed lengths with all losses. */
static void fill(lg_batch *b, int step)
{
    int32_t tokens[24], ids[24], other[24], targets[24], id_targets[24], point[24];
    lg_rng r;
    lg_rng_init(&r, 5, 1, (uint64_t)step);
    lg_batch_reset(b);
    for (int s = 0; s < 12; s++) {
        int n = 2 + (int)lg_rng_below(&r, 22);
        for (int t = 0; t < n; t++) {
            tokens[t] = (int32_t)lg_rng_below(&r, VOCAB);
            ids[t] = t / 2 + (int32_t)lg_rng_below(&r, 3);
            other[t] = t && lg_rng_below(&r, 4) == 0 ? LG_ABSENT : (int32_t)lg_rng_below(&r, 6);
            targets[t] = (tokens[t] * 3 + 1) % VOCAB;
            id_targets[t] = (int32_t)lg_rng_below(&r, CLASSES);
            point[t] = ids[lg_rng_below(&r, (uint32_t)t + 1)];
        }
        lg_sequence q = {.n = n, .levels = 2, .tokens = tokens, .targets = targets};
        q.ids[0] = ids;
        q.ids[1] = other;
        q.id_targets[0] = id_targets;
        q.point_targets[0] = point;
        assert_int_equal(lg_batch_add_levels(b, &q, NULL), 0);
    }
}

static void train(struct pair *p, int from, int to)
{
    lg_batch b;
    lg_error err = {0};
    lg_batch_init(&b);
    for (int step = from; step < to; step++) {
        fill(&b, step);
        if (lg_trainer_step(p->t, &b, NULL, &err)) fail_msg("%s", err.text);
    }
    lg_batch_clear(&b);
}

static void resumed_bits_are_those_of_an_unbroken_run(void **state)
{
    static const char text[] = "stage 3 of \"short\"\n\ttab, \\ and \xc3\xa4\xe2\x82\xac\x01.";
    (void)state;
    for (int arch = LG_ARCH_NEOX; arch <= LG_ARCH_OLMO; arch++)
        for (int threads = 1; threads <= 2; threads++) {
            lg_model_config c = config((lg_arch)arch);
            lg_error warning = {.code = 9}, err = {0};
            char *note = NULL;
            struct pair a = pair_of(&c, threads), b;
            c.seed = 99;
            b = pair_of(&c, threads);
            train(&a, 0, 10);
            save(&a, text, 2);
            assert_false(same(&a, &b));
            if (lg__checkpoint_load(folder, b.m, b.t, 0, &note, &warning, &err))
                fail_msg("%s", err.text);
            assert_int_equal(warning.code, 0);
            assert_string_equal(note, text);
            assert_int_equal(lg_trainer_steps(b.t), 10);
            assert_true(same(&a, &b));
            train(&a, 10, 20);
            train(&b, 10, 20);
            assert_true(same(&a, &b));
            free(note);
            pair_free(&a);
            pair_free(&b);
            empty(folder);
        }
}

static void the_parameters_alone(void **state)
{
    (void)state;
    struct pair a = small(), b = small(), c = small();
    lg_error err = {0};
    save_state(&a, 4, 1200, 2);
    unlink(path_of(1200, "state.safetensors")); /* the optimizer's, which is not needed */
    set_state(&b, 1, 5);
    set_state(&c, 1, 5);
    if (lg__checkpoint_load(folder, b.m, NULL, 0, NULL, NULL, &err)) fail_msg("%s", err.text);
    for (int i = 0; i < lg_model_param_count(a.m); i++) {
        lg_param x = lg_model_param(a.m, i), y = lg_model_param(b.m, i);
        assert_memory_equal(x.data, y.data, floats(&x) * sizeof(float));
        memcpy(y.data, lg_model_param(c.m, i).data, floats(&x) * sizeof(float));
    }
    assert_true(same(&b, &c)); /* the trainer was not touched */
    pair_free(&a);
    pair_free(&b);
    pair_free(&c);
}

static void notes(void **state)
{
    (void)state;
    struct pair p = small();
    char *long_note = malloc(100001), *note;
    memset(long_note, 'x', 100000);
    long_note[100000] = 0;
    const char *const all[] = {NULL, "", "{\"a\": [1, \"\\u0041\"]}", "\xff\xfe", long_note};
    for (int i = 0; i < 5; i++) {
        set_state(&p, i, i);
        save(&p, all[i], 2);
        assert_int_equal(lg__checkpoint_load(folder, p.m, p.t, 0, &note, NULL, NULL), 0);
        assert_string_equal(note, all[i] ? all[i] : "");
        free(note);
    }
    assert_int_equal(count_names(""), 2);
    free(long_note);
    pair_free(&p);
}

/* ---- The format, read by other code ------------------------------------------------------- */

/* A parser of just the JSON that the format allows. */
struct text {
    const char *p, *end;
};

static int peek(struct text *t)
{
    while (t->p < t->end && strchr(" \t\r\n", *t->p)) t->p++;
    return t->p < t->end ? *t->p : 0;
}

static int take(struct text *t, char c)
{
    if (peek(t) != c) return 0;
    t->p++;
    return 1;
}

static void take_string(struct text *t, char *out, size_t room)
{
    assert_true(take(t, '"'));
    size_t n = 0;
    while (t->p < t->end && *t->p != '"') {
        assert_true(*t->p != '\\' && n + 1 < room); /* these tests write no escapes */
        out[n++] = *t->p++;
    }
    out[n] = 0;
    assert_true(take(t, '"'));
}

static int take_numbers(struct text *t, long long *out, int most)
{
    int n = 0;
    assert_true(take(t, '['));
    while (!take(t, ']')) {
        char *end;
        assert_true(n < most);
        if (n) assert_true(take(t, ','));
        (void)peek(t);
        out[n++] = strtoll(t->p, &end, 10);
        assert_true(end > t->p);
        t->p = end;
    }
    return n;
}

/* One "key": {"dtype": ..., "shape": ..., "data_offsets": ...}. */
struct row {
    char name[128], dtype[8];
    long long shape[4], at[2];
    int dims;
};

static void take_row(struct text *t, struct row *r)
{
    char key[32];
    assert_true(take(t, '{'));
    for (int i = 0; i < 3; i++) {
        if (i) assert_true(take(t, ','));
        take_string(t, key, sizeof key);
        assert_true(take(t, ':'));
        if (strcmp(key, "dtype") == 0)
            take_string(t, r->dtype, sizeof r->dtype);
        else if (strcmp(key, "shape") == 0)
            r->dims = take_numbers(t, r->shape, 4);
        else if (strcmp(key, "data_offsets") == 0)
            assert_int_equal(take_numbers(t, r->at, 2), 2);
        else
            fail_msg("key %s", key);
    }
    assert_true(take(t, '}'));
}

/* Reads a file; calls check for each tensor and returns how many there were. */
static int parse(const char *path, char *meta, size_t room,
                 void (*check)(const struct pair *, const struct row *, const void *),
                 const struct pair *p)
{
    size_t size;
    unsigned char *data = slurp(path, &size);
    uint64_t length = 0;
    long long used = 0;
    int count = 0;
    for (int i = 7; i >= 0; i--) length = length << 8 | data[i];
    assert_true(length % 8 == 0 && length + 8 <= size && data[8] == '{');
    struct text t = {(char *)data + 8, (char *)data + 8 + length};
    assert_true(take(&t, '{'));
    for (int first = 1; !take(&t, '}'); first = 0) {
        struct row r = {0};
        if (!first) assert_true(take(&t, ','));
        take_string(&t, r.name, sizeof r.name);
        assert_true(take(&t, ':'));
        if (strcmp(r.name, "__metadata__") == 0) {
            const char *from = t.p;
            while (*t.p != '}') t.p++;
            t.p++;
            snprintf(meta, room, "%.*s", (int)(t.p - from), from);
            continue;
        }
        take_row(&t, &r);
        assert_int_equal(r.at[0], used); /* end to end, in the order of the header */
        used = r.at[1];
        assert_true(used <= (long long)(size - 8 - length));
        check(p, &r, data + 8 + length + r.at[0]);
        count++;
    }
    assert_int_equal(peek(&t), 0); /* nothing but spaces behind */
    assert_int_equal(used, size - 8 - length);
    free(data);
    return count;
}

static void check_row(const struct row *r, const lg_param *w, const float *right, const void *data)
{
    assert_string_equal(r->dtype, "F32");
    assert_int_equal(r->dims, w->rows == 1 ? 1 : 2);
    if (r->dims == 2) assert_int_equal(r->shape[0], w->rows);
    assert_int_equal(r->shape[r->dims - 1], w->cols);
    assert_int_equal(r->at[1] - r->at[0], floats(w) * sizeof(float));
    assert_memory_equal(right, data, floats(w) * sizeof(float));
}

static void check_param(const struct pair *p, const struct row *r, const void *data)
{
    int i = lg_model_param_find(p->m, r->name);
    assert_true(i >= 0);
    lg_param w = lg_model_param(p->m, i);
    check_row(r, &w, w.data, data);
}

static void check_moment(const struct pair *p, const struct row *r, const void *data)
{
    int i = lg_model_param_find(p->m, r->name + 3);
    assert_true(i >= 0 && r->name[0] == 'm' && r->name[2] == '.');
    lg_param w = lg_model_param(p->m, i);
    check_row(r, &w, lg_trainer_moment(p->t, i, r->name[1] - '1'), data);
}

static void the_files_are_safetensors(void **state)
{
    (void)state;
    for (int arch = LG_ARCH_NEOX; arch <= LG_ARCH_OLMO; arch++) {
        lg_model_config c = config((lg_arch)arch);
        struct pair p = pair_of(&c, 1);
        int n = lg_model_param_count(p.m);
        char meta[256], sum[256], right[512];
        set_state(&p, 2, 1200);
        save(&p, "hello", 1);
        assert_int_equal(parse(path_of(1200, files[0]), meta, sizeof meta, check_param, &p), n);
        assert_non_null(strstr(meta, "\"format_version\":\"2\""));
        assert_int_equal(parse(path_of(1200, files[1]), meta, sizeof meta, check_moment, &p),
                         2 * n);
        assert_non_null(strstr(meta, "\"step\":\"1200\""));
        int used = snprintf(right, sizeof right, "lengthen checkpoint 2\nstep 1200\n");
        static const char *const summed[] = {"model.safetensors", "note", "state.safetensors"};
        for (int f = 0; f < 3; f++) { /* the sums, computed here once more */
            size_t size;
            unsigned char *data = slurp(path_of(1200, summed[f]), &size);
            if (f == 1) assert_true(size == 5 && memcmp(data, "hello", 5) == 0);
            uint64_t h = 14695981039346656037u;
            for (size_t i = 0; i < size; i++) h = (h ^ data[i]) * 1099511628211u;
            used += snprintf(right + used, sizeof right - (size_t)used, "%s %zu %016llx\n",
                             summed[f], size, (unsigned long long)h);
            free(data);
        }
        size_t size;
        unsigned char *text = slurp(path_of(1200, "sum"), &size);
        snprintf(sum, sizeof sum, "%.*s", (int)size, (char *)text);
        assert_string_equal(sum, right);
        free(text);
        pair_free(&p);
        empty(folder);
    }
}

/* A file with this header and so many bytes of data, in memory of just its size. */
static int open_text(const char *header, size_t bytes, lg_error *err)
{
    struct lg__safetensors s;
    size_t length = strlen(header), size = 8 + length + bytes;
    unsigned char *data = calloc(1, size);
    for (int i = 0; i < 8; i++) data[i] = (unsigned char)((uint64_t)length >> (8 * i));
    memcpy(data + 8, header, length);
    int e = lg__safetensors_open(&s, data, size, "FILE", err);
    if (!e) lg__safetensors_close(&s);
    free(data);
    return e;
}

#define ROW(name, shape, from, to)                                                                 \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #from "," #to "]}"

static void what_is_no_safetensors_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t bytes;
        const char *words; /* NULL: it is good */
    } row[] = {
        {"{}", 0, NULL},
        {"{" ROW("a", "[2]", 0, 8) "}   ", 8, NULL},
        {"{\"__metadata__\":{\"k\":\"v\"}," ROW("a", "[]", 4, 8) "," ROW("b", "[1,1]", 0, 4) "}", 8,
         NULL},
        {"{" ROW("a", "[0,9223372036854775807]", 0, 0) "}", 0, NULL},
        {"{}", 1, "behind the last"},
        {"", 0, "no JSON"},
        {"[]", 0, "no JSON"},
        {"{", 0, "no JSON"},
        {"{\"a\":1}", 0, "tensor a has no dtype"},
        {"{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "tensor a"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "no two data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "no shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4, "no two"},
        {"{" ROW("a", "[1.0]", 0, 4) "}", 4, "no count"},
        {"{" ROW("a", "[-1]", 0, 4) "}", 4, "no count"},
        {"{" ROW("a", "[1,1,1,1,1,1,1,1,1]", 0, 4) "}", 4, "dimensions"},
        {"{" ROW("a", "[2]", 0, 4) "}", 4, "do not agree"},
        {"{" ROW("a", "[4611686018427387904,2]", 0, 0) "}", 0, "too large"},
        {"{" ROW("a", "[4611686018427387904]", 0, 0) "}", 0, "too large"},
        {"{" ROW("a", "[1]", 4, 0) "}", 4, "outside"},
        {"{" ROW("a", "[1]", -4, 0) "}", 4, "outside"},
        {"{" ROW("a", "[2]", 0, 8) "}", 4, "outside"},
        {"{" ROW("a", "[1]", 9223372036854775803, 9223372036854775807) "}", 4, "outside"},
        {"{" ROW("a", "[1]", 4, 8) "}", 8, "unused bytes"},
        {"{" ROW("a", "[1]", 0, 4) "}", 8, "behind the last"},
        {"{" ROW("a", "[2]", 0, 8) "," ROW("b", "[2]", 4, 12) "}", 12, "tensor b overlaps"},
        {"{" ROW("a", "[1]", 0, 4) "," ROW("b", "[1]", 0, 4) "}", 4, "overlaps"},
        {"{" ROW("a", "[1]", 0, 4) "," ROW("a", "[1]", 4, 8) "}", 8, "no JSON"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "no text"},
        {"{\"__metadata__\":[]}", 0, "no object"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        lg_error err = {0};
        int e = open_text(row[i].header, row[i].bytes, &err);
        assert_int_equal(e, row[i].words ? LG_ERROR_SYSTEM : 0);
        if (!e) continue;
        if (!strstr(err.text, row[i].words) || !strstr(err.text, "FILE"))
            fail_msg("\"%s\" is not in: %s", row[i].words, err.text);
    }
    struct lg__safetensors s;
    static const unsigned char huge[] = {255, 255, 255, 255, 255, 255, 255, 255, '{', '}'};
    assert_int_equal(lg__safetensors_open(&s, huge, 10, "FILE", NULL), LG_ERROR_SYSTEM);
    assert_int_equal(lg__safetensors_open(&s, huge, 7, "FILE", NULL), LG_ERROR_SYSTEM);
}

/* Without a checksum before it: the reader alone never leaves its bytes (the sanitizer looks). */
static void the_reader_survives_any_bytes(void **state)
{
    (void)state;
    struct pair p = small();
    size_t size;
    lg_rng r;
    lg_rng_init(&r, 8, 0, 0);
    save_state(&p, 1, 1, 1);
    unsigned char *good = slurp(path_of(1, files[0]), &size);
    size_t header = 8 + (size_t)good[0] + ((size_t)good[1] << 8);
    for (int i = 0; i < 2000; i++) {
        struct lg__safetensors s;
        size_t cut = i % 4 ? size : lg_rng_below(&r, (uint32_t)size);
        unsigned char *bad = malloc(cut + 1);
        memcpy(bad, good, cut);
        for (int flips = 0; flips < 1 + i % 3 && cut; flips++)
            bad[lg_rng_below(&r, (uint32_t)(header < cut ? header : cut))] ^=
                (unsigned char)(1u << lg_rng_below(&r, 8));
        if (lg__safetensors_open(&s, bad, cut, "FILE", NULL) == 0) {
            for (int j = 0; j < s.count; j++)
                for (size_t b = 0; b < s.tensors[j].size; b++)
                    *(volatile char *)bad = ((const char *)s.tensors[j].data)[b];
            lg__safetensors_close(&s);
        }
        free(bad);
    }
    free(good);
    pair_free(&p);
}

/* ---- Which ones stay ---------------------------------------------------------------------- */

static void the_newest_stay(void **state)
{
    (void)state;
    struct pair p = small();
    for (int k = 1; k <= 6; k++) {
        save_state(&p, k, 100 * k, 3);
        assert_int_equal(count_names(""), k < 3 ? k : 3);
    }
    assert_true(is_there(400) && is_there(500) && is_there(600));
    save_state(&p, 7, 999999999, 2);
    save_state(&p, 8, 1000000000, 2); /* a digit more, and sorted as a number */
    expect(&p, 8, 1000000000, NULL);
    assert_int_equal(count_names(""), 2);
    save_state(&p, 9, 1000000001, 1);
    assert_int_equal(count_names(""), 1);
    set_state(&p, 9, 1000000002);
    refuse_save(&p, "", 0, LG_ERROR_ARGUMENT, "keep");
    pair_free(&p);
}

static void the_same_step_again(void **state)
{
    (void)state;
    struct pair p = small();
    for (int k = 0; k < 4; k++) {
        save_state(&p, k, 5, 1);
        assert_int_equal(count_names(""), 1);
        expect(&p, k, 5, NULL);
    }
    pair_free(&p);
}

static void later_steps(void **state)
{
    (void)state;
    struct pair p = small();
    save_state(&p, 1, 10, 2);
    save_state(&p, 2, 20, 2);
    set_state(&p, 3, 15);
    refuse_save(&p, "", 2, LG_ERROR_ARGUMENT, "step-000000020, a later step than this one (15)");
    expect(&p, 2, 20, NULL);
    unlink(path_of(20, "sum")); /* damaged: the run goes on from 10 */
    save_state(&p, 3, 15, 1);
    assert_true(!is_there(10) && is_there(15) &&
                !is_there(20)); /* which is no longer of this run */
    expect(&p, 3, 15, NULL);
    save_state(&p, 4, 20, 2);
    expect(&p, 4, 20, NULL);
    assert_int_equal(count_names(""), 2);
    pair_free(&p);
}

static void another_model_is_refused(void **state)
{
    (void)state;
    struct pair p = small();
    lg_model_config c = config(LG_ARCH_NEOX);
    save_state(&p, 1, 10, 2);
    for (int i = 0; i < 4; i++) {
        c = config(i == 3 ? LG_ARCH_OLMO : LG_ARCH_NEOX);
        c.layers = i == 1 ? 2 : 1;
        if (i == 0) c.vocab = VOCAB + 1;
        if (i == 2) c.id_classes[0] = 0;
        static const char *const words[] = {"11 x 12, the model's is 12 x 12", "no tensor layers.1",
                                            "has a tensor id", "tensor "};
        lg_error err = {0}, warning = {0};
        struct pair other = pair_of(&c, 1), before = pair_of(&c, 1);
        assert_int_equal(lg__checkpoint_load(folder, other.m, other.t, 0, NULL, &warning, &err),
                         LG_ERROR_ARGUMENT);
        if (!strstr(err.text, words[i]) || !strstr(err.text, "step-000000010/model.safetensors"))
            fail_msg("\"%s\" is not in: %s", words[i], err.text);
        assert_int_equal(warning.code, 0);
        assert_true(same(&other, &before));
        pair_free(&other);
        pair_free(&before);
    }
    pair_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(resumed_bits_are_those_of_an_unbroken_run),
        TEST(the_parameters_alone),
        TEST(notes),
        TEST(the_files_are_safetensors),
        TEST(what_is_no_safetensors_is_refused),
        TEST(the_reader_survives_any_bytes),
        TEST(the_same_step_again),
        TEST(the_newest_stay),
        TEST(later_steps),
        TEST(another_model_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
