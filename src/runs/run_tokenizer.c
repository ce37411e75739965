/* run_tokenizer.c: a run's own copy of its tokenizer, so that its folder can be moved. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files.h"
#include "formats/import.h"
#include "base/paths.h"
#include "runs/run.h"

int lg__run_keep_tokenizer(const char *from, const char *folder, lg_error *err)
{
    static const char *const pairs[][2] = {{"encoder.json", "vocab.bpe"},
                                           {"vocab.json", "merges.txt"}};
    static const char *const names[] = {"tokenizer.json", "encoder.json", "vocab.json",
                                        "tokenizer.bin"};
    char to[LG__IMPORT_PATH], beside[LG__IMPORT_PATH], found[LG__IMPORT_PATH];
    struct stat st;
    if (strcmp(from, "bytes") == 0) return 0;
    snprintf(found, sizeof found, "%s", from);
    if (stat(from, &st) == 0 && S_ISDIR(st.st_mode)) {
        found[0] = 0;
        for (int i = 0; i < 4 && !found[0]; i++) lg__import_beside(found, from, names[i]);
    }
    int e = lg__file_path(to, sizeof to, folder, LG__RUN_TOKENIZER, err);
    if (!e) e = lg__folder_make(to, err);
    if (e) return e;
    const char *slash = strrchr(found, '/'), *name = slash ? slash + 1 : found;
    for (int i = 0; i < 2; i++) {
        int second = strcmp(name, pairs[i][1]) == 0; /* either names the pair */
        if (!second && strcmp(name, pairs[i][0]) != 0) continue;
        const char *other = pairs[i][!second];
        snprintf(beside, sizeof beside, "%.*s%s", (int)(name - found), found, other);
        e = lg__file_copy(found, to, name, err);
        return e ? e : lg__file_copy(beside, to, other, err);
    }
    const char *dot = strrchr(name, '.'); /* as they are told apart when they are read */
    int llama = dot && strcmp(dot, ".bin") == 0;
    return lg__file_copy(found, to, llama ? "tokenizer.bin" : "tokenizer.json", err);
}

int lg__run_lost_tokenizer(const struct lg__run *r, const char *folder, char *set, size_t size)
{
    char copy[LG__IMPORT_PATH], *file = NULL;
    const char *said = NULL;
    struct stat st;
    for (int i = 0; i < r->config.setting_count; i++)
        if (strncmp(r->config.settings[i], "tokenizer=", 10) == 0)
            said = r->config.settings[i] + 10;
    if (!said || lg__paths_expand(said, &file, NULL)) return 0;
    int lost = stat(file, &st) != 0 && strcmp(file, "bytes") != 0 &&
               !lg__file_path(copy, sizeof copy, folder, LG__RUN_TOKENIZER, NULL) &&
               stat(copy, &st) == 0;
    if (lost) snprintf(set, size, "task.tokenizer=%s", copy);
    free(file);
    return lost;
}
