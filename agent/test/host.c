/* Owns the agent process under test and the host's end of its port. Checks every frame as a host has to. */
#include "host.h"

#include "../crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct welcome welcome;
uint64_t pongs;

static pid_t agent;
static int port = -1;
static uint8_t *in;
static size_t in_start, in_end, in_capacity;
static struct run runs[RUN_LIMIT];
static unsigned run_count;
static uint32_t next_stream;
static uint8_t generation;

uint64_t test_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The agent */

static bool await_bytes(size_t wanted, int timeout_ms);

/* What ends a connection that the host had with the agent before this one. */
static void await_zeros(void) {
    if (!await_bytes(FRAME_LIMIT, PATIENCE_MS))
        fail("a new agent does not say that it is new");
    for (; in_start < FRAME_LIMIT; in_start++)
        if (in[in_start] != 0)
            fail("a new agent says something");
}

void agent_start(const char *program) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1)
        fail("socketpair: %s", strerror(errno));
    agent = fork();
    if (agent == 0) {
        char number[16], log[100];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGCHLD, SIG_IGN); /* as a careless init system may leave it */
        snprintf(log, sizeof log, "%s/log", scratch);
        dup2(open(log, O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
        fcntl(ends[1], F_SETFD, 0);
        snprintf(number, sizeof number, "%d", ends[1]);
        execl(program, program, "--fd", number, "--root", scratch, "--dry", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    port = ends[0];
    fcntl(port, F_SETFL, O_NONBLOCK);
    in_start = in_end = 0;
    await_zeros();
}

void agent_end(void) {
    kill(agent, SIGKILL);
    waitpid(agent, NULL, 0);
    close(port);
}

pid_t agent_pid(void) {
    return agent;
}

/* Bytes */

static void receive_bytes(void) {
    if (in_start == in_end)
        in_start = in_end = 0;
    if (in_capacity - in_end < 65536) {
        in_capacity = in_capacity * 2 + 65536;
        in = realloc(in, in_capacity);
    }
    ssize_t length = read(port, in + in_end, in_capacity - in_end);
    if (length == 0 || (length == -1 && errno != EAGAIN))
        fail("the agent closed its port: it crashed");
    if (length > 0)
        in_end += (size_t)length;
}

/* Reads while it writes, as a host must: else both ends could wait for each other. */
void host_send_raw(const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    while (length > 0) {
        struct pollfd ready = {.fd = port, .events = POLLIN | POLLOUT};
        if (poll(&ready, 1, PATIENCE_MS) != 1)
            fail("the agent does not read");
        if (ready.revents & POLLIN)
            receive_bytes();
        if (ready.revents & POLLOUT) {
            ssize_t written = send(port, at, length, MSG_NOSIGNAL);
            if (written == -1 && errno != EAGAIN)
                fail("the agent closed its port: it crashed");
            if (written > 0) {
                at += written;
                length -= (size_t)written;
            }
        }
    }
}

static bool await_bytes(size_t wanted, int timeout_ms) {
    uint64_t deadline = test_now_ms() + (uint64_t)timeout_ms;
    while (in_end - in_start < wanted) {
        uint64_t now = test_now_ms();
        struct pollfd ready = {.fd = port, .events = POLLIN};
        if (now >= deadline || poll(&ready, 1, (int)(deadline - now)) != 1)
            return false;
        receive_bytes();
    }
    return true;
}

size_t frame_write(uint8_t *at, enum kind kind, uint8_t channel, uint8_t flags, uint32_t stream, const void *payload,
                   size_t length) {
    at[0] = 0xC7;
    at[1] = (uint8_t)kind;
    at[2] = channel;
    at[3] = flags;
    put_u32(at + 4, stream);
    put_u32(at + 8, (uint32_t)length);
    if (length > 0)
        memcpy(at + HEADER_LENGTH, payload, length);
    put_u32(at + 12, crc32c(crc32c(0, at, 12), payload, length));
    return HEADER_LENGTH + length;
}

void host_send(enum kind kind, uint8_t channel, uint8_t flags, uint32_t stream, const void *payload, size_t length) {
    static uint8_t frame[FRAME_LIMIT];
    host_send_raw(frame, frame_write(frame, kind, channel, flags, stream, payload, length));
}

void host_send_offset(enum kind kind, uint8_t channel, struct run *run, uint64_t offset) {
    uint8_t bytes[8];
    put_u64(bytes, offset);
    host_send(kind, channel, 0, run->stream, bytes, 8);
}

void host_send_data(struct run *run, uint64_t offset, const void *bytes, size_t length) {
    static uint8_t payload[PAYLOAD_LIMIT];
    put_u64(payload, offset);
    memcpy(payload + 8, bytes, length);
    host_send(DATA, 0, 0, run->stream, payload, length + 8);
}

/* Frames from the agent */

/* The next frame, with its fields or data in `payload`; false when none comes in time. */
static bool take_frame(struct frame *frame, int timeout_ms) {
    if (!await_bytes(HEADER_LENGTH, timeout_ms))
        return false;
    uint8_t *header = in + in_start;
    if (header[0] != 0xC7 || get_u32(header + 8) > PAYLOAD_LIMIT)
        fail("the agent sent something that is no frame");
    size_t length = get_u32(header + 8);
    if (!await_bytes(HEADER_LENGTH + length, PATIENCE_MS))
        fail("the agent sent half a frame");
    header = in + in_start;
    if (get_u32(header + 12) != crc32c(crc32c(0, header, 12), header + HEADER_LENGTH, length))
        fail("the agent sent a wrong checksum");
    in_start += HEADER_LENGTH + length;
    *frame = (struct frame){header[1], header[2], header[3], get_u32(header + 4), header + HEADER_LENGTH, length};
    return true;
}

static void copy_text(char *to, size_t size, const uint8_t *value, size_t length) {
    snprintf(to, size, "%.*s", (int)length, (const char *)value);
}

static void each_field(const struct frame *frame, void (*visit)(unsigned, const uint8_t *, size_t, void *),
                       void *context) {
    for (size_t at = 0; at < frame->length;) {
        if (frame->length - at < 6 || get_u32(frame->payload + at + 2) > frame->length - at - 6)
            fail("the agent sent broken fields");
        unsigned tag = (unsigned)frame->payload[at] << 8 | frame->payload[at + 1];
        size_t length = get_u32(frame->payload + at + 2);
        visit(tag, frame->payload + at + 6, length, context);
        at += 6 + length;
    }
}

static void welcome_field(unsigned tag, const uint8_t *value, size_t length, void *context) {
    (void)context;
    if (tag == TAG_VERSION)
        welcome.version = get_u64(value);
    else if (tag == TAG_WINDOW)
        welcome.window = get_u64(value);
    else if (tag == TAG_GENERATION)
        memcpy(welcome.generation, value, ID_LENGTH);
    else if (tag == TAG_CAPABILITY)
        welcome.capabilities++;
    else if (tag == TAG_AGENT_VERSION)
        copy_text(welcome.agent_version, sizeof welcome.agent_version, value, length);
    else if (tag == TAG_BOOT_ID)
        copy_text(welcome.boot_id, sizeof welcome.boot_id, value, length);
    else if (tag == TAG_CODE)
        copy_text(welcome.code, sizeof welcome.code, value, length);
    else if (tag == TAG_MESSAGE)
        copy_text(welcome.message, sizeof welcome.message, value, length);
}

static void run_field(unsigned tag, const uint8_t *value, size_t length, void *context) {
    struct run *run = context;
    if (tag == TAG_CODE)
        copy_text(run->code, sizeof run->code, value, length);
    else if (tag == TAG_MESSAGE)
        copy_text(run->message, sizeof run->message, value, length);
    else if (tag < TAG_LIMIT && length == 8) {
        run->has[tag] = true;
        run->number[tag] = get_u64(value);
    }
}

static struct run *find_run(uint32_t stream) {
    for (unsigned i = 0; i < run_count; i++)
        if (runs[i].stream == stream)
            return &runs[i];
    fail("the agent sent a frame of stream %u, which was never opened", stream);
}

static void take_data(struct run *run, const struct frame *frame) {
    unsigned which = frame->channel - 1u;
    if (which > 1 || frame->length <= 8 || run->ended[which])
        fail("the agent sent DATA where none can be");
    uint64_t offset = get_u64(frame->payload);
    size_t length = frame->length - 8;
    if (offset != run->offset[which] + run->length[which])
        fail("DATA at %llu, expected %llu", (unsigned long long)offset,
             (unsigned long long)(run->offset[which] + run->length[which]));
    if (offset + length > run->credit[which])
        fail("DATA beyond the credit");
    if (run->capacity[which] < run->length[which] + length + 1) {
        run->capacity[which] = 2 * run->capacity[which] + length + 1;
        run->out[which] = realloc(run->out[which], run->capacity[which]);
    }
    memcpy(run->out[which] + run->length[which], frame->payload + 8, length);
    run->length[which] += length;
    run->out[which][run->length[which]] = 0;
    if (!run->holds_credit && run->credit[which] - offset - length < WINDOW / 2) {
        run->credit[which] = offset + length + WINDOW;
        host_send_offset(CREDIT, frame->channel, run, run->credit[which]);
    }
}

bool host_step(int timeout_ms) {
    struct frame frame;
    if (!take_frame(&frame, timeout_ms))
        return false;
    if (frame.kind == PONG) {
        pongs++;
        return true;
    }
    struct run *run = find_run(frame.stream);
    if (run->done)
        fail("a frame of kind %u on a closed stream", frame.kind);
    if (frame.kind == DATA) {
        take_data(run, &frame);
    } else if (frame.kind == END) {
        unsigned which = frame.channel - 1u;
        CHECK(which < 2 && frame.length == 8 && !run->ended[which]);
        CHECK(get_u64(frame.payload) == run->offset[which] + run->length[which]);
        run->ended[which] = true;
    } else if (frame.kind == CREDIT) {
        CHECK(frame.channel == 0 && frame.length == 8);
        run->input_credit = get_u64(frame.payload);
        run->input_credit_frames++;
    } else if (frame.kind == RESULT || frame.kind == RESET) {
        each_field(&frame, run_field, run);
        run->answer = malloc(frame.length + 1);
        run->answer_length = frame.length;
        memcpy(run->answer, frame.payload, frame.length);
        run->done = true;
        CHECK((frame.kind == RESET) == (run->code[0] != 0));
    } else {
        fail("the agent sent a frame of kind %u", frame.kind);
    }
    return true;
}

void host_credit(struct run *run, unsigned which, uint64_t credit) {
    run->credit[which] = credit;
    host_send_offset(CREDIT, (uint8_t)(which + 1), run, credit);
}

void host_finish(struct run *run) {
    while (!run->done)
        if (!host_step(PATIENCE_MS))
            fail("stream %u does not end", run->stream);
}

void host_ping(void) {
    uint64_t before = pongs;
    host_send(PING, 0, 0, 0, "12345678", 8);
    while (pongs == before)
        if (!host_step(PATIENCE_MS))
            fail("no PONG");
}

/* Connections */

size_t preamble_write(uint8_t *at, const uint8_t nonce[NONCE_LENGTH]) {
    memset(at, 0, FRAME_LIMIT);
    memcpy(at + FRAME_LIMIT, MAGIC, MAGIC_LENGTH);
    memcpy(at + FRAME_LIMIT + MAGIC_LENGTH, nonce, NONCE_LENGTH);
    return FRAME_LIMIT + MAGIC_LENGTH + NONCE_LENGTH;
}

static void await_preamble(const uint8_t nonce[NONCE_LENGTH]) {
    uint8_t wanted[MAGIC_LENGTH + NONCE_LENGTH];
    memcpy(wanted, MAGIC, MAGIC_LENGTH);
    memcpy(wanted + MAGIC_LENGTH, nonce, NONCE_LENGTH);
    for (;;) {
        uint8_t *found = in_end > in_start ? memmem(in + in_start, in_end - in_start, wanted, sizeof wanted) : NULL;
        if (found != NULL) {
            in_start = (size_t)(found - in) + sizeof wanted;
            return;
        }
        if (!await_bytes(in_end - in_start + 1, PATIENCE_MS))
            fail("the agent does not answer the preamble");
    }
}

void host_connect(uint8_t new_generation, const char *hostname, const char *machine_id) {
    generation = new_generation;
    for (unsigned i = 0; i < run_count; i++) {
        free(runs[i].out[0]);
        free(runs[i].out[1]);
        free(runs[i].answer);
    }
    run_count = 0;
    next_stream = 1;
    static uint8_t bytes[3 * FRAME_LIMIT];
    uint8_t nonce[NONCE_LENGTH], fields[512], entropy[ENTROPY_LENGTH] = {0}, id[ID_LENGTH];
    for (int i = 0; i < NONCE_LENGTH; i++)
        nonce[i] = (uint8_t)test_random();
    memset(id, generation, sizeof id);
    uint8_t *at = put_number(fields, TAG_VERSION, 1);
    at = put_bytes(at, TAG_GENERATION, id, ID_LENGTH);
    at = put_number(at, TAG_WALL_CLOCK, 1700000000000000000);
    at = put_bytes(at, TAG_ENTROPY, entropy, ENTROPY_LENGTH);
    at = put_number(at, TAG_WINDOW, WINDOW);
    if (hostname != NULL)
        at = put_text(at, TAG_HOSTNAME, hostname);
    if (machine_id != NULL)
        at = put_text(at, TAG_MACHINE_ID, machine_id);
    size_t length = preamble_write(bytes, nonce);
    length += frame_write(bytes + length, HELLO, 0, 0, 0, fields, (size_t)(at - fields));
    host_send_raw(bytes, length);
    await_preamble(nonce);
    struct frame frame;
    if (!take_frame(&frame, PATIENCE_MS) || frame.kind != WELCOME)
        fail("no WELCOME");
    memset(&welcome, 0, sizeof welcome);
    each_field(&frame, welcome_field, NULL);
}

void host_connect_again(void) {
    host_connect(generation, NULL, NULL);
}

/* Requests */

static struct run *run_new(void) {
    if (run_count == RUN_LIMIT)
        fail("the test opens too many streams");
    struct run *run = &runs[run_count++];
    *run = (struct run){.stream = next_stream++, .credit = {WINDOW, WINDOW}};
    return run;
}

void host_begin(void) {
    host_send(OPEN, 0, FLAG_MORE, run_new()->stream, NULL, 0);
}

struct run *host_open(const uint8_t *fields, size_t length) {
    struct run *run = run_new();
    for (bool first = true; first || length > 0; first = false) {
        size_t part = length < PAYLOAD_LIMIT ? length : PAYLOAD_LIMIT;
        host_send(OPEN, 0, length > part ? FLAG_MORE : 0, run->stream, fields, part);
        fields += part;
        length -= part;
    }
    return run;
}

struct run *host_operation(const char *name) {
    uint8_t fields[200];
    return host_open(fields, (size_t)(put_text(fields, TAG_OPERATION, name) - fields));
}

uint8_t *put_exec_id(uint8_t *at, uint64_t id) {
    uint8_t bytes[ID_LENGTH] = {0};
    put_u64(bytes + 8, id);
    return put_bytes(at, TAG_EXEC_ID, bytes, ID_LENGTH);
}

struct run *host_exec(uint64_t id, const char *command, uint64_t time_limit, uint64_t output_limit) {
    uint8_t *fields = malloc(strlen(command) + 200);
    uint8_t *at = put_text(fields, TAG_OPERATION, "exec");
    at = put_exec_id(at, id);
    at = put_text(at, TAG_COMMAND, command);
    at = put_text(at, TAG_USER, getuid() == 0 ? "root" : getenv("USER"));
    at = put_number(at, TAG_OUTPUT_LIMIT, output_limit);
    if (time_limit > 0)
        at = put_number(at, TAG_TIME_LIMIT, time_limit);
    struct run *run = host_open(fields, (size_t)(at - fields));
    free(fields);
    return run;
}

struct run *host_attach(uint64_t id, uint64_t out, uint64_t err) {
    uint8_t fields[200];
    uint8_t *at = put_text(fields, TAG_OPERATION, "exec.attach");
    at = put_exec_id(at, id);
    at = put_number(at, TAG_STDOUT_OFFSET, out);
    at = put_number(at, TAG_STDERR_OFFSET, err);
    struct run *run = host_open(fields, (size_t)(at - fields));
    run->offset[0] = out;
    run->offset[1] = err;
    run->credit[0] += out;
    run->credit[1] += err;
    return run;
}

void host_input_end(struct run *run, uint64_t length) {
    host_send_offset(END, 0, run, length);
}

static void send_parts(struct run *run, const void *bytes, size_t length, bool of_random_lengths) {
    size_t at = 0;
    if (run->input_credit == 0)
        run->input_credit = welcome.window;
    while (at < length && !run->done) {
        size_t most = of_random_lengths ? 1 + test_random() % (PAYLOAD_LIMIT - 8) : PAYLOAD_LIMIT - 8;
        size_t part = length - at < most ? length - at : most;
        if (part > run->input_credit - at)
            part = run->input_credit - at;
        if (part > 0) {
            host_send_data(run, at, (const uint8_t *)bytes + at, part);
            at += part;
        } else if (!host_step(PATIENCE_MS)) {
            fail("no more credit for the input at %zu", at);
        }
    }
}

void host_input_parts(struct run *run, const void *bytes, size_t length) {
    send_parts(run, bytes, length, true);
}

void host_input(struct run *run, const void *bytes, size_t length) {
    send_parts(run, bytes, length, false);
    if (!run->done)
        host_input_end(run, length);
}
