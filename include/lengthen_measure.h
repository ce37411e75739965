/* lengthen_measure.h: what a run can do: answers by length, losses by position, generation, how many earlier tokens
 * a prediction needs, and how fast this machine is.
 *
 *     lg_eval_options e = {.folder = "runs/parity", .predicted = -1, .each = print};
 *     if (lg_run_eval(&e, NULL, &err)) puts(err.text); */
#ifndef LENGTHEN_MEASURE_H
#define LENGTHEN_MEASURE_H

#include "lengthen_runs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Evaluation ---------------------------------------------------------------------------- */

/* What a run is measured by depends on its task: answers by length and sparsity, or, of the task text, the
 * loss by position on documents that it was not trained on. An option that does not fit is refused. */
typedef struct lg_eval_options {
    const char *folder;
    lg_run_access access;
    const char *store;  /* cells go there, and come from there; NULL: none */
    const int *lengths; /* NULL: those of the config */
    int length_count;
    int samples;    /* examples per cell, documents per length; 0: as in the config */
    int force;      /* 1: cells that the store has are recomputed */
    int threads;    /* 0: all cores */
    double seconds; /* at most, shared by the cells: one for which that is too short has fewer
                        generated samples, or is left out; 0: no limit */
    /* Of answers. */
    const int *sparsities; /* NULL: those of the config */
    int sparsity_count;
    const char *const *settings; /* [setting_count] of the task, "key=value": the grid once for
                                    each; none: as trained */
    int setting_count;
    const char *task;   /* another task with the same vocabulary (own data: a test file), or NULL */
    int predicted;      /* 1 predicted IDs, 0 given ones, -1 both where the run predicts any */
    int generated_only; /* 1: not teacher-forced too */
    const struct lg__judging *judging; /* NULL; lg_run_eval_by_context sets it */
    /* Of texts. */
    const char *texts; /* others than those that were held out: files, folders and globs, commas
                          between them; NULL: none */
    const char *field; /* of JSON lines among them; NULL: task.field of the run */
    int sliding;       /* tokens that a sliding prediction sees; 0: the longest of training */

    lg_cell_callback *each;
    void *context;            /* its context */
    const volatile int *stop; /* not 0: no further cells, and none of the one being made; or NULL */
} lg_eval_options;
/* Cell by cell; each is in the store before it is reported, so that an evaluation that was stopped
 * goes on where it was. Cells that the task cannot make (sparsity over the length) are left out. */
int lg_run_eval(const lg_eval_options *o, lg_error *warning, lg_error *err);

/* ---- Probing ------------------------------------------------------------------------------- */

/* How many earlier tokens a prediction of a run depends on. A token is left out of the input of
 * every layer; the others keep their IDs. */
typedef struct lg_probe_options {
    const char *folder; /* of the run */
    lg_run_access access;
    const char *task; /* another task with the same vocabulary (a test file), or NULL */
    int length[2];    /* of the examples, lo and hi; 0, 0: the longest of training */
    int sparsity;     /* 0: the task's own range */
    int predictions;  /* one of each example */
    int keep_last;    /* tokens that are never left out, the one that predicts among them; >= 1 */
    int keep_first;   /* 1: nor is the first one */
    double epsilon;   /* nats: the loss may rise by this much */
    double least;     /* nats: a prediction depends on the context if it rises by this much when
                            only what is never left out remains */
    int threads;      /* 0: all cores */
    double seconds;   /* at most: fewer predictions are looked at, maybe none; 0: no limit */
    const volatile int *stop; /* not 0: no further predictions; or NULL */
} lg_probe_options;
/* 100 predictions, the last 4 tokens and the first kept, epsilon 0.1, least 0.5. */
lg_probe_options lg_probe_options_default(void);

typedef struct lg_probe_result {
    int predictions, dependent; /* looked at; those that depend on the context */
    double loss;                /* of all predictions, with all tokens, on average */
    /* Over the dependent ones. k: the least number with which the k most influential tokens (those
     * whose absence raises the loss most) give the loss of all up to epsilon. matter: tokens whose
     * absence alone raises it by epsilon, or changes the likeliest token. */
    int tokens_median; /* earlier tokens */
    int k_median, k_90;
    /* Shares of them. necessary: the loss rises by epsilon without these k tokens. stands: it does
     * not, others stand in for them, but these k outweigh every token that does not help alone, as
     * where one word is repeated. Where both are small, many tokens decide together. */
    double necessary, stands;
    int matter_median, matter_90;
} lg_probe_result;
int lg_probe(const lg_probe_options *o, lg_probe_result *r, lg_error *err);

