"""The public headers as ctypes. Made by make_structs.py; do not edit by hand."""
from ctypes import (Structure, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_ubyte,
                    c_uint, c_uint32, c_uint64, c_void_p)

LG_ABSENT = -2147483648
LG_ACT_GELU = 0
LG_ACT_GELU_TANH = 1
LG_ACT_SWIGLU = 2
LG_ARCH_LOOPED = 2
LG_ARCH_NEOX = 0
LG_ARCH_OLMO = 1
LG_ATTENTION_ENTMAX15 = 2
LG_ATTENTION_SOFTMAX = 0
LG_ATTENTION_SSMAX = 1
LG_CELL_VALUES = 12
LG_CORPUS_ALL = 0
LG_CORPUS_TEST = 2
LG_CORPUS_TRAIN = 1
LG_DOCTOR_FINE = 0
LG_DOCTOR_SLOW = 1
LG_DOCTOR_WRONG = 2
LG_ERROR_ARGUMENT = -1
LG_ERROR_MEMORY = -2
LG_ERROR_NAMES = 8
LG_ERROR_NUMERIC = -3
LG_ERROR_STOPPED = -5
LG_ERROR_SYSTEM = -4
LG_INTERVAL_MEAN = 2
LG_INTERVAL_NONE = 0
LG_INTERVAL_WILSON = 1
LG_KEY_TOKENS = 4
LG_LEVELS = 3
LG_LIST_PAIRS = 3
LG_MATCH_ANY = 3
LG_MATCH_NEXT = 1
LG_MATCH_NONE = 0
LG_MATCH_PREVIOUS = 2
LG_NONE = -1
LG_NORM_LAYER = 0
LG_NORM_PLAIN = 1
LG_NORM_RMS = 2
LG_OK = 0
LG_OWN_LINES = 1
LG_OWN_NONE = 0
LG_OWN_PROGRAM = 2
LG_OWN_TEXTS = 3
LG_PRECISION_BF16 = 1
LG_PRECISION_FP32 = 0
LG_PROBE_BINS = 8
LG_PROBE_ENOUGH = 100
LG_PROBE_GRADIENT = 1
LG_PROBE_LOO = 0
LG_ROPE_DYNAMIC = 3
LG_ROPE_LINEAR = 1
LG_ROPE_NTK = 2
LG_ROPE_PLAIN = 0
LG_ROPE_YARN = 4
LG_RUN_EITHER = 2
LG_RUN_NEW = 0
LG_RUN_RESUME = 1
LG_SAMPLED_ROWS = 64
LG_SCHEDULE_CONSTANT = 2
LG_SCHEDULE_COSINE = 1
LG_SCHEDULE_LINEAR = 0
LG_SIDE_ANY = 0
LG_SIDE_TEST = 2
LG_SIDE_TRAIN = 1
LG_SPAN_FULL = 0
LG_SPAN_WINDOW = 1
LG_UNIT_NATS = 1
LG_UNIT_SHARE = 0
LG_UNIT_TOKENS = 2


class _lg_error_name(Structure):
    _fields_ = [
        ("at", c_int),
        ("size", c_int),
    ]


class lg_error(Structure):
    _fields_ = [
        ("code", c_int),
        ("text", c_char * 512),
        ("key", c_char * 64),
        ("file", c_char * 256),
        ("line", c_int),
        ("set", c_int),
        ("begin", c_int),
        ("names", c_int),
        ("name", _lg_error_name * 8),
    ]


class lg_buffer(Structure):
    _fields_ = [
        ("data", c_char_p),
        ("size", c_size_t),
        ("room", c_size_t),
        ("lost", c_int),
    ]


class lg_rng(Structure):
    _fields_ = [
        ("key", c_uint32 * 2),
        ("counter", c_uint32 * 4),
        ("word", c_uint32 * 4),
        ("left", c_int),
    ]


class lg_batch(Structure):
    _fields_ = [
        ("sequences", c_int),
        ("rows", c_int),
        ("levels", c_int),
        ("offsets", c_void_p),
        ("tokens", c_void_p),
        ("targets", c_void_p),
        ("codes", c_void_p),
        ("ids", c_void_p * 3),
        ("id_targets", c_void_p * 3),
        ("point_targets", c_void_p * 3),
        ("room_sequences", c_int),
        ("room_rows", c_int),
    ]


class lg_sequence(Structure):
    _fields_ = [
        ("n", c_int),
        ("levels", c_int),
        ("tokens", c_void_p),
        ("targets", c_void_p),
        ("codes", c_void_p),
        ("ids", c_void_p * 3),
        ("id_targets", c_void_p * 3),
        ("point_targets", c_void_p * 3),
    ]


