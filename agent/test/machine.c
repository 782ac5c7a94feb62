/* Tests of what changes the machine: growth, power, and copies that become themselves. */
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The machine */

static void a_worker_of_a_refused_stream_answers_no_other(void) {
    file_write("sys/devices/system/memory/block_size_bytes", "8000000\n", 0644);
    file_write("sys/devices/system/memory/memory0/state", "online\n", 0644);
    uint8_t fields[100];
    uint8_t *at = put_number(put_text(fields, TAG_OPERATION, "memory.online"), TAG_SIZE, 256u << 20);
    struct run *run = host_open(fields, (size_t)(at - fields));
    host_send_data(run, 0, "x", 1);
    host_finish(run);
    CHECK(strcmp(run->code, "BAD_REQUEST") == 0);
    struct run *next = host_exec(next_id++, "cat", 0, MIB); /* has the memory of the stream before */
    host_ping();
    file_write("sys/devices/system/memory/memory1/state", "offline", 0644); /* lets the worker end */
    while (strncmp(file_text("sys/devices/system/memory/memory1/state"), "online", 6) != 0)
        host_step(20);
    for (int i = 0; i < 10; i++)
        CHECK(!host_step(10));
    host_input(next, "text", 4);
    host_finish(next);
    CHECK(has_exited(next, 0) && is_text(next, 0, "text"));
    file_remove("sys/devices/system/memory/memory1/state");
}

static void sync_clock_and_shutdown_answer(void) {
    struct run *run = host_operation("sync");
    host_finish(run);
    CHECK(run->code[0] == 0);
    uint8_t fields[100];
    uint8_t *at = put_number(put_text(fields, TAG_OPERATION, "clock"), TAG_WALL_CLOCK, 1234567890123456789);
    run = host_open(fields, (size_t)(at - fields));
    host_finish(run);
    CHECK(run->code[0] == 0 && strstr(file_text("log"), "dry: set the clock to 1234567890123456789") != NULL);
    run = host_operation("shutdown");
    host_finish(run);
    host_ping();
    CHECK(run->code[0] == 0 && strstr(file_text("log"), "dry: power off by signal 12 to init") != NULL);
    file_write("run/systemd/system/there", "", 0644);
    host_finish(host_operation("shutdown"));
    host_ping();
    CHECK(strstr(file_text("log"), "dry: power off by signal 38 to init") != NULL);
    host_operation("sync"); /* the worker outlives its stream */
    check_usable();
}

static void processors_and_memory_come_online(void) {
    file_write("sys/devices/system/cpu/cpu1/online", "0", 0644);
    file_write("sys/devices/system/cpu/online", "0-1,3\n", 0644);
    uint8_t fields[100];
    uint8_t *at = put_number(put_text(fields, TAG_OPERATION, "cpu.online"), TAG_COUNT, 3);
    struct run *run = host_open(fields, (size_t)(at - fields));
    host_finish(run);
    /* Three are online already: none more is brought up than the machine was given. */
    CHECK(run->code[0] == 0 && strcmp(file_text("sys/devices/system/cpu/cpu1/online"), "0") == 0);

    file_write("sys/devices/system/memory/block_size_bytes", "8000000\n", 0644);
    file_write("sys/devices/system/memory/memory0/state", "online\n", 0644);
    at = put_number(put_text(fields, TAG_OPERATION, "memory.online"), TAG_SIZE, 384u << 20);
    run = host_open(fields, (size_t)(at - fields));
    host_ping();
    file_write("sys/devices/system/memory/memory33/state", "offline", 0644); /* plugged in while the agent waits */
    host_ping();
    CHECK(!run->done);
    file_write("sys/devices/system/memory/memory34/state", "offline", 0644);
    host_finish(run);
    CHECK(run->code[0] == 0 && strncmp(file_text("sys/devices/system/memory/memory34/state"), "online", 6) == 0);
}

/* Copies */

#define MACHINE_ID "0123456789abcdef0123456789abcdef"

