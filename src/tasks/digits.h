/* digits.h: what the arithmetic tasks share. A number is an array of digits, that of the lowest
 * significance first, so that it may have a million of them. */
#ifndef LG_TASKS_DIGITS_H
#define LG_TASKS_DIGITS_H

#include "tasks.h"

/* The vocabulary of a base: its digits are the tokens 0..base-1, and each character of `signs` is
 * a word behind them, in this order. */
int lg__digits_words(struct lg_task *t, int base, const char *signs, lg_error *err);

/* Uniform among the numbers that have exactly n digits: the top one is 0 only where n is 1. */
void lg__digits_draw(int32_t *digit, int n, int base, lg_rng *r);

/* How many of n digits there are without the zeros at the top: at least 1. */
int lg__digits_count(const int32_t *digit, int n);

/* lg__example_room for a number of tokens that an int may be too small for: then refused. */
int lg__digits_room(const struct lg_task *t, lg_example *x, int64_t tokens, lg_error *err);

#endif
