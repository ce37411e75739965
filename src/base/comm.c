/* comm.c: the job, and messages between its ranks, over the transport of a module that is loaded for it. */
#include "base/comm.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
    TAG_SMALL = 100,
    TAG_PING,
    TAG_PONG,
    PIECE = 1 << 28, /* bytes of one message */
    YIELDS = 2000    /* how often a rank only yields before it sleeps between two looks */
};
static const double ANSWER_SECONDS = 2; /* for those who are asked whether they live */
static const double PING_SECONDS = 0.05;

struct lg_comm {
    const struct lg__transport *t;
    void *module;
    int rank, size, threads_shared; /* ranks of this host */
    double timeout;
    int common;
    char (*hosts)[64];
    double looked; /* when somebody's question was last looked for */
};

int lg_comm_rank(const lg_comm *c) { return c ? c->rank : 0; }
int lg_comm_size(const lg_comm *c) { return c ? c->size : 1; }
int lg_comm_is_common(const lg_comm *c) { return !c || c->common; }
void lg__comm_is_common(lg_comm *c)
{
    if (c) c->common = 1;
}
void lg_comm_set_timeout(lg_comm *c, double seconds)
{
    if (c) c->timeout = seconds;
}

/* ---- The module ------------------------------------------------------------------------------ */

/* How many ranks a launcher has started, by what it leaves in the environment; 1: it is not known, 0: there is none. */
static int started_by(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (getenv(sizes[i])) return atoi(getenv(sizes[i]));
    return getenv("PMIX_RANK") || getenv("PMI_RANK") ? 1 : 0;
}

/* Beside the program, or where `make install` puts it, or where the system looks; LENGTHEN_MPI names another. */
static void *load(char *why, size_t size)
{
    static const char file[] = "liblengthen_mpi.so";
    char path[4200];
    const char *named = getenv("LENGTHEN_MPI");
    void *m = NULL;
    if (named && *named) {
        m = dlopen(named, RTLD_NOW | RTLD_GLOBAL);
    } else {
        static const char *const places[] = {"", "../lib/", "../lib/lengthen/"};
        ssize_t n = readlink("/proc/self/exe", path, 4096);
        char *end = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
        for (int i = 0; i < 3 && end && !m; i++) {
            snprintf(end + 1, 64, "%s%s", places[i], file);
            if (access(path, R_OK) == 0) m = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        }
        if (!m && !(end && access(path, R_OK) == 0)) m = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    }
    const char *error = m ? NULL : dlerror();
    snprintf(why, size, "%s", error ? error : "");
    return m;
}

lg_comm *lg__comm_first(const lg_comm *c, int size)
{
    struct lg_comm *first = lg__alloc(sizeof *first);
    if (!first) return NULL;
    *first = *c;
    first->size = size;
    return first;
}

const char *lg__comm_name(const lg_comm *c, int rank)
{
    static _Thread_local char names[4][100];
    static _Thread_local int next;
    char *name = names[next++ % 4];
    snprintf(name, sizeof names[0], "rank %d (host %s)", rank,
             c && c->hosts && c->hosts[rank][0] ? c->hosts[rank] : "unknown");
    return name;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static int broken(const lg_comm *c, int with, lg_error *err)
{
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "MPI could not pass a message between rank %d and %s; see its own words above",
                    c->rank, with < 0 ? "the others" : lg__comm_name(c, with));
}

/* Answers who asks whether this rank lives. */
static void answer(lg_comm *c)
{
    static char word; /* its bytes are never looked at */
    int from = -1;
    size_t bytes;
    while (c->t->probe(&from, TAG_PING, &bytes) == 1) {
        int in = c->t->receive(&word, 1, from, TAG_PING), out;
        while (in >= 0 && c->t->test(in) == 0) sched_yield();
        out = c->t->send(&word, 1, from, TAG_PONG);
        while (out >= 0 && c->t->test(out) == 0) sched_yield();
        from = -1;
    }
}

/* A pause between two looks, longer from time to time: with ranks that outnumber the cores, who waits must not keep
 * others from working. */
static void pause_look(lg_comm *c, int *looks)
{
    if (++*looks < YIELDS) {
        sched_yield();
        return;
    }
    nanosleep(&(struct timespec){0, *looks < 2 * YIELDS ? 50000 : 500000}, NULL);
    double now = lg__now();
    if (now - c->looked < PING_SECONDS) return;
    c->looked = now;
    answer(c);
}

/* Takes the answers of those who live, and answers the others' questions. */
static void listen_to(lg_comm *c, unsigned char *lives, double seconds)
{
    static char word;
    int looks = YIELDS;
    for (double end = lg__now() + seconds; lg__now() < end; pause_look(c, &looks)) {
        int from = -1;
        size_t bytes;
        answer(c);
        if (c->t->probe(&from, TAG_PONG, &bytes) != 1) continue;
        int request = c->t->receive(&word, 1, from, TAG_PONG);
        while (request >= 0 && c->t->test(request) == 0) sched_yield();
        lives[from] = 1;
    }
}

