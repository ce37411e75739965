/* train.c: `lengthen train`: a config to a run's folder, with progress. Ctrl-C once saves a
 * checkpoint and stops; twice stops at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/configs.h"
#include "cli/curve.h"
#include "cli/dry_run.h"
#include "cli/options.h"
#include "cli/reference.h"
#include "cli/show.h"

const char lg_cmd_train_help[] =
    "Usage: lengthen train CONFIG [OPTIONS]\n"
    "\n"
    "CONFIG is a YAML file, - for the standard input, or the name of a config that comes with the\n"
    "program; without CONFIG these are listed.\n"
    "\n"
    "Trains the model of a config (YAML) on the examples of its task and keeps the run in a\n"
    "folder: config.yaml with everything resolved, and the newest checkpoints. What each step\n"
    "gave goes into the store (`lengthen runs`). A run that was stopped, at whatever instant,\n"
    "goes on with --resume and ends with the same bits as one that never was. Ctrl-C once (or\n"
    "SIGTERM, or SIGHUP unless nohup ignores it) saves a checkpoint and stops; twice stops at\n"
    "once.\n"
    "\n"
    "  --set KEY=VALUE   another value than the config's; as often as needed\n"
    "  --out DIR         the run's folder (runs/NAME of the config, -SEED if that is set)\n"
    "  --resume          go on with the run in the folder\n"
    "  --allow-exec      resume a run of a task exec:COMMAND though you have not trained it here:\n"
    "                    only if you trust whoever made it\n"
    "  --fallback        if its newest checkpoint is damaged, go on from an older one, and "
    "likewise\n"
    "                    begin with older weights of train.init_from\n"
    "  --store FILE      the store (LENGTHEN_STORE, else lengthen.db)\n"
    "  --threads N       threads (all cores); the result does not depend on it\n"
    "  --timeout S       under mpirun: seconds after which a rank that does not answer ends the\n"
    "                    job (120)\n"
    "  --dry-run         train for a few seconds in a folder that is removed, and say how long\n"
    "                    the whole run takes, and how much memory and disk\n"
    "  --compare-with reference   say step by step whether the loss is as in the runs that come\n"
    "                    with the program (docs/FAQ.md); exits with 3 if it is not\n"
    "  --json            one object per line: every step, and every cell of evaluations on the\n"
    "                    way (eval.every)\n"
    "  --tensorboard DIR also write event files for TensorBoard, into DIR/NAME of the folder\n"
    "\n"
    "Under mpirun or srun the ranks share the groups of each batch (train.groups): a power of two\n"
    "of them ends with the same bits as one, and a run may be resumed with another number. Rank\n"
    "0 alone has the folder and the store (docs/SCALE.md).\n"
    "\n"
    "`lengthen config` shows every key of a config, with its range and default.\n"
    "\n"
    "Examples:\n"
    "  lengthen train parity --dry-run\n"
    "  lengthen train experiments/parity.yaml\n"
    "  lengthen train experiments/parity.yaml --set seed=2 --set train.steps=1000\n"
    "  lengthen eval runs/parity-2\n"
    "  mpirun -n 4 lengthen train experiments/parity.yaml --threads 8\n";

enum { MOST_SETS = 64 };

struct training {
    const char *config, *folder, *store;
    const char *sets[MOST_SETS];
    lg_run_access access;
    lg_comm *comm;
    double timeout;
    int set_count, resume, threads, json, terminal, dry, compare;
    char file[4200]; /* of the config */
    struct lg_cli_reference reference;
    double start, shown; /* when the first step was done, when a line was last shown */
    double paused;       /* seconds since the start that were not spent on steps */
    double gflop, peak;  /* done since the start; the machine's, a second */
    double combining;    /* seconds of them that ranks took to combine what they have */
    int64_t first, tokens;
    int length, sparsity, curriculum; /* of the first step; whether they have changed */
    struct lg_cli_cells cells;
    struct lg_cli_curve curve; /* on a terminal; and whether it is above the line */
    int drawn;
    const char *tensorboard;
    lg_events *events;
};

