/* configs.h: the configs that come with the program. */
#ifndef LG_CLI_CONFIGS_H
#define LG_CLI_CONFIGS_H

#include <stddef.h>

/* The folder experiments here, or that of the installation. */
const char *lg_cli_experiments(void);
/* Says on stderr which configs there are; returns LG_EXIT_USE. */
int lg_cli_configs_list(const char *command);
/* The file that is meant: itself, a config that comes with the program by its name (parity), or - for the standard input,
 * which is copied. 0, or an exit code after saying what is wrong. */
int lg_cli_config_file(const char *command, const char *name, char *path, size_t size);

#endif