class lg_model_config(Structure):
    _fields_ = [
        ("arch", c_int),
        ("vocab", c_int),
        ("layers", c_int),
        ("width", c_int),
        ("heads", c_int),
        ("ff", c_int),
        ("norm", c_int),
        ("norm_eps", c_double),
        ("act", c_int),
        ("biases", c_int),
        ("parallel", c_int),
        ("tied", c_int),
        ("loops", c_int),
        ("inject", c_int),
        ("levels", c_int),
        ("encoding", c_char_p),
        ("max_id", c_int),
        ("rope_share", c_double),
        ("rope_base", c_double),
        ("rope_scaling", c_int),
        ("rope_factor", c_double),
        ("rope_length", c_int),
        ("span", c_int),
        ("window_lo", c_int * 3),
        ("window_hi", c_int * 3),
        ("attention", c_int),
        ("sink", c_int),
        ("id_classes", c_int * 3),
        ("pointer", c_int * 3),
        ("match", c_int * 3),
        ("key_tokens", c_int),
        ("key_token", c_int32 * 4),
        ("seed", c_uint64),
        ("isa", c_char_p),
    ]


class lg_param(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("rows", c_int),
        ("cols", c_int),
        ("decay", c_int),
        ("data", c_void_p),
    ]


class lg_train_options(Structure):
    _fields_ = [
        ("steps", c_int),
        ("lr", c_double),
        ("min_lr_ratio", c_double),
        ("warmup", c_int),
        ("cooldown", c_int),
        ("schedule", c_int),
        ("weight_decay", c_double),
        ("beta1", c_double),
        ("beta2", c_double),
        ("eps", c_double),
        ("grad_clip", c_double),
        ("id_weight", c_double),
        ("groups", c_int),
        ("threads", c_int),
        ("precision", c_int),
    ]


class lg_train_result(Structure):
    _fields_ = [
        ("loss", c_double),
        ("id_loss", c_double),
        ("targets", c_int),
        ("right", c_int),
        ("id_targets", c_int),
        ("id_right", c_int),
        ("first_rows", c_int),
        ("grad_norm", c_double),
        ("lr", c_double),
        ("step", c_int64),
        ("ranks_s", c_double),
    ]


class lg_eval_result(Structure):
    _fields_ = [
        ("rows", c_int),
        ("row", c_void_p),
        ("logits", c_void_p),
        ("id_logits", c_void_p * 3),
        ("pointed_id", c_void_p * 3),
        ("loss", c_double),
        ("id_loss", c_double),
        ("targets", c_int),
        ("right", c_int),
        ("id_targets", c_int),
        ("id_right", c_int),
    ]


class lg_eval_losses(Structure):
    _fields_ = [
        ("rows", c_int),
        ("row", c_void_p),
        ("loss", c_void_p),
    ]


class lg_setting(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("range", c_char_p),
        ("fallback", c_char_p),
        ("doc", c_char_p),
    ]


class lg_task_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("family", c_char_p),
        ("line", c_char_p),
        ("text", c_char_p),
        ("unit", c_char_p),
        ("sparsity", c_char_p),
        ("settings", c_void_p),
        ("own", c_int),
    ]


class lg_task_shape(Structure):
    _fields_ = [
        ("info", c_void_p),
        ("vocab", c_int),
        ("words", c_void_p),
        ("digit", c_void_p),
        ("stop", c_int32),
        ("levels", c_int),
        ("level", c_char_p * 3),
        ("role", c_int),
        ("needed", c_int),
        ("reach", c_int * 3),
        ("length_least", c_int),
        ("length_most", c_int),
        ("sparsity_least", c_int),
        ("sparsity_most", c_int),
        ("key_tokens", c_int),
        ("key_token", c_int32 * 4),
        ("key_back", c_int),
        ("match", c_int),
    ]


class lg_example(Structure):
    _fields_ = [
        ("n", c_int),
        ("answer", c_int),
        ("length", c_int),
        ("sparsity", c_int),
        ("tokens", c_void_p),
        ("labels", c_void_p * 3),
        ("loss", c_void_p),
        ("codes", c_void_p),
        ("room", c_int),
    ]


class lg_draw(Structure):
    _fields_ = [
        ("seed", c_uint64),
        ("stream", c_uint32),
        ("index", c_uint64),
        ("length_lo", c_int),
        ("length_hi", c_int),
        ("sparsity_lo", c_int),
        ("sparsity_hi", c_int),
        ("side", c_int),
    ]


class lg_encoding_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("line", c_char_p),
        ("text", c_char_p),
    ]


class lg_ids_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("line", c_char_p),
        ("text", c_char_p),
        ("labels", c_int),
    ]


class lg_id_head_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("line", c_char_p),
        ("text", c_char_p),
        ("steps", c_int),
    ]


class lg_scheme(Structure):
    _fields_ = [
        ("ids", c_char_p),
        ("levels", c_int),
        ("max_id", c_int),
        ("chunks", c_int),
        ("target", c_int),
        ("cut_anywhere", c_int),
        ("random_start", c_int),
        ("source", c_char_p * 3),
        ("reach", c_int),
        ("match", c_int),
    ]


class lg_plan(Structure):
    _fields_ = [
        ("scheme", lg_scheme),
        ("shape", c_void_p),
        ("ids", lg_ids_info),
        ("levels", c_int),
        ("head", c_int * 3),
        ("row", c_void_p),
        ("over", c_void_p),
        ("flags", c_uint),
    ]


class lg_sampler(Structure):
    _fields_ = [
        ("task", c_void_p),
        ("scheme", lg_scheme),
        ("train", c_int),
        ("draw", lg_draw),
        ("plan", lg_plan),
        ("config", lg_model_config),
        ("x", lg_example),
        ("ids", c_void_p * 3),
        ("batch", lg_batch),
        ("room", c_int),
        ("words", c_void_p),
        ("word_count", c_int),
    ]


