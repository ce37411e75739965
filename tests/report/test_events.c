/* test_events.c: event files for TensorBoard: the frames by a second CRC32C, the messages by protoc. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "lengthen_report.h"

/* Castagnoli's CRC bit by bit, as polynomial division: no table, and not reflected but for the bits of each byte
 * and of the result. */
static uint32_t crc32c(const unsigned char *data, size_t n)
{
    uint32_t c = 0xffffffffu, r = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) {
            uint32_t bit = (uint32_t)(data[i] >> k) & 1;
            uint32_t top = c >> 31 ^ bit;
            c = c << 1 ^ (top ? 0x1edc6f41u : 0);
        }
    for (int k = 0; k < 32; k++) r |= (c >> k & 1) << (31 - k);
    return r ^ 0xffffffffu;
}

static uint32_t masked(const unsigned char *data, size_t n)
{
    uint32_t c = crc32c(data, n);
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

static uint64_t little(const unsigned char *at, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes; i--;) v = v << 8 | at[i];
    return v;
}

static unsigned char file[1 << 16];
static size_t size;

static void read_events(const char *folder)
{
    char path[1024] = "";
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strncmp(e->d_name, "events.out.tfevents.", 20) == 0) {
            assert_string_equal(path, ""); /* one file */
            snprintf(path, sizeof path, "%s/%.300s", folder, e->d_name);
        }
    closedir(d);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size = fread(file, 1, sizeof file, f);
    assert_true(size > 0 && size < sizeof file);
    fclose(f);
}

/* What protoc makes of record i; "" past the last. */
static const char *decode(int i)
{
    static char text[1 << 14];
    size_t at = 0;
    for (; i; i--) {
        if (at >= size) return "";
        at += 16 + (size_t)little(file + at, 8);
    }
    if (at >= size) return "";
    FILE *f = fopen(in_home("record"), "wb");
    assert_non_null(f);
    fwrite(file + at + 12, 1, (size_t)little(file + at, 8), f);
    fclose(f);
    char command[2048];
    snprintf(command, sizeof command,
             "protoc --decode=Event -I '" LG_TEST_DATA "' event.proto < %s", in_home("record"));
    FILE *p = popen(command, "r");
    assert_non_null(p);
    size_t n = fread(text, 1, sizeof text - 1, p);
    text[n] = 0;
    assert_int_equal(pclose(p), 0);
    return text;
}

static void has(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in:\n%s", words, text);
}

static void write_some(void)
{
    lg_error err = {0};
    lg_events *e = lg_events_open(in_home("tb/run"), &err);
    if (!e) fail_msg("%s", err.text);
    for (int i = 1; i <= 300; i++) {
        lg_run_step s = {.step = i, .loss = 1.0 / i, .accuracy = 0.5, .lr = 0.001, .length = 7};
        if (i == 300) s.id_loss = 0.25, s.id_accuracy = 0.75;
        assert_int_equal(lg_events_step(e, &s, &err), 0);
    }
    lg_cell c = {.step = 300, .length = 40, .predicted = 1, .values = 1};
    c.value[0] = (lg_value){.kind = lg_kind_find("exact"), .samples = 10, .value = 0.9};
    assert_int_equal(lg_events_cell(e, &c, &err), 0);
    assert_int_equal(lg_events_close(e, &err), 0);
    read_events(in_home("tb/run"));
}

static void the_second_crc_is_one(void **state)
{
    (void)state;
    assert_int_equal(crc32c((const unsigned char *)"123456789", 9), 0xe3069283u);
}

static void frames_have_their_sums(void **state)
{
    (void)state;
    int records = 0;
    write_some();
    for (size_t at = 0; at < size; records++) {
        assert_true(size - at >= 16);
        uint64_t n = little(file + at, 8);
        assert_true(n <= size - at - 16);
        assert_int_equal(little(file + at + 8, 4), masked(file + at, 8));
        assert_int_equal(little(file + at + 12 + n, 4), masked(file + at + 12, (size_t)n));
        at += 16 + (size_t)n;
    }
    assert_int_equal(records, 302); /* the version, the steps, the cell */
}

static void protoc_reads_them(void **state)
{
    (void)state;
    if (system("command -v protoc >/dev/null") != 0) skip();
    has(decode(0), "file_version: \"brain.Event:2\"");
    has(decode(2), "step: 2\n");
    has(decode(2), "tag: \"train/loss\"\n    simple_value: 0.5\n");
    has(decode(2), "tag: \"train/lr\"\n    simple_value: 0.001\n");
    assert_null(strstr(decode(2), "id_loss"));
    has(decode(300), "step: 300\n");
    has(decode(300), "tag: \"train/id_accuracy\"\n    simple_value: 0.75\n");
    has(decode(301), "step: 300\n");
    has(decode(301), "tag: \"eval/exact/length_40_predicted\"\n    simple_value: 0.9\n");
    assert_string_equal(decode(302), "");
}

static void a_folder_that_cannot_be_made_is_said(void **state)
{
    (void)state;
    lg_error err = {0};
    assert_null(lg_events_open("/dev/null/tb", &err));
    assert_true(strlen(err.text) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_crc_is_one),
        cmocka_unit_test(frames_have_their_sums),
        cmocka_unit_test(protoc_reads_them),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_said),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
