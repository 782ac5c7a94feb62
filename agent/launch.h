/* What becomes of a forked child before it is a user's command. */
#pragma once

#include "command.h"
#include "fields.h"

/* The agent raises the descriptor limit for itself; commands get the one that it was started with. */
void launch_prepare(void);

/* Forks and returns the pid, or -1 with the fault. `pipes` are the child's ends of stdin, stdout, stderr and of the
   pipe that gets the struct fault of a child that cannot become the command; they remain the caller's. */
pid_t launch(const struct fields *request, const int pipes[4], struct fault *fault);

/* For a child that runs the agent's own code: puts `*kept` on descriptor 3 and closes all other descriptors from
   there on, lest it holds the pipes of commands open. */
void close_inherited(int *kept);

/* Runs a program without input and waits for it; false when it could not run, failed, or was over its time and
   killed with its process group. */
bool run_program(char *const argv[], int limit_ms);
