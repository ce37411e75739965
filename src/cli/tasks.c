/* tasks.c: `lengthen tasks`: what there is to train on, each task's definition and settings; also
 * as JSON, and as the page docs/TASKS.md. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"
#include "cli/table.h"
#include "lengthen.h"

const char lg_cmd_tasks_help[] =
    "Usage: lengthen tasks [NAME] [--json | --markdown]\n"
    "\n"
    "Without NAME: all tasks, one per line: what their length is counted in, what their sparsity\n"
    "counts (- if they have none), and what is to be learned. With NAME: the definition, the\n"
    "settings, and two examples. Your own data are the tasks jsonl:FILE and exec:COMMAND.\n"
    "\n"
    "  --json         one object per line, with everything\n"
    "  --markdown     all tasks as one page, docs/TASKS.md\n"
    "\n"
    "Examples:\n"
    "  lengthen tasks\n"
    "  lengthen tasks addition\n"
    "  lengthen sample addition --set task.carry=hard     more of its examples\n";

enum { EXAMPLES = 2, WORDS_WIDTH = 60 };

static int longer(int most, const char *text)
{
    int n = text ? (int)strlen(text) : 1;
    return n > most ? n : most;
}

static const char *or_dash(const char *text) { return text ? text : "-"; }

/* A task that cannot be opened without being told what to read, as in jsonl:FILE. */
static int needs_argument(const lg_task_info *info) { return info->own != LG_OWN_NONE; }

/* The tasks in the order in which they are shown: family by family. Returns the k-th of them, and
 * whether it is its family's first; NULL at the end. */
static const lg_task_info *in_order(int k, int *first)
{
    for (int i = 0; i < lg_task_count(); i++) {
        const char *family = lg_task_info_at(i)->family;
        int seen = 0;
        for (int j = 0; j < i; j++) seen |= strcmp(lg_task_info_at(j)->family, family) == 0;
        if (seen) continue;
        *first = 1;
        for (int j = i; j < lg_task_count(); j++) {
            if (strcmp(lg_task_info_at(j)->family, family) != 0) continue;
            if (k-- == 0) return lg_task_info_at(j);
            *first = 0;
        }
    }
    return NULL;
}

/* ---- The list --------------------------------------------------------------------------- */

static void print_list(void)
{
    int name = 4, unit = 6, sparsity = 8, first;
    const lg_task_info *next;
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        name = longer(name, info->name);
        unit = longer(unit, info->unit);
        sparsity = longer(sparsity, info->sparsity);
    }
    printf("%-*s  %-*s  %-*s  %s\n", name + 2, "task", unit, "length", sparsity, "sparsity",
           "to be learned");
    for (int k = 0; (next = in_order(k, &first)); k++) {
        if (first) printf("\n%s\n", next->family);
        printf("  %-*s  %-*s  %-*s  %s\n", name, next->name, unit, next->unit, sparsity,
               or_dash(next->sparsity), next->line);
    }
    printf("\n`lengthen tasks NAME` defines one, `lengthen sample NAME` prints examples of it.\n");
}

/* ---- One task --------------------------------------------------------------------------- */

static void print_settings(const lg_setting *row, int indent)
{
    struct lg_cli_table t = {.columns = 4, .left = 15};
    static const char *const heads[] = {"setting", "range", "default", "meaning"};
    for (int i = 0; i < 4; i++) lg_cli_table_add(&t, "%s", heads[i]);
    for (; row->name; row++) {
        lg_cli_table_add(&t, "%s", row->name);
        lg_cli_table_add(&t, "%s", row->range);
        lg_cli_table_add(&t, "%s", *row->fallback ? row->fallback : "\"\"");
        lg_cli_table_add(&t, "%s", row->doc);
    }
    lg_cli_table_print(&t, indent, 0, 0);
    lg_cli_table_clear(&t);
}

/* The first words of the vocabulary, as many as fit. */
static void print_words(const lg_task_shape *shape)
{
    size_t used = 0;
    for (int i = 0; i < shape->vocab; i++) {
        size_t n = strlen(shape->words[i]) + 1;
        if (used + n > WORDS_WIDTH) {
            printf(" ..");
            return;
        }
        printf(" %s", shape->words[i]);
        used += n;
    }
}

