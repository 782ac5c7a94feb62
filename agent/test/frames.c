/* Tests of greeting and frames, also of bytes that are cut or are no frames at all. */
#include "../crc32c.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Checksums */

static void both_checksums_agree_with_rfc_3720(void) {
    uint8_t bytes[1000] = {0};
    CHECK(crc32c_table(0, bytes, 32) == 0x8A9136AA && crc32c(0, bytes, 32) == 0x8A9136AA);
    CHECK(crc32c_table(0, "123456789", 9) == 0xE3069283 && crc32c(0, "123456789", 9) == 0xE3069283);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random();
    for (size_t from = 0; from < 9; from++)
        for (size_t length = 0; crc32c_has_sse42() && length < sizeof bytes - 9; length++)
            CHECK(crc32c_table(7, bytes + from, length) == crc32c_sse42(7, bytes + from, length));
}

/* Greeting */

static void welcome_says_what_the_agent_is(void) {
    host_connect_again();
    CHECK(welcome.version == 1 && welcome.window > 0 && welcome.capabilities == 24 && welcome.code[0] == 0);
    CHECK(strcmp(welcome.agent_version, "1") == 0 && strlen(welcome.boot_id) == 36 && welcome.generation[3] == 1);
    host_ping();
}

static void nothing_is_done_before_hello(void) {
    uint8_t bytes[2 * FRAME_LIMIT], fields[200], nonce[NONCE_LENGTH] = {1};
    char path[200], command[300];
    file_path(path, sizeof path, "too-early");
    snprintf(command, sizeof command, "touch %s", path);
    uint8_t *at = put_text(fields, TAG_OPERATION, "exec");
    at = put_text(put_exec_id(at, next_id++), TAG_COMMAND, command);
    size_t length = preamble_write(bytes, nonce);
    length += frame_write(bytes + length, OPEN, 0, 0, 1, fields, (size_t)(at - fields));
    host_send_raw(bytes, length);
    check_usable();
    CHECK(access(path, F_OK) == -1);
}

static void another_version_is_refused_and_opens_nothing(void) {
    /* The hello of another version, by hand: host_connect has only version 1. */
    uint8_t bytes[2 * FRAME_LIMIT], nonce[NONCE_LENGTH] = {2}, fields[64];
    size_t length = preamble_write(bytes, nonce);
    uint8_t *at = put_number(fields, TAG_VERSION, 2);
    length += frame_write(bytes + length, HELLO, 0, 0, 0, fields, (size_t)(at - fields));
    host_send_raw(bytes, length);
    check_usable();
    CHECK(strlen(file_text("log")) > 0 && strstr(file_text("log"), "HELLO refused") != NULL);
}

/* Bytes that are cut, or no frames at all */

static size_t sample_traffic(uint8_t *bytes) {
    uint8_t nonce[NONCE_LENGTH] = {3}, fields[5000], id[ID_LENGTH], entropy[ENTROPY_LENGTH] = {0};
    size_t length = preamble_write(bytes, nonce);
    memset(id, 1, sizeof id);
    uint8_t *at = put_number(fields, TAG_VERSION, 1);
    at = put_bytes(at, TAG_GENERATION, id, ID_LENGTH);
    at = put_number(at, TAG_WALL_CLOCK, 1);
    at = put_bytes(at, TAG_ENTROPY, entropy, ENTROPY_LENGTH);
    at = put_number(at, TAG_WINDOW, WINDOW);
    length += frame_write(bytes + length, HELLO, 0, 0, 0, fields, (size_t)(at - fields));
    at = put_text(fields, TAG_OPERATION, "exec");
    at = put_text(put_exec_id(at, next_id++), TAG_COMMAND, "cat");
    at = put_text(at, TAG_USER, getuid() == 0 ? "root" : getenv("USER"));
    size_t whole = (size_t)(at - fields);
    length += frame_write(bytes + length, OPEN, 0, FLAG_MORE, 1, fields, 20);
    length += frame_write(bytes + length, OPEN, 0, 0, 1, fields + 20, whole - 20);
    for (uint64_t offset = 0; offset < 4000; offset += 1000) {
        uint8_t data[1008];
        memset(data, 'd', sizeof data);
        put_u64(data, offset);
        /* What a user sends must not be taken for a connection, wherever the stream is cut. */
        memcpy(data + 500, MAGIC, MAGIC_LENGTH);
        length += frame_write(bytes + length, DATA, 0, 0, 1, data, sizeof data);
    }
    put_u64(fields, 4000);
    length += frame_write(bytes + length, END, 0, 0, 1, fields, 8);
    return length;
}

static void a_connection_begins_wherever_the_one_before_was_cut(void) {
    static uint8_t bytes[3 * FRAME_LIMIT];
    for (int i = 0; i < 150; i++) {
        size_t length = sample_traffic(bytes), interesting = length - FRAME_LIMIT;
        size_t cut = i % 10 == 0 ? test_random() % length : FRAME_LIMIT + test_random() % (interesting + 1);
        host_send_raw(bytes, cut);
        if (i % 2 == 0)
            usleep(1000); /* so that the agent has often seen the half before the rest */
        host_connect_again();
        CHECK(welcome.code[0] == 0);
        host_ping();
    }
    check_usable();
}

