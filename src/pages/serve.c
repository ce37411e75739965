/* serve.c: the live page: HTTP by libmicrohttpd, one thread per connection, each with a store of its own that it only
 * reads. Changes are pushed as server-sent events. */
#include "base/error.h"
#include "pages/pages.h"

#ifndef LG_HAVE_MICROHTTPD

int lg_serve(const lg_serve_options *o, lg_error *err)
{
    (void)o;
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "this build has no libmicrohttpd; install it (Debian: libmicrohttpd-dev) and "
                    "build again, or use `lengthen report`");
}

#else

#include <arpa/inet.h>
#include <limits.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"

struct server {
    const lg_serve_options *o;
    const char *hosts[3]; /* further names; NULL ends */
    pthread_mutex_t generates;
    volatile int stop;
    char *page;
};

/* A request, from its first line to its end. */
struct ask {
    char *target;
    int seen;
};

/* ---- Answers ------------------------------------------------------------------------------------ */

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, const char *type,
                              lg_buffer *b)
{
    size_t n = b->lost ? 0 : b->size;
    char *text = b->lost ? NULL : b->data;
    if (b->lost) status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    struct MHD_Response *r = MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_COPY);
    lg_buffer_clear(b);
    if (!r) return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "X-Frame-Options", "DENY");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    enum MHD_Result done = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *why)
{
    lg_buffer b = {0};
    lg__put_open(&b, NULL, '{');
    lg__put_text(&b, "error", why);
    lg__put_close(&b, '}');
    return answer(c, status, "application/json", &b);
}

static const char *words_of(int status)
{
    return status == 403   ? "this Host is not served; open the address that lengthen serve prints"
           : status == 404 ? "there is no such page"
           : status == 405 ? "only GET: this page changes nothing"
                           : "the request cannot be read";
}

/* ---- What is asked for -------------------------------------------------------------------------- */

static int put_curves(lg_store *s, const struct lg__request *r, lg_buffer *b, lg_error *err)
{
    int e = 0;
    lg__put_open(b, NULL, '{');
    lg__put_open(b, "runs", '[');
    for (int i = 0; i < r->count && !e; i++) {
        lg__put_open(b, NULL, '{');
        lg__put_int(b, "number", r->runs[i]);
        lg__put_key(b, "curves");
        e = lg__page_curves(s, r->runs[i], r->points, b, err);
        lg__put_close(b, '}');
    }
    lg__put_close(b, ']');
    lg__put_close(b, '}');
    return e;
}

static void take_folder(void *context, const lg_store_run *r)
{
    snprintf(context, PATH_MAX, "%s", r->folder);
}

/* What the run's model writes: it is loaded for this answer, and nothing is kept. One at a time. */
static int put_generation(struct server *v, lg_store *s, const struct lg__request *r, lg_buffer *b,
                          lg_error *err)
{
    char folder[PATH_MAX] = "", name[32];
    lg_error warning = {0};
    lg_run_access access = {0};
    snprintf(name, sizeof name, "%lld", (long long)r->runs[0]);
    int e = lg_store_find(s, name, take_folder, folder, err);
    if (e) return e;
    pthread_mutex_lock(&v->generates);
    lg__put_open(b, NULL, '{');
    if (r->kind == LG__REQUEST_PASSAGE) {
        lg__put_key(b, "passage");
        e = lg__page_passage(b, folder, &access, err);
    } else {
        lg_generate_options o = {.folder = folder,
                                 .prompt = *r->prompt ? r->prompt : NULL,
                                 .prompt_ids = *r->prompt_ids ? r->prompt_ids : NULL,
                                 .length = r->length,
                                 .seed = -1,
                                 .predicted = r->predicted};
        lg__put_open(b, "generations", '[');
        e = lg__page_generate(b, &o, &warning, err);
        lg__put_close(b, ']');
    }
    lg__put_close(b, '}');
    pthread_mutex_unlock(&v->generates);
    return e;
}

static int put_runs(lg_store *s, const struct lg__request *r, lg_buffer *b, lg_error *err)
{
    struct lg__page_filter f = {r->task, r->positions, r->state, r->seed};
    lg__put_open(b, NULL, '{');
    lg__put_key(b, "runs");
    int e = lg__page_list(s, &f, 0, b, err);
    lg__put_close(b, '}');
    return e;
}

static int put_run(lg_store *s, const struct lg__request *r, lg_buffer *b, lg_error *err)
{
    char name[32], folder[PATH_MAX];
    snprintf(name, sizeof name, "%lld", (long long)r->runs[0]);
    int e = lg__page_run(s, name, b, folder, err);
    if (e) return e;
    lg__put_text(b, "form", lg_run_form(folder));
    lg__put_close(b, '}');
    return 0;
}