/* Event files are an extra: what is wrong with them is said once, and training goes on without. */
static void lose_events(struct training *t, const lg_error *err)
{
    fprintf(stderr, "lengthen train: no further events for TensorBoard: %s\n", err->text);
    lg_events_close(t->events, NULL);
    t->events = NULL;
}

/* Takes the curve and the line off the terminal, before something else is said. */
static void clear_screen(struct training *t)
{
    if (t->terminal) fputs(t->drawn ? "\r\033[2A\033[J" : "\r\033[K", stderr);
    t->drawn = 0;
}

/* "950", "47k", "1.2M". */
static const char *short_number(double x, char text[16])
{
    if (x < 1e4)
        snprintf(text, 16, "%.0f", x);
    else if (x < 1e6)
        snprintf(text, 16, "%.0fk", 1e-3 * x);
    else
        snprintf(text, 16, "%.1fM", 1e-6 * x);
    return text;
}

/* Step, losses, accuracy, speed, share of the machine's peak, what is left, and how far the
 * curriculum is. */
static void fill_line(const struct training *t, const lg_run_step *s, char *line, size_t size)
{
    char ids[40] = "", range[64] = "", peak[32] = "", ranks[64] = "", rate[16], rest[24];
    double spent = lg_cli_now() - t->start - t->paused, done = (double)(s->step - t->first);
    double left = done > 0 ? spent / done * (double)(s->steps - s->step) : 0;
    if (s->id_loss > 0) snprintf(ids, sizeof ids, " IDs %.4f", s->id_loss);
    if (t->curriculum) snprintf(range, sizeof range, " length %d", s->length);
    if (t->curriculum && s->sparsity)
        snprintf(range, sizeof range, " length %d sparsity %d", s->length, s->sparsity);
    if (t->peak > 0 && spent > 0)
        snprintf(peak, sizeof peak, " %.0f%% of peak", 100 * t->gflop / spent / t->peak);
    if (s->ranks > 1 && spent > 0)
        snprintf(ranks, sizeof ranks, " %d ranks (%.0f%% combining)", s->ranks,
                 100 * t->combining / spent);
    snprintf(line, size, "%lld/%lld loss %.4f%s right %.1f%% %s tokens/s%s%s %s left%s",
             (long long)s->step, (long long)s->steps, s->loss, ids, 100 * s->accuracy,
             short_number(spent > 0 ? (double)t->tokens / spent : 0, rate), peak, ranks,
             lg_cli_duration(left, rest), range);
}

/* One line; on a terminal with a bar in what it leaves of the width. */
static void print_line(struct training *t, const lg_run_step *s)
{
    char line[400], bar[21] = "";
    fill_line(t, s, line, sizeof line);
    if (!t->terminal) {
        fprintf(stderr, "%s\n", line);
        return;
    }
    int width = lg_cli_look_stdout().width - 1, room = width - 1 - (int)strlen(line);
    if (room > 20) room = 20;
    for (int i = 0; i < room; i++) bar[i] = i < room * s->step / s->steps ? '#' : '.';
    clear_screen(t);
    lg_cli_curve_print(&t->curve, width, stderr);
    t->drawn = t->curve.count > 0;
    fprintf(stderr, "%s%s%.*s", bar, room > 0 ? " " : "", width, line);
}

/* The peak is measured once, and only in runs that are long enough for anybody to read it. */
static void measure_peak(struct training *t)
{
    double since = lg_cli_now();
    if (t->peak != 0 || since - t->start < 2) return;
    t->peak = lg_comm_size(t->comm) * lg_peak_gflops(t->threads);
    if (t->peak <= 0) t->peak = -1;
    t->paused += lg_cli_now() - since;
}