static void a_copy_becomes_itself_before_it_answers(void) {
    file_write("etc/hosts", "127.0.0.1\tlocalhost\n127.0.1.1\told-name old\n::1 localhost\n", 0644);
    file_write("elsewhere", "not to be touched\n", 0644);
    file_link("../elsewhere", "etc/machine-id");
    file_link("../elsewhere", "etc/machine-id.new"); /* of an attempt that was cut short */
    file_write("etc/hostname", "old-name\n", 0644);
    file_write("etc/ssh/ssh_host_ed25519_key", "old key\n", 0600);
    bool has_keygen = access("/usr/bin/ssh-keygen", X_OK) == 0;
    if (!has_keygen) {
        char path[200];
        file_path(path, sizeof path, "etc/ssh/ssh_host_ed25519_key");
        unlink(path);
        printf("  (without SSH host keys: this machine has no ssh-keygen)\n");
    }
    char hook[300];
    for (int i = 2; i >= 1; i--) {
        char name[64];
        snprintf(hook, sizeof hook, "#!/bin/sh\necho %d >> %s/hooks-ran\n", i, scratch);
        snprintf(name, sizeof name, "etc/coppice/fork.d/%d-hook", i);
        file_write(name, hook, 0755);
    }
    file_write("etc/coppice/fork.d/0-readme", "not executable", 0644);
    ino_t inode = file_inode("etc/hostname");
    host_connect(2, "new-name", MACHINE_ID);
    CHECK(welcome.code[0] == 0);
    CHECK(file_inode("etc/hostname") == inode); /* as long as before: written in place */
    CHECK(strcmp(file_text("etc/hostname"), "new-name\n") == 0);
    CHECK(strcmp(file_text("etc/hosts"), "127.0.0.1\tlocalhost\n127.0.1.1\tnew-name\n::1 localhost\n") == 0);
    CHECK(strcmp(file_text("etc/machine-id"), MACHINE_ID "\n") == 0);
    CHECK(strcmp(file_text("elsewhere"), "not to be touched\n") == 0);
    CHECK(strcmp(file_text("hooks-ran"), "1\n2\n") == 0);
    if (has_keygen) {
        CHECK(strstr(file_text("etc/ssh/ssh_host_ed25519_key"), "OPENSSH PRIVATE KEY") != NULL);
        CHECK(strncmp(file_text("etc/ssh/ssh_host_ed25519_key.pub"), "ssh-ed25519 ", 12) == 0);
    }
    const char *log = file_text("log");
    const char *reseed = strstr(log, "dry: set the hostname to new-name");
    CHECK(reseed != NULL && strstr(log, "dry: reseed") < reseed);
    host_connect(2, "new-name", MACHINE_ID); /* a reconnection: nothing happens again */
    CHECK(welcome.code[0] == 0 && strcmp(file_text("hooks-ran"), "1\n2\n") == 0);
    check_usable();
}

static void a_copy_that_is_not_itself_does_not_speak(void) {
    file_write("etc/coppice/fork.d/3-hook", "#!/bin/sh\nexit 1\n", 0755);
    host_connect(3, "third", MACHINE_ID);
    CHECK(strcmp(welcome.code, "FAILED") == 0 && strstr(welcome.message, "3-hook") != NULL);
    CHECK(strcmp(file_text("etc/hostname"), "third\n") == 0); /* shorter than before: replaced */
    host_send(PING, 0, 0, 0, "12345678", 8);
    CHECK(!host_step(50));
    host_connect(3, "third", MACHINE_ID); /* not taken for done */
    CHECK(strcmp(welcome.code, "FAILED") == 0);
    host_connect(2, "third", MACHINE_ID); /* nor is it what it was before */
    CHECK(strcmp(welcome.code, "FAILED") == 0);
    file_write("etc/coppice/fork.d/3-hook", "#!/bin/sh\nexit 0\n", 0755);
    host_connect(4, "bad\nname", MACHINE_ID);
    CHECK(strcmp(welcome.code, "BAD_REQUEST") == 0);
    host_connect(4, "name", "short");
    CHECK(strcmp(welcome.code, "BAD_REQUEST") == 0);
    host_connect(4, "name", NULL);
    CHECK(strcmp(welcome.code, "BAD_REQUEST") == 0);
    host_connect(4, "name", MACHINE_ID);
    CHECK(welcome.code[0] == 0);
    check_usable();
}

/* journald writes on where it was; journalctl looks under the present machine id. */
static void a_copy_finds_the_journal_of_what_it_was_copied_from(void) {
    static const char *const ids[] = {"1111111111111111111111111111aaaa", "2222222222222222222222222222bbbb",
                                      "3333333333333333333333333333cccc"};
    char name[200], path[300], target[100];
    snprintf(name, sizeof name, "%s\n", ids[0]);
    file_write("etc/machine-id", name, 0444);
    snprintf(name, sizeof name, "var/log/journal/%s/system.journal", ids[0]);
    file_write(name, "entries", 0640);
    for (int i = 1; i < 3; i++) {
        host_connect((uint8_t)(100 + i), "copy", ids[i]);
        CHECK(welcome.code[0] == 0);
        snprintf(name, sizeof name, "var/log/journal/%s/system.journal", ids[i]);
        CHECK(strcmp(file_text(name), "entries") == 0);
        snprintf(name, sizeof name, "var/log/journal/%s", ids[i]);
        file_path(path, sizeof path, name);
        ssize_t length = readlink(path, target, sizeof target);
        CHECK(length == 32 && memcmp(target, ids[0], 32) == 0); /* of a copy of a copy too: no chain of links */
    }
    check_usable();
}

const struct test machine_tests[] = {
    TEST(a_worker_of_a_refused_stream_answers_no_other),
    TEST(sync_clock_and_shutdown_answer),
    TEST(processors_and_memory_come_online),
    TEST(a_copy_becomes_itself_before_it_answers),
    TEST(a_copy_that_is_not_itself_does_not_speak),
    TEST(a_copy_finds_the_journal_of_what_it_was_copied_from),
    {NULL, NULL},
};