class lg_score(Structure):
    _fields_ = [
        ("samples", c_int),
        ("exact", c_int),
        ("tokens", c_int64),
        ("right", c_int64),
        ("ids", c_int64),
        ("ids_right", c_int64),
        ("text", c_int64),
        ("first_least", c_int),
        ("first_median", c_int),
        ("first_in", c_int * 10),
    ]


class lg_tokenizer_info(Structure):
    _fields_ = [
        ("kind", c_char_p),
        ("vocab", c_int32),
        ("tokens", c_int32),
        ("merges", c_int64),
        ("added", c_int),
        ("bytes", c_int),
        ("begin", c_int32),
        ("end", c_int32),
        ("nfc", c_int),
        ("prefix_space", c_int),
        ("checksum", c_uint64),
    ]


class lg_corpus_progress(Structure):
    _fields_ = [
        ("done", c_double),
        ("documents", c_int64),
        ("bytes", c_int64),
        ("tokens", c_int64),
    ]


class lg_corpus_options(Structure):
    _fields_ = [
        ("paths", c_void_p),
        ("path_count", c_int),
        ("field", c_char_p),
        ("cache", c_char_p),
        ("test_share", c_double),
        ("seed", c_uint64),
        ("watch", c_void_p),
        ("context", c_void_p),
    ]


class lg_window(Structure):
    _fields_ = [
        ("document", c_int64),
        ("from", c_int64),
    ]


class lg_bpe_progress(Structure):
    _fields_ = [
        ("merging", c_int),
        ("done", c_double),
        ("words", c_int64),
        ("vocab", c_int32),
    ]


class lg_bpe_options(Structure):
    _fields_ = [
        ("paths", c_void_p),
        ("path_count", c_int),
        ("field", c_char_p),
        ("vocab", c_int32),
        ("file", c_char_p),
        ("watch", c_void_p),
        ("context", c_void_p),
    ]


class lg_bpe_result(Structure):
    _fields_ = [
        ("vocab", c_int32),
        ("words", c_int64),
        ("bytes", c_int64),
        ("documents", c_int64),
    ]


class lg_own_task(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("line", c_char_p),
        ("text", c_char_p),
        ("unit", c_char_p),
        ("words", c_void_p),
        ("vocab", c_int),
        ("stop", c_int32),
        ("levels", c_int),
        ("needed", c_int),
        ("level", c_char_p * 3),
        ("reach", c_int * 3),
        ("length_least", c_int),
        ("length_most", c_int),
        ("make", c_void_p),
        ("states", c_int),
        ("start", c_int),
        ("inputs", c_int),
        ("next", c_void_p),
        ("ends", c_void_p),
        ("write", c_void_p),
        ("context", c_void_p),
    ]


class lg_own_encoding(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("line", c_char_p),
        ("text", c_char_p),
        ("relative", c_int),
        ("parameters", c_int),
        ("bias", c_void_p),
        ("backward", c_void_p),
        ("context", c_void_p),
    ]


class lg_run_access(Structure):
    _fields_ = [
        ("allow_exec", c_int),
        ("fallback", c_int),
    ]


class lg_run_step(Structure):
    _fields_ = [
        ("step", c_int64),
        ("steps", c_int64),
        ("loss", c_double),
        ("id_loss", c_double),
        ("accuracy", c_double),
        ("id_accuracy", c_double),
        ("lr", c_double),
        ("tokens", c_int64),
        ("gflop", c_double),
        ("length", c_int),
        ("sparsity", c_int),
        ("ranks", c_int),
        ("ranks_s", c_double),
        ("note", c_char_p),
    ]


class lg_kind(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("form", c_char_p),
        ("label", c_char_p),
        ("unit", c_int),
        ("better", c_int),
        ("interval", c_int),
        ("leads", c_int),
    ]


class lg_value(Structure):
    _fields_ = [
        ("kind", c_void_p),
        ("samples", c_int),
        ("value", c_double),
        ("low", c_double),
        ("high", c_double),
    ]


class lg_cell(Structure):
    _fields_ = [
        ("step", c_int64),
        ("length", c_int),
        ("sparsity", c_int),
        ("first", c_int),
        ("last", c_int),
        ("context", c_int),
        ("predicted", c_int),
        ("setting", c_char * 200),
        ("data", c_char * 20),
        ("there", c_int64),
        ("held_out", c_int),
        ("tokens", c_double),
        ("seconds", c_double),
        ("value", lg_value * 12),
        ("values", c_int),
        ("kept", c_int),
        ("index", c_int),
        ("count", c_int),
        ("unit", c_char_p),
        ("trained_least", c_int),
        ("trained_length", c_int),
        ("trained_sparsity", c_int),
    ]


class lg_text_mean(Structure):
    _fields_ = [
        ("value", c_double),
        ("low", c_double),
        ("high", c_double),
    ]


class lg_probe_bin(Structure):
    _fields_ = [
        ("low", c_int),
        ("high", c_int),
        ("predictions", c_int),
        ("loss", lg_text_mean),
        ("excess", lg_text_mean),
    ]


