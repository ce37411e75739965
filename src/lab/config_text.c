/* config_text.c: the resolved config as YAML, and the keys as help and as the page
 * docs/CONFIG.md. */
#include "lab/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The resolved config ------------------------------------------------------------------------------ */

/* The code point at *text, which moves on. The text is UTF-8: the reader saw to that. */
static unsigned next_point(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    int more = *s >= 0xf0 ? 3 : *s >= 0xe0 ? 2 : *s >= 0xc0 ? 1 : 0;
    unsigned point = more ? *s & (0x3fu >> more) : *s;
    for (int i = 1; i <= more; i++) point = point << 6 | (s[i] & 0x3f);
    *text += more + 1;
    return point;
}

/* Quoted unless it is plainly one word: YAML has many characters that mean something. */
static void put_text(FILE *f, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (*text && *text != '-' && *text != '.' && strspn(text, plain) == strlen(text)) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    while (*text) {
        const char *from = text;
        unsigned point = next_point(&text);
        if (point == '"' || point == '\\')
            fprintf(f, "\\%c", (char)point);
        else if (point < 0x20 || (point >= 0x7f && point < 0xc0) ||
                 (point >= 0x2000 && point < 0x2100) || point >= 0xd800)
            fprintf(f, "\\U%08X", point); /* breaks lines, or is not allowed as it is */
        else
            fwrite(from, 1, (size_t)(text - from), f);
    }
    fputc('"', f);
}

/* The shortest that reads back as the same number. */
static void put_real(FILE *f, double value)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, f);
}

static void put_word(FILE *f, const struct lg__config_key *k, int i)
{
    const char *word = k->range;
    if (strncmp(word, "auto|", 5) == 0) word += 5;
    for (; i > 0; i--) word += strcspn(word, "|") + 1;
    fprintf(f, "%.*s", (int)strcspn(word, "|"), word);
}

static void put_list(FILE *f, const int *at, int count)
{
    for (int i = 0; i < count; i++) fprintf(f, "%s%d", i ? ", " : "[", at[i]);
    fputc(']', f);
}

static void put_sources(FILE *f, const struct lg__config *c)
{
    if (c->source_count) fputc('[', f);
    for (int l = 0; l < c->source_count || l == 0; l++)
        fprintf(f, "%s%s", l ? ", " : "", c->scheme.source[l]);
    if (c->source_count) fputc(']', f);
}

static void put_windows(FILE *f, const struct lg__config *c)
{
    if (c->window_count) fputc('[', f);
    for (int l = 0; l < c->window_count || l == 0; l++)
        fprintf(f, "%s[%d, %d]", l ? ", " : "", c->model.window_lo[l], c->model.window_hi[l]);
    if (c->window_count) fputc(']', f);
}

static void put_value(FILE *f, const struct lg__config *c, const struct lg__config_key *k)
{
    const void *at = (const char *)c + k->at;
    const int *ints = at;
    const struct lg__config_list *list = at;
    switch (k->kind) {
    case LG__KEY_INT: fprintf(f, "%d", *ints); break;
    case LG__KEY_SEED: fprintf(f, "%lld", (long long)*(const int64_t *)at); break;
    case LG__KEY_REAL: put_real(f, *(const double *)at); break;
    case LG__KEY_WORD: put_word(f, k, *ints); break;
    case LG__KEY_NAME: put_text(f, *(const char *const *)at); break;
    case LG__KEY_TASK: put_text(f, c->task); break;
    case LG__KEY_TEXT: put_text(f, *(char *const *)at ? *(char *const *)at : ""); break;
    case LG__KEY_SOURCE: put_sources(f, c); break;
    case LG__KEY_WINDOW: put_windows(f, c); break;
    case LG__KEY_PAIR:
        if (ints[1])
            put_list(f, ints, 2);
        else
            fputs("auto", f);
        break;
    case LG__KEY_LIST:
        if (list->count)
            put_list(f, list->at, list->count);
        else
            fputs("auto", f);
        break;
    }
    fputc('\n', f);
}

/* The maps that `key` is in and `before` is not, and the last part of the key. */
static void put_name(FILE *f, const char *key, const char *before)
{
    int depth = 0, same = 1;
    for (size_t n; key[n = strcspn(key, ".")]; key += n + 1, depth++) {
        same = same && strncmp(key, before, n + 1) == 0;
        if (!same) fprintf(f, "%*s%.*s:\n", 2 * depth, "", (int)n, key);
        if (same) before += n + 1;
    }
    fprintf(f, "%*s%s: ", 2 * depth, "", key);
}

