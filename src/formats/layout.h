/* layout.h: the tensors of published formats, each as a piece of one of our parameters. The same
 * table reads and writes. */
#ifndef LG_FORMATS_LAYOUT_H
#define LG_FORMATS_LAYOUT_H

#include "formats/safetensors.h"
#include "lengthen.h"

enum lg__format {
    LG__FORMAT_NEOX,    /* GPTNeoXForCausalLM */
    LG__FORMAT_LLAMA,   /* LlamaForCausalLM; OlmoForCausalLM, whose norms have no weights */
    LG__FORMAT_GPT2,    /* GPT2LMHeadModel */
    LG__FORMAT_LLAMA2C, /* llama2.c; its pieces are in the order of the file */
};

/* What decides which tensors there are. */
struct lg__layout {
    enum lg__format format;
    lg_model_config c;
    int kv_heads;         /* key and value heads, a divisor of c.heads */
    int attention_biases; /* whether the file has them */
    int ff_biases;
    int bare; /* 1: names without the "transformer." of GPT-2 */
};

/* The order of the rows of a piece in the file. A piece with fewer rows there holds heads that
 * several of ours share. */
enum lg__order {
    LG__AS_IS,
    LG__PAIRS,      /* in each head rows 2i and 2i + 1 turn together; ours are i and i + D/2 */
    LG__FUSED,      /* query, key and value of one head after the other */
    LG__TRANSPOSED, /* [cols, rows] */
};

enum { LG__PIECE_NAME = 80 };

/* Rows row .. row + rows - 1 of a parameter are the tensor `name`. */
struct lg__piece {
    char name[LG__PIECE_NAME], param[LG__PIECE_NAME];
    int row, rows, cols;
    int stored_rows; /* in the file */
    int vector;      /* 1: one dimension in the file; cols is 1 */
    int width;       /* of a head */
    int heads;
    enum lg__order order;
};

/* All pieces of a model, to be freed; NULL: no memory. */
struct lg__piece *lg__layout_pieces(const struct lg__layout *l, int *count);
/* The row of the file's tensor that is row r of the piece. */
int lg__piece_row(const struct lg__piece *p, int r);
/* The dimensions that the file's tensor must have. */
int lg__piece_shape(const struct lg__piece *p, int64_t shape[LG__STORED_DIMS]);

/* Makes the model, and fills it from the tensors of the pieces, whose shapes were checked. */
lg_model *lg__layout_load(const struct lg__layout *l, const struct lg__piece *pieces,
                          const struct lg__stored *const *stored, int count, const char *file,
                          lg_error *err);

#endif
