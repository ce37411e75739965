/* config_page.c: the keys of a config as pages: docs/CONFIG.md, plain text, JSON. Made of the public table of keys
 * and of the tasks' settings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lengthen_report.h"
#include "lengthen_runs.h"

enum { DOC = 96 };

/* The doc, in lines of DOC letters at most, each behind `indent`. */
static void put_wrapped(lg_buffer *to, const char *doc, const char *indent)
{
    while (*doc) {
        size_t n = strlen(doc);
        if (n + strlen(indent) > DOC) {
            n = DOC - strlen(indent);
            while (n && doc[n] != ' ') n--;
        }
        lg_buffer_print(to, "%s%.*s\n", indent, (int)n, doc);
        doc += n;
        while (*doc == ' ') doc++;
    }
}

static void put_key(lg_buffer *to, const lg_config_key *k)
{
    lg_buffer_print(to, "  %s: %s\n", k->key, *k->fallback ? k->fallback : "(none)");
    put_wrapped(to, k->range, "      ");
    put_wrapped(to, k->doc, "      ");
}

/* Whether row i starts another map than the row before it. */
static int starts_section(int i)
{
    const char *key = lg_config_key_at(i).key, *before = i ? lg_config_key_at(i - 1).key : "";
    size_t n = strcspn(key, ".");
    return i == 0 || strcspn(before, ".") != n || strncmp(key, before, n) != 0;
}

/* Whether `which` names the key a.b: itself, the map a, or all (NULL). */
static int is_named(const char *which, const char *map, const char *key)
{
    size_t n = which ? strlen(which) : 0, m = strlen(map);
    if (!which || (n && n == m - (m > 0) && strncmp(which, map, n) == 0)) return 1;
    if (strncmp(which, map, m) != 0) return 0;
    return strncmp(which + m, key, n - m) == 0 && (!key[n - m] || key[n - m] == '.');
}

static void put_task_settings(lg_buffer *to, const lg_task_info *info, const char *which)
{
    int first = 1;
    for (const lg_setting *s = info->settings; s && s->name; s++) {
        if (!is_named(which, "task.", s->name)) continue;
        if (first) lg_buffer_print(to, "  %s\n", info->name);
        first = 0;
        lg_buffer_print(to, "    task.%s: %s\n        %s\n", s->name,
                        *s->fallback ? s->fallback : "\"\"", s->range);
        put_wrapped(to, s->doc, "        ");
    }
}

static void put_all_settings(lg_buffer *to, const char *which)
{
    for (int i = 0; i < lg_task_count(); i++) put_task_settings(to, lg_task_info_at(i), which);
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

char *lg_config_help(void)
{
    lg_buffer b = {0};
    lg_buffer_print(
        &b,
        "A run config is a YAML file; `a.b` is the key b in the map a. `--set a.b=value`\n"
        "sets it after the file, as in --set train.steps=500 --set 'train.length=[1, 40]'.\n"
        "Each key stands here with its default, its range and its meaning.\n\n%s",
        notation);
    for (int i = 0; i < lg_config_key_count(); i++) {
        lg_config_key k = lg_config_key_at(i);
        if (starts_section(i)) lg_buffer_put(&b, "\n");
        put_key(&b, &k);
    }
    lg_buffer_print(&b, "\nThe settings of the tasks:\n\n");
    put_all_settings(&b, NULL);
    return lg_buffer_take(&b, NULL);
}

/* ---- Some keys ---------------------------------------------------------------------------- */

static void put_json(lg_buffer *to, const char *name, const char *value)
{
    lg_buffer_print(to, "\"%s\":", name);
    lg_buffer_json(to, value, strlen(value));
}

/* {"key":"task.carry","task":"addition","range":..,"default":..,"doc":..}; no default: null. */
static void put_object(lg_buffer *to, const char *key, const char *task, const char *range,
                       const char *fallback, const char *doc)
{
    lg_buffer_put(to, "{");
    put_json(to, "key", key);
    if (task) lg_buffer_put(to, ","), put_json(to, "task", task);
    lg_buffer_put(to, ",");
    put_json(to, "range", range);
    lg_buffer_put(to, ",");
    if (fallback)
        put_json(to, "default", fallback);
    else
        lg_buffer_put(to, "\"default\":null");
    lg_buffer_put(to, ",");
    put_json(to, "doc", doc);
    lg_buffer_put(to, "}\n");
}

static void put_objects(lg_buffer *to, const char *which)
{
    char text[256];
    for (int i = 0; i < lg_config_key_count(); i++) {
        lg_config_key k = lg_config_key_at(i);
        if (is_named(which, "", k.key))
            put_object(to, k.key, NULL, k.range, *k.fallback ? k.fallback : NULL, k.doc);
    }
    for (int i = 0; i < lg_task_count(); i++)
        for (const lg_setting *s = lg_task_info_at(i)->settings; s && s->name; s++) {
            if (!is_named(which, "task.", s->name)) continue;
            snprintf(text, sizeof text, "task.%s", s->name);
            put_object(to, text, lg_task_info_at(i)->name, s->range, s->fallback, s->doc);
        }
}

static void put_keys(lg_buffer *to, const char *which)
{
    for (int i = 0; i < lg_config_key_count(); i++) {
        lg_config_key k = lg_config_key_at(i);
        if (is_named(which, "", k.key)) put_key(to, &k);
    }
    put_all_settings(to, which);
}

int lg_config_describe(const char *which, int json, char **text, lg_error *err)
{
    lg_buffer b = {0};
    (json ? put_objects : put_keys)(&b, which);
    *text = lg_buffer_take(&b, err);
    if (!*text) return LG_ERROR_MEMORY;
    if (**text) return 0;
    free(*text);
    *text = NULL;
    const char *nearest = lg_config_nearest(which);
    return lg__fail(err, LG_ERROR_ARGUMENT, "a config has no key and no map \"%.100s\"; %s%s%s",
                    which, nearest ? "did you mean \"" : "`lengthen config` lists them",
                    nearest ? nearest : "", nearest ? "\"?" : "");
}

/* In a table's cell a bar would end it. */
static void put_cell(lg_buffer *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') lg_buffer_put(to, "\\");
        lg_buffer_add(to, text, 1);
    }
}

