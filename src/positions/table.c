/* table.c: every way in which an ID enters the network. */
#include <stddef.h>

#include "positions/positions.h"

const struct lg__encoding lg__encoding_none = {
    .name = "none",
    .doc = "IDs do not enter; only the order of the text (and the window) is seen",
};

const struct lg__encoding lg__encoding_rope = {
    .name = "rope",
    .doc = "queries and keys are turned by angles proportional to their IDs",
    .rotary = 1,
};

const struct lg__encoding *const lg__encodings[] = {
    &lg__encoding_none,
    &lg__encoding_rope,
    &lg__encoding_relative,
    NULL,
};
