/* Files that are replaced in one step: a reader sees the old one or the new one, and so does whoever looks after a crash. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Each takes a path below the root prefix, replaces a link rather than what it points to, and returns false with errno. */

/* The new one is on disk when this returns. */
bool replace_file(const char *path, const void *bytes, size_t length, mode_t mode);
/* Waits for no disk: after a crash the old one may be back. */
bool replace_file_soon(const char *path, const void *bytes, size_t length, mode_t mode);
/* Writes out the directory of a whole path, without which a power cut takes back what was renamed to it. False with errno. */
bool sync_parent(const char *path);