static void print_levels(const lg_task_shape *shape)
{
    if (!shape->levels) {
        printf("none: it has no labels, so its IDs cannot be coupled");
        return;
    }
    for (int l = 0; l < shape->levels; l++) printf("%s%s", l ? ", " : "", or_dash(shape->level[l]));
    if (shape->needed == 1 && shape->levels > 1)
        printf(" (coupling needs the first)");
    else if (shape->needed < shape->levels)
        printf(" (coupling needs the first %d)", shape->needed);
    else if (shape->levels > 1)
        printf(" (coupling needs all)");
}

/* What the settings made of the task; `bullet` starts each line. */
static void print_shape(const lg_task_shape *shape, const char *bullet)
{
    const lg_task_info *info = shape->info;
    printf("%slength      %s, %d..%d\n", bullet, info->unit, shape->length_least,
           shape->length_most);
    if (info->sparsity)
        printf("%ssparsity    %s, %d..%d\n", bullet, info->sparsity, shape->sparsity_least,
               shape->sparsity_most);
    printf("%svocabulary  %d:", bullet, shape->vocab);
    print_words(shape);
    printf("\n%slevels      ", bullet);
    print_levels(shape);
    printf("\n");
}

static int print_examples(lg_task *t, struct lg_cli_look look, lg_error *err)
{
    lg_sampler s;
    lg_sampler_init(&s);
    s.task = t;
    int code = lg_sampler_ready(&s, err);
    for (int i = 0; i < EXAMPLES && !code; i++) {
        if ((code = lg_sampler_next(&s, err))) break;
        if (i) putchar('\n');
        lg_cli_show(&s, look);
    }
    lg_sampler_clear(&s);
    return code;
}

/* What is the same in a terminal and on the page; `indent` starts the lines of its tables. t NULL: it is not
 * known what it reads. */
static void print_definition(const lg_task_info *info, const lg_task *t, const char *indent)
{
    lg_cli_text(info->text);
    printf("\n");
    if (t)
        print_shape(lg_task_get_shape(t), indent);
    else
        printf("%slength      %s\n", indent, info->unit);
    if (info->settings && info->settings->name) {
        printf("\n");
        print_settings(info->settings, (int)strlen(indent));
    }
}

/* name may go on, as in jsonl:FILE: then that file is looked at. */
static int print_task(const char *name, const lg_task_info *info, lg_error *err)
{
    int code = 0, open = !needs_argument(info) || strchr(name, ':');
    lg_task *t = open ? lg_task_new(name, NULL, 0, err) : NULL;
    if (open && !t) return err->code;
    printf("%s (%s): %s\n\n", info->name, info->family, info->line);
    print_definition(info, t, "  ");
    printf("\n");
    if (t) code = print_examples(t, lg_cli_look_stdout(), err);
    if (!t) printf("`lengthen tasks %s:..` looks at yours.\n", info->name);
    lg_task_free(t);
    return code;
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void json_settings(const lg_setting *row)
{
    printf(",\"settings\":[");
    for (const lg_setting *s = row; s && s->name; s++) {
        printf("%s{\"name\":", s == row ? "" : ",");
        lg_cli_json(stdout, s->name);
        lg_cli_json_word("range", s->range);
        lg_cli_json_word("default", s->fallback);
        lg_cli_json_word("doc", s->doc);
        printf("}");
    }
    printf("]");
}

static void json_shape(const lg_task_shape *shape)
{
    printf(",\"vocab\":%d,\"length_range\":[%d,%d]", shape->vocab, shape->length_least,
           shape->length_most);
    if (shape->info->sparsity)
        printf(",\"sparsity_range\":[%d,%d]", shape->sparsity_least, shape->sparsity_most);
    printf(",\"needed_levels\":%d,\"levels\":[", shape->needed);
    for (int l = 0; l < shape->levels; l++) {
        printf("%s", l ? "," : "");
        lg_cli_json(stdout, shape->level[l]);
    }
    printf("]");
}

static int json_task(const char *name, const lg_task_info *info, lg_error *err)
{
    const struct {
        const char *key, *value;
    } pairs[] = {{"name", info->name}, {"family", info->family}, {"line", info->line},
                 {"text", info->text}, {"unit", info->unit},     {"sparsity", info->sparsity}};
    int open = !needs_argument(info) || strchr(name, ':');
    lg_task *t = open ? lg_task_new(name, NULL, 0, err) : NULL;
    if (open && !t) return err->code;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        printf("%s\"%s\":", i ? "," : "{", pairs[i].key);
        lg_cli_json(stdout, pairs[i].value);
    }
    json_settings(info->settings);
    if (t) json_shape(lg_task_get_shape(t));
    printf("}\n");
    lg_task_free(t);
    return 0;
}