/* The same for every prediction of documents or examples, one by one (docs/PROBE.md). */
typedef enum {
    LG_PROBE_LOO,     /* influence: how much the loss rises without the token */
    LG_PROBE_GRADIENT /* the norm of the loss's gradient at the token's embedding */
} lg_probe_method;

/* A text, told before its predictions. */
typedef struct lg_probe_passage {
    int64_t document; /* its number; of a task: of the example, from 0 */
    int n;
    const int32_t *tokens;    /* [n] */
    const char *const *words; /* [vocab] */
    const char *const *piece; /* [n] of texts: the bytes of each token, and how many; else NULL */
    const size_t *size;
} lg_probe_passage;

typedef struct lg_probe_row {
    int64_t document;
    int position;  /* tokens before it */
    int32_t token; /* that is predicted */
    double loss;   /* with all of these; with those alone that are never left out: */
    double loss_0;
    int depends; /* 1: loss_0 - loss >= least */
    int k;       /* k*: the least number of the most influential tokens that give the loss of all up
                    to epsilon; most_k + 1: more than most_k; 0: where it does not depend, too */
    int sources; /* these tokens, at most most_k: their places in the text, and their influence */
    const int *source;
    const float *influence;
    const float *curve; /* [sources + 1] the loss with none of them, with one, .., with all */
    /* Of the run that it is compared with: the loss with all tokens, and with the last `context`
     * alone; NaN without one. The excess is the first less the second. */
    double against, against_short;
} lg_probe_row;
typedef void lg_probe_passage_callback(void *context, const lg_probe_passage *p);
typedef void lg_probe_row_callback(void *context, const lg_probe_row *r);
typedef void lg_probe_progress(void *context, double done); /* a share */

typedef struct lg_run_probe_options {
    const char *folder; /* of the run */
    lg_run_access access;
    const char *against; /* a run that was trained on shorter texts, with the same tokenizer: only
                            predictions past its longest ones are looked at; NULL: none */
    const char *texts;   /* as in lg_eval_options */
    const char *field;
    const char *task; /* of other runs: another task with the same vocabulary, or NULL */
    int length;       /* of documents and examples; 0: the longest of training, of own data all */
    int documents;    /* or examples, at most; 0: eval.samples of the config */
    int predictions;  /* at most, evenly over the documents, which are no more then; 0: all */
    lg_probe_method method;
    int keep_last;  /* tokens that are never left out, the one that predicts among them; >= 1 */
    int keep_first; /* 1: nor is the first one */
    int most_k;
    double epsilon, least; /* nats, as in lg_probe_options */
    int threads;           /* 0: all cores */
    const char *store;     /* the bins go there; NULL: nowhere */
    const char
        *begun; /* a file that has what is done of each document, so that the same probe goes on
                          where it was stopped; who has put away the rows removes it. NULL: none */
    lg_probe_passage_callback *passage;
    lg_probe_row_callback *row;
    lg_probe_progress *progress; /* each of them or NULL */
    void *context;               /* their context */
    const volatile int *stop;    /* not 0: no further documents; or NULL */
} lg_run_probe_options;
/* The last 4 tokens and the first kept, k* up to 32, epsilon 0.1, least 0.5. */
lg_run_probe_options lg_run_probe_options_default(void);

enum { LG_PROBE_BINS = 8 }; /* none, 1, 2, 3-4, 5-8, 9-16, 17-32, more */

typedef struct lg_probe_summary {
    int64_t step, against_step; /* of the weights */
    int length, length_least;   /* of the longest examples that were asked for, and the shortest */
    int trained_length;         /* the longest of training; 0: it is in another unit */
    const char *unit;           /* of these lengths: "tokens", "bits" */
    int context;                /* the longest texts that the other run was trained on; 0: none */
    int documents, predictions, dependent, most_k;
    int stopped; /* before all documents that were asked for: the store has nothing of it */
    double loss; /* of all predictions */
    /* Of the dependent ones: k* at 10, 25, 50, 75 and 90% (most_k + 1: more than most_k); and the share
     * with k* <= 0, 1, .. 32, as far as it was looked for. */
    int k_quantile[5];
    double k_share[33];
    lg_probe_bin bin[LG_PROBE_BINS];
    /* The excess of k* from 1 to few (2), of k* > many (8), and of the second less the first; few and
     * many are most_k where that is less. */
    int few, many;
    lg_text_mean small, large, difference;
} lg_probe_summary;
int lg_run_probe(const lg_run_probe_options *o, lg_probe_summary *summary, lg_error *warning,
                 lg_error *err);
