/* positions.h: the encodings, one file each; table.c lists them. */
#ifndef LG_POSITIONS_H
#define LG_POSITIONS_H

#include "engine/position.h"

extern const struct lg__encoding lg__encoding_none;
extern const struct lg__encoding lg__encoding_rope;
extern const struct lg__encoding lg__encoding_relative;

#endif