static void put_settings(FILE *f, const struct lg__config *c)
{
    for (int i = 0; i < c->setting_count; i++) {
        const char *equals = strchr(c->settings[i], '=');
        fprintf(f, "  %.*s: ", (int)(equals - c->settings[i]), c->settings[i]);
        put_text(f, equals + 1);
        fputc('\n', f);
    }
}

char *lg__config_text(const struct lg__config *c)
{
    char *text = NULL;
    size_t size;
    int count;
    const struct lg__config_key *k = lg__config_keys(&count);
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    for (int i = 0; i < count; i++) {
        put_name(f, k[i].key, i ? k[i - 1].key : "");
        put_value(f, c, &k[i]);
        if (k[i].kind == LG__KEY_TASK) put_settings(f, c);
    }
    if (!fclose(f)) return text;
    free(text);
    return NULL;
}

/* ---- Pages -------------------------------------------------------------------------------- */

enum { RANGE = 256, DOC = 96 };

/* The doc, in lines of DOC letters at most, each behind `indent`. */
static void put_wrapped(FILE *f, const char *doc, const char *indent)
{
    while (*doc) {
        size_t n = strlen(doc);
        if (n + strlen(indent) > DOC) {
            n = DOC - strlen(indent);
            while (n && doc[n] != ' ') n--;
        }
        fprintf(f, "%s%.*s\n", indent, (int)n, doc);
        doc += n;
        while (*doc == ' ') doc++;
    }
}

static void put_key(FILE *f, const struct lg__config_key *k)
{
    char range[RANGE];
    fprintf(f, "  %s: %s\n", k->key, *k->fallback ? k->fallback : "(none)");
    put_wrapped(f, lg__config_range(k, range, sizeof range), "      ");
    put_wrapped(f, k->doc, "      ");
}

/* Whether row i starts another map than the row before it. */
static int starts_section(const struct lg__config_key *keys, int i)
{
    size_t n = strcspn(keys[i].key, ".");
    return i == 0 || strcspn(keys[i - 1].key, ".") != n || strncmp(keys[i].key, keys[i - 1].key, n);
}

static void put_task_settings(FILE *f, const lg_task_info *info)
{
    for (const lg_setting *s = info->settings; s && s->name; s++) {
        if (s == info->settings) fprintf(f, "  %s\n", info->name);
        fprintf(f, "    task.%s: %s\n        %s\n", s->name, *s->fallback ? s->fallback : "\"\"",
                s->range);
        put_wrapped(f, s->doc, "        ");
    }
}

static void put_all_settings(FILE *f)
{
    for (int i = 0; i < lg_task_count(); i++) put_task_settings(f, lg_task_info_at(i));
}

static const char notation[] =
    "A range says what a value may be:\n"
    "\n"
    "  1..9             a whole number\n"
    "  0.0..1.0         a number, with or without a decimal point: 0.5, 1, 1e-3\n"
    "  a|b|c            one of these words\n"
    "  [1..9, 1..9]     a list of two whole numbers, the lower first: [1, 20]\n"
    "  [1..9, ..]       a list of whole numbers: [20, 40, 100]\n"
    "  TASK, TEXT       text\n"
    "  auto|            before any of these: the word auto is taken too\n";

char *lg__config_help(void)
{
    char *text = NULL;
    size_t size;
    int count;
    const struct lg__config_key *keys = lg__config_keys(&count);
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    fprintf(f,
            "A run config is a YAML file; `a.b` is the key b in the map a. `--set a.b=value`\n"
            "sets it after the file, as in --set train.steps=500 --set 'train.length=[1, 40]'.\n"
            "Each key stands here with its default, its range and its meaning.\n\n%s",
            notation);
    for (int i = 0; i < count; i++) {
        if (starts_section(keys, i)) fputc('\n', f);
        put_key(f, &keys[i]);
    }
    fprintf(f, "\nThe settings of the tasks:\n\n");
    put_all_settings(f);
    if (!fclose(f)) return text;
    free(text);
    return NULL;
}

/* In a table's cell a bar would end it. */
static void put_cell(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') fputc('\\', f);
        fputc(*text, f);
    }
}

static void put_row(FILE *f, const char *map, const char *key, const char *range,
                    const char *fallback, const char *doc)
{
    fprintf(f, "| `%s%s` | `", map, key);
    put_cell(f, range);
    fprintf(f, "` | %s%s%s | ", *fallback ? "`" : "", *fallback ? fallback : "none",
            *fallback ? "`" : "");
    put_cell(f, doc);
    fprintf(f, " |\n");
}