/* ---- Markdown --------------------------------------------------------------------------- */

static int markdown_task(const lg_task_info *info, lg_error *err)
{
    lg_task *t = needs_argument(info) ? NULL : lg_task_new(info->name, NULL, 0, err);
    int code = 0;
    if (!t && !needs_argument(info)) return err->code;
    printf("\n### %s\n\n```text\n%s\n\n", info->name, info->line);
    print_definition(info, t, "");
    printf("```\n");
    if (t) {
        printf("\n`lengthen sample %s --count %d`:\n\n```text\n", info->name, EXAMPLES);
        code = print_examples(t, lg_cli_look_plain(), err);
        printf("```\n");
    }
    lg_task_free(t);
    return code;
}

static int print_markdown(lg_error *err)
{
    const lg_task_info *info;
    int code = 0, first;
    printf(
        "<!-- Made by `lengthen tasks --markdown > docs/TASKS.md`; do not edit by hand. -->\n"
        "# Tasks\n"
        "\n"
        "Every task, with its settings at their defaults. A *label* says which tokens belong\n"
        "together: with coupled IDs, tokens with the same label at a level share an ID, which\n"
        "is start + label (docs/POSITIONS.md). `lengthen tasks NAME` prints the same.\n"
        "Those under \"paper\" are tasks that the paper names, or of its ensembles; their formats\n"
        "are our reconstruction. Paths of files are from the working directory.\n"
        "In the examples `target` is what is to be predicted at a token, `^` marks the tokens\n"
        "that are predicted, and the rows between are position IDs, one row a level.\n");
    for (int k = 0; !code && (info = in_order(k, &first)); k++) {
        if (first) printf("\n## %s\n", info->family);
        code = markdown_task(info, err);
    }
    return code;
}

/* ---- The command ------------------------------------------------------------------------ */

static int unknown_task(const char *name)
{
    const char *names[64];
    int n = 0;
    for (; n < lg_task_count() && n < 64; n++) names[n] = lg_task_info_at(n)->name;
    const char *near = lg_cli_nearest(name, names, n);
    if (near)
        return lg_cli_wrong("tasks", "there is no task \"%s\"; did you mean \"%s\"?", name, near);
    return lg_cli_wrong("tasks", "there is no task \"%s\"; `lengthen tasks` lists them", name);
}

static int print_json(const char *name, lg_error *err)
{
    int code = 0;
    if (name) return json_task(name, lg_task_info_find(name), err);
    for (int i = 0; i < lg_task_count() && !code; i++)
        code = json_task(lg_task_info_at(i)->name, lg_task_info_at(i), err);
    return code;
}

int lg_cmd_tasks(int argc, char **argv)
{
    const char *name;
    int json = 0, markdown = 0;
    lg_error err = {0};
    const struct lg_cli_option rows[] = {
        {"json", .flag = &json}, {"markdown", .flag = &markdown}, {0}};
    int code = lg_cli_options("tasks", rows, &argc, &argv);
    if (!code) code = lg_cli_argument("tasks", "task", NULL, argc, argv, &name);
    if (code) return code;
    if (json && markdown) return lg_cli_wrong("tasks", "take --json or --markdown, not both");
    if (markdown && name)
        return lg_cli_wrong("tasks", "--markdown is the page of all tasks; leave \"%s\" out", name);
    if (name && !lg_task_info_find(name)) return unknown_task(name);
    if (json)
        code = print_json(name, &err);
    else if (markdown)
        code = print_markdown(&err);
    else if (name)
        code = print_task(name, lg_task_info_find(name), &err);
    else
        print_list();
    if (!code) return LG_EXIT_DONE;
    fprintf(stderr, "lengthen tasks: %s\n", err.text);
    return name && code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED;
}