class lg_import_info(Structure):
    _fields_ = [
        ("kind", c_char * 32),
        ("vocab_is_whole", c_int),
        ("length", c_int),
        ("tokenizer", c_char * 4096),
    ]


class lg_import_options(Structure):
    _fields_ = [
        ("path", c_char_p),
        ("folder", c_char_p),
        ("tokenizer", c_char_p),
        ("texts", c_char_p),
        ("field", c_char_p),
    ]


class lg_store_run(Structure):
    _fields_ = [
        ("number", c_int64),
        ("id", c_char_p),
        ("folder", c_char_p),
        ("state", c_char_p),
        ("error", c_char_p),
        ("task", c_char_p),
        ("positions", c_char_p),
        ("unit", c_char_p),
        ("config", c_char_p),
        ("commit", c_char_p),
        ("compiler", c_char_p),
        ("machine", c_char_p),
        ("kernels", c_char_p),
        ("seed", c_int64),
        ("step", c_int64),
        ("steps", c_int64),
        ("parameters", c_int64),
        ("least", c_int),
        ("length", c_int),
        ("sparsity", c_int),
        ("created", c_double),
        ("updated", c_double),
        ("seconds", c_double),
    ]


class lg_config_key(Structure):
    _fields_ = [
        ("key", c_char_p),
        ("type", c_char_p),
        ("fallback", c_char_p),
        ("doc", c_char_p),
        ("range", c_char * 256),
    ]


class lg_config_value(Structure):
    _fields_ = [
        ("key", c_char_p),
        ("value", c_char_p),
        ("list", c_int),
    ]


class lg_config_values(Structure):
    _fields_ = [
        ("at", c_void_p),
        ("count", c_int),
        ("room", c_int),
    ]


class lg_eval_options(Structure):
    _fields_ = [
        ("folder", c_char_p),
        ("access", lg_run_access),
        ("store", c_char_p),
        ("lengths", c_void_p),
        ("length_count", c_int),
        ("samples", c_int),
        ("force", c_int),
        ("threads", c_int),
        ("seconds", c_double),
        ("sparsities", c_void_p),
        ("sparsity_count", c_int),
        ("settings", c_void_p),
        ("setting_count", c_int),
        ("task", c_char_p),
        ("predicted", c_int),
        ("generated_only", c_int),
        ("judging", c_void_p),
        ("texts", c_char_p),
        ("field", c_char_p),
        ("sliding", c_int),
        ("each", c_void_p),
        ("context", c_void_p),
        ("stop", c_void_p),
    ]


class lg_probe_options(Structure):
    _fields_ = [
        ("folder", c_char_p),
        ("access", lg_run_access),
        ("task", c_char_p),
        ("length", c_int * 2),
        ("sparsity", c_int),
        ("predictions", c_int),
        ("keep_last", c_int),
        ("keep_first", c_int),
        ("epsilon", c_double),
        ("least", c_double),
        ("threads", c_int),
        ("seconds", c_double),
        ("stop", c_void_p),
    ]


class lg_probe_result(Structure):
    _fields_ = [
        ("predictions", c_int),
        ("dependent", c_int),
        ("loss", c_double),
        ("tokens_median", c_int),
        ("k_median", c_int),
        ("k_90", c_int),
        ("necessary", c_double),
        ("stands", c_double),
        ("matter_median", c_int),
        ("matter_90", c_int),
    ]


class lg_probe_passage(Structure):
    _fields_ = [
        ("document", c_int64),
        ("n", c_int),
        ("tokens", c_void_p),
        ("words", c_void_p),
        ("piece", c_void_p),
        ("size", c_void_p),
    ]


class lg_probe_row(Structure):
    _fields_ = [
        ("document", c_int64),
        ("position", c_int),
        ("token", c_int32),
        ("loss", c_double),
        ("loss_0", c_double),
        ("depends", c_int),
        ("k", c_int),
        ("sources", c_int),
        ("source", c_void_p),
        ("influence", c_void_p),
        ("curve", c_void_p),
        ("against", c_double),
        ("against_short", c_double),
    ]


class lg_run_probe_options(Structure):
    _fields_ = [
        ("folder", c_char_p),
        ("access", lg_run_access),
        ("against", c_char_p),
        ("texts", c_char_p),
        ("field", c_char_p),
        ("task", c_char_p),
        ("length", c_int),
        ("documents", c_int),
        ("predictions", c_int),
        ("method", c_int),
        ("keep_last", c_int),
        ("keep_first", c_int),
        ("most_k", c_int),
        ("epsilon", c_double),
        ("least", c_double),
        ("threads", c_int),
        ("store", c_char_p),
        ("begun", c_char_p),
        ("passage", c_void_p),
        ("row", c_void_p),
        ("progress", c_void_p),
        ("context", c_void_p),
        ("stop", c_void_p),
    ]


