/* fixture.h: reads a case of tests/data/fixtures, made by tests/data/make_fixtures.py
 * (the format is described there), and makes the model and the batch of it.
 *
 *     struct fixture f;
 *     if (fixture_load(&f, "neox_default") != 0) ...     // says why on stderr
 *     const struct fixture_array *g = fixture_array(&f, "grad:", "embed.weight");
 *     lg_model *m = fixture_model(&f, &err);             // the case's parameters in it
 *     lg_batch b; fixture_batch(&f, &b, &err);
 *     fixture_clear(&f);
 */
#ifndef LG_TEST_FIXTURE_H
#define LG_TEST_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lengthen.h"

#ifndef LG_TEST_DATA
#error "define LG_TEST_DATA as the path of tests/data, a string"
#endif

enum { FIXTURE_MAX_ARRAYS = 256, FIXTURE_MAX_NAME = 64 };

enum fixture_type { FIXTURE_I32, FIXTURE_F32, FIXTURE_F64 };

struct fixture_array {
    char name[FIXTURE_MAX_NAME]; /* "tokens", "param:embed.weight", "grad:embed.weight" */
    enum fixture_type type;
    int rows, cols;
    union {
        int32_t *i32;
        float *f32;
        double *f64;
        void *any;
    } data; /* owned */
};

struct fixture {
    char name[FIXTURE_MAX_NAME];
    char encoding[16]; /* config.encoding points here */
    lg_model_config config;
    int length; /* for lg_model_set_length; 0: not called */
    double id_weight;
    double loss, id_loss, grad_norm; /* the reference's */
    int right, id_right;
    int count;
    struct fixture_array arrays[FIXTURE_MAX_ARRAYS];
};

static inline void fixture_clear(struct fixture *f)
{
    for (int i = 0; i < f->count; i++) free(f->arrays[i].data.any);
    f->count = 0;
}

/* The array prefix + name, or NULL. */
static inline const struct fixture_array *fixture_array(const struct fixture *f, const char *prefix,
                                                        const char *name)
{
    size_t n = strlen(prefix);
    for (int i = 0; i < f->count; i++) {
        const char *s = f->arrays[i].name;
        if (strncmp(s, prefix, n) == 0 && strcmp(s + n, name) == 0) return &f->arrays[i];
    }
    return NULL;
}

/* Row `level` of an array that has one per level; NULL without such an array. */
static inline const int32_t *fixture_level(const struct fixture *f, const char *name, int level)
{
    const struct fixture_array *a = fixture_array(f, "", name);
    return a && level < a->rows ? a->data.i32 + (size_t)level * (size_t)a->cols : NULL;
}

/* The name of the array of ID logits. */
static inline const char *fixture_id_logits(int level)
{
    static const char *const names[LG_LEVELS] = {"id_logits", "id_logits.1", "id_logits.2"};
    return names[level];
}

/* ---- Reading ---------------------------------------------------------------------- */

/* Index of word in the NULL-ended list, or -1. */
static inline int fixture_word(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(word, list[i]) == 0) return i;
    return -1;
}

/* A field that each level has: one number a level. 0, or -1 if there are too many or none. */
static inline int fixture_levels(int *value, const char *text)
{
    int n = 0, used = 0;
    for (int x; sscanf(text, "%d%n", &x, &used) == 1; text += used, n++) {
        if (n == LG_LEVELS) return -1;
        value[n] = x;
    }
    return n > 0 ? 0 : -1;
}