static int watch(void *context, const lg_run_step *s)
{
    struct training *t = context;
    double every = t->terminal ? 0.2 : 10;
    lg_error err = {0};
    if (s->note) clear_screen(t);
    if (t->start == 0 && t->resume && s->step > 1)
        fprintf(stderr, "lengthen train: going on from the checkpoint of step %lld\n",
                (long long)s->step - 1);
    if (s->note) fprintf(stderr, "lengthen train: %s\n", lg_cli_plain(s->note));
    if (t->events && lg_events_step(t->events, s, &err)) lose_events(t, &err);
    lg_cli_curve_add(&t->curve, s->loss, s->accuracy);
    if (t->start == 0) {
        t->start = t->shown = lg_cli_now();
        t->first = s->step;
        t->length = s->length;
        t->sparsity = s->sparsity;
    } else {
        t->tokens += s->tokens;
        t->gflop += s->gflop;
        t->combining += s->ranks_s;
    }
    if (t->compare) lg_cli_reference_step(&t->reference, s->step, s->loss);
    t->curriculum |= s->length != t->length || s->sparsity != t->sparsity;
    if (t->json)
        lg_cli_record_print(&t->cells.record, lg_cli_put_step, s);
    else if (lg_cli_now() - t->shown >= every || s->step == s->steps) {
        measure_peak(t);
        t->shown = lg_cli_now();
        print_line(t, s);
        if (s->step == s->steps && t->terminal) {
            fputc('\n', stderr);
            t->drawn = 0;
        }
    }
    return !lg_cli_interrupted;
}

/* A cell of an evaluation on the way; of those by position, the last ones. */
static void show_cell(void *context, const lg_cell *c)
{
    struct training *t = context;
    char place[400], text[32];
    lg_error err = {0};
    if (t->events && lg_events_cell(t->events, c, &err)) lose_events(t, &err);
    if (t->start > 0) t->paused += c->seconds;
    if (t->json) {
        lg_cli_cells_add(&t->cells, c);
        return;
    }
    if (c->last && c->last < c->length) return;
    lg_cli_place_words(c, place);
    clear_screen(t);
    fprintf(stderr, "step %lld, %s%s%s:", (long long)c->step, c->last ? "positions " : "", place,
            c->predicted ? ", predicted IDs" : "");
    for (int i = 0, n = 0; i < c->values; i++)
        if (c->value[i].kind->leads)
            fprintf(stderr, "%s %s %s", n++ ? "," : "", c->value[i].kind->label,
                    lg_cli_value_text(c->value[i].kind, c->value[i].value, text));
    fputc('\n', stderr);
}

/* runs/NAME-SEED, where NAME is the config's without folder and ending. */
static void own_folder(const struct training *t, char *folder, size_t size)
{
    const char *name = strrchr(t->config, '/') ? strrchr(t->config, '/') + 1 : t->config;
    if (strcmp(name, "-") == 0) name = "stdin";
    const char *dot = strrchr(name, '.'), *seed = "";
    for (int i = 0; i < t->set_count; i++)
        if (strncmp(t->sets[i], "seed=", 5) == 0) seed = t->sets[i] + 5;
    int length = dot ? (int)(dot - name) : (int)strlen(name);
    snprintf(folder, size, "runs/%.*s%s%s", length, name, *seed ? "-" : "", seed);
}

/* 0, or an exit code. */
static int read_options(int argc, char **argv, struct training *t)
{
    const struct lg_cli_option rows[] = {
        {"set", .texts = t->sets, .count = &t->set_count, .room = MOST_SETS,
         .take = "write them into the config"},
        {"out", .text = &t->folder},
        {"resume", .flag = &t->resume},
        {"allow-exec", .flag = &t->access.allow_exec},
        {"fallback", .flag = &t->access.fallback},
        {"store", .text = &t->store},
        {"threads", .whole = &t->threads, .least = 1, .most = 1024},
        {"timeout", .real = &t->timeout, .least = 1, .most = 1e6},
        {"dry-run", .flag = &t->dry},
        {"compare-with", .word = &t->compare, .names = "nothing or reference"},
        {"json", .flag = &t->json},
        {"tensorboard", .text = &t->tensorboard},
        {0},
    };
    int code = lg_cli_options("train", rows, &argc, &argv);
    if (code) return code;
    if (!argc) return lg_cli_configs_list("train");
    code = lg_cli_argument("train", "config", "Give a YAML file", argc, argv, &t->config);
    if (!code) code = lg_cli_config_file("train", t->config, t->file, sizeof t->file);
    if (!code && t->compare) code = lg_cli_reference_open(&t->reference, t->config);
    return code;
}

