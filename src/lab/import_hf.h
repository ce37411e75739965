/* import_hf.h: config.json of a Hugging Face folder, as a layout of tensors. */
#ifndef LG_LAB_IMPORT_HF_H
#define LG_LAB_IMPORT_HF_H

#include "lab/import.h"
#include "lab/layout.h"

/* Reads the file; what the engine cannot do is refused with the file, the key, its value and the
 * reason. kind and length of info are filled. */
int lg__hf_config(struct lg__layout *l, lg_import_info *info, const char *file, lg_error *err);

#endif
