/* Tests of file.stat, file.read, file.write, file.list, file.mkdir and file.remove. */
#include "../crc32c.h"
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK (PAYLOAD_LIMIT - 8)
#define ABSENT UINT64_MAX

static uint8_t *put_request(uint8_t *at, const char *operation, const char *path, const char *user) {
    at = put_text(put_text(at, TAG_OPERATION, operation), TAG_PATH, path);
    return user != NULL ? put_text(at, TAG_USER, user) : at;
}

static struct run *ask_as(const char *user, const char *operation, const char *path, enum tag tag, uint64_t value) {
    uint8_t fields[6000];
    uint8_t *at = put_request(fields, operation, path, user);
    if (value != ABSENT)
        at = put_number(at, tag, value);
    return host_open(fields, (size_t)(at - fields));
}

/* By a path in the scratch directory unless it is absolute. */
static const char *whole(const char *name) {
    static char path[8][5000];
    static unsigned next;
    char *at = path[next++ % 8];
    snprintf(at, sizeof path[0], "%s%s%s", *name == '/' ? "" : scratch, *name == '/' ? "" : "/", name);
    return at;
}

static struct run *ask(const char *operation, const char *name) {
    struct run *run = ask_as(NULL, operation, whole(name), TAG_FOLLOW, ABSENT);
    host_finish(run);
    return run;
}

static struct run *begin_write(const char *user, const char *name, uint64_t size, uint64_t mode, uint64_t checksum) {
    uint8_t fields[6000];
    uint8_t *at = put_number(put_request(fields, "file.write", whole(name), user), TAG_SIZE, size);
    if (mode != ABSENT)
        at = put_number(at, TAG_MODE, mode);
    if (checksum != ABSENT)
        at = put_number(at, TAG_CHECKSUM, checksum);
    return host_open(fields, (size_t)(at - fields));
}

static struct run *write_as(const char *user, const char *name, const void *bytes, size_t length, uint64_t mode) {
    struct run *run = begin_write(user, name, length, mode, ABSENT);
    host_input_parts(run, bytes, length);
    if (!run->done)
        host_input_end(run, length);
    host_finish(run);
    return run;
}

static bool content_is(const char *name, const uint8_t *bytes, size_t length) {
    int fd = open(whole(name), O_RDONLY);
    uint8_t *found = malloc(length + 1);
    size_t at = 0;
    for (ssize_t got; fd != -1 && at <= length && (got = read(fd, found + at, length + 1 - at)) > 0;)
        at += (size_t)got;
    bool same = fd != -1 && at == length && memcmp(found, bytes, length) == 0;
    close(fd);
    free(found);
    return same;
}

static unsigned entries(const char *name) {
    DIR *directory = opendir(whole(name));
    unsigned count = 0;
    CHECK(directory != NULL);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count - 2;
}

static mode_t mode_of(const char *name) {
    struct stat file;
    CHECK(lstat(whole(name), &file) == 0);
    return file.st_mode & 07777;
}

static void make_directory(const char *name) {
    CHECK(mkdir(whole(name), 0755) == 0 || errno == EEXIST);
}

static bool may_chown(void) {
    return getuid() == 0;
}

/* Reading and writing */

static void read_part(const char *name, const uint8_t *bytes, size_t size, uint64_t offset, uint64_t length) {
    uint8_t fields[600];
    uint8_t *at = put_request(fields, "file.read", whole(name), NULL);
    at = put_number(at, TAG_OFFSET, offset);
    if (length != ABSENT)
        at = put_number(at, TAG_LENGTH, length);
    struct run *run = host_open(fields, (size_t)(at - fields));
    run->holds_credit = test_random() % 2;
    while (!run->done) {
        CHECK(host_step(PATIENCE_MS));
        if (run->holds_credit && !run->done && run->length[0] == run->credit[0])
            host_credit(run, 0, run->credit[0] + 1 + test_random() % (2 * WINDOW));
    }
    uint64_t expected = offset < size ? size - offset : 0;
    if (length < expected)
        expected = length;
    CHECK(run->code[0] == 0 && run->ended[0] && run->ended[1] && run->length[0] == expected);
    CHECK(expected == 0 || memcmp(run->out[0], bytes + offset, expected) == 0);
    CHECK(number_field(run->out[1], run->length[1], TAG_SIZE, 0) == size && number_field(run->out[1], run->length[1], TAG_KIND, 0) == 1);
}

