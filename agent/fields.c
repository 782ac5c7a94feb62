/* Owns the encoding of fields and of big-endian integers. */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

enum type { SKIPPED, NUMBER, TEXT, TEXTS, ID, ENTROPY, DEVICE_ADDRESS };

/* Only what a host sends: a field that only the agent sends is skipped like an unknown one. */
static const uint8_t types[TAG_LIMIT] = {
    [TAG_OPERATION] = TEXT,       [TAG_VERSION] = NUMBER,      [TAG_GENERATION] = ID,       [TAG_WALL_CLOCK] = NUMBER,
    [TAG_ENTROPY] = ENTROPY,      [TAG_WINDOW] = NUMBER,       [TAG_HOSTNAME] = TEXT,       [TAG_MACHINE_ID] = TEXT,
    [TAG_EXEC_ID] = ID,           [TAG_COMMAND] = TEXT,        [TAG_USER] = TEXT,           [TAG_ENVIRONMENT] = TEXTS,
    [TAG_TIME_LIMIT] = NUMBER,    [TAG_OUTPUT_LIMIT] = NUMBER, [TAG_DIRECTORY] = TEXT,      [TAG_STDOUT_OFFSET] = NUMBER,
    [TAG_STDERR_OFFSET] = NUMBER, [TAG_SIGNAL] = NUMBER,       [TAG_COUNT] = NUMBER,        [TAG_SIZE] = NUMBER,
    [TAG_TERMINAL] = TEXT,        [TAG_PATH] = TEXT,           [TAG_FOLLOW] = NUMBER,       [TAG_OFFSET] = NUMBER,
    [TAG_LENGTH] = NUMBER,        [TAG_MODE] = NUMBER,         [TAG_CHECKSUM] = NUMBER,     [TAG_SESSION] = NUMBER,
    [TAG_SLUG] = TEXT,            [TAG_COLUMNS] = NUMBER,      [TAG_ROWS] = NUMBER,         [TAG_RESPAWN] = NUMBER,
    [TAG_MTU] = NUMBER,           [TAG_ADDRESS] = TEXTS,       [TAG_GATEWAY] = TEXTS,       [TAG_ROUTE] = TEXTS,
    [TAG_RESOLVER] = TEXTS,       [TAG_DEVICE_ADDRESS] = DEVICE_ADDRESS,
};

uint32_t get_u32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

uint64_t get_u64(const uint8_t *at) {
    return (uint64_t)get_u32(at) << 32 | get_u32(at + 4);
}

void put_u32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

void put_u64(uint8_t *at, uint64_t value) {
    put_u32(at, (uint32_t)(value >> 32));
    put_u32(at + 4, (uint32_t)value);
}

static const char *add_text(struct fields *fields, unsigned tag, char *text) {
    const char *equals = strchr(text, '=');
    if (tag == TAG_ENVIRONMENT && (equals == NULL || equals == text))
        return "an environment entry is not NAME=value";
    struct texts *texts = &fields->texts[tag];
    size_t count = texts->count;
    if ((count & (count - 1)) == 0) { /* full at each power of two */
        char **grown = realloc(texts->items, (count == 0 ? 1 : 2 * count) * sizeof *grown);
        if (grown == NULL)
            return "out of memory";
        texts->items = grown;
    }
    texts->items[texts->count++] = text;
    return NULL;
}

static const char *decode_one(struct fields *fields, unsigned tag, uint8_t *value, size_t length) {
    switch (types[tag]) {
    case NUMBER:
        if (length != 8)
            return "an integer field does not have 8 bytes";
        fields->number[tag] = get_u64(value);
        break;
    case ID:
    case ENTROPY:
        if (length != (types[tag] == ID ? ID_LENGTH : ENTROPY_LENGTH))
            return "a field of fixed length has another length";
        fields->bytes[tag] = value;
        break;
    case DEVICE_ADDRESS:
        if (length != DEVICE_ADDRESS_LENGTH)
            return "the device address does not have 6 bytes";
        fields->bytes[tag] = value;
        break;
    case TEXT:
    case TEXTS: {
        if (memchr(value, 0, length) != NULL)
            return "a text field contains a zero byte";
        /* One byte down, over its own header which has been read, to make room for the terminator. */
        char *text = memmove(value - 1, value, length);
        text[length] = 0;
        if (types[tag] == TEXTS)
            return add_text(fields, tag, text);
        fields->text[tag] = text;
        fields->text_length[tag] = length;
        break;
    }
    default:
        return NULL;
    }
    fields->present[tag] = true;
    return NULL;
}

const char *fields_decode(struct fields *fields, uint8_t *bytes, size_t length) {
    memset(fields, 0, sizeof *fields);
    for (size_t at = 0; at < length;) {
        if (length - at < 6)
            return "a field is cut short";
        unsigned tag = (unsigned)bytes[at] << 8 | bytes[at + 1];
        size_t size = get_u32(bytes + at + 2);
        at += 6;
        if (size > length - at)
            return "a field is longer than its frame";
        if (tag < TAG_LIMIT) {
            const char *refused = decode_one(fields, tag, bytes + at, size);
            if (refused != NULL)
                return refused;
        }
        at += size;
    }
    return NULL;
}

void fields_free(struct fields *fields) {
    for (unsigned tag = 0; tag < TAG_LIMIT; tag++)
        free(fields->texts[tag].items);
}

uint8_t *put_bytes(uint8_t *at, enum tag tag, const void *bytes, size_t length) {
    at[0] = (uint8_t)(tag >> 8);
    at[1] = (uint8_t)tag;
    put_u32(at + 2, (uint32_t)length);
    memcpy(at + 6, bytes, length);
    return at + 6 + length;
}

uint8_t *put_text(uint8_t *at, enum tag tag, const char *text) {
    return put_bytes(at, tag, text, strlen(text));
}

uint8_t *put_number(uint8_t *at, enum tag tag, uint64_t value) {
    uint8_t bytes[8];
    put_u64(bytes, value);
    return put_bytes(at, tag, bytes, 8);
}