static void put_row(lg_buffer *to, const char *map, const char *key, const char *range,
                    const char *fallback, const char *doc)
{
    lg_buffer_print(to, "| `%s%s` | `", map, key);
    put_cell(to, range);
    lg_buffer_print(to, "` | %s%s%s | ", *fallback ? "`" : "", *fallback ? fallback : "none",
                    *fallback ? "`" : "");
    put_cell(to, doc);
    lg_buffer_print(to, " |\n");
}

static const char table_head[] = "| key | range | default | meaning |\n|---|---|---|---|\n";

static void put_page_settings(lg_buffer *to, const lg_task_info *info)
{
    if (!info->settings || !info->settings->name) return;
    lg_buffer_print(to, "\n### %s\n\n%s", info->name, table_head);
    for (const lg_setting *s = info->settings; s->name; s++)
        put_row(to, "task.", s->name, s->range, s->fallback, s->doc);
}

static const char page_head[] =
    "<!-- Made by `lengthen config --markdown > docs/CONFIG.md`; do not edit by hand. -->\n"
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
    "  10,000 at most. At most 1,000 keys vary, and a config or bundle has at most as many. In a\n"
    "  bundle keys are written `a.b: value` or `a: {b: value}`. A key may be varied in one place\n"
    "  only.\n"
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
    "runs of `experiments/NAME.yaml` whose rows are not there yet, draws and checks. Question "
    "and\n"
    "expectation, which may be left out, are written before the first run. A file in a folder\n"
    "there is named with it, `language/models`, and is not one of `all`.\n"
    "\n"
    "```yaml\n"
    "experiment:\n"
    "  question: \"Do coupled IDs help?\"\n"
    "  expected: \"yes, above 0.9 at twice the length of training.\"\n"
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
    "- `words`, if any, is the caption of every figure; ours say what is documented and what is\n"
    "  reconstructed. `budget`, if any, is what `--list` shows before the first run is done.\n"
    "- `where`, `more`, `less`, `than`, `least` and `most` name cells: a value or a list of them\n"
    "  for what `vary` has (other than the seed), `ids` (`given`, `predicted`), `sparsity`,\n"
    "  `length` and `kind` (\"Kinds\" below; `exact` if it is not said). What is not named may be\n"
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
    "`results/NAME/measurements.csv` has one row per run, cell and kind: what was measured, where, "
    "of\n"
    "how many samples, and the value with its 95% interval. `method` is the value of what `vary`\n"
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
    "    - {file: excess.svg, title: Excess, lines: method, where: {kind: excess}}\n"
    "  checks:\n"
    "    - {less: {method: PoSE, position: 256}, than: {method: plain, position: 256}, by: 0.1}\n"
    "    - {most: {method: PoSE, position: 256, kind: excess}, is: 0.05}\n"
    "config:\n"
    "  task: {name: text, text: [corpus/], tokenizer: tokenizer.json}\n"
    "  eval: {lengths: [64, 256], samples: 200}\n"
    "```\n"
    "\n"
    "- Cells are named by what `vary` has, `length` (the greatest, if it is not said), `position`\n"
    "  (the bin that has it) and `kind` (`truncated` if it is not said). Figures shade what all\n"
    "  their lines were trained on.\n"
    "- `run.json` has the checksums of tokenizer and texts. The texts are needed to make runs, not "
    "to draw and check their rows.\n"
    "- Every length must have a held-out document; `samples` of them are read, or all there are.\n";

/* The table of what is measured, from the table itself. */
static void put_kinds(lg_buffer *b)
{
    static const char *const units[] = {"share", "nats per token", "tokens"};
    lg_buffer_put(b, "\n## Kinds\n\nWhat is measured, in the store, CSV, JSON and experiments.\n\n"
                     "| kind | of | what | unit |\n|---|---|---|---|\n");
    for (int i = 0; i < lg_kind_count(); i++) {
        const lg_kind *k = lg_kind_at(i);
        lg_buffer_print(b, "| `%s` | %s | %s%s | %s |\n", k->name, k->form, k->label,
                        k == lg_kind_leading(k->form) ? " (shown if nothing is said)" : "",
                        units[k->unit]);
    }
}

char *lg_config_page(void)
{
    char title[40];
    lg_buffer b = {0};
    lg_buffer_print(&b, "%s```text\n%s```\n", page_head, notation);
    for (int i = 0; i < lg_config_key_count(); i++) {
        lg_config_key k = lg_config_key_at(i);
        snprintf(title, sizeof title, "%.*s", (int)strcspn(k.key, "."), k.key);
        if (starts_section(i)) lg_buffer_print(&b, "\n## %s\n\n%s", title, table_head);
        put_row(&b, "", k.key, k.range, k.fallback, k.doc);
    }
    lg_buffer_print(&b, "\n## The settings of the tasks\n");
    for (int i = 0; i < lg_task_count(); i++) put_page_settings(&b, lg_task_info_at(i));
    lg_buffer_put(&b, page_sweeps);
    lg_buffer_put(&b, page_experiments);
    lg_buffer_put(&b, page_losses);
    put_kinds(&b);
    return lg_buffer_take(&b, NULL);
}
