/* What the tests of all subjects use: files of the scratch directory, commands, and the list of tests. */
#pragma once

#include "host.h"

#include <sys/stat.h>

#define MIB (1u << 20)

struct test {
    const char *name; /* NULL after the last */
    void (*run)(void);
};
#define TEST(name) {#name, name}
extern const struct test frame_tests[], command_tests[], machine_tests[], file_tests[], watch_tests[], terminal_tests[],
    network_tests[];

extern uint64_t next_id;     /* of a command */
extern bool has_own_network; /* else the machine's must not be touched */

/* Files, by their names in the scratch directory */
void file_path(char *path, size_t size, const char *name);
void file_write(const char *name, const char *text, mode_t mode);
void file_remove(const char *name);
void file_link(const char *target, const char *name);
/* The text of a file, valid until the next call; empty when there is none. */
const char *file_text(const char *name);
ino_t file_inode(const char *name);

/* A command that waits for `gate_open`, so that what a test sees does not depend on how fast the machine is. */
#define GATE "while ! [ -e gate ]; do sleep 0.02; done; "
struct run *exec_in_scratch(uint64_t id, const char *command);
void gate_close(void);
void gate_open(void);

struct run *run_to_end(const char *command);
bool is_text(const struct run *run, unsigned which, const char *text);
bool has_exited(const struct run *run, uint64_t status);
void check_usable(void);
uint8_t *random_bytes(size_t length); /* to be freed */
unsigned agent_descriptors(void);
/* Until what ended requests held has been given back. */
void await_descriptors(unsigned count);
bool is_fault(const struct run *run, const char *code);

/* The `nth` (from 0) field of a tag in the fields. A text is valid until the next call. */
bool has_field(const uint8_t *fields, size_t length, enum tag tag, unsigned nth);
uint64_t number_field(const uint8_t *fields, size_t length, enum tag tag, unsigned nth);
const char *text_field(const uint8_t *fields, size_t length, enum tag tag, unsigned nth);
