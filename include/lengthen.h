/* lengthen.h: train short, test long.
 *
 * liblengthen trains small decoder-only transformers on a CPU and runs them on
 * sequences far longer than those they were trained on. This header is its
 * manual: the simple use comes first, the rest after.
 *
 *     lg_error err;
 *     lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
 *     c.vocab = 4; c.layers = 2; c.width = 64; c.heads = 2;
 *     lg_model *m = lg_model_new(&c, &err);
 *
 *     lg_train_options o = lg_train_options_default();
 *     lg_trainer *t = lg_trainer_new(m, &o, &err);
 *     lg_batch b; lg_batch_init(&b);
 *     for (...) {
 *         lg_batch_reset(&b);
 *         lg_batch_add(&b, n, tokens, ids, targets, NULL, &err);   // once a sequence
 *         lg_trainer_step(t, &b, &result, &err);
 *     }
 *
 *     lg_decoder *d = lg_decoder_new(m, 1, &err);
 *     lg_decoder_start(d, &prompt, &err);
 *     for (...) {
 *         token = lg_argmax(lg_decoder_logits(d, 0), c.vocab);
 *         lg_decoder_step(d, &token, &id, &err);
 *     }
 *
 * Conventions. Calls that can fail return 0 or a negative LG_ERROR_ code (or NULL)
 * and write one sentence, with its remedy, into *err (err may be NULL). The library
 * never prints and never exits. `_new` makes what `_free` ends (NULL is accepted);
 * `_init` and `_clear` are for structs that you own. One object is used by one thread
 * at a time; different objects may be used at the same time, and several evaluators
 * and decoders may share one model as long as nobody trains it meanwhile.
 */
#ifndef LENGTHEN_H
#define LENGTHEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LG_VERSION "0.1.0"

/* ---- Errors ------------------------------------------------------------------- */

enum {
    LG_OK = 0,
    LG_ERROR_ARGUMENT = -1, /* a value, a shape or a combination that cannot be */
    LG_ERROR_MEMORY = -2,   /* no memory */
    LG_ERROR_NUMERIC = -3,  /* NaN or infinity where a number must be */
    LG_ERROR_SYSTEM = -4    /* a thread, a file or a library could not be had */
};

typedef struct lg_error {
    int code;
    char text[512]; /* one sentence: what is wrong, with the value, and the remedy */
} lg_error;

/* ---- Random numbers ------------------------------------------------------------ */

/* Counter-based (Philox4x32-10): the numbers depend on (seed, stream, index) alone,
 * so any example can be made again, in any order, on any thread. */
typedef struct lg_rng {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t word[4];
    int left;
} lg_rng;

void lg_rng_init(lg_rng *r, uint64_t seed, uint32_t stream, uint64_t index);
uint32_t lg_rng_u32(lg_rng *r);
uint32_t lg_rng_below(lg_rng *r, uint32_t n); /* uniform in 0..n-1, without bias; n >= 1 */
double lg_rng_uniform(lg_rng *r);             /* [0, 1), 53 bits */
double lg_rng_normal(lg_rng *r);              /* mean 0, variance 1 */

/* ---- Batches -------------------------------------------------------------------- */

/* Sequences of any lengths, end to end, never padded. Sequence s is rows
 * offsets[s] .. offsets[s+1]-1. Read the fields; write them through the calls. */
typedef struct lg_batch {
    int sequences;
    int rows;            /* tokens of all sequences together */
    int *offsets;        /* [sequences + 1] */
    int32_t *tokens;     /* [rows] */
    int32_t *ids;        /* [rows] position IDs, >= 0 */
    int32_t *targets;    /* [rows] the token to predict here; LG_NONE: no loss here */
    int32_t *id_targets; /* [rows] the class the ID head is to predict here, or LG_NONE */
    int room_sequences, room_rows;
} lg_batch;

#define LG_NONE (-1)

void lg_batch_init(lg_batch *b);
void lg_batch_reset(lg_batch *b); /* no sequences; keeps its memory */
void lg_batch_clear(lg_batch *b); /* gives its memory back */

/* Adds one sequence of n >= 1 tokens; the arrays are copied. ids NULL: 0..n-1.
 * targets NULL, id_targets NULL: no loss of that kind in this sequence. */
int lg_batch_add(lg_batch *b, int n, const int32_t *tokens, const int32_t *ids,
                 const int32_t *targets, const int32_t *id_targets, lg_error *err);

/* ---- Models ---------------------------------------------------------------------- */

typedef enum { LG_ARCH_NEOX, LG_ARCH_OLMO } lg_arch;
typedef enum {
    LG_NORM_LAYER, /* LayerNorm with weight and bias */
    LG_NORM_PLAIN, /* LayerNorm without weights */
    LG_NORM_RMS    /* RMSNorm with weight */
} lg_norm;
typedef enum { LG_ACT_GELU, LG_ACT_GELU_TANH, LG_ACT_SWIGLU } lg_act;
typedef enum { LG_SPAN_FULL, LG_SPAN_WINDOW } lg_span;
typedef enum {
    LG_SCORES_SOFTMAX,
    LG_SCORES_SSMAX,   /* logits times beta_h ln(keys seen), beta_h learned, 1 at first */
    LG_SCORES_ENTMAX15 /* alpha = 1.5: exact zeros for far-behind keys */
} lg_scores;

