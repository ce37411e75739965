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
 *         lg_batch_add(&b, n, tokens, ids, targets, NULL, &err);   // once per sequence
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

#define LG_VERSION "0.2.0"

/* ---- Errors ------------------------------------------------------------------- */

enum {
    LG_OK = 0,
    LG_ERROR_ARGUMENT = -1, /* a value, a shape or a combination that cannot be */
    LG_ERROR_MEMORY = -2,   /* no memory */
    LG_ERROR_NUMERIC = -3,  /* NaN or infinity where a number must be */
    LG_ERROR_SYSTEM = -4,   /* a thread, a file or a library is not available */
    LG_ERROR_STOPPED = -5   /* the caller asked for it */
};

#define LG_ERROR_NAMES 8

typedef struct lg_error {
    int code;
    char text[512]; /* one sentence: what is wrong, with the value, and the remedy */
    /* The setting at fault, by the name that the sentence has for it: "max_id"; "": none. Where that was said: a
     * file (its name may be cut) and a line of it, or which of the key=value that a call was given, from 1; "" and
     * 0: not known. */
    char key[64], file[256];
    int line, set;
    /* For the library: where the sentence begins, behind its place, and the names of settings in it. */
    int begin, names;
    struct {
        int at, size;
    } name[LG_ERROR_NAMES];
} lg_error;

/* ---- Buffers -------------------------------------------------------------------- */

/* A text that grows. Starts as {0}. Once memory for it is missing, the buffer is lost: further
 * calls add nothing, and take and save fail. So the calls that add need no check, and a text is
 * there whole or not at all. */
typedef struct lg_buffer {
    char *data;  /* ends with a 0 that size does not count; NULL: nothing was added */
    size_t size; /* bytes */
    size_t room;
    int lost;
} lg_buffer;

