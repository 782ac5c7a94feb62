/* What the tests of all subjects use. */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t next_id = 1;

void file_path(char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/%s", scratch, name);
}

void file_write(const char *name, const char *text, mode_t mode) {
    char path[200];
    file_path(path, sizeof path, name);
    for (char *slash = path + strlen(scratch) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = 0;
        mkdir(path, 0755);
    }
    char whole[220]; /* in one step, for an agent that is looking at it */
    snprintf(whole, sizeof whole, "%s.whole", path);
    int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC, mode);
    CHECK(fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    CHECK(rename(whole, path) == 0);
}

void file_remove(const char *name) {
    char path[200];
    file_path(path, sizeof path, name);
    unlink(path);
}

void file_link(const char *target, const char *name) {
    char path[200];
    file_path(path, sizeof path, name);
    unlink(path);
    CHECK(symlink(target, path) == 0);
}

/* The text of a file, valid until the next call; empty when there is none. */
const char *file_text(const char *name) {
    static char text[65536];
    char path[200];
    file_path(path, sizeof path, name);
    int fd = open(path, O_RDONLY);
    ssize_t length = fd == -1 ? 0 : read(fd, text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    if (fd != -1)
        close(fd);
    return text;
}

ino_t file_inode(const char *name) {
    struct stat file = {0};
    char path[200];
    file_path(path, sizeof path, name);
    stat(path, &file);
    return file.st_ino;
}

struct run *run_to_end(const char *command) {
    struct run *run = host_exec(next_id++, command, 0, MIB);
    host_input_end(run, 0);
    host_finish(run);
    return run;
}

struct run *exec_in_scratch(uint64_t id, const char *command) {
    char whole[600];
    snprintf(whole, sizeof whole, "cd %s; %s", scratch, command);
    return host_exec(id, whole, 0, MIB);
}

void gate_close(void) {
    file_remove("gate");
}

void gate_open(void) {
    file_write("gate", "", 0644);
}

bool is_text(const struct run *run, unsigned which, const char *text) {
    return run->length[which] == strlen(text) && (run->length[which] == 0 || strcmp((char *)run->out[which], text) == 0);
}

bool has_exited(const struct run *run, uint64_t status) {
    return run->done && run->has[TAG_EXIT_STATUS] && run->number[TAG_EXIT_STATUS] == status && !run->has[TAG_SIGNAL] &&
           !run->has[TAG_TIMED_OUT];
}

void check_usable(void) {
    host_connect_again();
    CHECK(welcome.code[0] == 0);
    struct run *run = run_to_end("echo usable");
    CHECK(has_exited(run, 0) && is_text(run, 0, "usable\n"));
}

uint8_t *random_bytes(size_t length) {
    uint8_t *bytes = malloc(length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)test_random();
    return bytes;
}

unsigned agent_descriptors(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", agent_pid());
    DIR *directory = opendir(path);
    CHECK(directory != NULL);
    unsigned count = 0;
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

void await_descriptors(unsigned count) {
    host_ping(); /* what was asked for has begun */
    for (uint64_t begin = test_now_ms(); agent_descriptors() != count && test_now_ms() - begin < PATIENCE_MS;)
        host_step(5);
    CHECK(agent_descriptors() == count);
}

bool is_fault(const struct run *run, const char *code) {
    return run->done && strcmp(run->code, code) == 0;
}

static const uint8_t *find_field(const uint8_t *fields, size_t length, enum tag tag, unsigned nth, size_t *size) {
    for (size_t at = 0; at < length; at += 6 + get_u32(fields + at + 2)) {
        CHECK(length - at >= 6 && get_u32(fields + at + 2) <= length - at - 6);
        if (((unsigned)fields[at] << 8 | fields[at + 1]) != tag || nth-- > 0)
            continue;
        *size = get_u32(fields + at + 2);
        return fields + at + 6;
    }
    return NULL;
}

bool has_field(const uint8_t *fields, size_t length, enum tag tag, unsigned nth) {
    size_t size;
    return find_field(fields, length, tag, nth, &size) != NULL;
}

uint64_t number_field(const uint8_t *fields, size_t length, enum tag tag, unsigned nth) {
    size_t size;
    const uint8_t *value = find_field(fields, length, tag, nth, &size);
    if (value == NULL || size != 8)
        fail("there is no number of tag %d", tag);
    return get_u64(value);
}

const char *text_field(const uint8_t *fields, size_t length, enum tag tag, unsigned nth) {
    static char text[4200];
    size_t size;
    const uint8_t *value = find_field(fields, length, tag, nth, &size);
    if (value == NULL)
        fail("there is no text of tag %d", tag);
    snprintf(text, sizeof text, "%.*s", (int)size, (const char *)value);
    return text;
}