static const char table_head[] = "| key | range | default | meaning |\n|---|---|---|---|\n";

static void put_page_settings(FILE *f, const lg_task_info *info)
{
    if (!info->settings || !info->settings->name) return;
    fprintf(f, "\n### %s\n\n%s", info->name, table_head);
    for (const lg_setting *s = info->settings; s->name; s++)
        put_row(f, "task.", s->name, s->range, s->fallback, s->doc);
}

static const char page_head[] =
    "<!-- Made by `lengthen train --markdown > docs/CONFIG.md`; do not edit by hand. -->\n"
    "# Run configs\n"
    "\n"
    "A run is described by one YAML file, as those in `experiments/`. A key `a.b` is the key\n"
    "`b` in the map `a`; `--set a.b=value` sets it after the file is read, and a later one\n"
    "wins. A key that is not said has its default. Unknown keys, wrong values and what cannot\n"
    "go together are refused before any work. The config with every key, as it was run, is\n"
    "stored with the run.\n"
    "\n"
    "```yaml\n"
    "task: {name: parity-scratchpad}\n"
    "model: {layers: 2, width: 64, heads: 4, sink: yes}\n"
    "positions: {ids: coupled, source: delta, encoding: relative, span: window, window: [0, 1]}\n"
    "train: {steps: 500, length: [1, 20]}\n"
    "eval: {lengths: [20, 100, 1000]}\n"
    "```\n"
    "\n";

static const char page_sweeps[] =
    "\n## Sweeps\n"
    "\n"
    "`lengthen sweep` reads a file of its own, which varies keys of a config:\n"
    "\n"
    "```yaml\n"
    "base: parity.yaml                 # a config, its path relative to this file\n"
    "vary:\n"
    "  scheme:                         # a name of your own: a map of named bundles of keys\n"
    "    plain: {positions.ids: plain, positions.source: given}\n"
    "    coupled: {}                   # as in the config\n"
    "  train.length: [[1, 10], [1, 20]]  # a key of the config: a list of values\n"
    "  seed: [1, 2, 3]\n"
    "```\n"
    "\n"
    "- `base`, or `config` with the keys of a config in its place. `--set` comes after it, for\n"
    "  every run; what the sweep varies cannot be set.\n"
    "- `vary`: the runs are all combinations, in the order of the file, the last one fastest;\n"
    "  10,000 at most. In a bundle keys are written `a.b: value` or `a: {b: value}`. A key may be\n"
    "  varied in one place only.\n"
    "\n"
    "A run is called after its values, `scheme=plain,train.length=[1, 10],seed=1`, and so is its\n"
    "folder in `--out`, with `_` for letters other than `a-z A-Z 0-9 . _ = , -`. Runs that differ\n"
    "in `seed` alone are one variant: the table has their median and quartiles. Every run's "
    "config\n"
    "is read and opened before the first one is started.\n"
    "\n"
    "The same file at other scales (`--scale NAME`; `desk` is the file as it is):\n"
    "\n"
    "```yaml\n"
    "scales:\n"
    "  smoke:\n"
    "    set: {train.steps: 100, eval.samples: 20}   # other values than the config's\n"
    "    vary: {seed: [1], scheme: [coupled]}        # another list, or the bundles that are kept\n"
    "```\n";