/* Nothing is concluded from fewer predictions than these. */
enum { LG_PROBE_ENOUGH = 100 };
/* Whether there are so many: with small and with large k* where these are compared, else that depend
 * on their context. */
int lg_probe_concludes(const lg_probe_summary *s);
/* What the excess says of small and large k*, or that the predictions are too few, as one sentence; ""
 * where there is neither. */
void lg_probe_verdict(const lg_probe_summary *s, char *text, size_t size);

/* ---- Generating --------------------------------------------------------------------------- */

/* One token of a text: of the prompt, or generated. */
typedef struct lg_run_token {
    int64_t example; /* from 0 */
    int at;          /* its place in the text, from 0 */
    int generated;   /* 0: of the prompt */
    int32_t token;
    const char *word;
    int levels;
    int32_t id[LG_LEVELS]; /* that it has; LG_ABSENT: none at this level */
    double p;              /* that the model gives it, at temperature 1; of the prompt: 0 */
    /* What the right answer has here, for generated tokens: LG_NONE (and NULL) where that is not
     * known, or has ended. */
    int32_t expected, expected_id[LG_LEVELS];
    const char *expected_word;
} lg_run_token;

/* A whole text, told after its last token. */
typedef struct lg_run_answer {
    int64_t example, step; /* step: of the weights */
    const char *task, *unit;
    int length, sparsity; /* of an example of the task; of a prompt that was given: 0 */
    int predicted;        /* whether IDs were predicted */
    int levels;
    const char *level[LG_LEVELS]; /* names of coupled levels, or NULL */
    int prompt, tokens;           /* of the prompt, and generated */
    int ended;                    /* 1: by the stop token, or as long as every answer is */
    int known;                    /* 1: the right answer is */
    int right;                    /* tokens that it has; 0: not known */
    int exact;                    /* as in lg_score; 0 where the right answer is not known */
    int wrong;                    /* the first wrong token of the answer, from 1; 0: none */
    int wrong_ids;                /* predicted IDs that are not the rule's */
    const char *expected, *got;   /* at `wrong`: the words; expected NULL: the end */
} lg_run_answer;

/* What is pointed at lives until lg_run_generate returns. */
typedef void lg_run_callback(void *context, const lg_run_token *t);
typedef void lg_run_answered(void *context, const lg_run_answer *a);

typedef struct lg_generate_options {
    const char *folder;
    lg_run_access access;
    const char *prompt; /* words between spaces (needless where every word of the vocabulary is one
                           letter); NULL: fresh examples of the task */
    /* IDs of the prompt, "2 3 4 1", levels between ';', - for none. NULL: those of the examples
     * with such a prompt, where they agree; else it is refused. */
    const char *prompt_ids;
    int length, sparsity; /* of the examples; 0: the longest of training, and as there */
    int count;            /* of examples; 0: 1 */
    int64_t seed;         /* of examples and sampling; -1: the run's, which lg_run_eval has too */
    int predicted;        /* 1 predicted IDs, 0 given ones, -1 predicted where the run has heads */
    double temperature;   /* 0: the likeliest token */
    int max_tokens;       /* tokens; 0: twice the right answer, or 1000 where it is not known */
    lg_run_callback *callback; /* each token as it comes, or NULL */
    lg_run_answered *answered; /* or NULL */
    void *context;             /* of both */
} lg_generate_options;
/* Answers with the newest checkpoint, one text after the other. With given IDs, tokens past the
 * end of the right answer have the ID of its last one. */
int lg_run_generate(const lg_generate_options *o, lg_error *warning, lg_error *err);

/* A run of texts goes on with a prompt. */
typedef struct lg_text_generated {
    int64_t step;         /* of the weights */
    int prompt, tokens;   /* of the prompt; generated, the one that ends a document counted */
    int ended;            /* 1: by that one */
    const int32_t *token; /* [prompt + tokens - ended]; good in lg_text_done alone */
} lg_text_generated;
typedef void lg_text_bytes(void *context, const char *bytes, size_t n);
typedef void lg_text_done(void *context, const lg_text_generated *g);
typedef struct lg_text_generate_options {
    const char *folder;
    lg_run_access access;
    const char *prompt;      /* NULL or "": a document from its beginning */
    int count;               /* texts, each with draws of its own; 0: one */
    int max_tokens;          /* tokens to be generated of each, 1 or more */
    double temperature;      /* 0: the likeliest token */
    int64_t seed;            /* of sampling; -1: the run's */
    lg_text_bytes *callback; /* the text as it comes, the prompt first; or NULL */
    lg_text_done *done;      /* after each text; or NULL */
    void *context;           /* context of both */
} lg_text_generate_options;
int lg_run_generate_text(const lg_text_generate_options *o, lg_text_generated *g, lg_error *warning,
                         lg_error *err);