void lg_buffer_print(lg_buffer *b, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void lg_buffer_put(lg_buffer *b, const char *text);
void lg_buffer_add(lg_buffer *b, const void *bytes, size_t n);
/* A string of JSON with its quotes; a byte that is not UTF-8, which JSON cannot hold, is U+FFFD; NULL is
 * null. */
void lg_buffer_json(lg_buffer *b, const char *text, size_t n);
/* The text, to be freed with free(); NULL: LG_ERROR_MEMORY. The buffer is {0} again. */
char *lg_buffer_take(lg_buffer *b, lg_error *err);
/* Writes the text to a file, which is replaced whole, once everything is on the disk; after an error
 * it is as it was. The buffer is {0} again. */
int lg_buffer_save(lg_buffer *b, const char *path, lg_error *err);
void lg_buffer_clear(lg_buffer *b); /* gives its memory back */

/* ---- Random numbers ------------------------------------------------------------ */

/* Counter-based (Philox4x32-10): the numbers depend on (seed, stream, index) alone,
 * so any example can be regenerated, in any order, on any thread. */
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
#define LG_LEVELS 3 /* most levels of IDs */

typedef struct lg_batch {
    int sequences;
    int rows;         /* tokens of all sequences together */
    int levels;       /* of IDs, 1 to LG_LEVELS */
    int *offsets;     /* [sequences + 1] */
    int32_t *tokens;  /* [rows] */
    int32_t *targets; /* [rows] the token to predict here; LG_NONE: no loss here */
    int32_t *codes;   /* [rows] match heads: the number of the key that this row ends, or asks for;
                         LG_NONE: it is not known */
    /* Of each level: */
    int32_t *ids[LG_LEVELS];           /* [rows] position IDs, >= 0, or LG_ABSENT */
    int32_t *id_targets[LG_LEVELS];    /* [rows] class of the ID head to predict, or LG_NONE */
    int32_t *point_targets[LG_LEVELS]; /* [rows] ID that the pointer is to find, or LG_NONE */
    int room_sequences, room_rows;
} lg_batch;

#define LG_NONE (-1)
#define LG_ABSENT INT32_MIN /* a token that has no ID at a level */

void lg_batch_init(lg_batch *b);
void lg_batch_reset(lg_batch *b); /* no sequences, one level; keeps its memory */
void lg_batch_clear(lg_batch *b); /* gives its memory back */

/* Adds one sequence of n >= 1 tokens; the arrays are copied. ids NULL: 0..n-1.
 * targets NULL, id_targets NULL: no loss of that kind in this sequence. */
int lg_batch_add(lg_batch *b, int n, const int32_t *tokens, const int32_t *ids,
                 const int32_t *targets, const int32_t *id_targets, lg_error *err);
/* The same with several levels, one array each (a missing one: no loss of that kind). A batch
 * has as many levels as its first sequence. */
typedef struct lg_sequence {
    int n, levels;
    const int32_t *tokens, *targets, *codes;
    const int32_t *ids[LG_LEVELS], *id_targets[LG_LEVELS], *point_targets[LG_LEVELS];
} lg_sequence;
int lg_batch_add_levels(lg_batch *b, const lg_sequence *s, lg_error *err);

/* ---- Models ---------------------------------------------------------------------- */

typedef enum {
    LG_ARCH_NEOX,
    LG_ARCH_OLMO,
    LG_ARCH_LOOPED /* the layers are run several times with the same weights */
} lg_arch;
typedef enum {
    LG_NORM_LAYER, /* LayerNorm with weight and bias */
    LG_NORM_PLAIN, /* LayerNorm without weights */
    LG_NORM_RMS    /* RMSNorm with weight */
} lg_norm;
typedef enum { LG_ACT_GELU, LG_ACT_GELU_TANH, LG_ACT_SWIGLU } lg_act;
typedef enum { LG_SPAN_FULL, LG_SPAN_WINDOW } lg_span;
typedef enum {
    LG_ATTENTION_SOFTMAX,
    LG_ATTENTION_SSMAX,   /* logits times beta_h ln(keys seen), beta_h learned, 1 at first */
    LG_ATTENTION_ENTMAX15 /* alpha = 1.5: exact zeros for far-behind keys */
} lg_attention;

typedef enum {
    LG_ROPE_PLAIN,
    LG_ROPE_LINEAR,  /* IDs divided by the factor */
    LG_ROPE_NTK,     /* a larger base */
    LG_ROPE_DYNAMIC, /* a larger base once the length passes rope_length: lg_model_set_length */
    LG_ROPE_YARN     /* slow dimensions interpolated, fast ones kept, scores sharpened */
} lg_rope;

/* Which of the keys that match a match head takes: the nearest with an ID above or below the carried
 * one, or the latest in the text. */
typedef enum { LG_MATCH_NONE, LG_MATCH_NEXT, LG_MATCH_PREVIOUS, LG_MATCH_ANY } lg_match;
#define LG_KEY_TOKENS 4

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
    int loops;    /* LG_ARCH_LOOPED: how often the layers are run; else 1 */
    int inject;   /* LG_ARCH_LOOPED: 1: each time the embedding is added to what enters; else 0 */

    int levels;           /* of IDs, 1 to LG_LEVELS */
    const char *encoding; /* how an ID enters: a name of lg_encoding_list */
    int max_id;           /* encoding "learned": IDs 0..max_id have a row */
    double rope_share;    /* share of each head's dimensions that is rotated, 0..1 */
    double rope_base;
    lg_rope rope_scaling;
    double rope_factor; /* how many times longer than rope_length, >= 1 */
    int rope_length;    /* tokens of training: NTK by length, YaRN */
    lg_span span;
    /* Of each level: key ID - query ID; lo <= 0 <= hi. Also the ends of the `relative` table,
     * to which span full clips. */
    int window_lo[LG_LEVELS], window_hi[LG_LEVELS];
    lg_attention attention;
    int sink; /* 1: one more score, learned per head, that takes weight and has no value: lets a
                 query see that no key is where it looks (the end of an input) */
    int id_classes[LG_LEVELS]; /* classes of each level's ID head; 0: none */
    int pointer[LG_LEVELS];    /* 1: a pointer to an earlier token beside it */
    lg_match match[LG_LEVELS]; /* a match head beside it, instead of a pointer */
    /* What a match head may find: these tokens of the prompt; none: all that have an ID. */
    int key_tokens;
    int32_t key_token[LG_KEY_TOKENS];
    uint64_t seed;   /* of the initial weights */
    const char *isa; /* its kernels: one of LG_ISAS that this CPU runs; NULL: those of lg_isa */
} lg_model_config;

lg_model_config lg_model_config_default(lg_arch arch);

/* 0, or why there can be no such model. */
int lg_model_config_check(const lg_model_config *c, lg_error *err);

typedef struct lg_model lg_model;

lg_model *lg_model_new(const lg_model_config *c, lg_error *err);
void lg_model_free(lg_model *m);
const lg_model_config *lg_model_get_config(const lg_model *m);
const char *lg_model_isa(const lg_model *m); /* the kernels that it uses */
/* What computes its matmuls of bf16: "avx512bf16", or the same as lg_model_isa() by rounding. */
const char *lg_model_isa_bf16(const lg_model *m);

/* The length that LG_ROPE_DYNAMIC goes by (rope_length at first): set it to that of the
 * sequences to be read, prompt and answer, before they are read. */
int lg_model_set_length(lg_model *m, int n, lg_error *err);

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

/* A model as one safetensors file: its parameters by name, its config as metadata. The file is there whole or not at all. What
 * is loaded gives the same bits on the same kernels, which are those of lg_isa; its own encoding must be added before. */