typedef struct lg_model_config {
    lg_arch arch;
    int vocab;  /* tokens 0..vocab-1 */
    int layers; /* 1..1000 */
    int width;  /* a multiple of heads */
    int heads;
    int ff; /* feed-forward width; 0: 4 * width */
    lg_norm norm;
    double norm_eps;
    lg_act act;
    int biases;   /* 1: biases in the linear layers */
    int parallel; /* 1: x + attention(norm1 x) + ff(norm2 x); 0: one after the other */
    int tied;     /* 1: the output head is the embedding */

    const char *encoding; /* how an ID enters: "none", "rope", "relative" */
    double rope_share;    /* share of each head's dimensions that is rotated, 0..1 */
    double rope_base;
    lg_span span;
    int window_lo, window_hi; /* key ID - query ID; lo <= 0 <= hi. Also the ends of the
                                 `relative` table, to which span full clips */
    lg_scores scores;
    int id_classes; /* classes of the second head; 0: none */
    uint64_t seed;  /* of the initial weights */
} lg_model_config;

lg_model_config lg_model_config_default(lg_arch arch);

typedef struct lg_model lg_model;

lg_model *lg_model_new(const lg_model_config *c, lg_error *err);
void lg_model_free(lg_model *m);
const lg_model_config *lg_model_get_config(const lg_model *m);

/* Parameters: one flat block described by one table. */
typedef struct lg_param {
    const char *name; /* "layers.0.attn.qkv.weight" */
    int rows, cols;   /* a vector has rows = 1 */
    int decay;        /* 1: weight decay applies (matrices; not norms and biases) */
    float *data;      /* [rows, cols], contiguous */
} lg_param;

int lg_model_param_count(const lg_model *m);
lg_param lg_model_param(const lg_model *m, int i);
int lg_model_param_find(const lg_model *m, const char *name); /* index, or -1 */
int64_t lg_model_param_total(const lg_model *m);              /* numbers in all tensors */
/* Call after writing to a parameter's data, before the model is used again. */
void lg_model_touch(lg_model *m);

/* ---- Training --------------------------------------------------------------------- */

typedef enum { LG_SCHEDULE_LINEAR, LG_SCHEDULE_COSINE, LG_SCHEDULE_CONSTANT } lg_schedule;

typedef struct lg_train_options {
    int steps; /* of the schedule; more steps than this run at its last value */
    double lr;
    double lr_last; /* linear and cosine end here, as a share of lr */
    int warmup;     /* steps of linear rise from 0 */
    int cooldown;   /* constant: the last steps fall linearly to lr_last * lr */
    lg_schedule schedule;
    double decay; /* AdamW, decoupled */
    double beta1, beta2, eps;
    double clip;      /* global gradient norm; 0: no clipping */
    double id_weight; /* weight of the ID loss beside the token loss */
    int groups;       /* gradient blocks, a power of two, 8; part of the result's bits */
    int threads;      /* 0: all cores; not part of the result's bits */
} lg_train_options;

lg_train_options lg_train_options_default(void);

typedef struct lg_trainer lg_trainer;

typedef struct lg_train_result {
    double loss;    /* mean over the batch's token-loss positions, nats */
    double id_loss; /* the same of the ID head */
    int targets;    /* token-loss positions */
    int right;      /* of those, where the argmax is the target */
    int id_targets; /* ID-loss positions */
    int id_right;
    double grad_norm; /* before clipping */
    double lr;
    int64_t step; /* steps done, this one included */
} lg_train_result;

/* The trainer uses the model until it is freed; it does not own it. */
lg_trainer *lg_trainer_new(lg_model *m, const lg_train_options *o, lg_error *err);
void lg_trainer_free(lg_trainer *t);
/* One step. On error (a token outside the vocabulary, NaN in the loss, no memory)
 * the model and the optimizer are as they were before. The result may be NULL. */
int lg_trainer_step(lg_trainer *t, const lg_batch *b, lg_train_result *r, lg_error *err);
/* Loss and gradients alone: nothing is updated. */
int lg_trainer_gradients(lg_trainer *t, const lg_batch *b, lg_train_result *r, lg_error *err);
/* Gradient of parameter i from the last step (clipped) or gradients call. */
const float *lg_trainer_gradient(const lg_trainer *t, int i);
/* The learning rate of step (1 is the first). */
double lg_train_lr(const lg_train_options *o, int64_t step);

/* ---- Evaluation ------------------------------------------------------------------- */

