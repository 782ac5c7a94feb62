/* Commands: the processes that `exec` starts, their input and output, and their results until they are forgotten. */
#pragma once

#include "event.h"
#include "fields.h"
#include "list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INPUT_WINDOW (256 * 1024)

/* A failed request, as RESET tells it. `code` is NULL when all is well. */
struct fault {
    const char *code;
    char message[160];
};
bool fault_set(struct fault *fault, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* returns false */

struct output {
    struct watch pipe;
    uint8_t *bytes; /* the first bytes of what the command wrote, `kept` of them */
    size_t kept, capacity, limit;
    uint64_t written; /* all that the command wrote */
    bool ended;       /* nothing more will be kept */
};

struct input {
    struct watch pipe;
    uint8_t *bytes; /* received, not yet written to the pipe: from `start` to `end`; NULL while there are none */
    size_t start, end;
    uint64_t received, consumed; /* offsets in the channel */
    bool ended;                  /* the host has no more */
};

struct command {
    struct link link; /* in `running`, or in `ended` from the oldest to the newest */
    uint8_t id[ID_LENGTH];
    unsigned streams; /* that are attached: an attached command is not forgotten */
    pid_t pid;        /* also the process group; not valid once ended */
    struct watch process;
    int launch_error; /* pipe from which the fault of a child that did not reach exec() can be read */
    uint64_t deadline, ended_at;
    bool killed_at_limit;
    struct input input;
    struct output output[2]; /* stdout, stderr */
    bool ended;
    int status; /* of waitpid(), once ended */
    struct fault fault;
};

void commands_open(void);

struct command *command_find(const uint8_t *id);
/* NULL with the fault when it cannot be started. */
struct command *command_start(const struct fields *request, struct fault *fault);
void command_signal(struct command *command, int signal);

/* Bytes of the input from `offset` on, which is at most `received`; what was received before is skipped. */
bool command_input(struct command *command, uint64_t offset, const uint8_t *bytes, size_t length, struct fault *fault);
void command_input_end(struct command *command);

/* Kills what is over its time, forgets old results. Returns the milliseconds until it must be called again, or -1.
   Frees commands, so it must not be called by a watch. */
int commands_tick(void);