int lg_model_save(const lg_model *m, const char *file, lg_error *err);
lg_model *lg_model_load(const char *file, lg_error *err);

/* ---- Training --------------------------------------------------------------------- */

typedef enum { LG_SCHEDULE_LINEAR, LG_SCHEDULE_COSINE, LG_SCHEDULE_CONSTANT } lg_schedule;

/* bf16: what enters a matmul of a training step (weights, activations, gradients; in attention with span full also
 * queries, keys, values and weights) is rounded to bf16; sums, the weights that are learned, the optimizer, norms, softmax,
 * losses and windows stay fp32, and so do evaluation and generation. On a CPU with AVX512_BF16 it is nearly twice as
 * fast; elsewhere it is the same up to the order of sums, and slower than fp32. */
typedef enum { LG_PRECISION_FP32, LG_PRECISION_BF16 } lg_precision;

typedef struct lg_train_options {
    int steps; /* of the schedule; more steps than this run at its last value */
    double lr;
    double min_lr_ratio; /* linear and cosine end here, as a share of lr */
    int warmup;          /* steps of linear rise from 0 */
    int cooldown;        /* constant: the last steps fall linearly to min_lr_ratio * lr */
    lg_schedule schedule;
    double weight_decay; /* AdamW, decoupled */
    double beta1, beta2, eps;
    double grad_clip; /* global gradient norm; 0: no clipping */
    double id_weight; /* weight of the ID loss beside the token loss */
    int groups;       /* gradient blocks, a power of two, 8; part of the result's bits */
    int threads;      /* 0: all cores; not part of the result's bits */
    lg_precision precision;
} lg_train_options;

lg_train_options lg_train_options_default(void);

typedef struct lg_trainer lg_trainer;

typedef struct lg_train_result {
    double loss;    /* mean over the batch's token-loss positions, nats */
    double id_loss; /* the same of the ID heads and pointers */
    int targets;    /* token-loss positions */
    int right;      /* of those, where the argmax is the target */
    int id_targets; /* ID losses: positions, levels, heads and pointers all counted */
    int id_right;
    int first_rows; /* that the first layer was run on: fewer than the batch has where it makes the
                         same of rows with the same token */
    double grad_norm; /* before clipping */
    double lr;
    int64_t step;   /* steps done, this one included */
    double ranks_s; /* seconds that it took to combine what the ranks have; 0: there is one */
} lg_train_result;

/* The trainer uses the model until it is freed; it does not own it. */
lg_trainer *lg_trainer_new(lg_model *m, const lg_train_options *o, lg_error *err);
void lg_trainer_free(lg_trainer *t);
/* One step. On error (a token outside the vocabulary, NaN in the loss, no memory)
 * the model and the optimizer are as they were before. The result may be NULL. */
int lg_trainer_step(lg_trainer *t, const lg_batch *b, lg_train_result *r, lg_error *err);
/* Loss and gradients alone: nothing is updated. */
int lg_trainer_gradients(lg_trainer *t, const lg_batch *b, lg_train_result *r, lg_error *err);
/* The same, and the gradients of what enters the first layer: inputs[rows, width]. That layer is run
 * row by row, so that the order of sums, and the last bits, of its other gradients are not the same. */
int lg_trainer_inputs(lg_trainer *t, const lg_batch *b, float *inputs, lg_error *err);
/* Gradient of parameter i from the last step (clipped) or gradients call. */
const float *lg_trainer_gradient(const lg_trainer *t, int i);
/* What a resumed run needs beside the parameters: the steps done, and AdamW's two moments of
 * parameter i, to be read and (before the next step) written. */
int64_t lg_trainer_steps(const lg_trainer *t);
void lg_trainer_set_steps(lg_trainer *t, int64_t steps);
float *lg_trainer_moment(lg_trainer *t, int i, int second);
/* The learning rate of step (1 is the first). */
double lg_train_lr(const lg_train_options *o, int64_t step);

/* ---- Evaluation ------------------------------------------------------------------- */

/* Row-invariant: the bits of a row's logits depend on its own context alone, not on
 * the batch around it, the threads, or whether it was decoded with a cache. */
typedef struct lg_evaluator lg_evaluator;

typedef struct lg_eval_result {
    int rows;            /* positions with a target or an ID target */
    const int *row;      /* [rows] their places in the batch */
    const float *logits; /* [rows, vocab]; valid until the next call */
    /* Of each level: */
    const float *id_logits[LG_LEVELS];    /* [rows, id_classes] or NULL */
    const int32_t *pointed_id[LG_LEVELS]; /* [rows] ID that the pointer finds where it has a
                                             or match head finds where it has a target; LG_ABSENT:
                                             nothing, or no target; or NULL */
    double loss;                          /* as in training */
    double id_loss;
    int targets, right, id_targets, id_right;
} lg_eval_result;