static void files_of_every_size_are_written_and_read(void) {
    size_t sizes[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 262143, 262144, 262145, MIB, MIB + 1, 5 * MIB + test_random() % MIB,
                      test_random() % 100000, test_random() % MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];
        uint8_t *bytes = random_bytes(size + 1);
        struct run *run = begin_write(NULL, "f", size, ABSENT, test_random() % 2 ? crc32c(0, bytes, size) : ABSENT);
        host_input_parts(run, bytes, size);
        host_input_end(run, size);
        host_finish(run);
        CHECK(run->code[0] == 0 && run->number[TAG_SIZE] == size && content_is("f", bytes, size));
        read_part("f", bytes, size, 0, ABSENT);
        for (int j = 0; j < 3; j++)
            read_part("f", bytes, size, test_random() % (size + 2), test_random() % 2 ? ABSENT : test_random() % (size + 2));
        free(bytes);
    }
}

static void a_write_that_is_cut_leaves_nothing(void) {
    make_directory("cut");
    unsigned before = agent_descriptors();
    uint8_t *bytes = random_bytes(MIB);
    file_write("cut/old", "old", 0644);
    for (int i = 0; i < 40; i++) {
        struct run *run = begin_write(NULL, i % 2 ? "cut/a/b/c" : "cut/old", MIB, ABSENT, ABSENT);
        host_input_parts(run, bytes, test_random() % 8 ? test_random() % MIB : MIB);
        if (test_random() % 2)
            host_send(RESET, 0, 0, run->stream, NULL, 0);
        else
            host_connect_again();
        if (i % 4 == 0)
            await_descriptors(before);
    }
    free(bytes);
    host_connect_again();
    await_descriptors(before);
    CHECK(entries("cut") == 1 && strcmp(file_text("cut/old"), "old") == 0);
}

static void a_write_that_has_everything_is_finished_without_its_connection(void) {
    uint8_t *bytes = random_bytes(MIB);
    struct run *run = begin_write(NULL, "late/er/f", MIB, ABSENT, ABSENT);
    host_input(run, bytes, MIB);
    host_connect_again();
    for (uint64_t begin = test_now_ms(); access(whole("late/er/f"), F_OK) == -1 && test_now_ms() - begin < PATIENCE_MS;)
        host_step(5);
    bool same = content_is("late/er/f", bytes, MIB);
    free(bytes);
    CHECK(same);
}

/* Every version is one letter, its length told by the letter. */
static void read_versions(void) {
    for (;;) {
        static uint8_t bytes[300000];
        int fd = open(whole("version"), O_RDONLY);
        size_t length = 0;
        if (fd == -1)
            _exit(1);
        for (ssize_t got; (got = read(fd, bytes + length, sizeof bytes - length)) > 0;)
            length += (size_t)got;
        close(fd);
        bool same = length > 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
        if (!same || length != 1000u * bytes[0])
            _exit(2);
        if (bytes[0] == 'z')
            _exit(0);
    }
}

