/* Owns the greeting and the streams of the present connection.
 *
 * A stream holds no output of its own: a command's output stays with the command, and the pump takes from there what
 * the host's credit allows. So a stream can end at any time without a loss, and another can go on where it was. */
#include "connection.h"

#include "agent.h"
#include "command.h"
#include "fields.h"
#include "grow.h"
#include "identity.h"
#include "power.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROTOCOL_VERSION 1
#define STREAM_LIMIT 4096
#define REQUEST_LIMIT (2u << 20)
#define OFFSET_LENGTH 8
#define DATA_LIMIT (PAYLOAD_LIMIT - OFFSET_LENGTH)

/* How far the host has been sent an output. */
struct outlet {
    uint64_t at, credit;
    bool ended;
};

/* Its life: it collects a request; then has a command or a worker; then is answered and goes. */
struct stream {
    uint32_t number;
    uint8_t *request; /* while OPEN frames come */
    size_t request_length;
    struct command *command;
    struct worker *worker;
    struct outlet outlet[2];
    unsigned turn;        /* the outlet that goes first, so that stdout does not starve stderr */
    bool attached;        /* to a command that was there before: its input may be told again */
    uint64_t input_at;    /* where the host's next DATA goes */
    uint64_t input_credit;
    bool owes_credit;     /* tell it, even if it is not higher */
    bool answered;
    struct outcome outcome; /* the answer, unless it is that of a command */
};

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

/* What the worker finds out then interests nobody. */
static void stream_leave_worker(struct stream *stream) {
    if (stream->worker != NULL)
        stream->worker->owner = NULL;
    stream->worker = NULL;
}

