/* match_bed.h: damaged models with match heads, judged by the certificate and by generating every input up to
 * a number of entries (oracle.c). Certified means that none fails; refuted, that the shown input fails. */
#ifndef LG_TESTS_CERTIFY_MATCH_BED_H
#define LG_TESTS_CERTIFY_MATCH_BED_H

#include <math.h>

#include "certify/oracle.h"
#include "certify/pairs.h"
#include "engine/match.h"
#include "helpers/home.h"
#include "helpers/training.h"
#include "runs/checkpoint.h"

struct match_case {
    const char *name, *sets[8];
    oracle_write *write;
    int inputs;
    int words, base; /* of a key */
};

static const struct match_case match_cases[] = {
    {"retrieval",
     {"task.name=retrieval", "task.keys=2", "task.key_tokens=2", "task.values=2", "task.gap=7",
      "positions.window=[[0, 0], [-2, 1]]", "train.length=[1, 4]", "eval.lengths=[4]"},
     oracle_retrieval,
     16,
     2,
     2},
    {"assignment",
     {"task.name=variable-assignment", "task.names=4", "task.constants=2",
      "positions.window=[[0, 0], [-1, 1]]", "train.length=[1, 4]", "train.sparsity=[1, 3]",
      "eval.lengths=[4]", "eval.sparsities=[2]"},
     oracle_assignment,
     48,
     1,
     4},
    {"walk",
     {"task.name=sparse-parity-scratchpad", "positions.window=[[0, 0], [-1, 0]]",
      "train.length=[1, 6]", "train.sparsity=[1, 4]", "eval.lengths=[6]", "eval.sparsities=[2]"},
     oracle_walk,
     4,
     0,
     0},
};

/* What is left out of a certificate, to see that it is needed. */
enum { FIRST_KEY, LAST_KEY, SHARED_WORD, OMITTED };
static const char *const omitted_name[] = {"the first key", "the last key",
                                           "keys with a shared word"};

struct match_tally {
    int certified, refuted, harmless;
    int unsound[OMITTED]; /* would be certified without these, but fail on an input */
};

struct match_bed {
    const struct match_case *x;
    char folder[200], checkpoint[220], *note;
    struct lg__run run;
    lg_trainer *trainer;
    float *whole;
    struct lg__matching pairs;
    lg_evaluator *evaluator;
    struct oracle oracle;
};

static void match_open(struct match_bed *b, const struct match_case *x, int longest)
{
    static const char *const shared[] = {
        "seed=1",
        "positions.ids=coupled",
        "positions.source=[match, delta]",
        "positions.encoding=relative",
        "positions.span=window",
        "model.layers=2",
        "model.width=16",
        "model.heads=2",
        "model.sink=yes",
        "model.parallel=no",
        "train.lr=4e-3",
        "train.warmup=20",
        "train.steps=3000",
        "train.batch=32",
        "train.certify.every=50",
        "train.certify.feedback=yes",
    };
    const char *all[sizeof shared / sizeof *shared + 8];
    int n = sizeof shared / sizeof *shared, done;
    lg_error err = {0};
    *b = (struct match_bed){.x = x};
    snprintf(b->folder, sizeof b->folder, "%s/%s", home, x->name);
    snprintf(b->checkpoint, sizeof b->checkpoint, "%s/checkpoint", b->folder);
    memcpy(all, shared, sizeof shared);
    for (int i = 0; i < 8 && x->sets[i]; i++) all[n++] = x->sets[i];
    lg_run_options o = {.sets = all, .set_count = n, .folder = b->folder, .threads = 1};
    must(lg_run_train(&o, &done, &err), &err);
    must(lg__run_open_folder(&b->run, b->folder, NULL, NULL, &err), &err);
    lg_model *m = b->run.model;
    must(lg__checkpoint_load(b->checkpoint, m, NULL, 0, &b->note, NULL, &err), &err);
    b->trainer = lg_trainer_new(m, &b->run.options, &err);
    b->evaluator = lg_evaluator_new(m, 1, &err);
    assert_true(b->trainer && b->evaluator);
    lg_trainer_set_steps(b->trainer, b->run.step);
    b->whole = malloc((size_t)lg_model_param_total(m) * sizeof *b->whole);
    float *to = b->whole;
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        for (int k = 0; k < p.rows * p.cols; k++) *to++ = p.data[k];
    }
    must(lg__matching_open(&b->pairs, &b->run, &err), &err);
    oracle_open(&b->oracle, b->run.task, &b->run.plan, b->run.model_config.levels, x->write,
                x->inputs, longest);
}

static void match_close(struct match_bed *b)
{
    lg_trainer_free(b->trainer);
    lg_evaluator_free(b->evaluator);
    lg__matching_clear(&b->pairs);
    lg__run_close(&b->run);
    oracle_close(&b->oracle);
    free(b->note);
    free(b->whole);
}

/* Noise of a size relative to each tensor; every second model in the match head alone. How much is wrong. */
static int64_t match_damage(struct match_bed *b, int number, double scale)
{
    const float *whole = b->whole;
    lg_error err = {0};
    for (int i = 0; i < lg_model_param_count(b->run.model); i++) {
        lg_param p = lg_model_param(b->run.model, i);
        int n = p.rows * p.cols;
        double size = 0;
        lg_rng r;
        lg_rng_init(&r, (uint64_t)number, 9, (uint64_t)i);
        for (int k = 0; k < n; k++) size += (double)whole[k] * (double)whole[k];
        size = number % 2 && strncmp(p.name, "match", 5) != 0 ? 0 : scale * sqrt(size / n);
        for (int k = 0; k < n; k++)
            p.data[k] = (float)((double)whole[k] + size * lg_rng_normal(&r));
        whole += n;
    }
    lg_model_touch(b->run.model);
    must(lg__matching_judge(&b->pairs, b->run.model, b->evaluator, 1, 0, 0, 0, &err), &err);
    return lg__matching_wrong(&b->pairs);
}