/* Row-invariant: the bits of a row's logits depend on its own context alone, not on
 * the batch around it, the threads, or whether it was decoded with a cache. */
typedef struct lg_evaluator lg_evaluator;

typedef struct lg_eval_result {
    int rows;               /* positions with a target or an ID target */
    const int *row;         /* [rows] their places in the batch */
    const float *logits;    /* [rows, vocab]; valid until the next call */
    const float *id_logits; /* [rows, id_classes] or NULL */
    double loss;            /* as in training */
    double id_loss;
    int targets, right, id_targets, id_right;
} lg_eval_result;

/* threads 0: all cores. */
lg_evaluator *lg_evaluator_new(const lg_model *m, int threads, lg_error *err);
void lg_evaluator_free(lg_evaluator *e);
int lg_evaluator_run(lg_evaluator *e, const lg_batch *b, lg_eval_result *r, lg_error *err);

/* ---- Generation ------------------------------------------------------------------- */

/* Decodes up to `sequences` sequences side by side with a key-value cache. */
typedef struct lg_decoder lg_decoder;

lg_decoder *lg_decoder_new(const lg_model *m, int sequences, lg_error *err);
void lg_decoder_free(lg_decoder *d);
/* Reads the prompts, one a sequence (targets are ignored), and forgets all earlier. */
int lg_decoder_start(lg_decoder *d, const lg_batch *prompts, lg_error *err);
/* Appends one token with its ID to each sequence; tokens[s] = LG_NONE skips sequence s. */
int lg_decoder_step(lg_decoder *d, const int32_t *tokens, const int32_t *ids, lg_error *err);
/* Logits that follow the last token of sequence s; valid until the next call. */
const float *lg_decoder_logits(const lg_decoder *d, int s);
const float *lg_decoder_id_logits(const lg_decoder *d, int s); /* NULL without ID head */
int lg_decoder_length(const lg_decoder *d, int s);             /* tokens read so far */

int32_t lg_argmax(const float *logits, int n); /* on a tie the first */
/* A sample from softmax(logits / temperature); temperature 0 is the argmax. */
int32_t lg_sample(const float *logits, int n, double temperature, lg_rng *r);

/* ---- The machine ------------------------------------------------------------------ */

const char *lg_version(void);
/* The kernels in use: "avx512", "avx2", "c" or "naive". The environment variable
 * LENGTHEN_ISA chooses another that this CPU can run, read at first use. */
const char *lg_isa(void);
int lg_cores(void);

/* ---- Measuring -------------------------------------------------------------------- */

/* Speeds are best times of several; compare them within one run, never across runs. */
typedef struct lg_bench_row {
    const char *bench; /* "peak", "kernel" or "step" */
    const char *name;  /* library, kernel or shape */
    int threads;
    double gflops;       /* step: on useful FLOPs */
    double gbytes;       /* kernel: GB/s read and written, counting each operand once */
    double tokens_per_s; /* step */
    double step_ms;      /* step */
    double peak;         /* step: GFLOPS of the best library, the larger of before and after */
    double peak_share;   /* step: gflops / peak */
    double peak_drift;   /* step: how far the peaks before and after differ, 0.1 is 10% */
    /* step: PyTorch's tokens/s, 0 if not measured: without any setting; with the kernels of
     * this CPU chosen (OPENBLAS_CORETYPE, ATEN_CPU_CAPABILITY) on all cores; the fastest of
     * every way that bench/torch_step.py knows. */
    double torch, torch_cpu, torch_tuned;
    double ratio_torch, ratio_torch_cpu, ratio_torch_tuned; /* ours / theirs */
} lg_bench_row;

typedef struct lg_bench_options {
    int threads;              /* 0: all cores */
    double seconds;           /* for each measurement, 1 */
    const char *shape;        /* only the step shapes whose name has this in it; NULL: all */
    const char *torch_script; /* bench/torch_step.py: measure PyTorch in turn; NULL: do not */
    const char *torch_python; /* the Python that has torch */
} lg_bench_options;

lg_bench_options lg_bench_options_default(void);

typedef void lg_bench_report(void *context, const lg_bench_row *row);

/* The sgemm of each library that can be loaded (and our own) at 2048^3, on one core and on
 * all. OpenBLAS is told which CPU this is: it often guesses wrong. */
int lg_bench_peak(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err);
/* Every kernel of the table in use, on one core. */
int lg_bench_kernels(const lg_bench_options *o, lg_bench_report *report, void *context,
                     lg_error *err);
/* The whole training step. Useful FLOPs are 6 x weights of each matmul x rows that it is
 * needed for, + 12 x head width x heads x visible pairs x layers, and nothing else. A
 * measurement whose peaks before and after differ by over 10% is void and repeated; after
 * five such the row is reported with its drift. */
int lg_bench_step(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err);
/* 0 if the Python of the options can import torch; otherwise how to get it is in *err. */
int lg_bench_torch_check(const lg_bench_options *o, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
