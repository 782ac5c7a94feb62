/* Fields: the tagged values inside HELLO, WELCOME, OPEN, RESULT and RESET. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tag {
    TAG_OPERATION = 1,
    TAG_VERSION = 2,
    TAG_GENERATION = 3,
    TAG_WALL_CLOCK = 4,
    TAG_ENTROPY = 5,
    TAG_WINDOW = 6,
    TAG_HOSTNAME = 7,
    TAG_MACHINE_ID = 8,
    TAG_AGENT_VERSION = 9,
    TAG_CAPABILITY = 10,
    TAG_CODE = 11,
    TAG_MESSAGE = 12,
    TAG_BOOT_ID = 13,
    TAG_EXEC_ID = 20,
    TAG_COMMAND = 21,
    TAG_USER = 22,
    TAG_ENVIRONMENT = 23,
    TAG_TIME_LIMIT = 24,
    TAG_OUTPUT_LIMIT = 25,
    TAG_DIRECTORY = 26,
    TAG_STDOUT_OFFSET = 27,
    TAG_STDERR_OFFSET = 28,
    TAG_SIGNAL = 29,
    TAG_EXIT_STATUS = 30,
    TAG_TIMED_OUT = 31,
    TAG_STDOUT_LENGTH = 32,
    TAG_STDERR_LENGTH = 33,
    TAG_TERMINAL = 34,
    TAG_COUNT = 40,
    TAG_SIZE = 41,
    TAG_PATH = 50,
    TAG_FOLLOW = 51,
    TAG_OFFSET = 52,
    TAG_LENGTH = 53,
    TAG_MODE = 54,
    TAG_KIND = 55,
    TAG_OWNER = 56,
    TAG_GROUP = 57,
    TAG_MODIFIED = 58,
    TAG_NAME = 59,
    TAG_CHECKSUM = 60,
    TAG_EVENT = 61,
    TAG_SESSION = 70,
    TAG_SLUG = 71,
    TAG_COLUMNS = 72,
    TAG_ROWS = 73,
    TAG_CREATED = 74,
    TAG_RESPAWN = 75,
    TAG_FRESH = 76,
    TAG_DEVICE_ADDRESS = 80,
    TAG_MTU = 81,
    TAG_ADDRESS = 82,
    TAG_GATEWAY = 83,
    TAG_ROUTE = 84,
    TAG_RESOLVER = 85,
    TAG_LIMIT
};

#define ID_LENGTH 16      /* of a generation and of an exec id */
#define ENTROPY_LENGTH 64
#define DEVICE_ADDRESS_LENGTH 6

/* The values of a tag that repeats, in their order. */
struct texts {
    char **items;
    size_t count;
};

/* The decoded fields that a host sends. Texts and bytes point into the buffer they were decoded from. */
struct fields {
    bool present[TAG_LIMIT];
    uint64_t number[TAG_LIMIT];
    char *text[TAG_LIMIT]; /* NUL-terminated */
    size_t text_length[TAG_LIMIT];
    const uint8_t *bytes[TAG_LIMIT];
    struct texts texts[TAG_LIMIT]; /* of the tags that repeat */
};

/* Changes `bytes`. Returns NULL, or why the fields are refused. fields_free is due in both cases. */
const char *fields_decode(struct fields *fields, uint8_t *bytes, size_t length);
void fields_free(struct fields *fields);

/* Each writes one field at `at` and returns where the next one goes. */
uint8_t *put_number(uint8_t *at, enum tag tag, uint64_t value);
uint8_t *put_text(uint8_t *at, enum tag tag, const char *text);
uint8_t *put_bytes(uint8_t *at, enum tag tag, const void *bytes, size_t length);

uint32_t get_u32(const uint8_t *at);
uint64_t get_u64(const uint8_t *at);
void put_u32(uint8_t *at, uint32_t value);
void put_u64(uint8_t *at, uint64_t value);
