/* Identity: what makes one life of the VM differ from every other. */
#pragma once

#include "fault.h"
#include "fields.h"

#include <stdbool.h>

/* Does all that a new generation asks for; nothing when the generation is the one seen last. Blocks until it is
   done: nothing may run as the new VM before. False with the fault when anything failed: then this VM must not
   speak, and the next HELLO begins again. */
bool identity_assume(const struct fields *hello, struct fault *fault);

bool clock_set(uint64_t nanoseconds, struct fault *fault);
