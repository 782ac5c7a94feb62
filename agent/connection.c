/* Owns the greeting and the streams of the present connection.
 *
 * A stream holds no output of its own: a command's output stays with the command, and the pump has its service take from
 * there what the host's credit allows. So a stream can end at any time without a loss, and another can go on where it was. */
#include "connection.h"

#include "agent.h"
#include "fields.h"
#include "identity.h"
#include "input.h"
#include "operations.h"
#include "stream.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROTOCOL_VERSION 1
#define STREAM_LIMIT 4096
#define REQUEST_LIMIT (2u << 20)

static struct stream *streams[STREAM_LIMIT]; /* by number: the host counts upwards */
static unsigned stream_count, cursor;
static uint32_t last_number;
static uint64_t host_window;
static uint8_t nonce[NONCE_LENGTH];
static bool greeted;

/* Streams */

static unsigned stream_position(uint32_t number) { /* the first that is not before it */
    unsigned low = 0, high = stream_count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (streams[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct stream *stream_find(uint32_t number) {
    unsigned at = stream_position(number);
    return at < stream_count && streams[at]->number == number ? streams[at] : NULL;
}

static void stream_leave(struct stream *stream) {
    const struct service *service = stream->service;
    stream->service = NULL;
    if (service != NULL)
        service->leave(stream);
}

static void stream_free(struct stream *stream) {
    stream_leave(stream);
    free(stream->request);
    free(stream);
}

static void stream_close(struct stream *stream) {
    unsigned at = stream_position(stream->number);
    memmove(streams + at, streams + at + 1, (--stream_count - at) * sizeof *streams);
    if (cursor > at)
        cursor--;
    stream_free(stream);
}

void stream_serve(struct stream *stream, const struct service *service, void *subject) {
    stream->service = service;
    stream->subject = subject;
}

void stream_answer(struct stream *stream, const struct outcome *outcome) {
    stream_leave(stream); /* refused, it may still have a service that works */
    stream->outcome = *outcome;
    stream->answered = true;
}

void stream_done(struct stream *stream) {
    stream_answer(stream, &(struct outcome){.has_size = false});
}

void stream_refuse(struct stream *stream, const struct fault *fault) {
    stream_answer(stream, &(struct outcome){.fault = *fault});
}

void stream_bad(struct stream *stream, const char *why) {
    struct fault fault;
    fault_set(&fault, "BAD_REQUEST", "%s", why);
    stream_refuse(stream, &fault);
}

static void send_fault(uint32_t number, const struct fault *fault) {
    uint8_t *at = put_text(port_payload(), TAG_CODE, fault->code);
    at = put_text(at, TAG_MESSAGE, fault->message);
    port_send(RESET, 0, number, (size_t)(at - port_payload()));
}

/* Frames from the host */

static struct stream *stream_new(uint32_t number) {
    struct fault fault;
    struct stream *stream = NULL;
    if (stream_count == STREAM_LIMIT)
        fault_set(&fault, "TOO_MANY", "%u streams are open", stream_count);
    else if ((stream = calloc(1, sizeof *stream)) == NULL)
        fault_set(&fault, "FAILED", "out of memory");
    last_number = number;
    if (stream == NULL) {
        send_fault(number, &fault);
        return NULL;
    }
    stream->number = number;
    stream->outlet[0].credit = stream->outlet[1].credit = host_window;
    stream->input_credit = INPUT_WINDOW;
    streams[stream_count++] = stream;
    return stream;
}

static void take_open(struct stream *stream, const struct frame *frame) {
    if (stream == NULL) {
        if (frame->stream <= last_number)
            return; /* closed already: the rest of a refused request */
        stream = stream_new(frame->stream);
        if (stream == NULL)
            return;
    } else if (stream->request == NULL) {
        stream_bad(stream, "the request is already complete");
        return;
    }
    if (frame->length > REQUEST_LIMIT - stream->request_length) {
        stream_bad(stream, "the request is too long");
        return;
    }
    uint8_t *grown = realloc(stream->request, stream->request_length + frame->length + 1);
    if (grown == NULL) {
        stream_refuse(stream, &(struct fault){"FAILED", "out of memory"});
        return;
    }
    memcpy(grown + stream->request_length, frame->payload, frame->length);
    stream->request = grown;
    stream->request_length += frame->length;
    if (frame->flags & FLAG_MORE)
        return;
    stream->request = NULL;
    struct fields request;
    const char *refused = fields_decode(&request, grown, stream->request_length);
    if (refused != NULL)
        stream_bad(stream, refused);
    else
        operation_start(stream, &request);
    fields_free(&request);
    free(grown);
}

static void take_data(struct stream *stream, const struct frame *frame) {
    struct fault fault;
    const struct service *service = stream->service;
    if (service == NULL || service->take == NULL || frame->channel != 0 || frame->length <= OFFSET_LENGTH) {
        stream_bad(stream, "DATA that no one expects");
        return;
    }
    uint64_t offset = get_u64(frame->payload), length = frame->length - OFFSET_LENGTH;
    if (!stream->attached && offset != stream->input_at)
        stream_bad(stream, "DATA at another offset than the next");
    else if (offset > stream->input_credit || length > stream->input_credit - offset)
        stream_bad(stream, "DATA beyond the credit");
    else if (!service->take(stream, offset, frame->payload + OFFSET_LENGTH, length, &fault))
        stream_refuse(stream, &fault);
    stream->attached = false;
    stream->input_at = offset + length;
}

static void take_end(struct stream *stream, const struct frame *frame) {
    struct fault fault;
    const struct service *service = stream->service;
    if (service == NULL || service->end == NULL || frame->channel != 0 || frame->length != OFFSET_LENGTH)
        stream_bad(stream, "END that no one expects");
    else if (!service->end(stream, get_u64(frame->payload), &fault))
        stream_refuse(stream, &fault);
}

static void take_credit(struct stream *stream, const struct frame *frame) {
    if (stream->service == NULL || stream->service->send == NULL || frame->channel < 1 || frame->channel > 2 ||
        frame->length != OFFSET_LENGTH) {
        stream_bad(stream, "CREDIT that no one expects");
        return;
    }
    struct outlet *outlet = &stream->outlet[frame->channel - 1];
    uint64_t credit = get_u64(frame->payload);
    if (credit > outlet->credit)
        outlet->credit = credit;
}

static void take_ping(const struct frame *frame) {
    if (frame->length != 8)
        return;
    memcpy(port_payload(), frame->payload, 8);
    port_send(PONG, 0, 0, 8);
}

/* The greeting */

static bool check_hello(const struct fields *hello, const char *refused, struct fault *fault) {
    if (refused != NULL)
        return fault_set(fault, "BAD_REQUEST", "HELLO: %s", refused);
    if (!hello->present[TAG_VERSION] || hello->number[TAG_VERSION] != PROTOCOL_VERSION)
        return fault_set(fault, "UNSUPPORTED", "this agent speaks version 1");
    if (!hello->present[TAG_GENERATION] || !hello->present[TAG_WALL_CLOCK] || !hello->present[TAG_ENTROPY] ||
        !hello->present[TAG_WINDOW])
        return fault_set(fault, "BAD_REQUEST", "HELLO lacks a field");
    return true;
}

static void send_welcome(const struct fields *hello, const struct fault *fault) {
    port_send_preamble(nonce);
    uint8_t *at = put_number(port_payload(), TAG_VERSION, PROTOCOL_VERSION);
    if (hello->bytes[TAG_GENERATION] != NULL)
        at = put_bytes(at, TAG_GENERATION, hello->bytes[TAG_GENERATION], ID_LENGTH);
    at = put_text(at, TAG_AGENT_VERSION, AGENT_VERSION);
    const char *operation;
    for (unsigned i = 0; (operation = operation_name(i)) != NULL; i++)
        at = put_text(at, TAG_CAPABILITY, operation);
    at = put_number(at, TAG_WINDOW, INPUT_WINDOW);
    char boot_id[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd != -1 && read(fd, boot_id, sizeof boot_id - 1) > 0)
        boot_id[strcspn(boot_id, "\n")] = 0;
    if (fd != -1)
        close(fd);
    at = put_text(at, TAG_BOOT_ID, boot_id);
    if (fault->code != NULL) {
        at = put_text(at, TAG_CODE, fault->code);
        at = put_text(at, TAG_MESSAGE, fault->message);
    }
    port_send(WELCOME, 0, 0, (size_t)(at - port_payload()));
}

static bool greet(const struct frame *frame) {
    struct fields hello;
    struct fault fault = {.code = NULL};
    const char *refused = fields_decode(&hello, frame->payload, frame->length);
    greeted = check_hello(&hello, refused, &fault) && identity_assume(&hello, &fault);
    if (!greeted)
        note("HELLO refused: %s", fault.message);
    host_window = hello.number[TAG_WINDOW] < UINT64_MAX / 4 ? hello.number[TAG_WINDOW] : UINT64_MAX / 4;
    send_welcome(&hello, &fault);
    fields_free(&hello);
    return greeted;
}

void connection_begin(const uint8_t new_nonce[NONCE_LENGTH]) {
    connection_lost();
    memcpy(nonce, new_nonce, NONCE_LENGTH);
}

void connection_lost(void) {
    for (unsigned i = 0; i < stream_count; i++)
        stream_free(streams[i]);
    stream_count = cursor = 0;
    last_number = 0;
    greeted = false;
}

void connection_leave(struct stream *last) {
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i] != last)
            stream_free(streams[i]);
    streams[0] = last;
    stream_count = 1;
    cursor = 0;
}

bool connection_frame(const struct frame *frame) {
    if (!greeted)
        return frame->kind == HELLO && frame->stream == 0 && greet(frame);
    if (frame->stream == 0) {
        if (frame->kind == PING)
            take_ping(frame);
        return frame->kind != HELLO; /* it begins a connection, which this one has done */
    }
    struct stream *stream = stream_find(frame->stream);
    if (stream != NULL && stream->answered)
        return true; /* closed, as soon as the answer is out */
    if (frame->kind == OPEN)
        take_open(stream, frame);
    if (stream == NULL)
        return true;
    switch (frame->kind) {
    case DATA:
        take_data(stream, frame);
        break;
    case END:
        take_end(stream, frame);
        break;
    case CREDIT:
        take_credit(stream, frame);
        break;
    case RESET:
        stream_close(stream);
        break;
    default: /* kinds to come */
        break;
    }
    return true;
}

/* Frames to the host */

static void send_offset(const struct stream *stream, enum kind kind, unsigned channel, uint64_t offset) {
    put_u64(port_payload(), offset);
    port_send(kind, (uint8_t)channel, stream->number, OFFSET_LENGTH);
}

bool stream_send_credit(struct stream *stream, uint64_t credit) {
    /* Not for every few bytes: half a window keeps the host going. */
    if (!stream->owes_credit && credit < stream->input_credit + INPUT_WINDOW / 2)
        return false;
    stream->owes_credit = false;
    if (credit > stream->input_credit)
        stream->input_credit = credit;
    send_offset(stream, CREDIT, 0, credit);
    return true;
}

size_t stream_room(const struct stream *stream, unsigned which) {
    const struct outlet *outlet = &stream->outlet[which];
    if (outlet->at >= outlet->credit)
        return 0;
    return outlet->credit - outlet->at < DATA_LIMIT ? (size_t)(outlet->credit - outlet->at) : DATA_LIMIT;
}

uint8_t *stream_data(void) {
    return port_payload() + OFFSET_LENGTH;
}

void stream_send_data(struct stream *stream, unsigned which, size_t length) {
    put_u64(port_payload(), stream->outlet[which].at);
    port_send(DATA, (uint8_t)(which + 1), stream->number, OFFSET_LENGTH + length);
    stream->outlet[which].at += length;
}

void stream_send_end(struct stream *stream, unsigned which) {
    stream->outlet[which].ended = true;
    send_offset(stream, END, which + 1, stream->outlet[which].at);
}

bool stream_send_part(struct stream *stream, unsigned which, const uint8_t *bytes, uint64_t kept, bool ended) {
    struct outlet *outlet = &stream->outlet[which];
    size_t length = stream_room(stream, which);
    if (outlet->at < kept && length > 0) {
        if (length > kept - outlet->at)
            length = (size_t)(kept - outlet->at);
        memcpy(stream_data(), bytes, length);
        stream_send_data(stream, which, length);
        return true;
    }
    if (outlet->ended || !ended || outlet->at < kept)
        return false;
    stream_send_end(stream, which);
    return true;
}

void stream_finish(struct stream *stream, size_t length) {
    port_send(RESULT, 0, stream->number, length);
    stream_close(stream);
}

uint8_t *put_status(uint8_t *at, int status) {
    if (WIFEXITED(status))
        return put_number(at, TAG_EXIT_STATUS, (uint64_t)WEXITSTATUS(status));
    return put_number(at, TAG_SIGNAL, (uint64_t)WTERMSIG(status));
}

struct bytes {
    size_t length;
    uint8_t *bytes;
};

static bool bytes_send(struct stream *stream) {
    const struct bytes *all = stream->subject;
    if (stream_send_part(stream, 0, all->bytes + stream->outlet[0].at, all->length, true))
        return true;
    if (!stream->outlet[0].ended)
        return false;
    stream_finish(stream, 0);
    return true;
}

static void bytes_leave(struct stream *stream) {
    struct bytes *all = stream->subject;
    free(all->bytes);
    free(all);
}

void stream_send_all(struct stream *stream, uint8_t *bytes, size_t length) {
    static const struct service service = {.send = bytes_send, .leave = bytes_leave};
    struct bytes *all = malloc(sizeof *all);
    if (all == NULL) {
        free(bytes);
        stream_refuse(stream, &(struct fault){"FAILED", "out of memory"});
        return;
    }
    *all = (struct bytes){.length = length, .bytes = bytes};
    stream_serve(stream, &service, all);
}

static void send_answer(struct stream *stream) {
    if (stream->outcome.fault.code != NULL) {
        send_fault(stream->number, &stream->outcome.fault);
        stream_close(stream);
        return;
    }
    uint8_t *at = port_payload();
    if (stream->outcome.has_size)
        at = put_number(at, TAG_SIZE, stream->outcome.size);
    if (stream->outcome.has_status)
        at = put_status(at, stream->outcome.status);
    stream_finish(stream, (size_t)(at - port_payload()));
}

static bool send_one(struct stream *stream) {
    if (!stream->answered)
        return stream->service != NULL && stream->service->send != NULL && stream->service->send(stream);
    send_answer(stream);
    return true;
}

void connection_pump(void) {
    for (unsigned idle = 0; idle < stream_count && port_has_room();) {
        if (cursor >= stream_count)
            cursor = 0;
        /* Before sending: a stream that closes moves the cursor back. */
        struct stream *stream = streams[cursor++];
        idle = send_one(stream) ? 0 : idle + 1;
    }
}