static void a_reader_sees_the_old_file_or_the_new(void) {
    static uint8_t bytes[300000];
    memset(bytes, 'A', 65000);
    CHECK(write_as(NULL, "version", bytes, 65000, ABSENT)->code[0] == 0);
    pid_t reader = fork();
    if (reader == 0)
        read_versions();
    for (char letter = 'A'; letter <= 'z'; letter++) {
        memset(bytes, letter, sizeof bytes);
        CHECK(write_as(NULL, "version", bytes, 1000u * (unsigned)letter, ABSENT)->code[0] == 0);
    }
    int status;
    CHECK(waitpid(reader, &status, 0) == reader && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_write_goes_through_links_and_keeps_what_the_file_was(void) {
    make_directory("links");
    file_write("links/target", "old", 0640);
    file_link("target", "links/link");
    file_link("link", "links/second");
    if (may_chown())
        CHECK(chown(whole("links/target"), 1234, 5678) == 0);
    CHECK(write_as(NULL, "links/second", "new", 3, ABSENT)->code[0] == 0);
    struct stat file;
    CHECK(stat(whole("links/target"), &file) == 0 && strcmp(file_text("links/target"), "new") == 0 && mode_of("links/target") == 0640);
    CHECK(!may_chown() || (file.st_uid == 1234 && file.st_gid == 5678));
    CHECK(lstat(whole("links/link"), &file) == 0 && S_ISLNK(file.st_mode));
    CHECK(write_as(NULL, "links/second", "newer", 5, 04755)->code[0] == 0 && mode_of("links/target") == 04755);
    file_link("not/yet/there", "links/dangling");
    CHECK(write_as(NULL, "links/dangling", "x", 1, ABSENT)->code[0] == 0);
    CHECK(strcmp(file_text("links/not/yet/there"), "x") == 0 && mode_of("links/not/yet/there") == 0600 && mode_of("links/not") == 0755);
    file_link("loop", "links/loop");
    CHECK(is_fault(write_as(NULL, "links/loop", "x", 1, ABSENT), "BAD_REQUEST"));
}

static void a_failed_write_changes_nothing(void) {
    file_write("kept/f", "old", 0644);
    struct run *run = begin_write(NULL, "kept/f", 3, ABSENT, 12345);
    host_input(run, "new", 3);
    host_finish(run);
    CHECK(is_fault(run, "CHECKSUM_MISMATCH"));
    run = begin_write(NULL, "kept/a/f", 3, ABSENT, 12345);
    host_input(run, "new", 3);
    host_finish(run);
    CHECK(is_fault(run, "CHECKSUM_MISMATCH"));
    run = begin_write(NULL, "kept/f", 4, ABSENT, ABSENT);
    host_input(run, "new", 3);
    host_finish(run);
    CHECK(is_fault(run, "BAD_REQUEST"));
    run = begin_write(NULL, "kept/a/f", 2, ABSENT, ABSENT);
    host_input(run, "new", 3);
    host_finish(run);
    CHECK(is_fault(run, "BAD_REQUEST"));
    char name[400] = "kept/a/b/";
    memset(name + 9, 'n', 300);
    CHECK(is_fault(write_as(NULL, name, "new", 3, ABSENT), "BAD_REQUEST"));
    CHECK(is_fault(write_as(NULL, "kept/f/below", "new", 3, ABSENT), "NOT_A_DIRECTORY"));
    CHECK(is_fault(write_as(NULL, "kept", "new", 3, ABSENT), "NOT_A_FILE"));
    CHECK(mkfifo(whole("kept/fifo"), 0600) == 0 && is_fault(write_as(NULL, "kept/fifo", "new", 3, ABSENT), "NOT_A_FILE"));
    CHECK(is_fault(ask("file.read", "kept/fifo"), "NOT_A_FILE") && is_fault(ask("file.write", "kept/f"), "BAD_REQUEST"));
    CHECK(entries("kept") == 2 && strcmp(file_text("kept/f"), "old") == 0);
}

static void a_file_that_shrinks_while_it_is_read_is_told(void) {
    uint8_t *bytes = random_bytes(8 * MIB);
    CHECK(write_as(NULL, "shrinks", bytes, 8 * MIB, ABSENT)->code[0] == 0);
    struct run *run = ask_as(NULL, "file.read", whole("shrinks"), TAG_OFFSET, 0);
    run->holds_credit = true;
    while (run->length[0] < WINDOW)
        CHECK(host_step(PATIENCE_MS));
    CHECK(truncate(whole("shrinks"), 100) == 0);
    host_credit(run, 0, 8 * MIB);
    host_finish(run);
    free(bytes);
    CHECK(is_fault(run, "SHRUNK") && run->length[0] < 8 * MIB);
}

static void a_user_may_do_what_the_kernel_lets_it(void) {
    if (!may_chown()) {
        printf("  (not: this needs root)\n");
        return;
    }
    CHECK(chmod(scratch, 0755) == 0);
    file_write("users/secret", "secret", 0600);
    file_write("users/open", "open", 0666);
    CHECK(chmod(whole("users/open"), 0666) == 0);
    CHECK(is_fault(write_as("nobody", "users/mine", "x", 1, ABSENT), "ACCESS_DENIED"));
    CHECK(is_fault(write_as("nobody", "users/open", "x", 1, ABSENT), "ACCESS_DENIED"));
    struct run *run = ask_as("nobody", "file.read", whole("users/secret"), TAG_OFFSET, 0);
    host_finish(run);
    CHECK(is_fault(run, "ACCESS_DENIED"));
    CHECK(chmod(whole("users"), 0777) == 0);
    CHECK(is_fault(write_as("nobody", "users/secret", "x", 1, ABSENT), "ACCESS_DENIED"));
    CHECK(write_as("nobody", "users/new/mine", "x", 1, ABSENT)->code[0] == 0);
    struct stat file;
    CHECK(stat(whole("users/new/mine"), &file) == 0 && file.st_uid == 65534 && mode_of("users/new/mine") == 0600);
    CHECK(stat(whole("users/new"), &file) == 0 && file.st_uid == 65534);
    /* It may write the file and replace it, but not give it back to its owner. */
    CHECK(write_as("nobody", "users/open", "taken", 5, ABSENT)->code[0] == 0);
    CHECK(stat(whole("users/open"), &file) == 0 && file.st_uid == 65534 && mode_of("users/open") == 0666);
    file_write("users/sticky/f", "f", 0666);
    CHECK(chmod(whole("users/sticky/f"), 0666) == 0 && chmod(whole("users/sticky"), 01777) == 0);
    CHECK(is_fault(write_as("nobody", "users/sticky/f", "x", 1, ABSENT), "ACCESS_DENIED"));
    CHECK(entries("users/sticky") == 1 && strcmp(file_text("users/sticky/f"), "f") == 0);
    CHECK(is_fault(write_as("no-such-user", "users/x", "x", 1, ABSENT), "NO_SUCH_USER"));
    run = ask_as("nobody", "file.remove", whole("users/secret"), TAG_FOLLOW, ABSENT);
    host_finish(run);
    CHECK(run->code[0] == 0 && access(whole("users/secret"), F_OK) == -1);
}

/* Looking */

static void stat_describes(void) {
    file_write("looked/at", "12345", 0604);
    file_link("at", "looked/link");
    struct run *run = ask("file.stat", "looked/at");
    CHECK(run->number[TAG_KIND] == 1 && run->number[TAG_SIZE] == 5 && run->number[TAG_MODE] == 0604);
    CHECK(run->number[TAG_MODIFIED] > 1600000000000000000u && strlen(text_field(run->answer, run->answer_length, TAG_OWNER, 0)) > 0);
    if (may_chown()) {
        CHECK(strcmp(text_field(run->answer, run->answer_length, TAG_GROUP, 0), "root") == 0);
        CHECK(chown(whole("looked/at"), 123456, 0) == 0);
        run = ask("file.stat", "looked/at");
        CHECK(strcmp(text_field(run->answer, run->answer_length, TAG_OWNER, 0), "123456") == 0);
    }
    CHECK(ask("file.stat", "looked/link")->number[TAG_KIND] == 3 && ask("file.stat", "looked")->number[TAG_KIND] == 2);
    run = ask_as(NULL, "file.stat", whole("looked/link"), TAG_FOLLOW, 1);
    host_finish(run);
    CHECK(run->number[TAG_KIND] == 1 && ask("file.stat", "/dev/null")->number[TAG_KIND] == 4);
    CHECK(is_fault(ask("file.stat", "looked/no"), "FILE_NOT_FOUND") && is_fault(ask("file.stat", "looked/at/x"), "NOT_A_DIRECTORY"));
    CHECK(is_fault(ask("file.read", "looked"), "NOT_A_FILE") && is_fault(ask("file.list", "looked/at"), "NOT_A_DIRECTORY"));
    CHECK(is_fault(ask("file.read", "/dev/null"), "NOT_A_FILE"));
}

/* An END before the refusal would look like an empty file. Many at once, since the end of a process and that of its pipes are two events. */
static void what_is_refused_has_no_end(void) {
    static const char *const operations[] = {"file.read", "file.list", "file.watch"};
    for (int round = 0; round < 20; round++) {
        struct run *runs[18];
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
            runs[i] = ask_as(NULL, operations[i % 3], whole("absent"), TAG_FOLLOW, ABSENT);
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            host_finish(runs[i]);
            CHECK(is_fault(runs[i], "FILE_NOT_FOUND") && !runs[i]->ended[0] && !runs[i]->ended[1]);
        }
    }
}

static void paths_that_are_none_are_refused(void) {
    static const char *const operations[] = {"file.stat", "file.read", "file.write", "file.list", "file.mkdir", "file.remove", "file.watch"};
    static const char *const paths[] = {"", "relative", "/tmp/../etc", "/..", "/tmp/..", "../x"};
    char longest[4200];
    memset(longest, 'a', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = 0;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        struct run *run = host_operation(operations[i]);
        host_finish(run);
        CHECK(is_fault(run, "BAD_REQUEST"));
        for (size_t j = 0; j <= sizeof paths / sizeof *paths; j++) {
            run = ask_as(NULL, operations[i], j < sizeof paths / sizeof *paths ? paths[j] : longest, TAG_SIZE, 0);
            host_finish(run);
            CHECK(is_fault(run, "BAD_REQUEST"));
        }
    }
    CHECK(is_fault(ask("file.remove", "/"), "BAD_REQUEST") && is_fault(ask("file.remove", "//./"), "BAD_REQUEST"));
    struct run *run = ask_as(NULL, "file.stat", scratch, TAG_FOLLOW, ABSENT);
    host_send_data(run, 0, "x", 1);
    host_finish(run);
    host_ping();
}

static void a_list_has_every_entry_once(void) {
    make_directory("wide");
    static bool seen[3000];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 3000; i++) {
        char name[64];
        snprintf(name, sizeof name, "wide/%d", i);
        if (i % 3 == 0)
            close(open(whole(name), O_WRONLY | O_CREAT, 0600));
        else if (i % 3 == 1)
            make_directory(name);
        else
            CHECK(symlink(i % 2 ? "0" : "nowhere", whole(name)) == 0);
    }
    for (uint64_t follow = 0; follow < 2; follow++) {
        memset(seen, 0, sizeof seen);
        struct run *run = ask_as(NULL, "file.list", whole("wide"), TAG_FOLLOW, follow);
        host_finish(run);
        CHECK(run->code[0] == 0 && run->ended[0]);
        size_t count = 0;
        for (size_t at = 0; at < run->length[0]; count++) {
            size_t length = get_u32(run->out[0] + at + 2) + 6;
            int i = atoi(text_field(run->out[0] + at, length, TAG_NAME, 0));
            uint64_t kind = number_field(run->out[0] + at + length, 14, TAG_KIND, 0);
            uint64_t expected = i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : follow && i % 2 ? 1 : 3;
            CHECK(i >= 0 && i < 3000 && !seen[i] && kind == expected);
            seen[i] = true;
            at += length + 14;
        }
        CHECK(count == 3000);
    }
    make_directory("none");
    CHECK(ask("file.list", "none")->length[0] == 0);
}