/* ---- Measuring -------------------------------------------------------------------- */

/* Speeds are best times of several; compare them within one run, never across runs. */
typedef struct lg_bench_row {
    const char *bench; /* "peak", "kernel", "task", "text", "step", "generate" or "probe" */
    const char *name;  /* library, kernel, task, tokenizer or shape */
    int threads;
    double gflops;       /* step, generate, probe: on useful FLOPs */
    double gbytes;       /* kernel: GB/s read and written, counting each operand once; text: read */
    double tokens_per_s; /* step, generate (of the answers), task, text */
    double predictions_per_s; /* probe */
    double step_ms;           /* step; generate: one token of every sequence */
    double
        peak; /* step, generate, probe: GFLOPS of the best library, the larger of before and after */
    double peak_share; /* gflops / peak */
    double peak_drift; /* how far the peaks before and after differ, 0.1 is 10% */
    /* step, generate: PyTorch's tokens/s, 0 if not measured: without any setting; with the kernels of
     * this CPU chosen (OPENBLAS_CORETYPE, ATEN_CPU_CAPABILITY) on all cores; the fastest of
     * every way that bench/torch_step.py knows; the fastest with its bf16 autocast. */
    double torch, torch_cpu, torch_tuned, torch_bf16;
    double ratio_torch, ratio_torch_cpu, ratio_torch_tuned, ratio_torch_bf16; /* ours / theirs */
} lg_bench_row;

typedef struct lg_bench_options {
    int threads;              /* 0: all cores */
    double seconds;           /* for each measurement, 1 */
    const char *shape;        /* only the step shapes whose name has this in it; NULL: all */
    lg_precision precision;   /* of the step */
    const char *torch_script; /* bench/torch_step.py: measure PyTorch in turn; NULL: do not */
    const char *torch_python; /* the Python that has torch */
    int rounds;               /* in turn with PyTorch, 3 */
    const char *tokenizer;    /* text: NULL: one that is learned from the text */
    const char *text; /* text: a file or folder, of which at most 64 MB are read; NULL: words
                                 made up */
} lg_bench_options;

lg_bench_options lg_bench_options_default(void);

typedef void lg_bench_report(void *context, const lg_bench_row *row);

/* The sgemm of each library that can be loaded (and our own) at 2048^3, on one core and on
 * all. OpenBLAS gets the CPU by name, since it often guesses wrong. */
int lg_bench_peak(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err);
/* Every kernel of the table in use, on one core. */
int lg_bench_kernels(const lg_bench_options *o, lg_bench_report *report, void *context,
                     lg_error *err);
/* Making examples of every generated task with its default settings, at length 50 or what is
 * nearest to it, on one core. */
int lg_bench_tasks(const lg_bench_options *o, lg_bench_report *report, void *context,
                   lg_error *err);
/* Encoding text to tokens, on one core, by the time that the core worked on it. */
int lg_bench_text(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err);
/* The whole training step: models by their sizes, of three tasks as in experiments/ (windows, an ID head, a
 * pointer), of text, and GPT-2 small. Useful FLOPs are 6 x weights of each matmul x rows that it is
 * needed for, + 12 x head width x heads x pairs of a query and a key that it sees x layers (6 x width for
 * those of a pointer), and nothing else. A measurement whose peaks before and after differ by over 10% is void and repeated; after
 * five such the row is reported with its drift. */
int lg_bench_step(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err);
/* Generation with the key-value cache, 64 tokens after prompts of 64, of 1 and of 64 sequences side by side: 6
 * layers, width 256, vocabulary 4096. Useful FLOPs are 2 x weights x tokens + 4 x width x visible pairs x layers. */
int lg_bench_generate(const lg_bench_options *o, lg_bench_report *report, void *context,
                      lg_error *err);
/* The influence of every earlier token on every prediction of a text of 512 tokens, by leaving each
 * out, on random weights: 6 layers, width 256, vocabulary 4096. Useful FLOPs are those of a forward
 * pass over the tokens behind the one that is left out. */
int lg_bench_probe(const lg_bench_options *o, lg_bench_report *report, void *context,
                   lg_error *err);
/* GFLOPS of our own sgemm with so many threads (0: all cores); takes about half a second. 0: it
 * could not be measured. */
double lg_peak_gflops(int threads);
/* 0 if the Python of the options can import torch; otherwise how to get it is in *err. */
int lg_bench_torch_check(const lg_bench_options *o, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
