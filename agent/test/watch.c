/* Tests of file.watch. */
#include "support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CREATE = 1, MODIFY = 2, DELETE = 3, RENAME = 4 };

static size_t taken; /* how much of the events has been looked at */

static const char *in_tree(const char *name) {
    static char path[4][300];
    static unsigned next;
    char *at = path[next++ % 4];
    snprintf(at, sizeof path[0], "%s/tree%s%s", scratch, *name ? "/" : "", name);
    return at;
}

static void clear_tree(void) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", in_tree(""));
    CHECK(system(command) == 0);
}

static struct run *begin_watch(void) {
    uint8_t fields[400];
    uint8_t *at = put_text(put_text(fields, TAG_OPERATION, "file.watch"), TAG_PATH, in_tree(""));
    mkdir(in_tree(""), 0755);
    struct run *run = host_open(fields, (size_t)(at - fields));
    taken = 0;
    while (!run->ended[1] && !run->done)
        CHECK(host_step(PATIENCE_MS));
    CHECK(!run->done);
    return run;
}

/* The next event must be this one. */
static void expect(struct run *run, uint64_t event, const char *name) {
    size_t length = strlen(in_tree(name)) + 6 + 14;
    while (run->length[0] < taken + 20 || run->length[0] < taken + 20 + get_u32(run->out[0] + taken + 16))
        if (run->done || !host_step(PATIENCE_MS))
            fail("no event %d of %s: %s", (int)event, name, run->message);
    size_t found = 20 + get_u32(run->out[0] + taken + 16);
    uint64_t kind = number_field(run->out[0] + taken, found, TAG_EVENT, 0);
    const char *path = text_field(run->out[0] + taken, found, TAG_PATH, 0);
    if (kind != event || strcmp(path, in_tree(name)) != 0 || found != length)
        fail("event %d of %s, expected %d of %s", (int)kind, path, (int)event, name);
    taken += found;
}

static void touch(const char *name) {
    int fd = open(in_tree(name), O_WRONLY | O_CREAT | O_APPEND, 0644);
    CHECK(fd != -1 && write(fd, "x", 1) == 1);
    close(fd);
}

static void what_happens_in_a_tree_is_told_once(void) {
    clear_tree();
    CHECK(mkdir(in_tree(""), 0755) == 0 && mkdir(in_tree("old"), 0755) == 0 && mkdir(in_tree("old/er"), 0755) == 0);
    struct run *run = begin_watch();
    touch("old/er/f");
    expect(run, CREATE, "old/er/f");
    expect(run, MODIFY, "old/er/f");
    CHECK(rename(in_tree("old/er/f"), in_tree("g")) == 0);
    expect(run, RENAME, "g");
    CHECK(unlink(in_tree("g")) == 0);
    expect(run, DELETE, "g");
    for (int i = 0; i < 50; i++)
        touch("often");
    expect(run, CREATE, "often");
    expect(run, MODIFY, "often");
    expect(run, MODIFY, "often"); /* once more, because the last changes came after the first was told */
    CHECK(unlink(in_tree("often")) == 0);
    expect(run, DELETE, "often");
    CHECK(rmdir(in_tree("old/er")) == 0);
    expect(run, DELETE, "old/er");
}

/* In any order, each once. */
static void expect_all(struct run *run, uint64_t event, const char *const *names, unsigned count) {
    unsigned seen = 0;
    for (unsigned i = 0; i < count; i++) {
        while (run->length[0] < taken + 20 || run->length[0] < taken + 20 + get_u32(run->out[0] + taken + 16))
            if (run->done || !host_step(PATIENCE_MS))
                fail("only %u of the events of %s and the others: %s", i, names[0], run->message);
        size_t found = 20 + get_u32(run->out[0] + taken + 16);
        const char *path = text_field(run->out[0] + taken, found, TAG_PATH, 0);
        unsigned which = 0;
        while (which < count && strcmp(in_tree(names[which]), path) != 0)
            which++;
        if (which == count || (seen & 1u << which) || number_field(run->out[0] + taken, found, TAG_EVENT, 0) != event)
            fail("an event of %s that was not expected", path);
        seen |= 1u << which;
        taken += found;
    }
}