/* Asks all ranks whether they live, and names those that do not answer. Several ranks may ask at once: the lowest that
 * lives tells, and ends the job before the others do. */
static int name_silent(lg_comm *c, int with, double waited, lg_error *err)
{
    static char word;
    char silent[300] = "";
    unsigned char *lives = lg__alloc((size_t)c->size);
    int count = 0, lowest = 0;
    if (!lives) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a question");
    for (int i = 0; i < c->size; i++) {
        int request = i == c->rank ? -1 : c->t->send(&word, 1, i, TAG_PING);
        for (int j = 0; j < 100 && request >= 0 && !c->t->test(request); j++) sched_yield();
    }
    lives[c->rank] = 1;
    listen_to(c, lives, ANSWER_SECONDS);
    while (!lives[lowest]) lowest++;
    if (lowest < c->rank) listen_to(c, lives, 2 * ANSWER_SECONDS);
    for (int i = 0; i < c->size; i++) {
        size_t n = strlen(silent);
        if (lives[i]) continue;
        if (count++ < 3)
            snprintf(silent + n, sizeof silent - n, "%s%s", n ? ", " : "", lg__comm_name(c, i));
    }
    free(lives);
    if (!count) snprintf(silent, sizeof silent, "%s", lg__comm_name(c, with < 0 ? 0 : with));
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "%s%s did not answer for %.0f s and is taken for hung; look at that host, "
                    "raise --timeout if a step may take longer, then go on with --resume",
                    silent, count > 3 ? " and others" : "", waited);
}

/* patience in seconds; 0: no end. */
static int wait_for(lg_comm *c, int request, int with, double patience, lg_error *err)
{
    int looks = 0, state;
    double since = 0;
    while (!(state = c->t->test(request))) {
        pause_look(c, &looks);
        if (looks % 64) continue;
        double now = lg__now();
        if (since == 0) since = now;
        if (patience > 0 && now - since > patience) return name_silent(c, with, now - since, err);
    }
    return state < 0 ? broken(c, with, err) : 0;
}

int lg__comm_send_begin(lg_comm *c, const void *data, size_t bytes, int to, int tag, int *request,
                        lg_error *err)
{
    *request = c->t->send(data, bytes, to, tag);
    return *request < 0 ? broken(c, to, err) : 0;
}

int lg__comm_receive_begin(lg_comm *c, void *data, size_t bytes, int from, int tag, int *request,
                           lg_error *err)
{
    *request = c->t->receive(data, bytes, from, tag);
    return *request < 0 ? broken(c, from, err) : 0;
}

int lg__comm_wait(lg_comm *c, int request, int with, lg_error *err)
{
    return wait_for(c, request, with, c->timeout, err);
}

/* ---- Of all ranks ------------------------------------------------------------------------------ */

static int exchange(lg_comm *c, int with, const char *out, size_t out_bytes, char *in,
                    size_t in_bytes, double patience, lg_error *err)
{
    while (out_bytes || in_bytes) {
        size_t o = out_bytes < PIECE ? out_bytes : PIECE, i = in_bytes < PIECE ? in_bytes : PIECE;
        int receiving = -1, sending = -1, e = 0;
        if (i) e = lg__comm_receive_begin(c, in, i, with, TAG_SMALL, &receiving, err);
        if (!e && o) e = lg__comm_send_begin(c, out, o, with, TAG_SMALL, &sending, err);
        if (!e && i) e = wait_for(c, receiving, with, patience, err);
        if (!e && o) e = wait_for(c, sending, with, patience, err);
        if (e) return e;
        in += i;
        out += o;
        in_bytes -= i;
        out_bytes -= o;
    }
    return 0;
}

int lg__comm_exchange(lg_comm *c, int with, const void *out, size_t out_bytes, void *in,
                      size_t in_bytes, lg_error *err)
{
    return exchange(c, with, out, out_bytes, in, in_bytes, c->timeout, err);
}

/* By a binomial tree: in round k the ranks below 2^k pass it on to those 2^k above. */
static int spread(lg_comm *c, char *data, size_t bytes, double patience, lg_error *err)
{
    int e = 0;
    for (int half = 1; half < c->size && !e; half *= 2) {
        if (c->rank < half && c->rank + half < c->size)
            e = exchange(c, c->rank + half, data, bytes, NULL, 0, patience, err);
        else if (c->rank >= half && c->rank < 2 * half)
            e = exchange(c, c->rank - half, NULL, 0, data, bytes, patience, err);
    }
    return e;
}

