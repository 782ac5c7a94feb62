/* Owns the table of operations, and those that are a few lines long. */
#include "operations.h"

#include "connection.h"
#include "grow.h"
#include "identity.h"
#include "power.h"
#include "transfer.h"

#include <string.h>
#include <unistd.h>

static void clock_start(struct stream *stream, const struct fields *request) {
    struct outcome outcome = {.has_size = false};
    if (!request->present[TAG_WALL_CLOCK])
        fault_set(&outcome.fault, "BAD_REQUEST", "clock needs a wall clock");
    else
        clock_set(request->number[TAG_WALL_CLOCK], &outcome.fault);
    stream_answer(stream, &outcome);
}

static void shutdown_start(struct stream *stream, const struct fields *request) {
    (void)request;
    power_request();
    stream_done(stream);
}

static void leave_start(struct stream *stream, const struct fields *request) {
    (void)request;
    connection_leave(stream);
    stream_done(stream);
}

static void sync_all(const struct fields *request, struct outcome *outcome) {
    (void)request;
    (void)outcome;
    sync();
}

/* Each has one of the three. */
static const struct operation {
    const char *name;
    start_operation *start;
    work *work; /* by a worker */
    const struct transfer_kind *transfer;
} operations[] = {
    {"exec", exec_start, NULL, NULL},
    {"exec.attach", exec_attach, NULL, NULL},
    {"exec.kill", exec_kill, NULL, NULL},
    {"clock", clock_start, NULL, NULL},
    {"sync", NULL, sync_all, NULL},
    {"shutdown", shutdown_start, NULL, NULL},
    {"leave", leave_start, NULL, NULL},
    {"disk.grow", NULL, grow_disk, NULL},
    {"cpu.online", NULL, grow_cpus, NULL},
    {"memory.online", NULL, grow_memory, NULL},
    {"file.stat", NULL, NULL, &file_stat},
    {"file.read", NULL, NULL, &file_read},
    {"file.write", NULL, NULL, &file_write},
    {"file.list", NULL, NULL, &file_list},
    {"file.mkdir", NULL, NULL, &file_mkdir},
    {"file.remove", NULL, NULL, &file_remove},
    {"file.watch", NULL, NULL, &file_watch},
    {"pty.open", terminal_open, NULL, NULL},
    {"pty.attach", terminal_attach, NULL, NULL},
    {"pty.list", terminal_list, NULL, NULL},
    {"pty.resize", terminal_resize, NULL, NULL},
    {"pty.signal", terminal_signal, NULL, NULL},
    {"pty.close", terminal_close, NULL, NULL},
    {"network", network_start, NULL, NULL},
};
#define OPERATIONS (sizeof operations / sizeof *operations)

const char *operation_name(unsigned which) {
    return which < OPERATIONS ? operations[which].name : NULL;
}

void operation_start(struct stream *stream, const struct fields *request) {
    const char *name = request->text[TAG_OPERATION];
    for (size_t i = 0; name != NULL && i < OPERATIONS; i++) {
        const struct operation *operation = &operations[i];
        if (strcmp(name, operation->name) != 0)
            continue;
        if (operation->start != NULL)
            operation->start(stream, request);
        else if (operation->work != NULL)
            worker_serve(stream, operation->work, request);
        else
            transfer_start(stream, operation->transfer, request);
        return;
    }
    struct fault fault;
    fault_set(&fault, "UNSUPPORTED", "this agent does not know the operation %.64s", name != NULL ? name : "(none)");
    stream_refuse(stream, &fault);
}