/* One `key value` line. 0, or -1 if the key or the value is unknown. */
static inline int fixture_value(struct fixture *f, const char *key, const char *text)
{
    /* Lists in the order of the enums in lengthen.h. */
    static const char *const archs[] = {"neox", "olmo", "looped", NULL};
    static const char *const norms[] = {"layer", "plain", "rms", NULL};
    static const char *const acts[] = {"gelu", "gelu_tanh", "swiglu", NULL};
    static const char *const spans[] = {"full", "window", NULL};
    static const char *const scores[] = {"softmax", "ssmax", "entmax15", NULL};
    static const char *const ropes[] = {"plain", "linear", "ntk", "dynamic", "yarn", NULL};
    lg_model_config *c = &f->config;
    int match[LG_LEVELS] = {0};

    const struct {
        const char *key;
        int *value;
    } ints[] = {{"vocab", &c->vocab},
                {"layers", &c->layers},
                {"width", &c->width},
                {"heads", &c->heads},
                {"ff", &c->ff},
                {"biases", &c->biases},
                {"parallel", &c->parallel},
                {"tied", &c->tied},
                {"loops", &c->loops},
                {"inject", &c->inject},
                {"sink", &c->sink},
                {"right", &f->right},
                {"id_right", &f->id_right},
                {"levels", &c->levels},
                {"max_id", &c->max_id},
                {"length", &f->length},
                {"rope_length", &c->rope_length}},
      each[] = {{"window_lo", c->window_lo},
                {"window_hi", c->window_hi},
                {"id_classes", c->id_classes},
                {"pointer", c->pointer},
                {"match", match}};
    const struct {
        const char *key;
        double *value;
    } reals[] = {{"norm_eps", &c->norm_eps},   {"rope_share", &c->rope_share},
                 {"rope_base", &c->rope_base}, {"rope_factor", &c->rope_factor},
                 {"id_weight", &f->id_weight}, {"loss", &f->loss},
                 {"id_loss", &f->id_loss},     {"grad_norm", &f->grad_norm}};

    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        if (strcmp(key, ints[i].key) == 0) return sscanf(text, "%d", ints[i].value) == 1 ? 0 : -1;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (strcmp(key, each[i].key) == 0) {
            int bad = fixture_levels(each[i].value, text);
            for (int l = 0; l < LG_LEVELS; l++)
                if (each[i].value == match) c->match[l] = (lg_match)match[l];
            return bad;
        }
    if (strcmp(key, "key_token") == 0) {
        int used = 0;
        for (; c->key_tokens < LG_KEY_TOKENS &&
               sscanf(text, "%d%n", &c->key_token[c->key_tokens], &used) == 1;
             text += used)
            c->key_tokens++;
        return *text ? -1 : 0;
    }
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (strcmp(key, reals[i].key) == 0)
            return sscanf(text, "%lf", reals[i].value) == 1 ? 0 : -1;

    int w = -1;
    if (strcmp(key, "arch") == 0) { /* always the first line: the rest changes defaults */
        w = fixture_word(text, archs);
        *c = lg_model_config_default(w < 0 ? LG_ARCH_NEOX : (lg_arch)w);
    } else if (strcmp(key, "norm") == 0) {
        w = fixture_word(text, norms);
        c->norm = (lg_norm)w;
    } else if (strcmp(key, "act") == 0) {
        w = fixture_word(text, acts);
        c->act = (lg_act)w;
    } else if (strcmp(key, "span") == 0) {
        w = fixture_word(text, spans);
        c->span = (lg_span)w;
    } else if (strcmp(key, "scores") == 0) {
        w = fixture_word(text, scores);
        c->attention = (lg_attention)w;
    } else if (strcmp(key, "rope_scaling") == 0) {
        w = fixture_word(text, ropes);
        c->rope_scaling = (lg_rope)w;
    } else if (strcmp(key, "encoding") == 0 && strlen(text) < sizeof f->encoding) {
        w = 0;
        strcpy(f->encoding, text);
        c->encoding = f->encoding;
    }
    return w >= 0 ? 0 : -1;
}