/* Directories */

static void mkdir_makes_what_is_missing(void) {
    CHECK(ask("file.mkdir", "made/a/b")->code[0] == 0 && mode_of("made/a/b") == 0755);
    CHECK(ask("file.mkdir", "made/a/b/")->code[0] == 0 && ask("file.mkdir", "/")->code[0] == 0);
    file_write("made/f", "", 0600);
    CHECK(is_fault(ask("file.mkdir", "made/f"), "NOT_A_DIRECTORY") && is_fault(ask("file.mkdir", "made/f/x"), "NOT_A_DIRECTORY"));
    char name[400] = "made/x/y/";
    memset(name + 9, 'n', 300);
    CHECK(is_fault(ask("file.mkdir", name), "BAD_REQUEST") && entries("made") == 2);
    memset(name, 0, sizeof name);
    strcpy(name, "made/x/y/");
    memset(name + 9, 'n', 300);
    strcpy(name + 309, "/z");
    CHECK(is_fault(ask("file.mkdir", name), "BAD_REQUEST") && entries("made") == 2); /* x and y were made, and removed again */
}

static void make_deep(const char *name, int depth) {
    make_directory(name);
    int at = open(whole(name), O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < depth; i++) {
        CHECK(mkdirat(at, "directory", 0755) == 0 && symlinkat(whole("outside"), at, "link") == 0);
        int file = openat(at, "file", O_WRONLY | O_CREAT, 0600), below = openat(at, "directory", O_RDONLY | O_DIRECTORY);
        close(file);
        close(at);
        at = below;
    }
    close(at);
}