static const char page_experiments[] =
    "\n"
    "## Experiments\n"
    "\n"
    "A sweep's file with the key `experiment` is an experiment: `lengthen reproduce NAME` makes "
    "the\n"
    "runs of `experiments/NAME.yaml` whose rows are not there yet, draws and checks. Its first "
    "line\n"
    "is a comment, `# question Expected: outcome`, written before the first run. A file in a\n"
    "folder there is named with it, `language/models`, and is not one of `all`.\n"
    "\n"
    "```yaml\n"
    "experiment:\n"
    "  words: \"documented: the grid of lengths. reconstructed: the curriculum.\"\n"
    "  budget: 60                      # minutes of this machine, at the scale desk\n"
    "  figures:\n"
    "    - file: k4.svg                # .svg or .png, beside the rows\n"
    "      title: \"Sparse parity, K_train = 4\"\n"
    "      where: {k_train: 4, method: PoSE, sparsity: [4, 8, 12]}\n"
    "      lines: sparsity             # what each line is named after; whatever else differs, "
    "too\n"
    "      x: length                   # or tokens, sparsity, or what vary has as numbers\n"
    "  checks:\n"
    "    - {more: {method: coupled, length: 40}, than: {method: plain, length: 40}, by: 0.3}\n"
    "    - {least: {method: coupled, length: 40}, is: 0.9}\n"
    "    - {monotone: sparsity, where: {k_train: 8, length: 500}, chance: 0.5}\n"
    "  certify: 1000                   # every run is certified, too (docs/CERTIFICATE.md)\n"
    "```\n"
    "\n"
    "- `words` is the caption of every figure: what is documented, what is reconstructed.\n"
    "- `where`, `more`, `less`, `than`, `least` and `most` name cells: a value or a list of them\n"
    "  for what `vary` has (other than the seed), `ids` (`given`, `predicted`), `sparsity`,\n"
    "  `length` and `mode` (`generated` if it is not said, `taught`). What is not named may be\n"
    "  anything.\n"
    "- `more`: the mean over these cells of the median over the seeds is more than that of the\n"
    "  others, by at least `by` (which may be below 0); `less`: less than that. `least`: in\n"
    "  each of these cells every seed has `is` or more; `most`: or less.\n"
    "- `monotone` (`sparsity` or `length`): over all seeds together, no cell is better than one "
    "with\n"
    "  less of it beyond both 95% intervals; Kendall's tau-b is printed. Cells whose interval has\n"
    "  `chance` in it are named and left out.\n"
    "- With `certify: N`, what is certified also answers long inputs (`lengthen certify --confirm "
    "N`);\n"
    "  `certificates.csv` has one row a run, `certificates.md` one a variant. A check\n"
    "  `{certified: {feedback: yes}, is: 1}` is of the share of such runs that are certified.\n"
    "- A check whose cells a scale does not have says so and breaks nothing, unless that is true "
    "of\n"
    "  all of them.\n"
    "\n"
    "`results/NAME/evals.csv` has one row a run, cell and mode; `method` is the value of what "
    "`vary`\n"
    "calls `method`, `train` has the others but the seed, `a=1;b=2`. `run.json` says for each run\n"
    "which command, commit, compiler, CPU and kernels made it, when and in how many hours, and\n"
    "has sums of its settings and of its table or examples: if these change, `reproduce` says "
    "which\n"
    "rows are of others. Scales other than `desk` write both into `--out`.\n";

static const char page_losses[] =
    "\n"
    "Experiments of the task text (docs/TEXT.md) have losses by position in place of answers:\n"
    "\n"
    "```yaml\n"
    "experiment:\n"
    "  figures:                        # loss against position, up to which a bin goes\n"
    "    - {file: loss.svg, title: Loss by position, lines: method}\n"
    "    - {file: excess.svg, title: Excess, lines: method, where: {mode: excess}}\n"
    "  checks:\n"
    "    - {less: {method: PoSE, position: 256}, than: {method: plain, position: 256}, by: 0.1}\n"
    "    - {most: {method: PoSE, position: 256, mode: excess}, is: 0.05}\n"
    "config:\n"
    "  task: {name: text, text: [corpus/], tokenizer: tokenizer.json}\n"
    "  eval: {lengths: [64, 256], samples: 200}\n"
    "```\n"
    "\n"
    "- Cells are named by what `vary` has, `length` (the greatest, if it is not said), `position`\n"
    "  (the bin that has it) and `mode` (`truncated` if it is not said, `sliding`, `excess`). "
    "Their\n"
    "  values are in nats a token. Figures shade what all their lines were trained on.\n"
    "- `results/NAME/losses.csv` has one row a run, length and bin. `run.json` has the checksums "
    "of\n"
    "  tokenizer and texts. The texts are needed to make runs, not to draw and check their rows.\n"
    "- Every length must have a held-out document; `samples` of them are read, or all there are.\n";

char *lg__config_page(void)
{
    char *text = NULL, range[RANGE], title[40];
    size_t size;
    int count;
    const struct lg__config_key *keys = lg__config_keys(&count);
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    fprintf(f, "%s```text\n%s```\n", page_head, notation);
    for (int i = 0; i < count; i++) {
        const struct lg__config_key *k = &keys[i];
        snprintf(title, sizeof title, "%.*s", (int)strcspn(k->key, "."), k->key);
        if (starts_section(keys, i)) fprintf(f, "\n## %s\n\n%s", title, table_head);
        put_row(f, "", k->key, lg__config_range(k, range, sizeof range), k->fallback, k->doc);
    }
    fprintf(f, "\n## The settings of the tasks\n");
    for (int i = 0; i < lg_task_count(); i++) put_page_settings(f, lg_task_info_at(i));
    fputs(page_sweeps, f);
    fputs(page_experiments, f);
    fputs(page_losses, f);
    if (!fclose(f)) return text;
    free(text);
    return NULL;
}
