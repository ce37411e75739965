/* reference.h: whether a loss is normal: the losses of the runs in experiments/reference.csv, and those of a run beside them. */
#ifndef LG_CLI_REFERENCE_H
#define LG_CLI_REFERENCE_H

#include <stdint.h>

enum { LG_CLI_REFERENCE_STEPS = 16, LG_CLI_REFERENCE_MEAN = 20 };

struct lg_cli_reference {
    int count;
    struct {
        int64_t step;
        double low, high; /* over three seeds, of the mean loss of the 20 steps up to it */
        double loss;      /* of this run; NaN: it has not been there */
    } at[LG_CLI_REFERENCE_STEPS];
    double last[LG_CLI_REFERENCE_MEAN]; /* the last losses, in a ring */
    int64_t seen;
};

/* The reference of the config of this name; 0, or an exit code after saying which configs have one. */
int lg_cli_reference_open(struct lg_cli_reference *r, const char *config);
void lg_cli_reference_step(struct lg_cli_reference *r, int64_t step, double loss);
/* The table; LG_EXIT_NO if a loss is over twice the reference's. */
int lg_cli_reference_print(const struct lg_cli_reference *r);

#endif
