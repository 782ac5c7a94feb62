/* The guest's users, and becoming one of them. */
#pragma once

#include "fault.h"

#include <pwd.h>

/* Without a name: the user with uid 1000, else root. Reads files, so mostly for a child. NULL with the fault. */
const struct passwd *user_find(const char *name, struct fault *fault);

/* Takes on the user's ids and groups. */
bool user_become(const struct passwd *user, struct fault *fault);
