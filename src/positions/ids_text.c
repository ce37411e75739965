/* ids_text.c: what `lengthen positions` says of the ways to give IDs and of the heads that
 * predict them. */
#include "positions/ids.h"

const lg_ids_info lg__ids_infos[LG__IDS_COUNT] = {
    {"plain", "the place in the text: 0, 1, 2, ..",
     "ID of token t = t, for t = 0 .. n-1.\n"
     "The same in training and in evaluation. A longer text has IDs that training never showed.\n"
     "One level. Needs: nothing."},
    {"random-start", "the place in the text, counted from a random start in training",
     "ID of token t = s + t.\n"
     "Training: s is uniform in 1 .. max_id - n + 1, drawn for each example, so that every ID up\n"
     "to max_id is met and none passes it. Evaluation: s = 1.\n"
     "One level. Needs: max_id, at least the number of tokens of the longest example."},
    {"randomized", "increasing random integers: a sorted sample of 0 .. max_id",
     "The IDs are n different integers of 0 .. max_id, every such set equally likely, in\n"
     "increasing order. Training: drawn for each example. Evaluation: drawn too, but by the\n"
     "prompt's own tokens, so that the same example has the same IDs every time.\n"
     "Differences of IDs tell the order, not how many tokens lie between: with span window the\n"
     "neighbours would be out of sight, so that is refused.\n"
     "One level. Needs: max_id, at least the number of tokens of the longest example that will\n"
     "ever be met, test lengths included."},
    {"pose", "PoSE: the text in chunks, the later ones shifted up at random in training",
     "Training: the n tokens are cut into `chunks` pieces; a token of piece i gets ID t + u_i.\n"
     "The shifts begin with u_0 = 0 and do not fall; the largest is target - n, so that IDs are\n"
     "strictly increasing, contiguous inside a piece and below target: a short text shows the\n"
     "distances of a long one.\n"
     "  2 chunks: the first has a length uniform in 1 .. floor((n+1)/2); u_1 is uniform in\n"
     "    0 .. target - n (as the code that was published with PoSE does).\n"
     "  more: the cuts are a uniformly random set of places; u_i is uniform in\n"
     "    u_(i-1) .. target - n (as its paper writes). Fewer tokens than chunks: one token each.\n"
     "  cut_anywhere: 2 chunks as more of them, the first of any length.\n"
     "  random_start: u_0 is uniform in 0 .. target - n, too.\n"
     "Evaluation: plain.\n"
     "One level. Needs: chunks (2 or more) and target, at least the tokens of the longest\n"
     "training example. Refused with span window, since a gap cuts the text apart."},
    {"coupled", "position coupling: tokens that belong together share an ID, as the task says",
     "ID of a token at level l = start_l + the label that the task gives it at that level; a\n"
     "token without a label has no ID there. `lengthen tasks NAME` tells a task's labels.\n"
     "Training with max_id: start_l is uniform in 1 .. max_id - (largest label), drawn for each\n"
     "example and level. Without max_id, and in evaluation: start_l = 1.\n"
     "`levels` takes the first so many of the task's levels; 0 takes all.\n"
     "These are the IDs that a model can also predict for itself (source absolute, delta or\n"
     "pointer). Needs: a task with labels."},
    {"coupled+randomized", "coupled, each level's labels spread over a sorted random sample",
     "At each level the labels least .. largest, those that no token has included, are mapped in\n"
     "order to a sorted sample of different integers of 0 .. max_id, drawn for each level; tokens\n"
     "that shared an ID still do. Training: drawn for each example. Evaluation: drawn by the\n"
     "prompt's own tokens.\n"
     "Needs: a task with labels; max_id, at least the number of labels of the longest example\n"
     "that will ever be met. Refused with span window (a gap cuts the columns apart) and with\n"
     "predicted IDs (a random step cannot be foreseen)."},
    {"coupled+pose", "coupled, with level 1's labels cut into chunks and shifted as PoSE does",
     "Training: level 1's labels least .. largest are cut into `chunks` ranges as the tokens are\n"
     "in pose; ID = 1 + label + u_i with u_i up to target - 2 - (largest label), so that no ID\n"
     "reaches target. The other levels are as in coupled. Evaluation: as coupled, start 1.\n"
     "Needs: a task with labels, chunks, target. Refused with span window (a gap cuts the\n"
     "columns apart) and with predicted IDs."},
    {"abacus", "the place of a digit inside its number; 0 on everything else",
     "ID of a digit = 1 + its place in the run of digits it stands in; other tokens have 0. What\n"
     "a digit is the task says.\n"
     "Training with max_id: one k, uniform in 0 .. max_id - (longest run), is added to all IDs\n"
     "but 0. Without max_id, and in evaluation: k = 0.\n"
     "Digits of the same place share an ID only if all numbers are written from the same end,\n"
     "the lowest digit first.\n"
     "One level. Needs: a task with digits."},
};

const lg_ids_info lg__head_infos[LG__HEAD_COUNT] = {
    {"absolute", "a classifier over all IDs up to max_id",
     "Classes 0 .. max_id are the IDs themselves; with several levels class max_id + 1 says\n"
     "that the next token has no ID at this level.\n"
     "The random start of training (ids coupled with max_id) shows it every ID. It can name no\n"
     "ID above max_id. Needs an encoding that shows absolute IDs, learned or sinusoidal; all\n"
     "others are refused: they show differences of IDs only (fire: nearly so)."},
    {"delta", "a classifier over the change of ID, -reach .. reach",
     "Class c stands for the carried ID + c - reach, where the carried ID is the latest one that\n"
     "an earlier token has at this level; with several levels class 2 reach + 1 says that the\n"
     "next token has no ID here.\n"
     "It can make only steps that training showed, at the same cost at any length: the head of\n"
     "million-token runs. Refused where a task's steps grow with the length."},
    {"pointer", "points to an earlier token and takes a small step from its ID",
     "The score of an earlier token j, seen from token t:\n"
     "  64 (q_t . k_j / sqrt(d) + u(D / (1 + |D|))), D = ID_j - the carried ID\n"
     "  u(x) = b0 at 0, -m1 x above, b2 - m2 |x| below, all learned, m1 and m2 >= 0\n"
     "The distance is bent so that it never outweighs what the keys say, at any length.\n"
     "Keys come from the stream that enters the last layer, of every earlier token whatever the\n"
     "span; the query from the final state of token t. The loss is -log of the summed\n"
     "probability of all tokens that carry the right ID; decoding takes the best, the latest on\n"
     "a tie.\n"
     "Beside it a classifier of 7: classes 0 .. 4, the step -2 .. 2 from the ID that is pointed\n"
     "to; 5, stay: the carried ID, so that the pointer's pass over the keys is made only where\n"
     "an ID jumps; 6: the next token has no ID at this level."},
};

int lg_ids_count(void) { return LG__IDS_COUNT; }
int lg_id_head_count(void) { return LG__HEAD_COUNT; }

lg_ids_info lg_ids_info_at(int i)
{
    return i < 0 || i >= LG__IDS_COUNT ? (lg_ids_info){0} : lg__ids_infos[i];
}

lg_ids_info lg_id_head_info_at(int i)
{
    return i < 0 || i >= LG__HEAD_COUNT ? (lg_ids_info){0} : lg__head_infos[i];
}