int lg__comm_spread(lg_comm *c, void *data, size_t bytes, int patient, lg_error *err)
{
    return lg_comm_size(c) == 1 ? 0 : spread(c, data, bytes, patient ? 0 : c->timeout, err);
}

/* Ranks that are a power of two double what they have in each round; others go through rank 0. */
static int gather(lg_comm *c, char *records, size_t bytes, double patience, lg_error *err)
{
    int e = 0;
    if (c->size & (c->size - 1)) {
        for (int i = 1; i < c->size && !e && !c->rank; i++)
            e = exchange(c, i, NULL, 0, records + (size_t)i * bytes, bytes, patience, err);
        if (c->rank)
            e = exchange(c, 0, records + (size_t)c->rank * bytes, bytes, NULL, 0, patience, err);
        return e ? e : spread(c, records, (size_t)c->size * bytes, patience, err);
    }
    for (int step = 1; step < c->size && !e; step *= 2) {
        int own = c->rank & ~(step - 1), with = c->rank ^ step, other = with & ~(step - 1);
        e = exchange(c, with, records + (size_t)own * bytes, (size_t)step * bytes,
                     records + (size_t)other * bytes, (size_t)step * bytes, patience, err);
    }
    return e;
}

int lg__comm_gather(lg_comm *c, void *records, size_t bytes, lg_error *err)
{
    return lg_comm_size(c) == 1 ? 0 : gather(c, records, bytes, c->timeout, err);
}

int lg__comm_follow(lg_comm *c, int e, lg_error *err)
{
    struct {
        int code;
        char text[sizeof err->text];
    } word = {.code = e};
    if (lg_comm_size(c) == 1) return e;
    if (e && !c->rank) memcpy(word.text, err->text, sizeof word.text);
    int failed = spread(c, (char *)&word, sizeof word, 0, err);
    if (failed) return failed;
    if (word.code && c->rank) lg__fail(err, word.code, "%s", word.text);
    if (word.code) c->common = 1;
    return word.code;
}

/* ---- The start --------------------------------------------------------------------------------- */

static int is_bound(void) { return lg_cores() < sysconf(_SC_NPROCESSORS_ONLN); }

/* Who is where. Ranks that MPI has bound to cores have these for themselves; others share those of their host. */
static int meet(lg_comm *c, lg_error *err)
{
    struct {
        char host[64];
        int bound;
    } own = {.bound = is_bound()}, *all = lg__alloc((size_t)c->size * sizeof *all);
    c->hosts = lg__alloc((size_t)c->size * sizeof *c->hosts);
    int e = c->hosts && all ? 0 : lg__fail(err, LG_ERROR_MEMORY, "no memory for %d ranks", c->size);
    if (gethostname(own.host, sizeof own.host - 1)) snprintf(own.host, sizeof own.host, "unknown");
    if (!e) {
        memcpy(&all[c->rank], &own, sizeof own);
        e = c->size > 1 ? gather(c, (char *)all, sizeof own, 10 * c->timeout, err) : 0;
    }
    c->threads_shared = 0;
    for (int i = 0; i < c->size && !e; i++) {
        memcpy(c->hosts[i], all[i].host, sizeof c->hosts[i]);
        c->threads_shared += strcmp(all[i].host, own.host) == 0;
    }
    if (own.bound || c->threads_shared < 1) c->threads_shared = 1;
    free(all);
    return e;
}

int lg_comm_open(lg_comm **to, lg_error *err)
{
    char why[300];
    *to = NULL;
    int started = started_by();
    if (!started) return 0;
    void *m = load(why, sizeof why);
    if (!m && started == 1) return 0;
    const struct lg__transport *t = m ? dlsym(m, LG__TRANSPORT_NAME) : NULL;
    if (!t || t->version != LG__TRANSPORT_VERSION)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "this is one of %d ranks, but the module for MPI is %s (%.200s); build "
                        "with MPI installed (Debian: libopenmpi-dev), or name liblengthen_mpi.so "
                        "in LENGTHEN_MPI",
                        started, m ? "of another version" : "not there", why);
    struct lg_comm *c = lg__alloc(sizeof *c);
    if (!c) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a job; end other programs");
    *c = (struct lg_comm){.t = t, .module = m, .timeout = 120, .threads_shared = 1};
    if (t->open(&c->rank, &c->size)) {
        free(c);
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "MPI could not be started; is the program built with the MPI of this "
                        "mpirun?");
    }
    *to = c;
    return meet(c, err);
}

void lg_comm_close(lg_comm *c, int code)
{
    if (!c) return;
    if (code)
        c->t->abort(code);
    else
        c->t->close();
    free(c->hosts);
    free(c); /* the module stays: MPI has what it registered for the end of the process */
}

