/* How a request fails, as RESET tells it. */
#pragma once

#include <stdbool.h>

/* `code` is NULL when all is well. It points into the program, so a forked child can hand a fault to the agent as it is. */
struct fault {
    const char *code;
    char message[160];
};
bool fault_set(struct fault *fault, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* returns false */