class lg_probe_summary(Structure):
    _fields_ = [
        ("step", c_int64),
        ("against_step", c_int64),
        ("length", c_int),
        ("length_least", c_int),
        ("trained_length", c_int),
        ("unit", c_char_p),
        ("context", c_int),
        ("documents", c_int),
        ("predictions", c_int),
        ("dependent", c_int),
        ("most_k", c_int),
        ("stopped", c_int),
        ("loss", c_double),
        ("k_quantile", c_int * 5),
        ("k_share", c_double * 33),
        ("bin", lg_probe_bin * 8),
        ("few", c_int),
        ("many", c_int),
        ("small", lg_text_mean),
        ("large", lg_text_mean),
        ("difference", lg_text_mean),
    ]


class lg_run_token(Structure):
    _fields_ = [
        ("example", c_int64),
        ("at", c_int),
        ("generated", c_int),
        ("token", c_int32),
        ("word", c_char_p),
        ("levels", c_int),
        ("id", c_int32 * 3),
        ("p", c_double),
        ("expected", c_int32),
        ("expected_id", c_int32 * 3),
        ("expected_word", c_char_p),
    ]


class lg_run_answer(Structure):
    _fields_ = [
        ("example", c_int64),
        ("step", c_int64),
        ("task", c_char_p),
        ("unit", c_char_p),
        ("length", c_int),
        ("sparsity", c_int),
        ("predicted", c_int),
        ("levels", c_int),
        ("level", c_char_p * 3),
        ("prompt", c_int),
        ("tokens", c_int),
        ("ended", c_int),
        ("known", c_int),
        ("right", c_int),
        ("exact", c_int),
        ("wrong", c_int),
        ("wrong_ids", c_int),
        ("expected", c_char_p),
        ("got", c_char_p),
    ]


class lg_generate_options(Structure):
    _fields_ = [
        ("folder", c_char_p),
        ("access", lg_run_access),
        ("prompt", c_char_p),
        ("prompt_ids", c_char_p),
        ("length", c_int),
        ("sparsity", c_int),
        ("count", c_int),
        ("seed", c_int64),
        ("predicted", c_int),
        ("temperature", c_double),
        ("max_tokens", c_int),
        ("callback", c_void_p),
        ("answered", c_void_p),
        ("context", c_void_p),
    ]


class lg_text_generated(Structure):
    _fields_ = [
        ("step", c_int64),
        ("prompt", c_int),
        ("tokens", c_int),
        ("ended", c_int),
        ("token", c_void_p),
    ]


class lg_text_generate_options(Structure):
    _fields_ = [
        ("folder", c_char_p),
        ("access", lg_run_access),
        ("prompt", c_char_p),
        ("count", c_int),
        ("max_tokens", c_int),
        ("temperature", c_double),
        ("seed", c_int64),
        ("callback", c_void_p),
        ("done", c_void_p),
        ("context", c_void_p),
    ]


class lg_bench_row(Structure):
    _fields_ = [
        ("bench", c_char_p),
        ("name", c_char_p),
        ("threads", c_int),
        ("gflops", c_double),
        ("gbytes", c_double),
        ("tokens_per_s", c_double),
        ("predictions_per_s", c_double),
        ("step_ms", c_double),
        ("peak", c_double),
        ("peak_share", c_double),
        ("peak_drift", c_double),
        ("torch", c_double),
        ("torch_cpu", c_double),
        ("torch_tuned", c_double),
        ("torch_bf16", c_double),
        ("ratio_torch", c_double),
        ("ratio_torch_cpu", c_double),
        ("ratio_torch_tuned", c_double),
        ("ratio_torch_bf16", c_double),
    ]


class lg_bench_options(Structure):
    _fields_ = [
        ("threads", c_int),
        ("seconds", c_double),
        ("shape", c_char_p),
        ("precision", c_int),
        ("torch_script", c_char_p),
        ("torch_python", c_char_p),
        ("rounds", c_int),
        ("tokenizer", c_char_p),
        ("text", c_char_p),
    ]


class lg_run_options(Structure):
    _fields_ = [
        ("config", c_char_p),
        ("sets", c_void_p),
        ("set_count", c_int),
        ("folder", c_char_p),
        ("access", lg_run_access),
        ("store", c_char_p),
        ("resume", c_int),
        ("threads", c_int),
        ("comm", c_void_p),
        ("watch", c_void_p),
        ("each", c_void_p),
        ("context", c_void_p),
        ("stop", c_void_p),
    ]


class lg_certify_options(Structure):
    _fields_ = [
        ("folder", c_char_p),
        ("access", lg_run_access),
        ("model", c_void_p),
        ("task", c_void_p),
        ("scheme", c_void_p),
        ("most", c_double),
        ("threads", c_int),
        ("confirm", c_int),
        ("progress", c_void_p),
        ("context", c_void_p),
    ]


class lg_confirmed(Structure):
    _fields_ = [
        ("random", c_int),
        ("worst", c_int),
        ("columns", c_int),
        ("longest", c_int),
        ("wrong", c_int),
    ]


class lg_certificate(Structure):
    _fields_ = [
        ("certified", c_int),
        ("contexts", c_int64),
        ("wrong", c_int64),
        ("min_margin", c_double),
        ("pairs", c_int64),
        ("missed", c_int64),
        ("false_matches", c_int64),
        ("step", c_int64),
        ("isa", c_char_p),
        ("layers", c_int),
        ("back", c_int),
        ("ahead", c_int),
        ("input", c_char * 4096),
        ("answer", c_char * 4096),
        ("right", c_char * 4096),
        ("columns", c_int),
        ("first", c_int),
        ("shortest", c_int),
        ("confirmed", lg_confirmed),
        ("warning", c_char * 512),
    ]