static void directories_that_appear_and_move_are_followed(void) {
    clear_tree();
    static const char *const made[] = {"a", "a/b", "a/b/c", "a/b/f", "a/b/c/g"};
    struct run *run = begin_watch();
    for (int i = 0; i < 20; i++) {
        char command[600];
        snprintf(command, sizeof command, "cd %s && mkdir -p a/b/c && ln -s x a/b/f && ln -s y a/b/c/g", in_tree(""));
        CHECK(system(command) == 0);
        expect_all(run, CREATE, made, 5);
        CHECK(rename(in_tree("a/b"), in_tree("moved")) == 0);
        expect(run, RENAME, "moved");
        CHECK(symlink("z", in_tree("moved/c/h")) == 0);
        expect(run, CREATE, "moved/c/h");
        char outside[300];
        snprintf(outside, sizeof outside, "%s/outside-%d", scratch, i);
        CHECK(rename(in_tree("moved/c"), outside) == 0);
        expect(run, DELETE, "moved/c");
        strcat(outside, "/not-told");
        CHECK(symlink("z", outside) == 0);
        *strrchr(outside, '/') = 0;
        CHECK(rename(outside, in_tree("back")) == 0);
        static const char *const back[] = {"back", "back/g", "back/h", "back/not-told"};
        expect_all(run, CREATE, back, 4);
        CHECK(symlink("z", in_tree("back/told")) == 0);
        expect(run, CREATE, "back/told");
        CHECK(unlink(in_tree("back/told")) == 0 && unlink(in_tree("back/g")) == 0 && unlink(in_tree("back/h")) == 0 &&
              unlink(in_tree("back/not-told")) == 0 && rmdir(in_tree("back")) == 0);
        expect(run, DELETE, "back/told");
        expect(run, DELETE, "back/g");
        expect(run, DELETE, "back/h");
        expect(run, DELETE, "back/not-told");
        expect(run, DELETE, "back");
        CHECK(unlink(in_tree("moved/f")) == 0 && rmdir(in_tree("moved")) == 0 && rmdir(in_tree("a")) == 0);
        expect(run, DELETE, "moved/f");
        expect(run, DELETE, "moved");
        expect(run, DELETE, "a");
    }
    CHECK(!host_step(150)); /* nothing was owed */
}

static void a_watch_that_nobody_takes_from_ends(void) {
    clear_tree();
    struct run *run = begin_watch();
    run->holds_credit = true;
    for (int i = 0; i < 22000; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%d", i);
        CHECK(symlink("x", in_tree(name)) == 0 && unlink(in_tree(name)) == 0);
    }
    host_credit(run, 0, 64 * MIB);
    host_finish(run);
    CHECK(is_fault(run, "TOO_LARGE"));
}

static void a_watch_ends_with_its_tree_and_with_its_stream(void) {
    clear_tree();
    unsigned before = agent_descriptors();
    struct run *run = begin_watch();
    CHECK(rmdir(in_tree("")) == 0);
    host_finish(run);
    CHECK(is_fault(run, "FILE_NOT_FOUND"));
    run = begin_watch();
    host_send(RESET, 0, 0, run->stream, NULL, 0);
    await_descriptors(before);
    begin_watch();
    host_connect_again();
    await_descriptors(before);
    file_write("tree/f", "", 0600);
    uint8_t fields[400];
    uint8_t *at = put_text(put_text(fields, TAG_OPERATION, "file.watch"), TAG_PATH, in_tree("f"));
    run = host_open(fields, (size_t)(at - fields));
    host_finish(run);
    CHECK(is_fault(run, "NOT_A_DIRECTORY"));
}

const struct test watch_tests[] = {
    TEST(what_happens_in_a_tree_is_told_once),
    TEST(directories_that_appear_and_move_are_followed),
    TEST(a_watch_that_nobody_takes_from_ends),
    TEST(a_watch_ends_with_its_tree_and_with_its_stream),
    {NULL, NULL},
};
