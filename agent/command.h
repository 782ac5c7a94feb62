/* Commands: the processes that `exec` starts, their input and output, and their results until they are forgotten. */
#pragma once

#include "event.h"
#include "fault.h"
#include "fields.h"
#include "input.h"
#include "list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct output {
    struct watch pipe;
    uint8_t *bytes; /* the first bytes of what the command wrote, `kept` of them */
    size_t kept, capacity, limit;
    uint64_t written; /* all that the command wrote */
    bool ended;       /* nothing more will be kept */
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
    uint64_t terminal; /* the session that gets the output too; 0: none */
};

void commands_open(void);

struct command *command_find(const uint8_t *id);
/* NULL with the fault when it cannot be started. */
struct command *command_start(const struct fields *request, struct fault *fault);
void command_signal(struct command *command, int signal);

/* Kills what is over its time, forgets old results. Returns the milliseconds until it must be called again, or -1.
   Frees commands, so it must not be called by a watch. */
int commands_tick(void);