/* A checksum of the program's own file: builds of one commit may differ all the same. */
static uint64_t own_sum(void)
{
    unsigned char part[1 << 14];
    uint64_t sum = LG__FNV_START;
    FILE *f = fopen("/proc/self/exe", "rb");
    for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;) sum = lg__fnv(sum, part, n);
    if (f) fclose(f);
    return sum;
}

void lg__comm_card_fill(struct lg__comm_card *card, const char *what)
{
    const char *isa = getenv("LENGTHEN_ISA");
    if (gethostname(card->host, sizeof card->host - 1)) snprintf(card->host, 8, "unknown");
    snprintf(card->build, sizeof card->build, "%s, commit %.40s, %.40s, checksum %016llx",
             lg_version(), lg_commit(), lg_compiler(), (unsigned long long)own_sum());
    snprintf(card->what, sizeof card->what, "%s", what);
    lg_cpu(card->cpu);
    card->isa_set = isa && *isa;
}

int lg__comm_compare(const struct lg__comm_card *first, const struct lg__comm_card *other, int i,
                     lg_error *err)
{
    char name[100];
    snprintf(name, sizeof name, "rank %d (host %s)", i, other->host);
    if (other->code) return lg__fail(err, other->code, "%s: %.400s", name, other->text);
    if (strcmp(first->what, other->what) != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s runs the command %s, but rank 0 %s; start all ranks alike", name,
                        other->what, first->what);
    if (strcmp(first->build, other->build) != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has another build (%.150s) than rank 0 (%.150s); install the same "
                        "program on every host",
                        name, other->build, first->build);
    if (strcmp(first->kernels, other->kernels) != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has other kernels (%s) than rank 0 (%s), which give other bits; set "
                        "LENGTHEN_ISA alike in all ranks",
                        name, other->kernels, first->kernels);
    if (strcmp(first->cpu, other->cpu) != 0 && !(first->isa_set && other->isa_set))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has another CPU (%.100s) than rank 0 (%.100s); to compute with the "
                        "same kernels on both, set LENGTHEN_ISA alike in all ranks",
                        name, other->cpu, first->cpu);
    if (first->config != other->config)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has another config than rank 0 (checksums %016llx and %016llx); give "
                        "every rank the same files and options",
                        name, (unsigned long long)other->config, (unsigned long long)first->config);
    return 0;
}

/* The first error of rank 0's own, else of the lowest rank that has one or does not fit. */
int lg__comm_agree(lg_comm *c, const struct lg__comm_card *own, lg_error *err)
{
    if (lg_comm_size(c) == 1) return own->code;
    struct lg__comm_card *cards = lg__alloc((size_t)c->size * sizeof *cards);
    if (!cards) return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d ranks", c->size);
    cards[c->rank] = *own;
    int e = gather(c, (char *)cards, sizeof *cards, 10 * c->timeout, err);
    if (!e && cards[0].code) {
        e = cards[0].code;
        if (c->rank) lg__fail(err, e, "%s", cards[0].text);
        c->common = 1;
    }
    for (int i = 1; i < c->size && !e; i++) {
        e = lg__comm_compare(&cards[0], &cards[i], i, err);
        if (e) c->common = 1;
    }
    free(cards);
    return e;
}

int lg__comm_threads(const lg_comm *c, int asked)
{
    if (asked || lg_comm_size(c) == 1) return asked;
    int n = lg_cores() / c->threads_shared;
    return n > 0 ? n : 1;
}

/* ---- Messages of any size ------------------------------------------------------------------------ */

int lg__comm_send(lg_comm *c, int to, int tag, const void *data, size_t bytes, lg_error *err)
{
    int request, e = bytes > PIECE ? lg__fail(err, LG_ERROR_ARGUMENT,
                                              "a message of %.0f MB is more than is passed between "
                                              "ranks; make fewer rows at a time",
                                              (double)bytes / 1e6)
                                   : 0;
    if (!e) e = lg__comm_send_begin(c, data, bytes, to, tag, &request, err);
    return e ? e : wait_for(c, request, to, 10 * c->timeout, err);
}

int lg__comm_take(lg_comm *c, int *from, int tag, char **data, size_t *bytes, double seconds,
                  lg_error *err)
{
    int looks = YIELDS, state;
    double end = lg__now() + seconds;
    while (!(state = c->t->probe(from, tag, bytes)) && lg__now() < end) pause_look(c, &looks);
    if (state <= 0) return state < 0 ? broken(c, *from, err) : 0;
    *data = lg__alloc(*bytes + 1);
    if (!*data) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a message");
    int request, e = lg__comm_receive_begin(c, *data, *bytes, *from, tag, &request, err);
    if (!e) e = lg__comm_wait(c, request, *from, err);
    if (e) free(*data);
    return e ? e : 1;
}
