/* table.c: every way in which an ID enters the network, and the models that are made with them. */
#include <stddef.h>
#include <string.h>

#include "base/settings.h"
#include "positions/positions.h"

const struct lg__encoding lg__encoding_none = {
    .name = "none",
    .line = "nothing: only the order of the text (and the window) is seen",
    .text = "NoPE. No number of the network depends on an ID.\n"
            "A query sees the keys before it in the text, and with span window only those whose\n"
            "IDs lie in the window: there IDs still choose the keys.\n"
            "Levels: any. Needs: nothing.",
    .flags = LG__ENCODING_RELATIVE,
};

lg__encoding_table lg__encodings[] = {
    &lg__encoding_none,    &lg__encoding_rope,       &lg__encoding_relative,
    &lg__encoding_alibi,   &lg__encoding_t5,         &lg__encoding_fire,
    &lg__encoding_learned, &lg__encoding_sinusoidal, NULL,
};

const struct lg__encoding *lg__encoding_find(const char *name)
{
    for (int i = 0; name && lg__encodings[i]; i++)
        if (strcmp(lg__encodings[i]->name, name) == 0) return lg__encodings[i];
    return NULL;
}

int lg__encoding_has(const char *name, unsigned flag)
{
    const struct lg__encoding *e = lg__encoding_find(name);
    return e && (e->flags & flag);
}

const char *lg__encoding_names(char *text, unsigned flags)
{
    const char *names[sizeof lg__encodings / sizeof *lg__encodings];
    int n = 0;
    for (int i = 0; lg__encodings[i]; i++)
        if ((lg__encodings[i]->flags & flags) == flags) names[n++] = lg__encodings[i]->name;
    return lg__either(text, LG__ENCODING_NAMES, names, n);
}

int lg_encoding_count(void) { return (int)(sizeof lg__encodings / sizeof *lg__encodings) - 1; }

lg_encoding_info lg_encoding_info_at(int i)
{
    lg_encoding_info info = {NULL, NULL, NULL};
    if (i < 0 || i >= lg_encoding_count()) return info;
    info.name = lg__encodings[i]->name;
    info.line = lg__encodings[i]->line;
    info.text = lg__encodings[i]->text;
    return info;
}

int lg_model_config_check(const lg_model_config *c, lg_error *err)
{
    return lg__model_config_check(c, lg__encodings, err);
}

lg_model *lg_model_new(const lg_model_config *c, lg_error *err)
{
    return lg__model_new(c, lg__encodings, err);
}
