/* certify_own.h: `lengthen certify` on own data: the list of contexts, and what is sampled. */
#ifndef LG_CLI_CERTIFY_OWN_H
#define LG_CLI_CERTIFY_OWN_H

#include "lengthen_lab.h"

/* Certify, print, and keep the certificate in the run's folder. Exit codes. */
int lg_cli_certify_list(const lg_list_options *o, int json);
int lg_cli_certify_sampled(lg_sampled_options *o, int json);

/* For lg_couple_options.certify: what the list of the winner's own lines shows, in words; how to repeat it. */
int lg_cli_certify_winner(void *context, const char *folder, char *text, size_t size,
                          lg_error *err);

#endif