/* The array that follows its line in the file. 0 or -1. */
static inline int fixture_read_array(struct fixture *f, FILE *in, const char *type,
                                     const char *rest)
{
    static const char *const types[] = {"i32", "f32", "f64", NULL};
    static const size_t sizes[] = {4, 4, 8};
    int t = fixture_word(type, types);
    if (t < 0 || f->count == FIXTURE_MAX_ARRAYS) return -1;
    struct fixture_array *a = &f->arrays[f->count];
    a->type = (enum fixture_type)t;
    if (sscanf(rest, "%63s %d %d", a->name, &a->rows, &a->cols) != 3) return -1;
    if (a->rows < 1 || a->cols < 1 || a->rows > 1 << 20 || a->cols > 1 << 20) return -1;
    size_t n = (size_t)a->rows * (size_t)a->cols;
    a->data.any = malloc(n * sizes[t]);
    if (!a->data.any) return -1;
    f->count++;
    if (fread(a->data.any, sizes[t], n, in) != n) return -1;
    return fgetc(in) == '\n' ? 0 : -1;
}

/* Reads case `name`. 0, or -1 with the reason on stderr and nothing to clear. */
static inline int fixture_load(struct fixture *f, const char *name)
{
    char path[1024], line[256], key[64], value[192];
    static const struct fixture empty;
    *f = empty;
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(path, sizeof path, "%s/fixtures/%s.bin", LG_TEST_DATA, name);
    FILE *in = fopen(path, "rb");
    if (!in) {
        fprintf(stderr, "%s: cannot be opened; tests/data/make_fixtures.py makes it\n", path);
        return -1;
    }
    int done = 0, bad = !fgets(line, sizeof line, in) || strcmp(line, "lengthen-fixture 1\n") != 0;
    while (!bad && !done && fgets(line, sizeof line, in)) {
        if (strcmp(line, "end\n") == 0) {
            done = 1;
        } else if (sscanf(line, "%63s %191[^\n]", key, value) != 2) {
            bad = 1;
        } else if (strcmp(key, "i32") == 0 || strcmp(key, "f32") == 0 || strcmp(key, "f64") == 0) {
            bad = fixture_read_array(f, in, key, value) != 0;
        } else {
            bad = fixture_value(f, key, value) != 0;
        }
    }
    fclose(in);

    static const char *const needed[] = {"offsets", "tokens",     "ids",
                                         "targets", "id_targets", "logits"};
    for (size_t i = 0; done && i < sizeof needed / sizeof *needed; i++)
        if (!fixture_array(f, "", needed[i])) done = 0;
    for (int l = 0; done && l < f->config.levels; l++)
        if (!fixture_level(f, "ids", l) || !fixture_level(f, "id_targets", l) ||
            ((f->config.pointer[l] || f->config.match[l]) && !fixture_level(f, "pointed", l)) ||
            (f->config.id_classes[l] && !fixture_array(f, "", fixture_id_logits(l))))
            done = 0;
    if (bad || !done) {
        fprintf(stderr, "%s: not a whole fixture; last line read: %.60s\n", path, line);
        fixture_clear(f);
        return -1;
    }
    return 0;
}

/* ---- What a case is made of -------------------------------------------------------- */

static inline int fixture_rows(const struct fixture *f)
{
    return fixture_array(f, "", "tokens")->cols;
}

static inline int fixture_sequences(const struct fixture *f)
{
    return fixture_array(f, "", "offsets")->cols - 1;
}

static inline const int32_t *fixture_ints(const struct fixture *f, const char *name)
{
    return fixture_array(f, "", name)->data.i32;
}

