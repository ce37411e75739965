/* kinds_def.h: the table of what is measured, one row per kind:
 *
 *     KIND(name, form, measure, label, unit, better, interval, leads)
 *
 * as in lg_kind; `measure` is the function lg__measure_<measure> of measure/ that gives it (of a probe, none
 * does). Kinds of one function stand together; the first of them is there whenever the function was called.
 * The order is that of columns. */
KIND(exact, answers, generated, "exact answers", SHARE, 1, WILSON, 1)
KIND(token_accuracy, answers, generated, "right tokens", SHARE, 1, NONE, 0)
KIND(id_accuracy, answers, generated, "right IDs", SHARE, 1, NONE, 0)
KIND(first_error_min, answers, generated, "earliest error", TOKENS, 0, NONE, 0)
KIND(first_error_median, answers, generated, "first error", TOKENS, 0, NONE, 0)
KIND(taught_exact, answers, taught, "exact, teacher-forced", SHARE, 1, WILSON, 0)
KIND(taught_token_accuracy, answers, taught, "right tokens, teacher-forced", SHARE, 1, NONE, 0)
KIND(taught_id_accuracy, answers, taught, "right IDs, teacher-forced", SHARE, 1, NONE, 0)
KIND(truncated, losses, losses, "loss", NATS, -1, MEAN, 1)
KIND(sliding, losses, losses, "sliding loss", NATS, -1, MEAN, 1)
KIND(excess, losses, losses, "excess loss", NATS, -1, MEAN, 1)
KIND(kstar_loss, probe, none, "loss", NATS, -1, MEAN, 1)
KIND(kstar_excess, probe, none, "excess loss", NATS, -1, MEAN, 1)