/* threads 0: all cores. */
lg_evaluator *lg_evaluator_new(const lg_model *m, int threads, lg_error *err);
void lg_evaluator_free(lg_evaluator *e);
int lg_evaluator_run(lg_evaluator *e, const lg_batch *b, lg_eval_result *r, lg_error *err);

/* Losses alone: no logits are kept, so the vocabulary costs no memory. Sequences that begin as
 * sequence 0 does need not be read again from their beginning: sequence s is then what follows the
 * first shared[s] tokens of sequence 0 (of 0 itself: 0; NULL: nothing is shared), with the bits
 * that it has as a whole one. */
typedef struct lg_eval_losses {
    int rows;          /* positions with a target */
    const int *row;    /* [rows] their places in the batch */
    const float *loss; /* [rows] nats; valid until the next call */
} lg_eval_losses;
int lg_evaluator_losses(lg_evaluator *e, const lg_batch *b, const int *shared, lg_eval_losses *r,
                        lg_error *err);

/* ---- Generation ------------------------------------------------------------------- */

/* Decodes up to `sequences` sequences side by side with a key-value cache. */
typedef struct lg_decoder lg_decoder;

lg_decoder *lg_decoder_new(const lg_model *m, int sequences, lg_error *err);
void lg_decoder_free(lg_decoder *d);
/* Reads the prompts, one per sequence, and forgets all earlier ones. Their targets are checked, but not
 * used. */
int lg_decoder_start(lg_decoder *d, const lg_batch *prompts, lg_error *err);
/* Appends one token with its ID to each sequence; tokens[s] = LG_NONE skips sequence s. With
 * several levels the IDs of level l are ids[l * n + s], n the prompts that were read. */
int lg_decoder_step(lg_decoder *d, const int32_t *tokens, const int32_t *ids, lg_error *err);
/* Logits that follow the last token of sequence s; valid until the next call. */
const float *lg_decoder_logits(const lg_decoder *d, int s);
const float *lg_decoder_id_logits(const lg_decoder *d, int s, int level); /* or NULL */
/* The ID that the pointer finds: one pass over the sequence's tokens, made at the call; that of a match
 * head, LG_ABSENT if no key matches: one pass over the keys of the prompt. */
int32_t lg_decoder_point(lg_decoder *d, int s, int level);
int lg_decoder_length(const lg_decoder *d, int s); /* tokens read so far */

int32_t lg_argmax(const float *logits, int n); /* on a tie the first */
/* A sample from softmax(logits / temperature); temperature 0 is the argmax. */
int32_t lg_sample(const float *logits, int n, double temperature, lg_rng *r);

/* ---- Tasks ------------------------------------------------------------------------ */

/* A setting of a task or of anything else that is set by name: `lengthen tasks NAME` lists
 * them. A value is text; the range says what it may be: "2..16" an integer, "a|b|c" one of
 * these words, "TEXT" anything. */
typedef struct lg_setting {
    const char *name;
    const char *range;
    const char *fallback; /* the value when nothing is said */
    const char *doc;
} lg_setting;

/* Which of n words `word` was probably meant to be, a few letters off: its place, or -1. */
int lg_nearest(const char *word, const char *const *words, int n);
/* What to do about a file that could not be written, for errno: "make room on its disk". */
const char *lg_write_remedy(int error);
/* Makes text of unknown origin fit for a terminal: each control character, but line breaks and tabs, is
 * "?" then. Returns text. */
char *lg_plain(char *text);
/* Bytes of the letter of UTF-8 that the n bytes of text, at least one, begin with; 0: with none. */
size_t lg_utf8_letter(const char *text, size_t n);
/* Removes a folder and all that is in it. */
void lg_folder_remove(const char *folder);

/* The user's own data, which has the lengths and sparsities that it has: lines of a file, a program's
 * output (each example can be read only once), documents (cut to any length, without answers). */
typedef enum lg_own { LG_OWN_NONE, LG_OWN_LINES, LG_OWN_PROGRAM, LG_OWN_TEXTS } lg_own;

/* What there is to know of a task before its settings are chosen. */
typedef struct lg_task_info {
    const char *name;
    const char *family;         /* "paper", "arithmetic", "sequences", "machine", "own data" */
    const char *line;           /* one line in the list of tasks */
    const char *text;           /* the definition: format, answer, coupling */
    const char *unit;           /* of length: "bits", "digits" */
    const char *sparsity;       /* what sparsity counts; NULL: the task has none */
    const lg_setting *settings; /* a NULL name ends */
    lg_own own;
} lg_task_info;

int lg_task_count(void);
const lg_task_info *lg_task_info_at(int i);
const lg_task_info *lg_task_info_find(const char *name); /* NULL: there is none */

