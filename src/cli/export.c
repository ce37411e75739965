/* export.c: `lengthen export`: a run's model as other tools read it. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "lengthen_lab.h"

const char lg_cmd_export_help[] =
    "Usage: lengthen export RUN FOLDER [OPTIONS]\n"
    "\n"
    "Writes the model of a run (its newest checkpoint) as a folder of Hugging Face: config.json,\n"
    "model.safetensors (fp32) and, for a run of texts with one, tokenizer.json. It is\n"
    "GPTNeoXForCausalLM for neox, OlmoForCausalLM for olmo, LlamaForCausalLM with RMSNorm and\n"
    "SwiGLU. What the format cannot say (windows, ID heads, coupled IDs) is refused. FOLDER is\n"
    "new or empty.\n"
    "\n"
    "  --fallback    if the newest weights are damaged, use older ones\n"
    "\n"
    "Example:\n"
    "  lengthen export runs/wiki wiki-hf\n";

int lg_cmd_export(int argc, char **argv)
{
    lg_error err = {0}, warning = {0};
    int tokenizer = 0, fallback = 0;
    const struct lg_cli_option rows[] = {{"fallback", .flag = &fallback}, {0}};
    int e = lg_cli_options("export", rows, &argc, &argv);
    if (e) return e;
    if (argc != 2) return lg_cli_wrong("export", "give the run and the folder to be made");
    const char *run = argv[0], *folder = argv[1];
    e = lg_run_export(run, folder, fallback, &tokenizer, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen export: %s\n", warning.text);
    if (e) return lg_cli_error("export", e, &err);
    printf("%s has config.json, model.safetensors%s\n", folder,
           tokenizer ? " and tokenizer.json" : "; the run has no tokenizer.json");
    return LG_EXIT_DONE;
}
