/* Tests of terminals. */
#include "support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING (1u << 20)

static const char *me(void) {
    return getuid() == 0 ? "root" : getenv("USER");
}

static uint8_t *put_open(uint8_t *at, const char *command, const char *slug, const char *user) {
    at = put_text(put_text(at, TAG_OPERATION, "pty.open"), TAG_USER, user);
    if (command != NULL)
        at = put_text(at, TAG_COMMAND, command);
    return slug != NULL ? put_text(at, TAG_SLUG, slug) : at;
}

static struct run *begin_open(const char *command, const char *slug) {
    uint8_t fields[2000];
    return host_open(fields, (size_t)(put_open(fields, command, slug, me()) - fields));
}

static uint64_t described(const struct run *run, enum tag tag) {
    return number_field(run->out[1], run->length[1], tag, 0);
}

static void await_description(struct run *run) {
    while (!run->ended[1] && !run->done)
        CHECK(host_step(PATIENCE_MS));
    if (run->done && run->code[0] != 0)
        fail("%s: %s", run->code, run->message);
}

static struct run *open_terminal(const char *command, const char *slug) {
    struct run *run = begin_open(command, slug);
    await_description(run);
    return run;
}

static struct run *attach(uint64_t session, uint64_t offset) {
    uint8_t fields[200];
    uint8_t *at = put_number(put_text(fields, TAG_OPERATION, "pty.attach"), TAG_SESSION, session);
    return host_open(fields, (size_t)(put_number(at, TAG_OFFSET, offset) - fields));
}

static struct run *ask(const char *operation, uint64_t session, enum tag tag, uint64_t value, enum tag tag2, uint64_t value2) {
    uint8_t fields[200];
    uint8_t *at = put_number(put_text(fields, TAG_OPERATION, operation), TAG_SESSION, session);
    at = put_number(put_number(at, tag, value), tag2, value2);
    struct run *run = host_open(fields, (size_t)(at - fields));
    host_finish(run);
    return run;
}

static struct run *close_terminal(uint64_t session) {
    return ask("pty.close", session, TAG_COUNT, 0, TAG_COUNT, 0);
}

/* Typed so far stands in `typed`. */
static void type(struct run *run, uint64_t *typed, const char *text) {
    host_send_data(run, *typed, text, strlen(text));
    *typed += strlen(text);
}

static void await_text(struct run *run, const char *text) {
    while (run->length[0] == 0 || strstr((char *)run->out[0], text) == NULL)
        if (run->done || !host_step(PATIENCE_MS))
            fail("no \"%s\" in \"%s\"", text, run->length[0] > 0 ? (char *)run->out[0] : "");
}

