/* Owns /etc/resolv.conf. */
#include "agent.h"
#include "network.h"
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/etc/resolv.conf"
#define NOTICE "# The platform writes this file when the VM starts, and when its network changes.\n"

/* Whether it is a file, not a link, of these bytes. */
static bool is_right(const char *text, size_t length) {
    char *present = malloc(length + 1);
    int fd = open(rooted(FILE_NAME), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool equal = present != NULL && fd != -1 && read(fd, present, length + 1) == (ssize_t)length && memcmp(present, text, length) == 0;
    if (fd != -1)
        close(fd);
    free(present);
    return equal;
}

void resolvers_set(const struct texts *wanted, struct fault *fault) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (file != NULL)
        fputs(NOTICE, file);
    for (size_t i = 0; file != NULL && i < wanted->count; i++)
        fprintf(file, "nameserver %s\n", wanted->items[i]);
    bool complete = file != NULL && !ferror(file);
    if (file != NULL && fclose(file) != 0)
        complete = false;
    if (!complete || (!is_right(text, length) && !replace_file_soon(FILE_NAME, text, length, 0644)))
        network_failed(fault, "write", FILE_NAME);
    free(text);
}