static void remove_takes_trees_and_follows_no_link(void) {
    file_write("outside/kept", "kept", 0644);
    file_write("gone/f", "f", 0600);
    file_link("../outside", "gone/link");
    CHECK(ask("file.remove", "gone/link")->code[0] == 0 && access(whole("outside/kept"), F_OK) == 0);
    CHECK(ask("file.remove", "gone/f")->code[0] == 0 && entries("gone") == 0);
    CHECK(is_fault(ask("file.remove", "gone/f"), "FILE_NOT_FOUND"));
    file_link("../outside", "gone/link");
    make_deep("gone/deep", 1500); /* its path is longer than a path can be */
    make_deep("gone/flat", 3);
    for (int i = 0; i < 2000; i++) {
        char name[64];
        snprintf(name, sizeof name, "gone/%d", i);
        i % 2 ? make_directory(name) : file_link("deep", name);
        snprintf(name, sizeof name, "gone/%d/%s", i, "below");
        if (i % 4 == 1)
            make_directory(name);
    }
    CHECK(ask("file.remove", "gone/")->code[0] == 0 && access(whole("gone"), F_OK) == -1);
    CHECK(strcmp(file_text("outside/kept"), "kept") == 0);
}

static void remove_bears_a_tree_that_changes(void) {
    for (int i = 0; i < 5; i++) {
        make_deep("changing", 60);
        pid_t other = fork();
        if (other == 0) { /* moves directories about while they are removed */
            for (unsigned at = 0;; at++) {
                char name[64];
                snprintf(name, sizeof name, "changing/directory/m%u", at);
                rename(whole("changing/directory/directory/directory"), whole(name));
                mkdir(whole("changing/new"), 0755);
                mkdir(whole("changing/new/new"), 0755);
            }
        }
        struct run *run = ask("file.remove", "changing");
        kill(other, SIGKILL);
        waitpid(other, NULL, 0);
        CHECK(run->code[0] == 0 || is_fault(run, "FAILED"));
        CHECK(access(whole("changing"), F_OK) == -1 || ask("file.remove", "changing")->code[0] == 0);
    }
}

