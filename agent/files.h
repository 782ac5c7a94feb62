/* What the children that do file requests share. */
#pragma once

#include "transfer.h"

#include <stddef.h>
#include <stdint.h>

/* Fails the request by errno: "cannot open /etc/x: No such file or directory". Returns false. */
bool file_failed(struct fault *fault, const char *step, const char *path);

/* All of it, however long that takes; false with errno. */
bool write_all(int fd, const void *bytes, size_t length);
/* The same into a pipe; false with the fault when there is no reader. */
bool write_whole(int fd, const void *bytes, size_t length, struct fault *fault);

/* The place of a file that is to be made: its directory, with links followed, and what is missing above it. */
struct place {
    int directory;      /* the deepest that exists; what O_PATH opens */
    char missing[4096]; /* the directories below it, "a/b", that are not there yet */
    char name[256];
    int base;           /* where `missing` began when it was made; else -1 */
    size_t made, made_end; /* what of `missing` was made: from there to there */
};

/* Follows a link at the end, also one that dangles. place_close is due in all cases. */
bool place_find(struct place *place, const char *path, struct fault *fault);
/* Makes what is missing, and makes it last: 0755, the caller's. */
bool place_make(struct place *place, struct fault *fault);
/* Removes what place_make made, as far as it is empty. */
void place_unmake(struct place *place);
void place_close(struct place *place);

/* Makes the directory's entries last; false with errno. */
bool sync_directory(int directory);