static enum MHD_Result ask_store(struct server *v, struct MHD_Connection *c,
                                 const struct lg__request *r)
{
    lg_error err = {0};
    lg_buffer b = {0};
    lg_store *s = lg_store_open(v->o->store, -1, &err);
    int e = !s                              ? err.code
            : r->kind == LG__REQUEST_RUNS   ? put_runs(s, r, &b, &err)
            : r->kind == LG__REQUEST_RUN    ? put_run(s, r, &b, &err)
            : r->kind == LG__REQUEST_CURVES ? put_curves(s, r, &b, &err)
                                            : put_generation(v, s, r, &b, &err);
    lg_store_close(s);
    if (!e) return answer(c, MHD_HTTP_OK, "application/json", &b);
    lg_buffer_clear(&b);
    return refuse(
        c, e == LG_ERROR_ARGUMENT ? MHD_HTTP_UNPROCESSABLE_CONTENT : MHD_HTTP_INTERNAL_SERVER_ERROR,
        err.text);
}

/* ---- Events --------------------------------------------------------------------------------------- */

static const double LOOK = 0.25, ASK_AGAIN = 1, BEAT = 5; /* seconds */

/* A stream: the text that is being sent, and what was sent last. */
struct stream {
    struct server *v;
    lg_store *s;
    char *sent;
    lg_buffer text;
    size_t at;
    int64_t version;
    double since, asked, beat;
};

/* The runs that changed, as an event, if that is news. */
static void make_event(struct stream *t)
{
    lg_buffer b = {0};
    double now = lg__date();
    lg__put_open(&b, NULL, '{');
    lg__put_key(&b, "runs");
    int64_t count = 0;
    int e = lg__page_list(t->s, NULL, t->since, &b, NULL);
    if (!e) e = lg__page_count(t->s, &count, NULL);
    lg__put_int(&b, "count", count);
    lg__put_close(&b, '}');
    t->since = now - 5;
    char *text = e ? NULL : lg_buffer_take(&b, NULL);
    lg_buffer_clear(&b);
    if (!text || (t->sent && strcmp(text, t->sent) == 0)) {
        free(text);
        return;
    }
    free(t->sent);
    t->sent = text;
    lg_buffer_print(&t->text, "data: %s\n\n", text);
}

static void wait_for_news(struct stream *t)
{
    while (!t->text.size && !t->v->stop) {
        int64_t version = t->version;
        double now = lg__now();
        lg__page_version(t->s, &version, NULL);
        if (version != t->version || now - t->asked > ASK_AGAIN) {
            t->version = version;
            t->asked = now;
            make_event(t);
        }
        if (!t->text.size && now - t->beat > BEAT) lg_buffer_put(&t->text, ":\n\n");
        if (t->text.size) t->beat = now;
        if (!t->text.size) nanosleep(&(struct timespec){0, (long)(LOOK * 1e9)}, NULL);
    }
}

static ssize_t read_stream(void *context, uint64_t at, char *to, size_t room)
{
    struct stream *t = context;
    (void)at;
    if (t->at == t->text.size) {
        lg_buffer_clear(&t->text);
        t->at = 0;
        wait_for_news(t);
    }
    if (t->v->stop || t->text.lost) return MHD_CONTENT_READER_END_OF_STREAM;
    size_t n = t->text.size - t->at < room ? t->text.size - t->at : room;
    memcpy(to, t->text.data + t->at, n);
    t->at += n;
    return (ssize_t)n;
}

static void end_stream(void *context)
{
    struct stream *t = context;
    lg_store_close(t->s);
    lg_buffer_clear(&t->text);
    free(t->sent);
    free(t);
}

static enum MHD_Result open_stream(struct server *v, struct MHD_Connection *c)
{
    lg_error err = {0};
    struct stream *t = lg__alloc(sizeof *t);
    if (!t) return MHD_NO;
    t->v = v;
    t->since = lg__date() - 5;
    t->beat = lg__now();
    if (!(t->s = lg_store_open(v->o->store, -1, &err))) {
        end_stream(t);
        return refuse(c, MHD_HTTP_INTERNAL_SERVER_ERROR, err.text);
    }
    lg_buffer_put(&t->text, "retry: 1000\n\n");
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 65536, read_stream, t, end_stream);
    if (!r) {
        end_stream(t);
        return MHD_NO;
    }
    MHD_add_response_header(r, "Content-Type", "text/event-stream");
    MHD_add_response_header(r, "Cache-Control", "no-store");
    enum MHD_Result done = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return done;
}