/* b: the case's batch; it is initialised here and cleared by the caller, also on error. */
static inline int fixture_batch(const struct fixture *f, lg_batch *b, lg_error *err)
{
    const int32_t *at = fixture_ints(f, "offsets");
    lg_batch_init(b);
    for (int s = 0; s < fixture_sequences(f); s++) {
        lg_sequence x = {.n = at[s + 1] - at[s],
                         .levels = f->config.levels,
                         .tokens = fixture_ints(f, "tokens") + at[s],
                         .targets = fixture_ints(f, "targets") + at[s]};
        const int32_t *codes = fixture_level(f, "codes", 0);
        x.codes = codes ? codes + at[s] : NULL;
        for (int l = 0; l < x.levels; l++) {
            const int32_t *point = fixture_level(f, "point_targets", l);
            x.ids[l] = fixture_level(f, "ids", l) + at[s];
            x.id_targets[l] = fixture_level(f, "id_targets", l) + at[s];
            x.point_targets[l] = point ? point + at[s] : NULL;
        }
        int r = lg_batch_add_levels(b, &x, err);
        if (r != 0) return r;
    }
    return 0;
}

/* Writes the case's parameters into m. The number of parameters of the file that m does not
 * have, or has in another shape, or the other way round; each is named on stderr. */
static inline int fixture_fill(const struct fixture *f, lg_model *m)
{
    int wrong = 0;
    for (int i = 0; i < f->count; i++) {
        const struct fixture_array *a = &f->arrays[i];
        if (strncmp(a->name, "param:", 6) == 0 && lg_model_param_find(m, a->name + 6) < 0) {
            fprintf(stderr, "%s: the model has no parameter %s\n", f->name, a->name + 6);
            wrong++;
        }
    }
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        const struct fixture_array *a = fixture_array(f, "param:", p.name);
        if (!a || a->type != FIXTURE_F32 || a->rows != p.rows || a->cols != p.cols) {
            fprintf(stderr, "%s: parameter %s is [%d,%d] in the model, [%d,%d] in the file\n",
                    f->name, p.name, p.rows, p.cols, a ? a->rows : 0, a ? a->cols : 0);
            wrong++;
            continue;
        }
        memcpy(p.data, a->data.f32, (size_t)p.rows * (size_t)p.cols * sizeof(float));
    }
    lg_model_touch(m);
    return wrong;
}

/* The case's model, with its parameters; NULL with the reason in err. */
static inline lg_model *fixture_model(const struct fixture *f, lg_error *err)
{
    lg_model_config c = f->config;
    c.encoding = f->encoding;
    lg_model *m = lg_model_new(&c, err);
    if (m && fixture_fill(f, m) != 0) {
        if (err) snprintf(err->text, sizeof err->text, "the parameters do not fit");
        lg_model_free(m);
        m = NULL;
    }
    if (m && f->length && lg_model_set_length(m, f->length, err) != 0) {
        lg_model_free(m);
        m = NULL;
    }
    return m;
}

/* ---- Comparing ---------------------------------------------------------------------- */

/* max|got - ref| <= tolerance * max|ref| over n numbers? 0, or 1 with case, tensor and the
 * worst pair of values on `out` (which may be NULL). NaN is never within. */
static inline int fixture_differs(FILE *out, const char *name, const char *tensor, const float *got,
                                  const double *ref, size_t n, double tolerance)
{
    double top = 0, worst = -1;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - ref[i]);
        if (fabs(ref[i]) > top) top = fabs(ref[i]);
        if (isnan(d)) d = INFINITY;
        if (d > worst) {
            worst = d;
            at = i;
        }
    }
    if (worst <= tolerance * top) return 0;
    if (out)
        fprintf(out,
                "%s: %s[%zu]: got %.9g, reference %.9g: off by %.3g of max|ref| %.6g, "
                "allowed %.3g\n",
                name, tensor, at, (double)got[at], ref[at], worst / top, top, tolerance);
    return 1;
}

/* The same for one number. */
static inline int fixture_differs_value(FILE *out, const char *name, const char *what, double got,
                                        double ref, double tolerance)
{
    if (fabs(got - ref) <= tolerance * fabs(ref)) return 0;
    if (out)
        fprintf(out, "%s: %s: got %.9g, reference %.9g, allowed %.3g of it\n", name, what, got, ref,
                tolerance);
    return 1;
}

#endif