typedef struct lg_task lg_task;

/* name as in the list, or "jsonl:FILE", "exec:COMMAND", "text:PATHS"; settings[count] as "key=value". */
lg_task *lg_task_new(const char *name, const char *const *settings, int count, lg_error *err);
void lg_task_free(lg_task *t);

/* What the settings made of it. */
typedef struct lg_task_shape {
    const lg_task_info *info;
    int vocab;
    const char *const *words;   /* [vocab] how each token is written */
    const unsigned char *digit; /* [vocab] 1: a digit (for abacus IDs) */
    int32_t stop;               /* the token that ends an answer; LG_NONE: it has one token */
    int levels;                 /* of coupling; 0: the task has no labels */
    const char *level[LG_LEVELS];
    int role; /* the level, from 1, that tells apart tokens that share an ID at those before it; 0:
                 there is none */
    int needed; /* levels without which some token has no ID: coupling takes at least these */
    int reach[LG_LEVELS]; /* largest change of label from one generated token (or the last of the
                             prompt) to the next, at any length; 0: it grows with the length */
    int length_least, length_most, sparsity_least, sparsity_most; /* what may be asked for */
    /* For match heads: the tokens that end a key, how many tokens before one belong to it, and which
     * key is meant where several match; none: the task does not name its keys. */
    int key_tokens;
    int32_t key_token[LG_KEY_TOKENS];
    int key_back;
    lg_match match;
} lg_task_shape;
const lg_task_shape *lg_task_get_shape(const lg_task *t);

/* One example. Labels say which tokens belong together: at each level, tokens with the same
 * number share an ID; IDs are start + label, so a label may be -1 but not less. */
typedef struct lg_example {
    int n;                      /* tokens */
    int answer;                 /* place of the first generated token, >= 1 */
    int length, sparsity;       /* in the task's units; sparsity 0: it has none */
    int32_t *tokens;            /* [n] */
    int32_t *labels[LG_LEVELS]; /* [n] or LG_ABSENT */
    unsigned char *loss;        /* [n] 1: this token is to be predicted */
    int32_t *codes;             /* [n] match heads: the number of the key that a key token ends, or
                                   that is asked for by what follows this token; else LG_NONE */
    int room;
} lg_example;

void lg_example_init(lg_example *x);
void lg_example_clear(lg_example *x);

/* Which example: the same (seed, stream, index) with the same lengths gives the same one, on
 * any thread. The length is uniform in its range, the sparsity uniform in its range cut to what
 * the length allows. */
typedef enum lg_side { LG_SIDE_ANY, LG_SIDE_TRAIN, LG_SIDE_TEST } lg_side;
typedef struct lg_draw {
    uint64_t seed;
    uint32_t stream; /* training and evaluation use different ones */
    uint64_t index;
    int length_lo, length_hi;
    int sparsity_lo, sparsity_hi; /* 0, 0: the task's own default range */
    lg_side side; /* own data: of what is held out (test), of the rest (train), or of all */
} lg_draw;
int lg_task_example(lg_task *t, const lg_draw *d, lg_example *x, lg_error *err);

/* Tokens as text, between single spaces: at most `size` bytes with the 0. Returns the bytes
 * that the whole text takes without the 0, as snprintf does. */
size_t lg_example_text(const lg_task *t, const lg_example *x, char *text, size_t size);

/* ---- Position IDs ------------------------------------------------------------------- */

/* How an ID enters the network: the names that lg_model_config.encoding takes. */
typedef struct lg_encoding_info {
    const char *name;
    const char *line, *text; /* one line; the formula */
} lg_encoding_info;
int lg_encoding_count(void);
lg_encoding_info lg_encoding_info_at(int i);

/* Which ID a token gets: the names that lg_scheme.ids takes. */
typedef struct lg_ids_info {
    const char *name;
    const char *line, *text;
    int labels; /* 1: tokens with the same label of the task share an ID */
} lg_ids_info;
int lg_ids_count(void);
lg_ids_info lg_ids_info_at(int i);

/* The heads that predict the IDs of generated tokens: the names that lg_scheme.source takes
 * beside "given". */
typedef struct lg_id_head_info {
    const char *name;
    const char *line, *text;
    int steps; /* 1: class c stands for the step c - reach from the carried ID, and nothing beyond
                  the span is looked at */
} lg_id_head_info;
int lg_id_head_count(void);
lg_id_head_info lg_id_head_info_at(int i);

