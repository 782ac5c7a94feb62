/* What becomes of a forked child before it is a user's command. */
#pragma once

#include "fault.h"
#include "fields.h"

#include <sys/types.h>

/* The agent raises the descriptor limit for itself; commands get the one that it was started with. */
void launch_prepare(void);

/* Forks and returns the pid, or -1 with the fault. `pipes` are the child's ends of stdin, stdout, stderr and of the
   pipe that gets the struct fault of a child that cannot become the command; they remain the caller's. */
pid_t launch(const struct fields *request, const int pipes[4], struct fault *fault);

/* The same on a terminal, which becomes the child's controlling one; without a command, the user's login shell. */
pid_t launch_terminal(const struct fields *request, int terminal, int error, struct fault *fault);

/* For a child that runs the agent's own code: puts the descriptors on 3 and the ones that follow, and closes all others
   from there on, lest it holds the pipes of commands open. */
void keep_descriptors(int *kept, unsigned count);

/* The agent itself is spared by the kernel when memory is short; what it starts is not. */
void reset_oom_score(void);

/* Runs a program without input and waits for it; false when it could not run, failed, or was over its time and
   killed with its process group. */
bool run_program(char *const argv[], int limit_ms);