class lg_list_options(Structure):
    _fields_ = [
        ("folder", c_char_p),
        ("access", lg_run_access),
        ("data", c_char_p),
        ("fresh", c_char_p),
        ("lengths", c_void_p),
        ("length_count", c_int),
        ("samples", c_int),
        ("most", c_double),
        ("threads", c_int),
        ("progress", c_void_p),
        ("context", c_void_p),
    ]


class lg_list_pair(Structure):
    _fields_ = [
        ("line", c_int64 * 2),
        ("place", c_int),
        ("answer", c_char * 80 * 2),
        ("context", c_char * 400),
    ]


class lg_list(Structure):
    _fields_ = [
        ("certified", c_int),
        ("lines", c_int),
        ("examples", c_int64),
        ("positions", c_int64),
        ("contexts", c_int64),
        ("wrong", c_int64),
        ("contradictions", c_int64),
        ("contradicting", c_int64),
        ("min_margin", c_double),
        ("alone", c_int64),
        ("fresh", c_int64),
        ("left", c_int64),
        ("disagree", c_int64),
        ("pairs", c_int),
        ("pair", lg_list_pair * 3),
        ("first_wrong", lg_list_pair),
        ("step", c_int64),
        ("isa", c_char_p),
        ("data", c_char * 512),
        ("warning", c_char * 512),
    ]


class lg_sampled_cost(Structure):
    _fields_ = [
        ("length", c_int),
        ("samples", c_int),
        ("tokens", c_double),
        ("seconds", c_double),
        ("by_context", c_int),
    ]


class lg_sampled_options(Structure):
    _fields_ = [
        ("folder", c_char_p),
        ("access", lg_run_access),
        ("data", c_char_p),
        ("lengths", c_void_p),
        ("length_count", c_int),
        ("share", c_double),
        ("confidence", c_double),
        ("failures", c_int),
        ("threads", c_int),
        ("cost", c_void_p),
        ("context", c_void_p),
        ("stop", c_void_p),
    ]


class lg_sampled_row(Structure):
    _fields_ = [
        ("length", c_int),
        ("samples", c_int),
        ("wrong", c_int),
        ("least", c_double),
        ("certified", c_int),
        ("tokens", c_double),
        ("seconds", c_double),
    ]


class lg_sampled(Structure):
    _fields_ = [
        ("certified", c_int),
        ("share", c_double),
        ("confidence", c_double),
        ("failures", c_int),
        ("rows", c_int),
        ("row", lg_sampled_row * 64),
        ("by_context", c_int),
        ("predicted", c_int),
        ("step", c_int64),
        ("isa", c_char_p),
        ("unit", c_char_p),
        ("data", c_char * 512),
        ("warning", c_char * 512),
    ]


class lg_doctor_row(Structure):
    _fields_ = [
        ("topic", c_char_p),
        ("name", c_char * 32),
        ("value", c_char * 256),
        ("state", c_int),
        ("advice", c_char * 256),
    ]


