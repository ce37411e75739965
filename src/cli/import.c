/* import.c: `lengthen import`: a run from published weights. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "lengthen_lab.h"

const char lg_cmd_import_help[] =
    "Usage: lengthen import PATH RUN [OPTIONS]\n"
    "\n"
    "Makes a run of published weights, so that `lengthen eval` gives its loss by position and\n"
    "`lengthen generate` its text. PATH is a folder of Hugging Face (config.json with\n"
    "safetensors: GPT-NeoX, OLMo, Llama, GPT-2) or a llama2.c .bin file; RUN is the folder to be\n"
    "made, with a copy of the tokenizer. The function stays the same (docs/IMPORT.md); what\n"
    "cannot be kept is refused.\n"
    "\n"
    "  --tokenizer PATH      its file or folder, or bytes (the one beside the weights)\n"
    "  --text PATHS          texts that eval takes: files, folders and globs, commas between\n"
    "  --field NAME          of JSON lines among them: the key of the text (text)\n"
    "\n"
    "Examples:\n"
    "  lengthen import pythia-14m runs/pythia --text corpus/\n"
    "  lengthen import stories15M.bin runs/stories --tokenizer tokenizer.bin\n"
    "  lengthen generate runs/stories --prompt \"Once upon a time\"\n";

int lg_cmd_import(int argc, char **argv)
{
    lg_import_options o = {0};
    lg_import_info info;
    lg_error err = {0};
    const struct lg_cli_option rows[] = {{"tokenizer", .text = &o.tokenizer},
                                         {"text", .text = &o.texts},
                                         {"field", .text = &o.field},
                                         {0}};
    int e = lg_cli_options("import", rows, &argc, &argv);
    if (e) return e;
    if (argc != 2)
        return lg_cli_wrong("import", argc < 2
                                          ? "give the weights and the folder of the run to be made"
                                          : "give two paths, the weights and the run, not more");
    o.path = argv[0];
    o.folder = argv[1];
    e = lg_run_import(&o, &info, &err);
    if (e) return lg_cli_error("import", e, &err);
    printf("%s is a run of %s, made for %d tokens.\nTo see what it writes: lengthen generate %s\n",
           o.folder, info.kind, info.length, o.folder);
    return LG_EXIT_DONE;
}