static void stream_free(struct stream *stream) {
    if (stream->command != NULL)
        stream->command->streams--;
    stream_leave_worker(stream);
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

static void stream_answer(void *owner, const struct outcome *outcome) {
    struct stream *stream = owner;
    stream_leave_worker(stream); /* refused, it may still have one that works */
    stream->outcome = *outcome;
    stream->answered = true;
}

static void stream_refuse(struct stream *stream, const struct fault *fault) {
    stream_answer(stream, &(struct outcome){.fault = *fault});
}

static void stream_bad(struct stream *stream, const char *why) {
    struct fault fault;
    fault_set(&fault, "BAD_REQUEST", "%s", why);
    stream_refuse(stream, &fault);
}

static void send_fault(uint32_t number, const struct fault *fault) {
    uint8_t *at = put_text(port_payload(), TAG_CODE, fault->code);
    at = put_text(at, TAG_MESSAGE, fault->message);
    port_send(RESET, 0, number, (size_t)(at - port_payload()));
}

/* Operations */

static void attach_command(struct stream *stream, struct command *command, uint64_t out, uint64_t err) {
    stream->command = command;
    command->streams++;
    stream->outlet[0] = (struct outlet){.at = out, .credit = out + host_window};
    stream->outlet[1] = (struct outlet){.at = err, .credit = err + host_window};
    stream->input_credit = INPUT_WINDOW;
}

static void exec_attach_existing(struct stream *stream, struct command *command, uint64_t out, uint64_t err) {
    attach_command(stream, command, out, err);
    stream->attached = stream->owes_credit = true;
}

static void operation_exec(struct stream *stream, const struct fields *request) {
    struct fault fault;
    if (!request->present[TAG_EXEC_ID] || !request->present[TAG_COMMAND]) {
        stream_bad(stream, "exec needs an exec id and a command");
        return;
    }
    struct command *command = command_find(request->bytes[TAG_EXEC_ID]);
    if (command != NULL)
        exec_attach_existing(stream, command, 0, 0);
    else if ((command = command_start(request, &fault)) != NULL)
        attach_command(stream, command, 0, 0);
    else
        stream_refuse(stream, &fault);
}

static struct command *find_requested(struct stream *stream, const struct fields *request) {
    struct command *command = request->present[TAG_EXEC_ID] ? command_find(request->bytes[TAG_EXEC_ID]) : NULL;
    if (command == NULL) {
        struct fault fault;
        fault_set(&fault, "NO_SUCH_EXEC", "there is no such command, or its result is no longer kept");
        stream_refuse(stream, &fault);
    }
    return command;
}

static void operation_exec_attach(struct stream *stream, const struct fields *request) {
    struct command *command = find_requested(stream, request);
    if (command == NULL)
        return;
    uint64_t out = request->number[TAG_STDOUT_OFFSET], err = request->number[TAG_STDERR_OFFSET];
    if (out > command->output[0].kept || err > command->output[1].kept)
        stream_bad(stream, "the offset is beyond the output");
    else
        exec_attach_existing(stream, command, out, err);
}

static void operation_exec_kill(struct stream *stream, const struct fields *request) {
    struct command *command = find_requested(stream, request);
    uint64_t signal = request->number[TAG_SIGNAL];
    if (command == NULL)
        return;
    if (signal < 1 || signal >= NSIG) {
        stream_bad(stream, "there is no such signal");
        return;
    }
    command_signal(command, (int)signal);
    stream_answer(stream, &(struct outcome){.has_size = false});
}

static void operation_clock(struct stream *stream, const struct fields *request) {
    struct outcome outcome = {.has_size = false};
    if (!request->present[TAG_WALL_CLOCK])
        fault_set(&outcome.fault, "BAD_REQUEST", "clock needs a wall clock");
    else
        clock_set(request->number[TAG_WALL_CLOCK], &outcome.fault);
    stream_answer(stream, &outcome);
}

static void operation_shutdown(struct stream *stream, const struct fields *request) {
    (void)request;
    power_request();
    stream_answer(stream, &(struct outcome){.has_size = false});
}

static void sync_all(const struct fields *request, struct outcome *outcome) {
    (void)request;
    (void)outcome;
    sync();
}

static const struct operation {
    const char *name;
    void (*start)(struct stream *stream, const struct fields *request); /* NULL: by a worker */
    work *work;
} operations[] = {
    {"exec", operation_exec, NULL},
    {"exec.attach", operation_exec_attach, NULL},
    {"exec.kill", operation_exec_kill, NULL},
    {"clock", operation_clock, NULL},
    {"sync", NULL, sync_all},
    {"shutdown", operation_shutdown, NULL},
    {"disk.grow", NULL, grow_disk},
    {"cpu.online", NULL, grow_cpus},
    {"memory.online", NULL, grow_memory},
};
#define OPERATIONS (sizeof operations / sizeof *operations)

static void start_worker(struct stream *stream, work *work, const struct fields *request) {
    struct fault fault;
    stream->worker = worker_start(work, request, &fault);
    if (stream->worker == NULL) {
        stream_refuse(stream, &fault);
        return;
    }
    stream->worker->owner = stream;
    stream->worker->done = stream_answer;
}

static void start_request(struct stream *stream, const struct fields *request) {
    const char *name = request->text[TAG_OPERATION];
    for (size_t i = 0; name != NULL && i < OPERATIONS; i++) {
        if (strcmp(name, operations[i].name) != 0)
            continue;
        if (operations[i].start != NULL)
            operations[i].start(stream, request);
        else
            start_worker(stream, operations[i].work, request);
        return;
    }
    struct fault fault;
    fault_set(&fault, "UNSUPPORTED", "this agent does not know the operation %.64s", name != NULL ? name : "(none)");
    stream_refuse(stream, &fault);
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
        start_request(stream, &request);
    fields_free(&request);
    free(grown);
}

/* Where the host may go on with the input: at the next byte, or, having attached, at any that it may not know to
   have arrived. */
static bool is_next_input(const struct stream *stream, uint64_t offset) {
    return stream->attached ? offset <= stream->command->input.received : offset == stream->input_at;
}

static void take_data(struct stream *stream, const struct frame *frame) {
    struct fault fault;
    if (stream->command == NULL || frame->channel != 0 || frame->length <= OFFSET_LENGTH) {
        stream_bad(stream, "DATA that no one expects");
        return;
    }
    uint64_t offset = get_u64(frame->payload), length = frame->length - OFFSET_LENGTH;
    if (!is_next_input(stream, offset))
        stream_bad(stream, "DATA at another offset than the next");
    else if (offset > stream->input_credit || length > stream->input_credit - offset)
        stream_bad(stream, "DATA beyond the credit");
    else if (!command_input(stream->command, offset, frame->payload + OFFSET_LENGTH, length, &fault))
        stream_refuse(stream, &fault);
    stream->attached = false;
    stream->input_at = offset + length;
}

static void take_end(struct stream *stream, const struct frame *frame) {
    if (stream->command == NULL || frame->channel != 0 || frame->length != OFFSET_LENGTH)
        stream_bad(stream, "END that no one expects");
    else if (get_u64(frame->payload) != stream->command->input.received)
        stream_bad(stream, "END at another offset than the next");
    else
        command_input_end(stream->command);
}

static void take_credit(struct stream *stream, const struct frame *frame) {
    if (stream->command == NULL || frame->channel < 1 || frame->channel > 2 || frame->length != OFFSET_LENGTH) {
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
    for (size_t i = 0; i < OPERATIONS; i++)
        at = put_text(at, TAG_CAPABILITY, operations[i].name);
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

/* Frames to the host. Each function sends at most one and returns whether it did. */

static bool send_offset(const struct stream *stream, enum kind kind, unsigned channel, uint64_t offset) {
    put_u64(port_payload(), offset);
    port_send(kind, (uint8_t)channel, stream->number, OFFSET_LENGTH);
    return true;
}

static bool send_input_credit(struct stream *stream) {
    uint64_t credit = stream->command->input.consumed + INPUT_WINDOW;
    /* Not for every few bytes: half a window keeps the host going. */
    if (!stream->owes_credit && credit < stream->input_credit + INPUT_WINDOW / 2)
        return false;
    stream->owes_credit = false;
    if (credit > stream->input_credit)
        stream->input_credit = credit;
    return send_offset(stream, CREDIT, 0, credit);
}

static bool send_output(struct stream *stream, unsigned which) {
    struct outlet *outlet = &stream->outlet[which];
    const struct output *output = &stream->command->output[which];
    uint64_t limit = output->kept < outlet->credit ? output->kept : outlet->credit;
    if (outlet->at < limit) {
        size_t length = limit - outlet->at < DATA_LIMIT ? (size_t)(limit - outlet->at) : DATA_LIMIT;
        put_u64(port_payload(), outlet->at);
        memcpy(port_payload() + OFFSET_LENGTH, output->bytes + outlet->at, length);
        port_send(DATA, (uint8_t)(which + 1), stream->number, OFFSET_LENGTH + length);
        outlet->at += length;
        return true;
    }
    if (outlet->ended || !output->ended || outlet->at < output->kept)
        return false;
    outlet->ended = true;
    return send_offset(stream, END, which + 1, outlet->at);
}

static void send_command_result(const struct stream *stream) {
    const struct command *command = stream->command;
    uint8_t *at = put_number(port_payload(), TAG_STDOUT_LENGTH, command->output[0].written);
    at = put_number(at, TAG_STDERR_LENGTH, command->output[1].written);
    int status = command->status;
    if (WIFEXITED(status))
        at = put_number(at, TAG_EXIT_STATUS, (uint64_t)WEXITSTATUS(status));
    else if (command->killed_at_limit && WTERMSIG(status) == SIGKILL)
        at = put_number(at, TAG_TIMED_OUT, 1);
    else
        at = put_number(at, TAG_SIGNAL, (uint64_t)WTERMSIG(status));
    port_send(RESULT, 0, stream->number, (size_t)(at - port_payload()));
}

static bool send_answer(struct stream *stream) {
    if (stream->outcome.fault.code != NULL) {
        send_fault(stream->number, &stream->outcome.fault);
    } else {
        uint8_t *at = port_payload();
        if (stream->outcome.has_size)
            at = put_number(at, TAG_SIZE, stream->outcome.size);
        port_send(RESULT, 0, stream->number, (size_t)(at - port_payload()));
    }
    stream_close(stream);
    return true;
}

static bool send_of_command(struct stream *stream) {
    const struct command *command = stream->command;
    if (command->fault.code != NULL) {
        stream_refuse(stream, &command->fault);
        return send_answer(stream);
    }
    if (send_input_credit(stream))
        return true;
    unsigned first = stream->turn ^= 1;
    if (send_output(stream, first) || send_output(stream, first ^ 1))
        return true;
    if (!command->ended || !stream->outlet[0].ended || !stream->outlet[1].ended)
        return false;
    send_command_result(stream);
    stream_close(stream);
    return true;
}

void connection_pump(void) {
    for (unsigned idle = 0; idle < stream_count && port_has_room();) {
        if (cursor >= stream_count)
            cursor = 0;
        /* Before sending: a stream that closes moves the cursor back. */
        struct stream *stream = streams[cursor++];
        bool sent = stream->answered ? send_answer(stream) : stream->command != NULL && send_of_command(stream);
        idle = sent ? 0 : idle + 1;
    }
}