/* Limits */

static void sixty_four_requests_are_under_way_at_most(void) {
    unsigned before = agent_descriptors();
    struct run *runs[64];
    for (int i = 0; i < 64; i++) {
        char name[32];
        snprintf(name, sizeof name, "many-%d", i);
        runs[i] = begin_write(NULL, name, 10, ABSENT, ABSENT);
    }
    CHECK(is_fault(ask("file.stat", "/"), "TOO_MANY"));
    for (int i = 0; i < 64; i++) {
        host_input(runs[i], "0123456789", 10);
        host_finish(runs[i]);
        CHECK(runs[i]->code[0] == 0);
    }
    await_descriptors(before);
    CHECK(ask("file.stat", "/")->code[0] == 0);
}

static void a_slow_reader_holds_up_no_other(void) {
    uint8_t *bytes = random_bytes(3 * MIB);
    CHECK(write_as(NULL, "slow", bytes, 3 * MIB, ABSENT)->code[0] == 0);
    struct run *slow = ask_as(NULL, "file.read", whole("slow"), TAG_OFFSET, 0);
    slow->holds_credit = true;
    while (slow->length[0] < WINDOW)
        CHECK(host_step(PATIENCE_MS));
    read_part("slow", bytes, 3 * MIB, 0, ABSENT);
    CHECK(!host_step(50) && slow->length[0] == WINDOW);
    slow->holds_credit = false;
    host_credit(slow, 0, 2 * WINDOW);
    host_finish(slow);
    bool same = slow->length[0] == 3 * MIB && memcmp(slow->out[0], bytes, 3 * MIB) == 0;
    free(bytes);
    CHECK(same);
}

const struct test file_tests[] = {
    TEST(files_of_every_size_are_written_and_read),
    TEST(a_write_that_is_cut_leaves_nothing),
    TEST(a_write_that_has_everything_is_finished_without_its_connection),
    TEST(a_reader_sees_the_old_file_or_the_new),
    TEST(a_write_goes_through_links_and_keeps_what_the_file_was),
    TEST(a_failed_write_changes_nothing),
    TEST(a_file_that_shrinks_while_it_is_read_is_told),
    TEST(a_user_may_do_what_the_kernel_lets_it),
    TEST(stat_describes),
    TEST(paths_that_are_none_are_refused),
    TEST(what_is_refused_has_no_end),
    TEST(a_list_has_every_entry_once),
    TEST(mkdir_makes_what_is_missing),
    TEST(remove_takes_trees_and_follows_no_link),
    TEST(remove_bears_a_tree_that_changes),
    TEST(sixty_four_requests_are_under_way_at_most),
    TEST(a_slow_reader_holds_up_no_other),
    {NULL, NULL},
};