# What each returns, and takes.
FUNCTIONS = {
    "lg_answer": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_int, c_int, c_int, c_void_p, c_void_p]),
    "lg_answer_taught": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_int, c_int, c_int, c_void_p, c_void_p]),
    "lg_argmax": (c_int32, [c_void_p, c_int]),
    "lg_batch_add": (c_int, [c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_batch_add_levels": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_batch_clear": (None, [c_void_p]),
    "lg_batch_init": (None, [c_void_p]),
    "lg_batch_reset": (None, [c_void_p]),
    "lg_bench_generate": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_bench_kernels": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_bench_options_default": (lg_bench_options, []),
    "lg_bench_peak": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_bench_probe": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_bench_step": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_bench_tasks": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_bench_text": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_bench_torch_check": (c_int, [c_void_p, c_void_p]),
    "lg_bpe_train": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_buffer_add": (None, [c_void_p, c_void_p, c_size_t]),
    "lg_buffer_clear": (None, [c_void_p]),
    "lg_buffer_json": (None, [c_void_p, c_char_p, c_size_t]),
    "lg_buffer_put": (None, [c_void_p, c_char_p]),
    "lg_buffer_save": (c_int, [c_void_p, c_char_p, c_void_p]),
    "lg_buffer_take": (c_char_p, [c_void_p, c_void_p]),
    "lg_cell_form": (c_char_p, [c_void_p]),
    "lg_cell_get": (c_void_p, [c_void_p, c_char_p]),
    "lg_certificate_json": (c_char_p, [c_void_p]),
    "lg_certify": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_certify_list": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_certify_sampled": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_comm_close": (None, [c_void_p, c_int]),
    "lg_comm_is_common": (c_int, [c_void_p]),
    "lg_comm_open": (c_int, [c_void_p, c_void_p]),
    "lg_comm_rank": (c_int, [c_void_p]),
    "lg_comm_set_timeout": (None, [c_void_p, c_double]),
    "lg_comm_size": (c_int, [c_void_p]),
    "lg_commit": (c_char_p, []),
    "lg_compiler": (c_char_p, []),
    "lg_config_key_at": (lg_config_key, [c_int]),
    "lg_config_key_count": (c_int, []),
    "lg_config_nearest": (c_char_p, [c_char_p]),
    "lg_config_same_value": (c_int, [c_char_p, c_char_p]),
    "lg_config_values_clear": (None, [c_void_p]),
    "lg_config_values_default": (c_int, [c_void_p, c_char_p, c_void_p]),
    "lg_config_values_get": (c_char_p, [c_void_p, c_char_p]),
    "lg_config_values_read": (c_int, [c_void_p, c_char_p, c_void_p]),
    "lg_cores": (c_int, []),
    "lg_corpus_bytes": (c_int64, [c_void_p]),
    "lg_corpus_checksum": (c_uint64, [c_void_p]),
    "lg_corpus_document": (c_int64, [c_void_p, c_int, c_int64]),
    "lg_corpus_documents": (c_int64, [c_void_p, c_int]),
    "lg_corpus_free": (None, [c_void_p]),
    "lg_corpus_length": (c_int64, [c_void_p, c_int64]),
    "lg_corpus_note": (c_char_p, [c_void_p]),
    "lg_corpus_open": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "lg_corpus_read": (c_int, [c_void_p, c_int64, c_int64, c_int, c_void_p, c_void_p]),
    "lg_corpus_tokens": (c_int64, [c_void_p, c_int]),
    "lg_cpu": (None, [c_void_p]),
    "lg_decoder_free": (None, [c_void_p]),
    "lg_decoder_id_logits": (c_void_p, [c_void_p, c_int, c_int]),
    "lg_decoder_length": (c_int, [c_void_p, c_int]),
    "lg_decoder_logits": (c_void_p, [c_void_p, c_int]),
    "lg_decoder_new": (c_void_p, [c_void_p, c_int, c_void_p]),
    "lg_decoder_point": (c_int32, [c_void_p, c_int, c_int]),
    "lg_decoder_start": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_decoder_step": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_doctor": (c_int, [c_int, c_void_p, c_void_p, c_void_p]),
    "lg_encoding_add": (c_int, [c_void_p, c_void_p]),
    "lg_encoding_count": (c_int, []),
    "lg_encoding_info_at": (lg_encoding_info, [c_int]),
    "lg_evaluator_free": (None, [c_void_p]),
    "lg_evaluator_losses": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_evaluator_new": (c_void_p, [c_void_p, c_int, c_void_p]),
    "lg_evaluator_run": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_example_clear": (None, [c_void_p]),
    "lg_example_init": (None, [c_void_p]),
    "lg_example_put": (c_int, [c_void_p, c_int32, c_int, c_void_p, c_void_p]),
    "lg_example_text": (c_size_t, [c_void_p, c_void_p, c_char_p, c_size_t]),
    "lg_export": (c_int, [c_void_p, c_int, c_char_p, c_void_p]),
    "lg_folder_remove": (None, [c_char_p]),
    "lg_id_head_count": (c_int, []),
    "lg_id_head_info_at": (lg_id_head_info, [c_int]),
    "lg_ids_count": (c_int, []),
    "lg_ids_info_at": (lg_ids_info, [c_int]),
    "lg_import": (c_void_p, [c_char_p, c_void_p, c_void_p]),
    "lg_isa": (c_char_p, []),
    "lg_kind_at": (c_void_p, [c_int]),
    "lg_kind_count": (c_int, []),
    "lg_kind_find": (c_void_p, [c_char_p]),
    "lg_kind_leading": (c_void_p, [c_char_p]),
    "lg_list_json": (c_char_p, [c_void_p]),
    "lg_list_save": (c_int, [c_void_p, c_char_p, c_void_p]),
    "lg_loaded_draw": (lg_draw, [c_void_p]),
    "lg_loaded_free": (None, [c_void_p]),
    "lg_loaded_model": (c_void_p, [c_void_p]),
    "lg_loaded_scheme": (c_void_p, [c_void_p]),
    "lg_loaded_step": (c_int64, [c_void_p]),
    "lg_loaded_task": (c_void_p, [c_void_p]),
    "lg_model_config_check": (c_int, [c_void_p, c_void_p]),
    "lg_model_config_default": (lg_model_config, [c_int]),
    "lg_model_free": (None, [c_void_p]),
    "lg_model_get_config": (c_void_p, [c_void_p]),
    "lg_model_isa": (c_char_p, [c_void_p]),
    "lg_model_isa_bf16": (c_char_p, [c_void_p]),
    "lg_model_load": (c_void_p, [c_char_p, c_void_p]),
    "lg_model_new": (c_void_p, [c_void_p, c_void_p]),
    "lg_model_param": (lg_param, [c_void_p, c_int]),
    "lg_model_param_count": (c_int, [c_void_p]),
    "lg_model_param_find": (c_int, [c_void_p, c_char_p]),
    "lg_model_param_total": (c_int64, [c_void_p]),
    "lg_model_save": (c_int, [c_void_p, c_char_p, c_void_p]),
    "lg_model_set_length": (c_int, [c_void_p, c_int, c_void_p]),
    "lg_model_touch": (None, [c_void_p]),
    "lg_nearest": (c_int, [c_char_p, c_void_p, c_int]),
    "lg_peak_gflops": (c_double, [c_int]),
    "lg_plain": (c_char_p, [c_char_p]),
    "lg_plan_add": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_plan_ids": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_plan_next_id": (c_int32, [c_void_p, c_void_p, c_void_p, c_int, c_int, c_int32]),
    "lg_plan_open": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_probe": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_probe_concludes": (c_int, [c_void_p]),
    "lg_probe_options_default": (lg_probe_options, []),
    "lg_probe_verdict": (None, [c_void_p, c_char_p, c_size_t]),
    "lg_rng_below": (c_uint32, [c_void_p, c_uint32]),
    "lg_rng_init": (None, [c_void_p, c_uint64, c_uint32, c_uint64]),
    "lg_rng_normal": (c_double, [c_void_p]),
    "lg_rng_u32": (c_uint32, [c_void_p]),
    "lg_rng_uniform": (c_double, [c_void_p]),
    "lg_run_eval": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_run_eval_by_context": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_run_export": (c_int, [c_char_p, c_char_p, c_int, c_void_p, c_void_p, c_void_p]),
    "lg_run_form": (c_char_p, [c_char_p]),
    "lg_run_generate": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_run_generate_text": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_run_import": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_run_load": (c_void_p, [c_char_p, c_void_p, c_void_p, c_void_p]),
    "lg_run_probe": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_run_probe_options_default": (lg_run_probe_options, []),
    "lg_run_train": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_sample": (c_int32, [c_void_p, c_int, c_double, c_void_p]),
    "lg_sampled_json": (c_char_p, [c_void_p]),
    "lg_sampled_save": (c_int, [c_void_p, c_char_p, c_void_p]),
    "lg_sampler_check": (c_int, [c_void_p, c_void_p]),
    "lg_sampler_clear": (None, [c_void_p]),
    "lg_sampler_init": (None, [c_void_p]),
    "lg_sampler_line": (c_int, [c_void_p, c_void_p, c_void_p]),
    "lg_sampler_next": (c_int, [c_void_p, c_void_p]),
    "lg_sampler_ready": (c_int, [c_void_p, c_void_p]),
    "lg_scheme_check": (c_int, [c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p]),
    "lg_scheme_config": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_scheme_default": (lg_scheme, []),
    "lg_store_cells": (c_int, [c_void_p, c_int64, c_int64, c_char_p, c_void_p, c_void_p, c_void_p]),
    "lg_store_close": (None, [c_void_p]),
    "lg_store_delete": (c_int, [c_void_p, c_int64, c_void_p]),
    "lg_store_differences": (c_int, [c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_void_p]),
    "lg_store_find": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_void_p]),
    "lg_store_open": (c_void_p, [c_char_p, c_int, c_void_p]),
    "lg_store_runs": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_store_steps": (c_int, [c_void_p, c_int64, c_void_p, c_void_p, c_void_p]),
    "lg_task_add": (c_int, [c_void_p, c_void_p]),
    "lg_task_count": (c_int, []),
    "lg_task_example": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_task_free": (None, [c_void_p]),
    "lg_task_get_shape": (c_void_p, [c_void_p]),
    "lg_task_info_at": (c_void_p, [c_int]),
    "lg_task_info_find": (c_void_p, [c_char_p]),
    "lg_task_new": (c_void_p, [c_char_p, c_void_p, c_int, c_void_p]),
    "lg_text_task_add": (None, []),
    "lg_tokenizer_decode": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    "lg_tokenizer_encode": (c_int, [c_void_p, c_char_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    "lg_tokenizer_free": (None, [c_void_p]),
    "lg_tokenizer_get_info": (lg_tokenizer_info, [c_void_p]),
    "lg_tokenizer_open": (c_void_p, [c_char_p, c_void_p]),
    "lg_tokenizer_piece": (c_char_p, [c_void_p, c_int32, c_void_p]),
    "lg_train_lr": (c_double, [c_void_p, c_int64]),
    "lg_train_options_default": (lg_train_options, []),
    "lg_trainer_free": (None, [c_void_p]),
    "lg_trainer_gradient": (c_void_p, [c_void_p, c_int]),
    "lg_trainer_gradients": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_trainer_inputs": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_trainer_moment": (c_void_p, [c_void_p, c_int, c_int]),
    "lg_trainer_new": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "lg_trainer_set_steps": (None, [c_void_p, c_int64]),
    "lg_trainer_step": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "lg_trainer_steps": (c_int64, [c_void_p]),
    "lg_utf8_letter": (c_size_t, [c_char_p, c_size_t]),
    "lg_version": (c_char_p, []),
    "lg_windows_count": (c_int64, [c_void_p]),
    "lg_windows_draw": (c_int, [c_void_p, c_uint64, c_uint32, c_uint64, c_void_p, c_void_p, c_void_p]),
    "lg_windows_free": (None, [c_void_p]),
    "lg_windows_joined": (c_void_p, [c_void_p, c_int, c_int, c_void_p]),
    "lg_windows_new": (c_void_p, [c_void_p, c_int, c_int, c_void_p]),
    "lg_write_remedy": (c_char_p, [c_int]),
}
