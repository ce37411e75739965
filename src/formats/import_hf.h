/* import_hf.h: config.json of a Hugging Face folder, as a layout of tensors. */
#ifndef LG_FORMATS_IMPORT_HF_H
#define LG_FORMATS_IMPORT_HF_H

#include "formats/import.h"
#include "formats/layout.h"

/* Bytes of the JSON files, at most: published ones of these models have less than a tenth of that,
 * and parsed they take up to 45 times as much. */
enum { LG__HF_CONFIG_BYTES = 1 << 20, LG__HF_INDEX_BYTES = 8 << 20 };

/* Reads the file; what the engine cannot do is refused with the file, the key, its value and the
 * reason. kind and length of info are filled. */
int lg__hf_config(struct lg__layout *l, lg_import_info *info, const char *file, lg_error *err);

#endif