static unsigned count_text(const struct run *run, const char *text) {
    unsigned count = 0;
    for (const char *at = (char *)run->out[0]; run->length[0] > 0 && (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

static void a_program_has_the_terminal(void) {
    uint64_t typed = 0;
    struct run *run = open_terminal("stty size; stty -a | grep -o ' iutf8'; tty; echo $TERM $(cut -d' ' -f6 /proc/$$/stat) $$; read x; "
                                    "echo got $x >/dev/tty; exit 3", NULL);
    CHECK(described(run, TAG_FRESH) == 1 && described(run, TAG_SESSION) == 1 && described(run, TAG_OFFSET) == 0);
    CHECK(described(run, TAG_COLUMNS) == 80 && described(run, TAG_ROWS) == 24);
    CHECK(strcmp(text_field(run->out[1], run->length[1], TAG_USER, 0), me()) == 0);
    type(run, &typed, "h\xc3\xbcz\x7f\n"); /* erased as one character */
    host_finish(run);
    CHECK(has_exited(run, 3));
    await_text(run, "24 80\r\n iutf8\r\n/dev/pts/");
    char term[64];
    const char *pids = strstr((char *)run->out[0], "xterm-256color ");
    int session, pid;
    CHECK(pids != NULL && sscanf(pids, "%63s %d %d", term, &session, &pid) == 3 && session == pid);
    CHECK(strstr((char *)run->out[0], "got h\xc3\xbc\r\n") != NULL);
    run = attach(1, 0);
    host_finish(run);
    CHECK(has_exited(run, 3) && described(run, TAG_EXIT_STATUS) == 3 && !has_field(run->out[1], run->length[1], TAG_FRESH, 0));
}

static void the_login_shell_is_one(void) {
    uint64_t typed = 0;
    struct run *run = open_terminal(NULL, NULL);
    /* A shell that edits its lines may lose what was typed before its prompt. What the user's own profile does takes its time. */
    while (count_text(run, "# ") + count_text(run, "$ ") == 0)
        CHECK(host_step(2 * PATIENCE_MS));
    type(run, &typed, "echo name=$0.\nexit 7\n");
    host_finish(run);
    CHECK(has_exited(run, 7) && count_text(run, "name=-") == 1);
}

static void a_resize_reaches_the_program(void) {
    struct run *run = open_terminal("trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.02; done", NULL);
    await_text(run, "ready");
    CHECK(ask("pty.resize", 1, TAG_COLUMNS, 132, TAG_ROWS, 50)->code[0] == 0);
    host_finish(run);
    CHECK(has_exited(run, 0) && count_text(run, "50 132\r\n") == 1);
    run = attach(1, 0);
    host_finish(run);
    CHECK(described(run, TAG_COLUMNS) == 132 && described(run, TAG_ROWS) == 50);
    CHECK(is_fault(ask("pty.resize", 1, TAG_COLUMNS, 0, TAG_ROWS, 5), "BAD_REQUEST"));
    CHECK(is_fault(ask("pty.resize", 1, TAG_COLUMNS, 5, TAG_ROWS, 1001), "BAD_REQUEST"));
    CHECK(is_fault(ask("pty.resize", 2, TAG_COLUMNS, 5, TAG_ROWS, 5), "NO_SUCH_SESSION"));
}

static void await_prompts(struct run *run, unsigned count) {
    while (count_text(run, "> ") < count)
        CHECK(host_step(PATIENCE_MS));
}

static void keys_stop_and_interrupt_jobs(void) {
    uint64_t typed = 0;
    struct run *run = open_terminal("PS1='> ' exec sh -i", NULL);
    await_text(run, "> ");
    type(run, &typed, "cat\n");
    type(run, &typed, "ping\n");
    while (count_text(run, "ping\r\n") < 2) /* once by the terminal, once by cat */
        CHECK(host_step(PATIENCE_MS));
    type(run, &typed, "\x1a");
    await_text(run, "topped");
    await_prompts(run, 2);
    type(run, &typed, "fg\n");
    await_text(run, "fg\r\ncat");
    type(run, &typed, "pong\n");
    while (count_text(run, "pong\r\n") < 2)
        CHECK(host_step(PATIENCE_MS));
    type(run, &typed, "\x03");
    await_prompts(run, 3); /* what is typed earlier is dropped with what cat had not read */
    type(run, &typed, "echo status $?\n");
    await_text(run, "status 130");
    type(run, &typed, "cat\nagain\n");
    while (count_text(run, "again\r\n") < 2)
        CHECK(host_step(PATIENCE_MS));
    CHECK(ask("pty.signal", 1, TAG_SIGNAL, SIGINT, TAG_COUNT, 0)->code[0] == 0);
    await_prompts(run, 5);
    type(run, &typed, "exit 5\n");
    host_finish(run);
    CHECK(has_exited(run, 5));
}

static size_t numbers(char *text, int count) {
    size_t length = 0;
    for (int i = 1; i <= count; i++)
        length += (size_t)sprintf(text + length, "%d\r\n", i);
    return length;
}

static void output_goes_on_without_gap_or_repeat(void) {
    char *expected = malloc(2 * MIB), *got = malloc(2 * MIB);
    size_t length = numbers(expected, 100000), at = 0;
    struct run *run = open_terminal("seq 50000; sleep 0.2; seq 50001 100000; exit 9", NULL);
    for (unsigned cuts = 0;; cuts++) {
        size_t stop = cuts < 10 ? 1 + test_random() % 60000 : 2 * MIB;
        while (!run->done && run->length[0] < stop)
            CHECK(host_step(PATIENCE_MS));
        CHECK(run->code[0] == 0);
        if (run->length[0] > 0)
            memcpy(got + at, run->out[0], run->length[0]);
        at += run->length[0];
        if (run->done)
            break;
        host_connect_again();
        run = attach(1, at);
        await_description(run);
        CHECK(described(run, TAG_OFFSET) == at);
    }
    bool same = at == length && memcmp(got, expected, length) == 0;
    free(expected);
    free(got);
    CHECK(same && has_exited(run, 9));
}

static void a_flood_is_no_reason_to_lose_a_viewer(void) {
    char *expected = malloc(16 * MIB);
    size_t length = numbers(expected, 1000000);
    struct run *other = NULL, *run = open_terminal("seq 1000000", NULL);
    other = attach(1, 0);
    host_finish(run);
    host_finish(other);
    bool same = run->length[0] == length && memcmp(run->out[0], expected, length) == 0;
    size_t missing = described(other, TAG_OFFSET);
    bool other_same = other->length[0] == length - missing && memcmp(other->out[0], expected + missing, length - missing) == 0;
    free(expected);
    CHECK(has_exited(run, 0) && same && other_same);
}

static void a_viewer_without_credit_is_too_slow_and_holds_up_nobody(void) {
    char *expected = malloc(8 * MIB);
    size_t length = numbers(expected, 400000);
    struct run *slow = open_terminal("seq 400000", NULL), *fast = attach(1, 0);
    slow->holds_credit = true;
    host_finish(fast);
    CHECK(has_exited(fast, 0));
    if (!slow->done)
        host_finish(slow);
    CHECK(is_fault(slow, "TOO_SLOW") && slow->length[0] == WINDOW);
    struct run *rest = attach(1, 0);
    host_finish(rest);
    bool same = rest->length[0] == RING && memcmp(rest->out[0], expected + length - RING, RING) == 0;
    free(expected);
    CHECK(same && described(rest, TAG_OFFSET) == length - RING);
}

static void a_process_is_replaced_but_not_for_ever(void) {
    uint8_t fields[300];
    uint8_t *at = put_number(put_open(fields, "echo run $$; exit 4", "r", me()), TAG_RESPAWN, 1);
    struct run *run = host_open(fields, (size_t)(at - fields));
    host_finish(run);
    CHECK(has_exited(run, 4) && count_text(run, "run ") == 3 && described(run, TAG_SESSION) == 1);
    at = put_number(put_open(fields, "read x; echo got $x", "s", me()), TAG_RESPAWN, 1);
    run = host_open(fields, (size_t)(at - fields));
    uint64_t typed = 0;
    await_description(run);
    type(run, &typed, "one\n");
    await_text(run, "got one");
    type(run, &typed, "two\n");
    await_text(run, "got two");
    CHECK(!run->done);
}

static void a_slug_names_one_session(void) {
    struct run *first = open_terminal("cat", "main"), *second = open_terminal("exit 1", "main");
    CHECK(described(first, TAG_FRESH) == 1 && !has_field(second->out[1], second->length[1], TAG_FRESH, 0));
    CHECK(described(second, TAG_SESSION) == described(first, TAG_SESSION));
    CHECK(strcmp(text_field(second->out[1], second->length[1], TAG_SLUG, 0), "main") == 0);
    uint64_t typed = 0;
    type(second, &typed, "both\n");
    await_text(first, "both");
    await_text(second, "both");
    if (getuid() == 0) {
        uint8_t fields[300];
        struct run *other = host_open(fields, (size_t)(put_open(fields, "cat", "main", "nobody") - fields));
        host_finish(other);
        CHECK(is_fault(other, "SLUG_TAKEN"));
        uint8_t *at = put_text(put_text(fields, TAG_OPERATION, "pty.attach"), TAG_SLUG, "main");
        other = host_open(fields, (size_t)(put_text(at, TAG_USER, "nobody") - fields));
        host_finish(other);
        CHECK(is_fault(other, "NO_SUCH_SESSION"));
    }
    type(second, &typed, "\x04");
    host_finish(first);
    host_finish(second);
    CHECK(has_exited(first, 0) && has_exited(second, 0));
    second = open_terminal("exit 1", "main"); /* ended, and still there */
    host_finish(second);
    CHECK(has_exited(second, 0) && count_text(second, "both\r\n") == 2);
    CHECK(close_terminal(1)->number[TAG_EXIT_STATUS] == 0);
    second = open_terminal("exit 1", "main");
    host_finish(second);
    CHECK(has_exited(second, 1) && described(second, TAG_SESSION) == 2);
}

static void closing_kills_and_forgets(void) {
    unsigned before = agent_descriptors();
    struct run *run = open_terminal("trap '' HUP; echo $$; sleep 1000 & setsid sleep 0 & while :; do sleep 0.05; done", NULL);
    await_text(run, "\r\n");
    pid_t pid = atoi((char *)run->out[0]);
    struct run *closed = close_terminal(1);
    CHECK(closed->code[0] == 0 && !closed->has[TAG_EXIT_STATUS]);
    host_finish(run);
    CHECK(is_fault(run, "CLOSED") && is_fault(close_terminal(1), "NO_SUCH_SESSION"));
    for (int i = 0; i < 200 && kill(-pid, 0) == 0; i++) { /* orphans are ours: see main */
        waitpid(-pid, NULL, WNOHANG);
        host_step(10);
    }
    CHECK(pid > 1 && kill(-pid, 0) == -1);
    await_descriptors(before);
    run = open_terminal("echo $$; cat", NULL);
    CHECK(ask("pty.signal", 2, TAG_SIGNAL, SIGTERM, TAG_COUNT, 0)->code[0] != 0);
    CHECK(ask("pty.signal", 2, TAG_SIGNAL, SIGKILL, TAG_COUNT, 0)->code[0] == 0);
    host_finish(run);
    CHECK(run->number[TAG_SIGNAL] == SIGKILL && close_terminal(2)->number[TAG_SIGNAL] == SIGKILL);
    await_descriptors(before);
}

static void a_background_process_does_not_keep_a_session(void) {
    struct run *run = open_terminal("trap '' HUP; (sleep 0.3; echo late) & echo now", NULL);
    host_finish(run);
    CHECK(has_exited(run, 0) && is_text(run, 0, "now\r\n"));
}

static void what_cannot_start_says_why(void) {
    unsigned before = agent_descriptors();
    uint8_t fields[300];
    struct run *run = host_open(fields, (size_t)(put_open(fields, "cat", "x", "no-such-user-here") - fields));
    host_finish(run);
    CHECK(is_fault(run, "NO_SUCH_USER"));
    run = host_open(fields, (size_t)(put_number(put_open(fields, "cat", NULL, me()), TAG_COLUMNS, 0) - fields));
    host_finish(run);
    CHECK(is_fault(run, "BAD_REQUEST"));
    run = open_terminal("true", "x");
    host_finish(run);
    CHECK(has_exited(run, 0));
    await_descriptors(before);
}

static void there_are_64_at_most(void) {
    struct run *runs[64];
    for (int i = 0; i < 64; i++)
        runs[i] = open_terminal("read x", NULL);
    struct run *beyond = begin_open("true", NULL);
    host_finish(beyond);
    CHECK(is_fault(beyond, "TOO_MANY"));
    uint64_t typed = 0;
    type(runs[10], &typed, "\n");
    host_finish(runs[10]);
    beyond = open_terminal("true", NULL); /* takes the place of the one that ended */
    CHECK(described(beyond, TAG_SESSION) >= 65);
    host_finish(beyond);
    struct run *gone = attach(11, 0);
    host_finish(gone);
    CHECK(is_fault(gone, "NO_SUCH_SESSION"));
    struct run *list = host_operation("pty.list");
    host_finish(list);
    CHECK(list->code[0] == 0 && has_field(list->out[0], list->length[0], TAG_SESSION, 63) &&
          !has_field(list->out[0], list->length[0], TAG_SESSION, 64) && has_field(list->out[0], list->length[0], TAG_EXIT_STATUS, 0));
}

static void typing_that_nobody_reads_is_bounded(void) {
    char lines[16000];
    for (size_t i = 0; i < sizeof lines; i++)
        lines[i] = i % 100 == 99 ? '\n' : 'x';
    struct run *run = open_terminal("stty raw -echo; echo ready; sleep 1000", NULL);
    await_text(run, "ready");
    uint64_t at = 0;
    for (; at + sizeof lines <= welcome.window; at += sizeof lines)
        host_send_data(run, at, lines, sizeof lines);
    for (int i = 0; i < 20 && !run->done; i++, at += sizeof lines)
        host_send_data(run, at, lines, sizeof lines);
    host_finish(run);
    CHECK(is_fault(run, "BAD_REQUEST"));
    host_ping();
}

static void what_is_typed_arrives_whole_after_the_viewer_left(void) {
    uint8_t *bytes = random_bytes(200000);
    char command[300];
    for (size_t i = 0; i < 200000; i++)
        bytes[i] = (uint8_t)('a' + bytes[i] % 26);
    snprintf(command, sizeof command, "cd %s; stty raw -echo; echo ready; sleep 0.3; head -c 200000 > typed; mv typed all", scratch);
    struct run *run = open_terminal(command, NULL);
    await_text(run, "ready");
    host_input_parts(run, bytes, 200000);
    host_send(RESET, 0, 0, run->stream, NULL, 0);
    for (uint64_t begin = test_now_ms(); strlen(file_text("all")) == 0 && test_now_ms() - begin < PATIENCE_MS;)
        host_step(20);
    bool same = memcmp(file_text("all"), bytes, 65535) == 0;
    free(bytes);
    char path[200];
    struct stat file;
    file_path(path, sizeof path, "all");
    CHECK(same && stat(path, &file) == 0 && file.st_size == 200000);
}

static void a_command_writes_to_a_terminal_too(void) {
    open_terminal("exec cat", "shared"); /* else it would be a login shell, which is killed in the middle of the user's own profile */
    for (int i = 0; i < 2; i++) {
        uint8_t fields[400];
        uint8_t *at = put_exec_id(put_text(fields, TAG_OPERATION, "exec"), next_id++);
        at = put_text(put_text(at, TAG_COMMAND, "echo one; sleep 0.1; echo two >&2; exit 6"), TAG_TERMINAL, "shared");
        struct run *run = host_open(fields, (size_t)(put_text(at, TAG_USER, me()) - fields));
        host_finish(run);
        CHECK(has_exited(run, 6) && is_text(run, 0, "one\n") && is_text(run, 1, "two\n"));
    }
    struct run *run = open_terminal(NULL, "shared");
    await_text(run, "two\r\n");
    CHECK(described(run, TAG_SESSION) == 1 && count_text(run, "one\r\n") == 2 && count_text(run, "two\r\n") == 2);
}

static void a_terminal_is_listed_before_its_program_has_begun(void) {
    struct run *opened = begin_open("cat", "soon");
    struct run *list = host_operation("pty.list");
    host_finish(list);
    CHECK(list->code[0] == 0 && has_field(list->out[0], list->length[0], TAG_SLUG, 0));
    await_description(opened);
    close_terminal(1);
}

const struct test terminal_tests[] = {
    TEST(a_terminal_is_listed_before_its_program_has_begun),
    TEST(a_program_has_the_terminal),
    TEST(the_login_shell_is_one),
    TEST(a_resize_reaches_the_program),
    TEST(keys_stop_and_interrupt_jobs),
    TEST(output_goes_on_without_gap_or_repeat),
    TEST(a_flood_is_no_reason_to_lose_a_viewer),
    TEST(a_viewer_without_credit_is_too_slow_and_holds_up_nobody),
    TEST(a_process_is_replaced_but_not_for_ever),
    TEST(a_slug_names_one_session),
    TEST(closing_kills_and_forgets),
    TEST(a_background_process_does_not_keep_a_session),
    TEST(what_cannot_start_says_why),
    TEST(there_are_64_at_most),
    TEST(typing_that_nobody_reads_is_bounded),
    TEST(what_is_typed_arrives_whole_after_the_viewer_left),
    TEST(a_command_writes_to_a_terminal_too),
    {NULL, NULL},
};
