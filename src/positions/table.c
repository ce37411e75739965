/* table.c: every way in which an ID enters the network, and the models that are made with them. */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
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

enum { ROWS = 64 }; /* the user's own and the NULL too */
const struct lg__encoding *lg__encodings[ROWS] = {
    &lg__encoding_none, &lg__encoding_rope, &lg__encoding_relative, &lg__encoding_alibi,
    &lg__encoding_t5,   &lg__encoding_fire, &lg__encoding_learned,  &lg__encoding_sinusoidal,
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
    const char *names[ROWS];
    int n = 0;
    for (int i = 0; lg__encodings[i]; i++)
        if ((lg__encodings[i]->flags & flags) == flags) names[n++] = lg__encodings[i]->name;
    return lg__either(text, LG__ENCODING_NAMES, names, n);
}

int lg_encoding_count(void)
{
    int n = 0;
    while (lg__encodings[n]) n++;
    return n;
}

lg_encoding_info lg_encoding_info_at(int i)
{
    lg_encoding_info info = {NULL, NULL, NULL};
    if (i < 0 || i >= lg_encoding_count()) return info;
    info.name = lg__encodings[i]->name;
    info.line = lg__encodings[i]->line;
    info.text = lg__encodings[i]->text;
    return info;
}

/* ---- The user's own ---------------------------------------------------------------------- */

/* The hooks have no context: the name that a model's config points at is that of its row. */
struct own_row {
    struct lg__encoding row; /* first */
    lg_own_encoding own;
};

static const lg_own_encoding *own_of(const lg_model_config *c)
{
    return &((const struct own_row *)(const void *)lg__encoding_find(c->encoding))->own;
}

static void shape_own(const lg_model_config *c, int *rows, int *cols)
{
    *rows = c->heads;
    *cols = own_of(c)->parameters;
}

static void bias_own(float *out, const float *param, const lg_model_config *c, int head,
                     const struct lg__pairs *p)
{
    const lg_own_encoding *o = own_of(c);
    const float *own = param ? param + (size_t)head * (size_t)o->parameters : NULL;
    o->bias(o->context, out, own, head, p->n, c->levels, p->query, p->key);
}

static void bias_own_backward(float *dparam, const float *dout, const float *param,
                              const lg_model_config *c, int head, const struct lg__pairs *p)
{
    const lg_own_encoding *o = own_of(c);
    size_t at = (size_t)head * (size_t)o->parameters;
    o->backward(o->context, dparam + at, dout, param + at, head, p->n, c->levels, p->query, p->key);
}

int lg_encoding_add(const lg_own_encoding *o, lg_error *err)
{
    if (!o->name || !*o->name || lg__encoding_find(o->name))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "an encoding is to be named \"%s\"; take a name that no other has, and add "
                        "each once",
                        o->name ? o->name : "");
    if (!o->bias || o->parameters < 0 || o->parameters > 1 << 20 || (o->parameters && !o->backward))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "encoding %s needs bias and, if it has parameters, backward", o->name);
    int n = lg_encoding_count();
    struct own_row *own = n < ROWS - 1 ? lg__alloc(sizeof *own) : NULL;
    if (!own)
        return lg__fail(err, LG_ERROR_MEMORY,
                        "no room for encoding %s: there may be %d; use one with a context", o->name,
                        ROWS - 1);
    own->own = *o;
    own->row = (struct lg__encoding){
        .name = o->name,
        .line = o->line ? o->line : "",
        .text = o->text ? o->text : "",
        .flags = LG__ENCODING_OWN | (o->relative ? LG__ENCODING_RELATIVE : LG__ENCODING_ABSOLUTE),
        .shape = o->parameters ? shape_own : NULL,
        .bias = bias_own,
        .bias_backward = o->parameters ? bias_own_backward : NULL};
    lg__encodings[n] = &own->row;
    return 0;
}

/* ---- Models ------------------------------------------------------------------------------- */

int lg_model_config_check(const lg_model_config *c, lg_error *err)
{
    return lg__model_config_check(c, lg__encodings, err);
}

lg_model *lg_model_new(const lg_model_config *c, lg_error *err)
{
    return lg__model_new(c, lg__encodings, err);
}