typedef struct lg_scheme {
    const char *ids;  /* a name of lg_ids_info_at */
    int levels;       /* coupled: how many of the task's levels, from the first on; 0: all */
    int max_id;       /* random starts and samples are drawn so that no ID passes this; 0: none
                        are drawn, every level starts at 1 */
    int chunks;       /* pose: 2 or more */
    int target;       /* pose: the length (in IDs) to be ready for */
    int cut_anywhere; /* pose: 1: of two chunks the first may be longer than half, too */
    int random_start; /* pose: 1: the first chunk is shifted at random, too */
    /* source of the IDs of generated tokens, of each level: NULL or "given": the task's rule; or
     * a name of lg_id_head_info_at */
    const char *source[LG_LEVELS];
    int reach;      /* delta: changes of -reach..reach */
    lg_match match; /* of match heads; LG_MATCH_NONE: as the task says, or any */
} lg_scheme;
lg_scheme lg_scheme_default(void);

/* Sets what the scheme decides in a model's config: levels, max_id, classes and pointers. */
int lg_scheme_config(const lg_scheme *s, const lg_task *t, lg_model_config *c, lg_error *err);
/* Everything that must hold before training: 0, or the reason why this task, these IDs, this
 * model and examples up to this length cannot go together. A remark that is no reason to stop
 * (a role level was dropped) goes into remark, if it is not NULL. */
int lg_scheme_check(const lg_scheme *s, lg_task *t, const lg_model_config *c, int length,
                    lg_error *remark, lg_error *err);

/* A scheme that was opened for a task: its names are looked up and its numbers checked once, not
 * for every example. Nothing writes to it afterwards, so threads may share it; there is nothing to
 * free. The task must outlive it. */
typedef struct lg_plan {
    lg_scheme scheme; /* a copy; its names are the library's own */
    const lg_task_shape *shape;
    lg_ids_info ids;
    int levels;
    int head[LG_LEVELS]; /* its place in lg_id_head_info_at; -1: given */
    /* The library's: the row of the IDs, the one that is composed with it (or NULL), the flags of
     * both. */
    const struct lg__ids_row *row, *over;
    unsigned flags;
} lg_plan;
int lg_plan_open(lg_plan *p, const lg_scheme *s, const lg_task *t, lg_error *err);

/* The IDs of an example: ids[l] has room for x->n. In training, starts are drawn from r; with r
 * NULL (evaluation) they are 1, PoSE is plain, and "randomized" draws by the example's own tokens. */
int lg_plan_ids(const lg_plan *p, const lg_example *x, lg_rng *r, int32_t *const ids[LG_LEVELS],
                lg_error *err);
/* Adds an example to a batch: tokens but the last, IDs, targets, and ID targets of the source. */
int lg_plan_add(const lg_plan *p, const lg_example *x, lg_rng *r, lg_batch *b, lg_error *err);
/* The ID at `level` that the decoder's heads predict for the next token of sequence s, where
 * carried is the latest ID that the sequence had at this level. */
int32_t lg_plan_next_id(const lg_plan *p, const lg_model_config *c, lg_decoder *d, int sequence,
                        int level, int32_t carried);

/* Examples of a task with their IDs, one by one: what a model would be trained on, for a look at it.
 *
 *     lg_sampler s;
 *     lg_sampler_init(&s);
 *     s.task = task; s.scheme.ids = "coupled";
 *     for (int e = lg_sampler_ready(&s, &err); !e; e = lg_sampler_next(&s, &err)) print(&s.x, s.ids);
 *     lg_sampler_clear(&s); */
typedef struct lg_sampler {
    lg_task *task;
    lg_scheme scheme; /* ids NULL: "coupled" for a task with labels, else "plain" */
    int train;        /* 1: IDs as in training; 0: as in evaluation */
    lg_draw draw; /* length_lo 0: a length that shows the format; of own data all that there are */
    lg_plan plan; /* the scheme, opened */
    lg_model_config config; /* what the scheme makes of it: levels, classes, pointers */
    lg_example x;           /* the example of draw.index - 1, */
    int32_t *ids[LG_LEVELS];
    lg_batch batch; /* and what its ID heads are to predict; unused where the source is given */
    int room;       /* of ids */
    char **words;   /* of lg_sampler_line */
    int word_count;
} lg_sampler;
void lg_sampler_init(lg_sampler *s);
/* Fills in what is not set, after task, scheme, train and draw; the first next makes an example. */
int lg_sampler_ready(lg_sampler *s, lg_error *err);
/* 0, or why some of the examples cannot be made, or could not be trained on. Own data is not asked. */
int lg_sampler_check(lg_sampler *s, lg_error *err);
/* Makes the example of draw.index, and counts that up. */
int lg_sampler_next(lg_sampler *s, lg_error *err);
/* Adds it as a line of JSON, as the task jsonl:FILE reads it. Coupled IDs as in evaluation are written as
 * the labels that they are made of: whoever reads them as a task adds the start. */
int lg_sampler_line(lg_sampler *s, lg_buffer *to, lg_error *err);
void lg_sampler_clear(lg_sampler *s); /* not the task */

