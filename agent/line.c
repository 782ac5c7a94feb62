/* Owns the reading and writing of files of one line. */
#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool line_read(const char *path, char *line, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd == -1)
        return false;
    ssize_t length = read(fd, line, size - 1);
    close(fd);
    if (length < 0)
        return false;
    line[length] = 0;
    line[strcspn(line, "\n")] = 0;
    return true;
}

bool line_write(const char *path, const char *line) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd == -1)
        return false;
    ssize_t length = write(fd, line, strlen(line));
    int error = errno;
    close(fd);
    errno = error;
    return length == (ssize_t)strlen(line);
}