/* ---- The server ------------------------------------------------------------------------------------ */

static void *begin(void *context, const char *target, struct MHD_Connection *c)
{
    (void)context;
    (void)c;
    struct ask *a = lg__alloc(sizeof *a);
    if (a && !(a->target = lg__alloc_text(target))) {
        free(a);
        a = NULL;
    }
    return a;
}

static void end(void *context, struct MHD_Connection *c, void **own,
                enum MHD_RequestTerminationCode why)
{
    struct ask *a = *own;
    (void)context;
    (void)c;
    (void)why;
    if (a) free(a->target);
    free(a);
    *own = NULL;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **own)
{
    struct server *v = context;
    struct ask *a = *own;
    struct lg__request r;
    (void)url;
    (void)version;
    (void)upload;
    if (!a) return MHD_NO;
    if (!a->seen++) return MHD_YES; /* the body, if there is one, comes first */
    if (*upload_size) {
        *upload_size = 0;
        return MHD_YES;
    }
    int status = lg__request_read(
        &r, method, a->target, MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host"), v->hosts);
    if (status) return refuse(c, (unsigned)status, words_of(status));
    if (r.kind == LG__REQUEST_EVENTS) return open_stream(v, c);
    if (r.kind != LG__REQUEST_PAGE) return ask_store(v, c, &r);
    lg_buffer b = {0};
    lg_buffer_put(&b, v->page);
    return answer(c, MHD_HTTP_OK, "text/html; charset=utf-8", &b);
}

enum { CONNECTIONS = 64, PATIENCE = 60 };

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static struct MHD_Daemon *listen_on(struct server *v, union address *to, unsigned flags)
{
    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | flags,
                            0, NULL, NULL, handle, v, MHD_OPTION_SOCK_ADDR, &to->any,
                            MHD_OPTION_URI_LOG_CALLBACK, begin, NULL, MHD_OPTION_NOTIFY_COMPLETED,
                            end, NULL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)PATIENCE,
                            MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
}

/* The page is the same for everybody. */
static int make_page(struct server *v, lg_error *err)
{
    lg_buffer b = {0}, data = {0};
    lg__put_open(&data, NULL, '{');
    lg__put_text(&data, "store", v->o->store);
    lg__put_text(&data, "version", lg_version());
    lg__put_text(&data, "commit", lg_commit());
    lg__put_close(&data, '}');
    if (data.data) lg__page_html(&b, "lengthen: runs", data.data, "LG.live(data)");
    b.lost |= data.lost;
    lg_buffer_clear(&data);
    v->page = lg_buffer_take(&b, err);
    return v->page ? 0 : LG_ERROR_MEMORY;
}

static int serve(struct server *v, lg_error *err)
{
    const lg_serve_options *o = v->o;
    const char *address = o->address ? o->address : "127.0.0.1";
    union address to = {0};
    char url[200];
    int v6 = inet_pton(AF_INET6, address, &to.v6.sin6_addr) == 1;
    if (v6) {
        to.v6.sin6_family = AF_INET6;
        to.v6.sin6_port = htons((uint16_t)o->port);
    } else {
        to.v4.sin_family = AF_INET;
        to.v4.sin_port = htons((uint16_t)o->port);
        if (inet_pton(AF_INET, address, &to.v4.sin_addr) != 1)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "\"%.100s\" is no address; give one of this machine, as 127.0.0.1",
                            address);
    }
    struct MHD_Daemon *d = listen_on(v, &to, v6 ? MHD_USE_IPv6 : 0);
    if (!d)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "%.100s, port %d, cannot be listened on; another program may have it: "
                        "choose another with --port",
                        address, o->port);
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT);
    snprintf(url, sizeof url, v6 ? "http://[%.100s]:%d/" : "http://%.100s:%d/", address,
             info ? info->port : o->port);
    if (o->ready) o->ready(o->context, url);
    while (!o->stop || !*o->stop) nanosleep(&(struct timespec){0, 100000000}, NULL);
    v->stop = 1;
    MHD_stop_daemon(d);
    return 0;
}

int lg_serve(const lg_serve_options *o, lg_error *err)
{
    struct server v = {.o = o};
    int n = 0;
    lg_store *s = lg_store_open(o->store, -1, err); /* whether it can be read is said before */
    if (!s) return err->code;
    lg_store_close(s);
    if (o->address) v.hosts[n++] = o->address;
    if (o->host) v.hosts[n++] = o->host;
    pthread_mutex_init(&v.generates, NULL);
    int e = make_page(&v, err);
    if (!e) e = serve(&v, err);
    pthread_mutex_destroy(&v.generates);
    free(v.page);
    return e;
}

#endif
