/* Owns the streams of commands: what `exec`, `exec.attach` and `exec.kill` ask, and what they are sent. */
#include "command.h"
#include "operations.h"
#include "stream.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static bool send_output(struct stream *stream, unsigned which) {
    const struct command *command = stream->subject;
    const struct output *output = &command->output[which];
    const uint8_t *bytes = output->bytes + stream->outlet[which].at;
    return stream_send_part(stream, which, bytes, output->kept, output->ended);
}

static void send_result(struct stream *stream) {
    const struct command *command = stream->subject;
    uint8_t *at = put_number(port_payload(), TAG_STDOUT_LENGTH, command->output[0].written);
    at = put_number(at, TAG_STDERR_LENGTH, command->output[1].written);
    int status = command->status;
    if (command->killed_at_limit && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        at = put_number(at, TAG_TIMED_OUT, 1);
    else
        at = put_status(at, status);
    stream_finish(stream, (size_t)(at - port_payload()));
}

static bool exec_send(struct stream *stream) {
    struct command *command = stream->subject;
    if (command->fault.code != NULL) {
        stream_refuse(stream, &command->fault);
        return true;
    }
    if (stream_send_credit(stream, command->input.consumed + INPUT_WINDOW))
        return true;
    unsigned first = stream->turn ^= 1;
    if (send_output(stream, first) || send_output(stream, first ^ 1))
        return true;
    if (!command->ended || !stream->outlet[0].ended || !stream->outlet[1].ended)
        return false;
    send_result(stream);
    return true;
}

/* A stream that attached may begin at any byte that it may not know to have arrived. */
static bool exec_take(struct stream *stream, uint64_t offset, const uint8_t *bytes, size_t length, struct fault *fault) {
    struct command *command = stream->subject;
    if (offset > command->input.received)
        return fault_set(fault, "BAD_REQUEST", "DATA at another offset than the next");
    return input_take(&command->input, offset, bytes, length, fault);
}

static bool exec_end(struct stream *stream, uint64_t offset, struct fault *fault) {
    struct command *command = stream->subject;
    if (offset != command->input.received)
        return fault_set(fault, "BAD_REQUEST", "END at another offset than the next");
    input_end(&command->input);
    return true;
}

static void exec_leave(struct stream *stream) {
    struct command *command = stream->subject;
    command->streams--;
}

static void attach(struct stream *stream, struct command *command, uint64_t out, uint64_t err) {
    static const struct service service = {.send = exec_send, .take = exec_take, .end = exec_end, .leave = exec_leave};
    command->streams++;
    stream->outlet[0].at = out;
    stream->outlet[0].credit += out;
    stream->outlet[1].at = err;
    stream->outlet[1].credit += err;
    stream_serve(stream, &service, command);
}

static void attach_existing(struct stream *stream, struct command *command, uint64_t out, uint64_t err) {
    attach(stream, command, out, err);
    stream->attached = stream->owes_credit = true;
}

void exec_start(struct stream *stream, const struct fields *request) {
    struct fault fault;
    if (!request->present[TAG_EXEC_ID] || !request->present[TAG_COMMAND]) {
        stream_bad(stream, "exec needs an exec id and a command");
        return;
    }
    struct command *command = command_find(request->bytes[TAG_EXEC_ID]);
    if (command != NULL)
        attach_existing(stream, command, 0, 0);
    else if ((command = command_start(request, &fault)) != NULL)
        attach(stream, command, 0, 0);
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

void exec_attach(struct stream *stream, const struct fields *request) {
    struct command *command = find_requested(stream, request);
    if (command == NULL)
        return;
    uint64_t out = request->number[TAG_STDOUT_OFFSET], err = request->number[TAG_STDERR_OFFSET];
    if (out > command->output[0].kept || err > command->output[1].kept)
        stream_bad(stream, "the offset is beyond the output");
    else
        attach_existing(stream, command, out, err);
}

void exec_kill(struct stream *stream, const struct fields *request) {
    struct command *command = find_requested(stream, request);
    uint64_t signal = request->number[TAG_SIGNAL];
    if (command == NULL)
        return;
    if (signal < 1 || signal >= NSIG) {
        stream_bad(stream, "there is no such signal");
        return;
    }
    command_signal(command, (int)signal);
    stream_done(stream);
}