/* ---- Answering a task ---------------------------------------------------------------- */

typedef struct lg_score {
    int samples, exact;     /* every answer token and the stop token right, and no more */
    int64_t tokens, right;  /* answer tokens, those right in their place */
    int64_t ids, ids_right; /* of the predicted ones */
    int64_t text;           /* tokens of the examples, prompts and answers */
    /* Where the first wrong token of an answer falls, among the answers that have one: the
     * earliest, the median (both from 1), and how many in each tenth of the answer. */
    int first_least, first_median, first_in[10];
} lg_score;
/* Generates the answers of examples index..index+samples-1 of the draw, greedily, side by side.
 * predicted 0: generated tokens get the IDs of the rule whatever the scheme's source. threads 0:
 * all cores. */
int lg_answer(const lg_model *m, lg_task *t, const lg_scheme *s, const lg_draw *d, int samples,
              int predicted, int threads, lg_score *score, lg_error *err);
/* The same teacher-forced, in packed batches: each token is predicted from the right ones before
 * it. With given IDs an example is exact here if and only if it is when generated; with predicted
 * ones every ID must be right too. */
int lg_answer_taught(const lg_model *m, lg_task *t, const lg_scheme *s, const lg_draw *d,
                     int samples, int predicted, int threads, lg_score *score, lg_error *err);

/* ---- Text --------------------------------------------------------------------------------- */

/* A tokenizer: bytes to tokens and back (docs/TEXT.md). */
typedef struct lg_tokenizer lg_tokenizer;
/* Hugging Face's tokenizer.json (byte-level BPE: GPT-NeoX, OLMo, GPT-2), GPT-2's encoder.json with
 * vocab.bpe beside it (or vocab.json with merges.txt), llama2.c's tokenizer.bin, a folder with one
 * of these, or "bytes". */
lg_tokenizer *lg_tokenizer_open(const char *path, lg_error *err);
void lg_tokenizer_free(lg_tokenizer *t);

typedef struct lg_tokenizer_info {
    const char *kind;
    int32_t vocab;      /* the highest token + 1 */
    int32_t tokens;     /* that there are */
    int64_t merges;     /* pairs */
    int added;          /* tokens that are found in the text as they are */
    int bytes;          /* of the 256, how many can be encoded alone */
    int32_t begin, end; /* before and after each document of a corpus; LG_NONE: nothing */
    int nfc;            /* 1: text is brought into NFC first */
    int prefix_space;   /* 1: a space is put before the text */
    uint64_t checksum;  /* of all that decides which tokens a text becomes */
} lg_tokenizer_info;
lg_tokenizer_info lg_tokenizer_get_info(const lg_tokenizer *t);

/* What they point to is the tokenizer's, and lasts until its next call of the same name. Decoding
 * what was encoded gives the same bytes, whatever they are; with nfc the normalised ones, and with a
 * byte-level prefix_space that space too. A byte for which there is no token is refused. */
int lg_tokenizer_encode(lg_tokenizer *t, const char *text, size_t n, const int32_t **tokens,
                        size_t *count, lg_error *err);
int lg_tokenizer_decode(lg_tokenizer *t, const int32_t *tokens, size_t count, const char **text,
                        size_t *n, lg_error *err);
/* The bytes of one token; NULL: there is no such token. */
const char *lg_tokenizer_piece(const lg_tokenizer *t, int32_t token, size_t *n);

/* A corpus: texts as documents of tokens, kept in one file that is mapped, not read. */
typedef struct lg_corpus lg_corpus;

/* How far the reading of the texts is. */
typedef struct lg_corpus_progress {
    double done; /* share of the files' bytes */
    int64_t documents, bytes, tokens;
} lg_corpus_progress;
typedef int lg_corpus_watch(void *context, const lg_corpus_progress *p); /* 0: stop */

typedef struct lg_corpus_options {
    const char *const *paths; /* [path_count] files, folders and globs: plain text, JSON lines, and
                                 these with .gz; none: the cache alone */
    int path_count;
    const char *field; /* of JSON lines: the key of the text; NULL: "text" */
    const char *cache; /* the file of the tokens. One that is stale or cut off is rebuilt, with a
                           note; one of another kind is refused */
    double test_share; /* of the documents, 0 to 1, chosen by (seed, their text); where that would
                          be none or all of them, though it is neither 0 nor 1, the last part of
                          each is held out, as documents of their own, with a note */
    uint64_t seed;
    lg_corpus_watch *watch; /* or NULL */
    void *context;
} lg_corpus_options;
lg_corpus *lg_corpus_open(const lg_corpus_options *o, lg_tokenizer *t, lg_error *err);
void lg_corpus_free(lg_corpus *c);
/* Why the cache was rebuilt, or the documents cut; or NULL. */
const char *lg_corpus_note(const lg_corpus *c);