/* In turn: nothing is wrong yet, little is, or much. */
static void match_damage_in_turn(struct match_bed *b, int number)
{
    double none = 0, some = 1;
    while (!match_damage(b, number, some) && some < 1e6) some *= 2;
    for (int round = 0; round < 12; round++) {
        double middle = (none + some) / 2;
        if (match_damage(b, number, middle))
            some = middle;
        else
            none = middle;
    }
    match_damage(b, number, number % 3 == 0 ? none : number % 3 == 1 ? some : 1.5 * some);
}

static int shares_a_word(const struct match_case *x, int a, int b)
{
    for (int j = 0; j < x->words; j++, a /= x->base, b /= x->base)
        if (a % x->base == b % x->base) return 1;
    return 0;
}

/* The verdict on the pairs by plain loops, with some of them left out; counts as the product does. */
static int64_t plain_verdict(const struct match_bed *b, int without, int64_t *missed)
{
    const struct lg__matching *p = &b->pairs;
    const struct lg_model *m = b->run.model;
    const int32_t *qc = p->query.code.data, *kc = p->key.code.data;
    int32_t low = INT32_MAX, high = -1;
    int64_t matched = 0;
    for (int k = 0; k < p->key.count; k++) {
        if (kc[k] < low) low = kc[k];
        if (kc[k] > high) high = kc[k];
    }
    *missed = 0;
    for (int q = 0; q < p->query.count; q++)
        for (int k = 0; k < p->key.count; k++) {
            float z;
            int omit = (without == FIRST_KEY && kc[k] == low) ||
                       (without == LAST_KEY && kc[k] == high) ||
                       (without == SHARED_WORD && shares_a_word(b->x, qc[q], kc[k]));
            if (omit) continue;
            lg__match_scores(m, &m->pointer[0], &z, (float *)p->query.data.data + q * 16,
                             (float *)p->key.data.data + k * 16, 1);
            *missed += qc[q] == kc[k] && !(z > 0);
            matched += qc[q] != kc[k] && !(z <= 0);
        }
    return matched;
}

static void match_compare(struct match_bed *b, int number, struct match_tally *tally)
{
    static lg_certificate c;
    lg_error err = {0};
    const struct oracle_text *failing = NULL;
    int64_t missed, matched = plain_verdict(b, OMITTED, &missed), predictions = b->pairs.wrong;
    assert_int_equal(missed, b->pairs.missed);
    assert_int_equal(matched, b->pairs.false_matches);
    oracle_run(&b->oracle, b->run.model);
    for (int i = 0; i < b->oracle.count && !failing; i++)
        if (!b->oracle.text[i].exact) failing = &b->oracle.text[i];
    for (int i = 0; i < OMITTED; i++) {
        matched = plain_verdict(b, i, &missed);
        tally->unsound[i] += failing && !predictions && !missed && !matched;
    }
    must(lg__checkpoint_save(b->checkpoint, b->run.model, b->trainer, b->note, 1, &err), &err);
    lg_certify_options o = {.folder = b->folder, .threads = 1};
    must(lg_certify(&o, &c, &err), &err);
    assert_int_equal(c.certified, !lg__matching_wrong(&b->pairs));
    tally->certified += c.certified;
    if (c.certified && failing) fail_msg("%s, model %d is certified and fails", b->x->name, number);
    if (c.certified) return;
    tally->refuted += c.first > 0;
    tally->harmless += !c.first;
    const struct oracle_text *shown = oracle_find(&b->oracle, c.input);
    if (!shown || shown->exact != !c.first || (c.shortest && shown->columns != failing->columns) ||
        (!c.first && failing))
        fail_msg(
            "%s, model %d: \"%s\" is shown, wrong at token %d, and is %s; the shortest input that "
            "fails has %d entries",
            b->x->name, number, c.input, c.first,
            !shown         ? "not among all inputs"
            : shown->exact ? "answered rightly"
                           : "answered wrongly",
            failing ? failing->columns : 0);
}

static void match_examine(const struct match_case *x, int models, int longest, int mutants)
{
    struct match_bed b;
    struct match_tally tally = {0};
    match_open(&b, x, longest);
    assert_int_equal(match_damage(&b, 0, 0), 0);
    for (int i = 0; i < models; i++) {
        match_damage_in_turn(&b, i);
        match_compare(&b, i, &tally);
    }
    print_message("%s: %d inputs; of %d models %d are certified, %d refuted by an input, %d wrong "
                  "without harm\n",
                  x->name, b.oracle.count, models, tally.certified, tally.refuted, tally.harmless);
    assert_true(tally.certified >= models / 4 && tally.refuted >= models / 4);
    for (int i = 0; i < OMITTED && mutants; i++) {
        print_message("  without %s %d models would be certified that fail\n", omitted_name[i],
                      tally.unsound[i]);
        if (i != SHARED_WORD || x->words > 1) assert_true(tally.unsound[i] > 0);
    }
    match_close(&b);
}

#endif
