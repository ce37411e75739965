/* safetensors.h: tensors with names, in the safetensors format:
 *
 *     8 bytes    length of the header, little-endian
 *     header     JSON: {"__metadata__": {"key": "text"},
 *                "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...},
 *                padded with spaces so that the data starts at a multiple of 8
 *     data       the tensors, end to end, without holes
 *
 * Files, synced or not, are the caller's: this takes and gives bytes. */
#ifndef LG_FORMATS_SAFETENSORS_H
#define LG_FORMATS_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "lengthen.h"

enum { LG__STORED_DIMS = 8 };

/* What the numbers are. Written: F32. Read: F32, F16 and BF16; the others are only passed over. */
enum lg__dtype { LG__F32, LG__F16, LG__BF16, LG__OTHER_DTYPE };

struct lg__stored {
    const char *name;
    int dims; /* 0: one number */
    int64_t shape[LG__STORED_DIMS];
    const void *data; /* when read, not aligned: copy it */
    size_t size;      /* bytes */
    enum lg__dtype dtype;
    const char *type; /* when read: the dtype's name */
};

struct lg__meta {
    const char *key, *text; /* UTF-8 */
};

/* Takes the next bytes of the file; 0, or a code that ends the writing and is returned. */
typedef int lg__put(void *to, const void *data, size_t size, lg_error *err);

/* The shapes must hold as many floats as `size` says. `file` names it in errors. */
int lg__safetensors_write(const struct lg__stored *tensors, int count, const struct lg__meta *meta,
                          int metas, const char *file, lg__put *put, void *to, lg_error *err);

struct lg__safetensors {
    void *header;
    struct lg__stored *tensors; /* sorted by name */
    int count;
};

/* Reads `size` bytes, which must stay until the close. Whatever they are, nothing outside of
 * them is touched; what is not a whole safetensors file is refused with file, tensor and remedy
 * (LG_ERROR_SYSTEM). After an error there is nothing to close. The first takes files of F32
 * alone, the second all dtypes of the format. */
int lg__safetensors_open(struct lg__safetensors *s, const void *bytes, size_t size,
                         const char *file, lg_error *err);
int lg__safetensors_open_any(struct lg__safetensors *s, const void *bytes, size_t size,
                             const char *file, lg_error *err);
void lg__safetensors_close(struct lg__safetensors *s);

const struct lg__stored *lg__safetensors_find(const struct lg__safetensors *s, const char *name);
/* n numbers of a tensor that is not LG__OTHER_DTYPE, from the one at `from`, `step` apart: every
 * one is exactly a float. */
void lg__stored_read(const struct lg__stored *t, size_t from, size_t step, float *to, size_t n);
const char *lg__safetensors_meta(const struct lg__safetensors *s, const char *key); /* or NULL */

#endif