typedef enum { LG_CORPUS_ALL, LG_CORPUS_TRAIN, LG_CORPUS_TEST } lg_corpus_side;
int64_t lg_corpus_documents(const lg_corpus *c, lg_corpus_side side);
int64_t lg_corpus_tokens(const lg_corpus *c, lg_corpus_side side);
int64_t lg_corpus_bytes(const lg_corpus *c);     /* of text, of all documents */
uint64_t lg_corpus_checksum(const lg_corpus *c); /* of the documents' texts, in their order */
/* The number, among all documents, of the i-th of a side; -1: there is none. */
int64_t lg_corpus_document(const lg_corpus *c, lg_corpus_side side, int64_t i);
int64_t lg_corpus_length(const lg_corpus *c, int64_t document); /* in tokens, begin and end too */
int lg_corpus_read(const lg_corpus *c, int64_t document, int64_t from, int n, int32_t *tokens,
                   lg_error *err);

/* Windows of n tokens that lie within one document; every one is as likely as every other. Several
 * threads may draw from one object. */
typedef struct lg_windows lg_windows;
typedef struct lg_window {
    int64_t document, from;
} lg_window;
lg_windows *lg_windows_new(const lg_corpus *c, lg_corpus_side side, int n, lg_error *err);
/* The same of the documents of a side put end to end, each with the tokens that begin and end it: a
 * window may cross several, and short ones are drawn too. lg_window says where it begins. */
lg_windows *lg_windows_joined(const lg_corpus *c, lg_corpus_side side, int n, lg_error *err);
void lg_windows_free(lg_windows *w);
int64_t lg_windows_count(const lg_windows *w);
/* The window of (seed, stream, index), n tokens; where it is goes into *at, if it is not NULL. */
int lg_windows_draw(const lg_windows *w, uint64_t seed, uint32_t stream, uint64_t index,
                    int32_t *tokens, lg_window *at, lg_error *err);

/* Trains byte-level BPE on texts and writes a tokenizer.json; the same texts give the same file. */
typedef struct lg_bpe_progress {
    int merging;   /* 0: reading the texts, 1: merging */
    double done;   /* share of that */
    int64_t words; /* different ones so far */
    int32_t vocab; /* tokens so far */
} lg_bpe_progress;
typedef int lg_bpe_watch(void *context, const lg_bpe_progress *p); /* 0: stop */

typedef struct lg_bpe_options {
    const char *const *paths; /* [path_count] as of a corpus */
    int path_count;
    const char *field;
    int32_t vocab;    /* tokens to reach: the end of text, the 256 bytes, and merges */
    const char *file; /* tokenizer.json to be written */
    lg_bpe_watch *watch;
    void *context;
} lg_bpe_options;
typedef struct lg_bpe_result {
    int32_t vocab; /* less than asked for where no pair comes twice any more */
    int64_t words, bytes, documents;
} lg_bpe_result;
int lg_bpe_train(const lg_bpe_options *o, lg_bpe_result *result, lg_error *err);

/* ---- The machine ------------------------------------------------------------------ */

const char *lg_version(void);

/* Of the build: the first 12 digits of git's commit, with "-dirty" where the sources differ from
 * it, or "unknown"; "gcc 12.2.0". */
const char *lg_commit(void);
const char *lg_compiler(void);
/* The kernels of models whose config names none: the best that this CPU runs. The environment
 * variable LENGTHEN_ISA chooses others of these that it runs, read at first use. */
#define LG_ISAS "avx512, avx2, neon, c or naive"
const char *lg_isa(void);
int lg_cores(void);
void lg_cpu(char name[200]); /* "AMD EPYC 7R32"; where it has no name, its architecture */

/* ---- Ranks ---------------------------------------------------------------------------- */

/* The processes of one job that mpirun or srun started (docs/SCALE.md). NULL stands for a program that was started
 * alone: rank 0 of 1. */
typedef struct lg_comm lg_comm;
/* Joins the job; *c is NULL if this program was started alone. Refused if the module for MPI is not there. */
int lg_comm_open(lg_comm **c, lg_error *err);
int lg_comm_rank(const lg_comm *c);
int lg_comm_size(const lg_comm *c);
/* How long a rank waits for another before those that do not answer are named, which ends the job (120 s). */
void lg_comm_set_timeout(lg_comm *c, double seconds);
/* Whether the last error is that of all ranks, so that it is enough if rank 0 tells it. */
int lg_comm_is_common(const lg_comm *c);
/* Leaves the job; code not 0: ends all ranks with this exit code. */
void lg_comm_close(lg_comm *c, int code);

#ifdef __cplusplus
}
#endif

#include "lengthen_own.h"
#endif