static void a_wrong_checksum_ends_the_connection(void) {
    uint8_t frame[64];
    size_t length = frame_write(frame, PING, 0, 0, 0, "12345678", 8);
    frame[length - 1] ^= 1;
    host_send_raw(frame, length);
    uint64_t before = pongs;
    host_send(PING, 0, 0, 0, "12345678", 8);
    CHECK(!host_step(50) && pongs == before);
    check_usable();
}

static void random_bytes_do_no_harm(void) {
    for (int i = 0; i < 24; i++) {
        uint8_t *bytes = random_bytes(128 * 1024);
        if (i % 3 == 1) /* many frame marks */
            for (size_t at = 0; at < 128 * 1024; at += 1 + test_random() % 64)
                bytes[at] = 0xC7;
        if (i % 3 == 2) { /* many magics */
            for (size_t at = 0; at + 100 < 128 * 1024; at += 33 + test_random() % 64)
                memcpy(bytes + at, MAGIC, MAGIC_LENGTH);
        }
        host_send_raw(bytes, 128 * 1024);
        free(bytes);
        check_usable();
    }
}

/* Fields that are often nearly right. */
static size_t random_fields(uint8_t *fields) {
    static const char *const texts[] = {"exec", "exec.attach", "exec.kill", "clock", "sync", "leave", "cat", "true",
                                        "root", "A=b",         "",          "disk.grow", "=", "/nowhere", "echo x; exit 1",
                                        "file.stat", "file.read", "file.list", "file.watch",
                                        "pty.open", "pty.attach", "pty.list", "pty.resize", "pty.signal", "pty.close",
                                        "/etc/init.d", "/etc/hostname", "/dev/null"};
    uint8_t *at = fields;
    for (unsigned count = (unsigned)(test_random() % 6); count > 0; count--) {
        enum tag tag = (enum tag)(test_random() % 80);
        switch (test_random() % 4) {
        case 0:
            at = put_text(at, test_random() % 2 ? TAG_OPERATION : tag, texts[test_random() % (sizeof texts / sizeof *texts)]);
            break;
        case 1:
            at = put_number(at, tag, test_random() >> (test_random() % 64));
            break;
        case 2:
            at = put_exec_id(at, 700000 + test_random() % 8);
            break;
        default:
            at = put_text(at, TAG_COMMAND, texts[test_random() % (sizeof texts / sizeof *texts)]);
        }
    }
    if (at > fields && test_random() % 8 == 0)
        fields[test_random() % (size_t)(at - fields)] ^= (uint8_t)test_random();
    return (size_t)(at - fields);
}

static void random_frames_do_no_harm(void) {
    uint8_t *bytes = malloc(4 * MIB);
    for (int i = 0; i < 30; i++) {
        host_connect_again();
        size_t length = 0;
        for (int frames = 0; frames < 300; frames++) {
            uint8_t payload[1024];
            size_t size = test_random() % 3 ? random_fields(payload) : 8 + test_random() % 100;
            if (test_random() % 4 == 0 && size >= 8)
                put_u64(payload, test_random() >> (test_random() % 65 % 64));
            enum kind kind = (enum kind)(test_random() % 3 ? 2 + test_random() % 10 : OPEN);
            length += frame_write(bytes + length, kind, (uint8_t)(test_random() % 4), (uint8_t)(test_random() % 8 == 0),
                                  (uint32_t)(test_random() % 8 ? frames / 4 + 1 - test_random() % 2 : test_random()), payload,
                                  size);
        }
        host_send_raw(bytes, length);
        check_usable();
    }
    free(bytes);
}

static void a_host_that_does_not_read_is_not_answered_without_limit(void) {
    uint8_t *bytes = malloc(2 * MIB);
    size_t length = 0;
    while (length + 100 < 2 * MIB)
        length += frame_write(bytes + length, PING, 0, 0, 0, "12345678", 8);
    uint64_t before = pongs, sent = length / (HEADER_LENGTH + 8);
    host_send_raw(bytes, length);
    free(bytes);
    while (pongs < before + sent)
        CHECK(host_step(PATIENCE_MS));
}

static void nothing_comes_after_the_answer_to_leave(void) {
    for (int i = 0; i < 10; i++) {
        struct run *loud = host_exec(next_id++, "head -c 4000000 /dev/zero", 0, 4 * MIB);
        struct run *slow = host_exec(next_id++, "exec sleep 5", 0, MIB);
        while (loud->length[0] < 2 * WINDOW)
            CHECK(host_step(PATIENCE_MS));
        struct run *leave = host_operation("leave");
        while (!leave->done)
            CHECK(host_step(PATIENCE_MS));
        CHECK(leave->code[0] == 0 && !slow->done && !loud->done);
        CHECK(!host_step(30));
        host_connect_again();
    }
    check_usable();
}

const struct test frame_tests[] = {
    TEST(both_checksums_agree_with_rfc_3720),
    TEST(welcome_says_what_the_agent_is),
    TEST(nothing_is_done_before_hello),
    TEST(another_version_is_refused_and_opens_nothing),
    TEST(a_connection_begins_wherever_the_one_before_was_cut),
    TEST(a_wrong_checksum_ends_the_connection),
    TEST(random_bytes_do_no_harm),
    TEST(random_frames_do_no_harm),
    TEST(nothing_comes_after_the_answer_to_leave),
    TEST(a_host_that_does_not_read_is_not_answered_without_limit),
    {NULL, NULL},
};