/* DIR/NAME of the run's folder, as TensorBoard tells runs apart. */
static int open_events(struct training *t)
{
    char name[256], folder[4096];
    lg_error err = {0};
    lg_cli_last_part(t->folder, name);
    if (snprintf(folder, sizeof folder, "%s/%s", t->tensorboard, name) >= (int)sizeof folder)
        return lg_cli_wrong("train", "the name of --tensorboard is too long");
    t->events = lg_events_open(folder, &err);
    return t->events ? 0 : lg_cli_error("train", err.code, &err);
}

int lg_cmd_train(int argc, char **argv)
{
    struct training t = {.terminal = isatty(STDERR_FILENO), .cells.record.form = LG_CLI_JSON};
    char folder[1024];
    lg_error err = {0}, lost = {0};
    int done, code = read_options(argc, argv, &t);
    if (code) return code;
    if (t.dry) {
        lg_run_options dry = {.config = t.file,
                              .sets = t.sets,
                              .set_count = t.set_count,
                              .access = t.access,
                              .threads = t.threads,
                              .stop = &lg_cli_interrupted};
        return lg_cli_dry_run(dry, t.json);
    }
    if ((code = lg_comm_open(&t.comm, &err))) return lg_cli_error("train", code, &err);
    if (t.timeout > 0) lg_comm_set_timeout(t.comm, t.timeout);
    if (!t.folder) {
        own_folder(&t, folder, sizeof folder);
        t.folder = folder;
    }
    if (t.tensorboard && (code = open_events(&t))) return code;
    lg_run_options o = {.config = t.file,
                        .sets = t.sets,
                        .set_count = t.set_count,
                        .folder = t.folder,
                        .access = t.access,
                        .resume = t.resume,
                        .threads = t.threads,
                        .comm = t.comm,
                        .store = lg_cli_store(t.store),
                        .watch = watch,
                        .each = show_cell,
                        .stop = &lg_cli_interrupted,
                        .context = &t};
    if (!t.json && lg_comm_rank(t.comm) == 0) {
        int threads = t.threads ? t.threads : lg_cores();
        fprintf(stderr, "Training in %s on %d thread%s (%s)\n", t.folder, threads,
                threads == 1 ? "" : "s", lg_isa());
    }
    lg_cli_catch_interrupts(1);
    code = lg_run_train(&o, &done, &err);
    lg_cli_catch_interrupts(0);
    lg_cli_cells_clear(&t.cells);
    if (lg_events_close(t.events, &lost))
        fprintf(stderr, "lengthen train: the events for TensorBoard: %s\n", lost.text);
    if (code) {
        if (t.terminal && t.start > 0) fputc('\n', stderr);
        return lg_cli_ranks_error("train", t.comm, code, &err);
    }
    int follows = lg_comm_rank(t.comm) > 0;
    lg_comm_close(t.comm, 0);
    if (follows) return done ? LG_EXIT_DONE : lg_cli_stopped();
    if (!done)
        fprintf(stderr,
                "%sStopped; a checkpoint is saved. To go on, the same command with "
                "--resume.\n",
                t.terminal ? "\n" : "");
    else if (!t.json)
        fprintf(stderr, "Trained. To see what it can do: lengthen eval %s\n", t.folder);
    if (done && t.compare) return lg_cli_reference_print(&t.reference);
    return done ? LG_EXIT_DONE : lg_cli_stopped();
}
