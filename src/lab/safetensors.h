/* safetensors.h: tensors of 32-bit floats with names, in the safetensors format:
 *
 *     8 bytes    length of the header, little-endian
 *     header     JSON: {"__metadata__": {"key": "text"},
 *                "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...},
 *                padded with spaces so that the data starts at a multiple of 8
 *     data       the tensors, end to end, without holes
 *
 * Files, synced or not, are the caller's: this takes and gives bytes. */
#ifndef LG_LAB_SAFETENSORS_H
#define LG_LAB_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "lengthen.h"

enum { LG__STORED_DIMS = 8 };

struct lg__stored {
    const char *name;
    int dims; /* 0: one number */
    int64_t shape[LG__STORED_DIMS];
    const void *data; /* floats; when read, not aligned: copy them */
    size_t size;      /* bytes */
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
 * (LG_ERROR_SYSTEM). After an error there is nothing to close. */
int lg__safetensors_open(struct lg__safetensors *s, const void *bytes, size_t size,
                         const char *file, lg_error *err);
void lg__safetensors_close(struct lg__safetensors *s);

const struct lg__stored *lg__safetensors_find(const struct lg__safetensors *s, const char *name);
const char *lg__safetensors_meta(const struct lg__safetensors *s, const char *key); /* or NULL */

#endif
