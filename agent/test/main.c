/* Runs the real agent over a socket pair and holds it to docs/agent-protocol.md. Nothing of this machine is changed:
 * the agent runs with --dry and with its /etc and /sys in a scratch directory. */
#include "../crc32c.h"
#include "host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1u << 20)

char scratch[64];

static jmp_buf failed;
static char story[1024];
static const char *program;
static uint64_t seed, state, next_id = 1;

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(story, sizeof story, format, arguments);
    va_end(arguments);
    longjmp(failed, 1);
}

uint64_t test_random(void) { /* splitmix64 */
    uint64_t value = state += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

static void file_path(char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/%s", scratch, name);
}

static void file_write(const char *name, const char *text, mode_t mode) {
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

static void file_remove(const char *name) {
    char path[200];
    file_path(path, sizeof path, name);
    unlink(path);
}

static void file_link(const char *target, const char *name) {
    char path[200];
    file_path(path, sizeof path, name);
    unlink(path);
    CHECK(symlink(target, path) == 0);
}

/* The text of a file, valid until the next call; empty when there is none. */
static const char *file_text(const char *name) {
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

static ino_t file_inode(const char *name) {
    struct stat file = {0};
    char path[200];
    file_path(path, sizeof path, name);
    stat(path, &file);
    return file.st_ino;
}

static struct run *run_to_end(const char *command) {
    struct run *run = host_exec(next_id++, command, 0, MIB);
    host_input_end(run, 0);
    host_finish(run);
    return run;
}

/* A command that waits for `gate_open`, so that what a test sees does not depend on how fast the machine is. */
#define GATE "while ! [ -e gate ]; do sleep 0.02; done; "

static struct run *exec_in_scratch(uint64_t id, const char *command) {
    char whole[600];
    snprintf(whole, sizeof whole, "cd %s; %s", scratch, command);
    return host_exec(id, whole, 0, MIB);
}

static void gate_close(void) {
    file_remove("gate");
}

static void gate_open(void) {
    file_write("gate", "", 0644);
}

static bool is_text(const struct run *run, unsigned which, const char *text) {
    return run->length[which] == strlen(text) && (run->length[which] == 0 || strcmp((char *)run->out[which], text) == 0);
}

static bool has_exited(const struct run *run, uint64_t status) {
    return run->done && run->has[TAG_EXIT_STATUS] && run->number[TAG_EXIT_STATUS] == status && !run->has[TAG_SIGNAL] &&
           !run->has[TAG_TIMED_OUT];
}

static void check_usable(void) {
    host_connect_again();
    CHECK(welcome.code[0] == 0);
    struct run *run = run_to_end("echo usable");
    CHECK(has_exited(run, 0) && is_text(run, 0, "usable\n"));
}

/* Checksums */

static void both_checksums_agree_with_rfc_3720(void) {
    uint8_t bytes[1000] = {0};
    CHECK(crc32c_table(0, bytes, 32) == 0x8A9136AA && crc32c(0, bytes, 32) == 0x8A9136AA);
    CHECK(crc32c_table(0, "123456789", 9) == 0xE3069283 && crc32c(0, "123456789", 9) == 0xE3069283);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random();
    for (size_t from = 0; from < 9; from++)
        for (size_t length = 0; crc32c_has_sse42() && length < sizeof bytes - 9; length++)
            CHECK(crc32c_table(7, bytes + from, length) == crc32c_sse42(7, bytes + from, length));
}

/* Greeting */

static void welcome_says_what_the_agent_is(void) {
    host_connect_again();
    CHECK(welcome.version == 1 && welcome.window > 0 && welcome.capabilities == 22 && welcome.code[0] == 0);
    CHECK(strcmp(welcome.agent_version, "1") == 0 && strlen(welcome.boot_id) == 36 && welcome.generation[3] == 1);
    host_ping();
}

static void nothing_is_done_before_hello(void) {
    uint8_t bytes[2 * FRAME_LIMIT], fields[200], nonce[NONCE_LENGTH] = {1};
    char path[200], command[300];
    file_path(path, sizeof path, "too-early");
    snprintf(command, sizeof command, "touch %s", path);
    uint8_t *at = put_text(fields, TAG_OPERATION, "exec");
    at = put_text(put_exec_id(at, next_id++), TAG_COMMAND, command);
    size_t length = preamble_write(bytes, nonce);
    length += frame_write(bytes + length, OPEN, 0, 0, 1, fields, (size_t)(at - fields));
    host_send_raw(bytes, length);
    check_usable();
    CHECK(access(path, F_OK) == -1);
}

static void another_version_is_refused_and_opens_nothing(void) {
    /* The hello of another version, by hand: host_connect has only version 1. */
    uint8_t bytes[2 * FRAME_LIMIT], nonce[NONCE_LENGTH] = {2}, fields[64];
    size_t length = preamble_write(bytes, nonce);
    uint8_t *at = put_number(fields, TAG_VERSION, 2);
    length += frame_write(bytes + length, HELLO, 0, 0, 0, fields, (size_t)(at - fields));
    host_send_raw(bytes, length);
    check_usable();
    CHECK(strlen(file_text("log")) > 0 && strstr(file_text("log"), "HELLO refused") != NULL);
}

/* Commands */

static void a_command_answers_with_output_and_status(void) {
    struct run *run = run_to_end("echo out; echo err >&2; exit 7");
    CHECK(has_exited(run, 7) && is_text(run, 0, "out\n") && is_text(run, 1, "err\n"));
    CHECK(run->number[TAG_STDOUT_LENGTH] == 4 && run->number[TAG_STDERR_LENGTH] == 4);
    run = run_to_end("kill -TERM $$");
    CHECK(run->has[TAG_SIGNAL] && run->number[TAG_SIGNAL] == SIGTERM && !run->has[TAG_EXIT_STATUS]);
    CHECK(has_exited(run_to_end("true"), 0));
}

static void a_command_has_its_own_session_and_a_clean_state(void) {
    struct run *run = run_to_end("[ $(cut -d' ' -f6 /proc/self/stat) = $$ ] && [ $(cut -d' ' -f5 /proc/self/stat) = $$ ] "
                                 "&& grep SigIgn /proc/self/status && ls /proc/self/fd | wc -l");
    CHECK(has_exited(run, 0) && is_text(run, 0, "SigIgn:\t0000000000000000\n4\n"));
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", agent_pid());
    FILE *file = fopen(path, "r");
    int score = 0;
    CHECK(file != NULL && fscanf(file, "%d", &score) == 1);
    fclose(file);
    if (score != -1000)
        return; /* this machine does not let the agent lower it */
    CHECK(is_text(run_to_end("cat /proc/self/oom_score_adj"), 0, "0\n"));
}

static void the_environment_is_the_defaults_and_the_given(void) {
    uint8_t fields[400];
    uint8_t *at = put_text(fields, TAG_OPERATION, "exec");
    at = put_text(put_exec_id(at, next_id++), TAG_COMMAND, "echo $LANG:$GIVEN:$HOME; pwd; env | grep -c ^LANG=");
    at = put_text(at, TAG_ENVIRONMENT, "GIVEN=a b");
    at = put_text(at, TAG_ENVIRONMENT, "LANG=de_DE");
    at = put_text(at, TAG_USER, getuid() == 0 ? "root" : getenv("USER"));
    at = put_text(at, TAG_DIRECTORY, "/usr");
    struct run *run = host_open(fields, (size_t)(at - fields));
    host_finish(run);
    CHECK(has_exited(run, 0) && strncmp((char *)run->out[0], "de_DE:a b:/", 11) == 0);
    CHECK(strstr((char *)run->out[0], "\n/usr\n1\n") != NULL);
}

static struct run *exec_in(const char *directory) {
    uint8_t *fields = malloc(strlen(directory) + 200);
    uint8_t *at = put_text(fields, TAG_OPERATION, "exec");
    at = put_text(put_exec_id(at, next_id++), TAG_COMMAND, "true");
    at = put_text(at, TAG_USER, getuid() == 0 ? "root" : getenv("USER"));
    at = put_text(at, TAG_DIRECTORY, directory);
    struct run *run = host_open(fields, (size_t)(at - fields));
    free(fields);
    return run;
}

static void what_cannot_run_says_why(void) {
    uint8_t fields[400];
    uint8_t *at = put_text(fields, TAG_OPERATION, "exec");
    at = put_text(put_exec_id(at, next_id++), TAG_COMMAND, "true");
    at = put_text(at, TAG_USER, "no-such-user-here");
    struct run *run = host_open(fields, (size_t)(at - fields));
    host_finish(run);
    CHECK(strcmp(run->code, "NO_SUCH_USER") == 0);

    run = exec_in("/no/such/directory");
    host_finish(run);
    CHECK(strcmp(run->code, "FAILED") == 0 && strstr(run->message, "/no/such/directory") != NULL);

    run = host_operation("make.coffee");
    host_finish(run);
    CHECK(strcmp(run->code, "UNSUPPORTED") == 0);
    run = host_operation("exec");
    host_finish(run);
    CHECK(strcmp(run->code, "BAD_REQUEST") == 0);
    run = host_attach(999999, 0, 0);
    host_finish(run);
    CHECK(strcmp(run->code, "NO_SUCH_EXEC") == 0);
}

static void an_error_about_a_long_text_is_not_longer_than_a_pipe(void) {
    char *directory = malloc(MIB + 1);
    memset(directory, 'd', MIB);
    directory[0] = '/';
    directory[MIB] = 0;
    struct run *run = exec_in(directory);
    free(directory);
    host_finish(run);
    CHECK(strcmp(run->code, "FAILED") == 0 && strncmp(run->message, "cannot enter /ddd", 17) == 0);
}

static void a_command_longer_than_an_argument_runs(void) {
    size_t length = 300 * 1024;
    char *command = malloc(length + 100);
    int at = sprintf(command, "text='");
    memset(command + at, 'x', length);
    sprintf(command + at + length, "'\necho ${#text} $0; exit 3\n");
    struct run *run = run_to_end(command);
    free(command);
    CHECK(has_exited(run, 3) && is_text(run, 0, "307200 sh\n"));
}

static void a_request_over_2_mib_is_refused(void) {
    size_t length = 2 * MIB + 100;
    uint8_t *fields = calloc(1, length + 16);
    fields[1] = 200; /* an unknown tag */
    put_u32(fields + 2, (uint32_t)length - 6);
    struct run *run = host_open(fields, length);
    free(fields);
    host_finish(run);
    CHECK(strcmp(run->code, "BAD_REQUEST") == 0);
    host_ping();
}

static void many_commands_run_at_once(void) {
    struct run *runs[64];
    for (int i = 0; i < 64; i++) {
        char command[100];
        snprintf(command, sizeof command, "sleep 0.2; head -c 100000 /dev/zero; exit %d", i);
        runs[i] = host_exec(next_id++, command, 0, MIB);
    }
    for (int i = 0; i < 64; i++) {
        host_finish(runs[i]);
        CHECK(has_exited(runs[i], (uint64_t)i) && runs[i]->length[0] == 100000);
    }
}

static void descendants_do_not_delay_the_end_and_are_not_hurt_by_it(void) {
    gate_close();
    struct run *run = exec_in_scratch(next_id++, "(" GATE "echo late; echo late; echo survived > survived) & echo now");
    host_finish(run);
    CHECK(has_exited(run, 0) && is_text(run, 0, "now\n"));
    gate_open();
    for (uint64_t begin = test_now_ms(); strlen(file_text("survived")) == 0 && test_now_ms() - begin < PATIENCE_MS;)
        host_step(20);
    CHECK(strcmp(file_text("survived"), "survived\n") == 0);
}

static void a_descendant_that_writes_for_ever_does_not_delay_the_end(void) {
    struct run *run = run_to_end("yes & echo $! >&2; sleep 0.1");
    CHECK(has_exited(run, 0));
    int pid = run->length[1] > 0 ? atoi((char *)run->out[1]) : 0;
    CHECK(pid > 1 && kill(pid, SIGKILL) == 0);
}

/* Output */

static void output_over_the_limit_is_cut_and_counted(void) {
    struct run *run = host_exec(next_id++, "head -c 8388608 /dev/zero | tr '\\0' 'a'", 0, 4 * MIB);
    host_input_end(run, 0);
    host_finish(run);
    CHECK(has_exited(run, 0) && run->length[0] == 4 * MIB && run->number[TAG_STDOUT_LENGTH] == 8 * MIB);
    CHECK(run->out[0][0] == 'a' && memcmp(run->out[0], run->out[0] + 1, 4 * MIB - 1) == 0);
}

static void output_waits_for_credit_and_holds_up_no_other_stream(void) {
    struct run *slow = host_exec(next_id++, "seq 100000", 0, MIB);
    slow->holds_credit = true;
    while (slow->length[0] < WINDOW || !slow->ended[1])
        CHECK(host_step(PATIENCE_MS));
    CHECK(has_exited(run_to_end("echo other"), 0));
    CHECK(!host_step(100) && slow->length[0] == WINDOW);
    slow->credit[0] = WINDOW + 1; /* one byte */
    host_send_offset(CREDIT, 1, slow, slow->credit[0]);
    CHECK(host_step(PATIENCE_MS) && slow->length[0] == WINDOW + 1 && !host_step(50));
    slow->credit[0] = MIB;
    host_send_offset(CREDIT, 1, slow, slow->credit[0]);
    host_finish(slow);
    CHECK(has_exited(slow, 0) && slow->length[0] == 588895 && slow->number[TAG_STDOUT_LENGTH] == 588895);
    CHECK(strcmp((char *)slow->out[0] + 588895 - 7, "100000\n") == 0);
}

static void output_of_every_size_around_a_frame_arrives_whole(void) {
    static const unsigned sizes[] = {0, 1, 4095, 4096, 4097, 16375, 16376, 16377, 16384, 65535, 65536, 65537};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char command[100];
        snprintf(command, sizeof command, "head -c %u /dev/zero", sizes[i]);
        struct run *run = run_to_end(command);
        CHECK(has_exited(run, 0) && run->length[0] == sizes[i] && run->number[TAG_STDOUT_LENGTH] == sizes[i]);
    }
}

/* Input */

static uint8_t *random_bytes(size_t length) {
    uint8_t *bytes = malloc(length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)test_random();
    return bytes;
}

static void input_arrives_whole(void) {
    uint8_t *bytes = random_bytes(MIB);
    struct run *run = host_exec(next_id++, "cat", 0, 2 * MIB);
    host_input(run, bytes, MIB);
    host_finish(run);
    bool same = run->length[0] == MIB && memcmp(run->out[0], bytes, MIB) == 0;
    free(bytes);
    CHECK(has_exited(run, 0) && same && run->input_credit_frames > 0);
    static const uint8_t zeros[MIB];
    run = host_exec(next_id++, "sha256sum", 0, MIB);
    host_input(run, zeros, MIB);
    host_finish(run);
    CHECK(is_text(run, 0, "30e14955ebf1352266dc2ff8067e68104607e750abb9d3b36582b8af909fcb58  -\n"));
}

static void a_command_may_close_its_input_early(void) {
    uint8_t *bytes = random_bytes(MIB);
    struct run *run = host_exec(next_id++, "head -c 10 >/dev/null; exec 0<&-; sleep 0.2; echo ok", 0, MIB);
    host_input(run, bytes, MIB);
    free(bytes);
    host_finish(run);
    CHECK(has_exited(run, 0) && is_text(run, 0, "ok\n"));
}

static void input_that_nobody_reads_is_bounded_by_its_credit(void) {
    uint8_t bytes[16000] = {0};
    struct run *run = host_exec(next_id++, "sleep 30", 0, MIB);
    uint64_t at = 0;
    for (; at + sizeof bytes <= welcome.window; at += sizeof bytes)
        host_send_data(run, at, bytes, sizeof bytes);
    host_ping(); /* the pipe took 64 KiB of it, less than what is worth a CREDIT */
    host_send_data(run, at, bytes, sizeof bytes);
    host_finish(run);
    CHECK(strcmp(run->code, "BAD_REQUEST") == 0);
    run = host_exec(next_id++, "cat", 0, MIB);
    host_send_data(run, 1, bytes, 10);
    host_finish(run);
    CHECK(strcmp(run->code, "BAD_REQUEST") == 0);
}

/* Ending commands */

static void the_time_limit_kills_the_whole_group(void) {
    uint64_t begin = test_now_ms();
    struct run *run = host_exec(next_id++, "echo $$; sleep 1000 & sleep 1000", 300, MIB);
    host_finish(run);
    uint64_t took = test_now_ms() - begin;
    CHECK(run->number[TAG_TIMED_OUT] == 1 && !run->has[TAG_EXIT_STATUS] && !run->has[TAG_SIGNAL]);
    CHECK(took >= 300 && took < PATIENCE_MS);
    pid_t group = atoi((char *)run->out[0]);
    for (int i = 0; i < 100 && kill(-group, 0) == 0; i++) { /* orphans are ours: see main */
        waitpid(-group, NULL, WNOHANG);
        host_step(10);
    }
    CHECK(group > 1 && kill(-group, 0) == -1 && errno == ESRCH);
}

static void a_kill_that_is_not_the_limit_is_a_signal(void) {
    struct run *run = host_exec(next_id++, "kill -KILL $$", 5000, MIB);
    host_finish(run);
    CHECK(run->number[TAG_SIGNAL] == SIGKILL && !run->has[TAG_TIMED_OUT]);
}

static struct run *host_kill(uint64_t id, uint64_t signal) {
    uint8_t fields[200];
    uint8_t *at = put_text(fields, TAG_OPERATION, "exec.kill");
    at = put_number(put_exec_id(at, id), TAG_SIGNAL, signal);
    struct run *run = host_open(fields, (size_t)(at - fields));
    host_finish(run);
    return run;
}

static void exec_kill_signals_the_group(void) {
    uint64_t id = next_id++;
    struct run *run = host_exec(id, "sleep 1000 | sleep 1000", 0, MIB);
    CHECK(strcmp(host_kill(id, 1000)->code, "BAD_REQUEST") == 0);
    CHECK(host_kill(id, SIGTERM)->code[0] == 0);
    host_finish(run);
    CHECK(run->number[TAG_SIGNAL] == SIGTERM);
    CHECK(host_kill(id, SIGTERM)->code[0] == 0); /* ended: nothing to do */
    CHECK(strcmp(host_kill(888888, SIGTERM)->code, "NO_SUCH_EXEC") == 0);
}

/* Connections that come and go */

static void attaching_goes_on_at_the_byte_where_it_stopped(void) {
    uint64_t id = next_id++;
    char *text = malloc(MIB);
    size_t length = 0;
    struct run *run = host_exec(id, "seq 50000; sleep 0.3; seq 50001 100000; exit 9", 0, MIB);
    for (unsigned cuts = 0; !run->done; cuts++) {
        size_t stop = cuts < 8 ? WINDOW / 2 + test_random() % 30000 : MIB;
        while (!run->done && run->length[0] < stop)
            CHECK(host_step(PATIENCE_MS));
        if (run->length[0] > 0)
            memcpy(text + length, run->out[0], run->length[0]);
        length += run->length[0];
        if (run->done)
            break;
        uint8_t half[100] = {0xC7, DATA, 0, 0, 0, 0, 0, 1, 0, 0, 0x20, 0};
        host_send_raw(half, test_random() % sizeof half);
        host_connect_again();
        run = host_attach(id, length, 0);
    }
    CHECK(has_exited(run, 9) && length == 588895);
    size_t at = 0;
    for (int i = 1; i <= 100000; i++) {
        char line[16];
        size_t expected = (size_t)sprintf(line, "%d\n", i);
        CHECK(memcmp(text + at, line, expected) == 0);
        at += expected;
    }
    free(text);
    run = host_attach(id, 588895, 0); /* the result once more, without the output */
    host_finish(run);
    CHECK(has_exited(run, 9) && run->length[0] == 0);
    run = host_attach(id, 588896, 0);
    host_finish(run);
    CHECK(strcmp(run->code, "BAD_REQUEST") == 0);
}

static void the_same_exec_id_runs_once_and_takes_its_input_again(void) {
    uint64_t id = next_id++;
    uint8_t *bytes = random_bytes(200000);
    struct run *run = host_exec(id, "echo ran >> /dev/stderr; cat", 0, MIB);
    for (size_t at = 0; at < 100000; at += 10000)
        host_send_data(run, at, bytes + at, 10000);
    host_ping();
    host_connect_again();
    run = host_exec(id, "echo ran >> /dev/stderr; cat", 0, MIB);
    host_input(run, bytes, 200000);
    host_finish(run);
    bool same = run->length[0] == 200000 && memcmp(run->out[0], bytes, 200000) == 0;
    free(bytes);
    CHECK(has_exited(run, 0) && same && is_text(run, 1, "ran\n"));
}

static void input_goes_on_where_the_credit_says(void) {
    uint64_t id = next_id++;
    uint8_t *bytes = random_bytes(200000);
    gate_close();
    struct run *run = exec_in_scratch(id, GATE "cat");
    for (size_t at = 0; at < 150000; at += 10000)
        host_send_data(run, at, bytes + at, 10000);
    host_connect_again();
    run = host_attach(id, 0, 0);
    while (run->input_credit_frames == 0)
        CHECK(host_step(PATIENCE_MS));
    uint64_t consumed = run->input_credit - welcome.window;
    CHECK(consumed < 150000); /* cat has not begun: a part waits in the agent, and is told again */
    gate_open();
    for (size_t at = consumed; at < 200000;) {
        size_t part = 200000 - at < 10000 ? 200000 - at : 10000;
        host_send_data(run, at, bytes + at, part);
        at += part;
    }
    host_input_end(run, 200000);
    host_finish(run);
    bool same = run->length[0] == 200000 && memcmp(run->out[0], bytes, 200000) == 0;
    free(bytes);
    CHECK(has_exited(run, 0) && same);
}

static void results_are_kept_up_to_64_mib(void) {
    uint64_t first = next_id;
    for (int i = 0; i < 5; i++) {
        struct run *run = host_exec(next_id, "head -c 16777216 /dev/zero", 0, 16 * MIB);
        run->holds_credit = true; /* the output need not cross the port */
        host_send(RESET, 0, 0, run->stream, NULL, 0);
        do {
            run = host_attach(next_id, 16 * MIB, 0); /* refused until there is so much */
            host_finish(run);
            host_step(20);
        } while (strcmp(run->code, "BAD_REQUEST") == 0);
        CHECK(has_exited(run, 0) && run->number[TAG_STDOUT_LENGTH] == 16 * MIB);
        next_id++;
    }
    struct run *gone = host_attach(first, 16 * MIB, 0), *kept = host_attach(first + 4, 16 * MIB, 0);
    host_finish(gone);
    host_finish(kept);
    CHECK(strcmp(gone->code, "NO_SUCH_EXEC") == 0 && has_exited(kept, 0));
}

static void input_may_be_told_again_to_a_command_that_has_ended(void) {
    uint64_t id = next_id++;
    uint8_t *bytes = random_bytes(400000);
    gate_close();
    struct run *run = exec_in_scratch(id, "head -c 100000; " GATE);
    host_input(run, bytes, 200000); /* with END */
    host_ping();
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            gate_open();
        host_connect_again();
        run = i == 0 ? exec_in_scratch(id, "exit 1") : host_attach(id, 0, 0);
        host_input(run, bytes, 200000);
        if (i > 0)
            host_finish(run);
        host_ping();
        CHECK(run->code[0] == 0);
    }
    bool same = run->length[0] == 100000 && memcmp(run->out[0], bytes, 100000) == 0;
    CHECK(has_exited(run, 0) && same);
    /* Half of the input came before the command ended, the rest only now. */
    id = next_id++;
    run = host_exec(id, "head -c 100000; exec <&-; exit 0", 0, MIB);
    for (size_t at = 0; at < 150000; at += 10000)
        host_send_data(run, at, bytes + at, 10000);
    host_finish(run);
    host_connect_again();
    run = host_attach(id, 0, 0);
    host_input(run, bytes, 400000);
    host_finish(run);
    free(bytes);
    CHECK(has_exited(run, 0) && run->length[0] == 100000);
}

/* Bytes that are cut, or no frames at all */

static size_t sample_traffic(uint8_t *bytes) {
    uint8_t nonce[NONCE_LENGTH] = {3}, fields[5000], id[ID_LENGTH], entropy[ENTROPY_LENGTH] = {0};
    size_t length = preamble_write(bytes, nonce);
    memset(id, 1, sizeof id);
    uint8_t *at = put_number(fields, TAG_VERSION, 1);
    at = put_bytes(at, TAG_GENERATION, id, ID_LENGTH);
    at = put_number(at, TAG_WALL_CLOCK, 1);
    at = put_bytes(at, TAG_ENTROPY, entropy, ENTROPY_LENGTH);
    at = put_number(at, TAG_WINDOW, WINDOW);
    length += frame_write(bytes + length, HELLO, 0, 0, 0, fields, (size_t)(at - fields));
    at = put_text(fields, TAG_OPERATION, "exec");
    at = put_text(put_exec_id(at, next_id++), TAG_COMMAND, "cat");
    at = put_text(at, TAG_USER, getuid() == 0 ? "root" : getenv("USER"));
    size_t whole = (size_t)(at - fields);
    length += frame_write(bytes + length, OPEN, 0, FLAG_MORE, 1, fields, 20);
    length += frame_write(bytes + length, OPEN, 0, 0, 1, fields + 20, whole - 20);
    for (uint64_t offset = 0; offset < 4000; offset += 1000) {
        uint8_t data[1008];
        memset(data, 'd', sizeof data);
        put_u64(data, offset);
        /* What a user sends must not be taken for a connection, wherever the stream is cut. */
        memcpy(data + 500, MAGIC, MAGIC_LENGTH);
        length += frame_write(bytes + length, DATA, 0, 0, 1, data, sizeof data);
    }
    put_u64(fields, 4000);
    length += frame_write(bytes + length, END, 0, 0, 1, fields, 8);
    return length;
}

static void a_connection_begins_wherever_the_one_before_was_cut(void) {
    static uint8_t bytes[3 * FRAME_LIMIT];
    for (int i = 0; i < 150; i++) {
        size_t length = sample_traffic(bytes), interesting = length - FRAME_LIMIT;
        size_t cut = i % 10 == 0 ? test_random() % length : FRAME_LIMIT + test_random() % (interesting + 1);
        host_send_raw(bytes, cut);
        if (i % 2 == 0)
            usleep(1000); /* so that the agent has often seen the half before the rest */
        host_connect_again();
        CHECK(welcome.code[0] == 0);
        host_ping();
    }
    check_usable();
}

static void a_wrong_checksum_ends_the_connection(void) {
    uint8_t frame[64];
    size_t length = frame_write(frame, PING, 0, 0, 0, "12345678", 8);
    frame[length - 1] ^= 1;
    host_send_raw(frame, length);
    uint64_t before = pongs;
    host_send(PING, 0, 0, 0, "12345678", 8);
    CHECK(!host_step(50) && pongs == before);
    check_usable();
}

static void random_bytes_do_no_harm(void) {
    for (int i = 0; i < 24; i++) {
        uint8_t *bytes = random_bytes(128 * 1024);
        if (i % 3 == 1) /* many frame marks */
            for (size_t at = 0; at < 128 * 1024; at += 1 + test_random() % 64)
                bytes[at] = 0xC7;
        if (i % 3 == 2) { /* many magics */
            for (size_t at = 0; at + 100 < 128 * 1024; at += 33 + test_random() % 64)
                memcpy(bytes + at, MAGIC, MAGIC_LENGTH);
        }
        host_send_raw(bytes, 128 * 1024);
        free(bytes);
        check_usable();
    }
}

/* Fields that are often nearly right. */
static size_t random_fields(uint8_t *fields) {
    static const char *const texts[] = {"exec", "exec.attach", "exec.kill", "clock", "sync", "cat", "true",
                                        "root", "A=b",         "",          "disk.grow", "=", "/nowhere", "echo x; exit 1"};
    uint8_t *at = fields;
    for (unsigned count = (unsigned)(test_random() % 6); count > 0; count--) {
        enum tag tag = (enum tag)(test_random() % 45);
        switch (test_random() % 4) {
        case 0:
            at = put_text(at, test_random() % 2 ? TAG_OPERATION : tag, texts[test_random() % (sizeof texts / sizeof *texts)]);
            break;
        case 1:
            at = put_number(at, tag, test_random() >> (test_random() % 64));
            break;
        case 2:
            at = put_exec_id(at, 700000 + test_random() % 8);
            break;
        default:
            at = put_text(at, TAG_COMMAND, texts[test_random() % (sizeof texts / sizeof *texts)]);
        }
    }
    if (at > fields && test_random() % 8 == 0)
        fields[test_random() % (size_t)(at - fields)] ^= (uint8_t)test_random();
    return (size_t)(at - fields);
}

static void random_frames_do_no_harm(void) {
    uint8_t *bytes = malloc(4 * MIB);
    for (int i = 0; i < 30; i++) {
        host_connect_again();
        size_t length = 0;
        for (int frames = 0; frames < 300; frames++) {
            uint8_t payload[1024];
            size_t size = test_random() % 3 ? random_fields(payload) : 8 + test_random() % 100;
            if (test_random() % 4 == 0 && size >= 8)
                put_u64(payload, test_random() >> (test_random() % 65 % 64));
            enum kind kind = (enum kind)(test_random() % 3 ? 2 + test_random() % 10 : OPEN);
            length += frame_write(bytes + length, kind, (uint8_t)(test_random() % 4), (uint8_t)(test_random() % 8 == 0),
                                  (uint32_t)(test_random() % 8 ? frames / 4 + 1 - test_random() % 2 : test_random()), payload,
                                  size);
        }
        host_send_raw(bytes, length);
        check_usable();
    }
    free(bytes);
}

static void a_host_that_does_not_read_is_not_answered_without_limit(void) {
    uint8_t *bytes = malloc(2 * MIB);
    size_t length = 0;
    while (length + 100 < 2 * MIB)
        length += frame_write(bytes + length, PING, 0, 0, 0, "12345678", 8);
    uint64_t before = pongs, sent = length / (HEADER_LENGTH + 8);
    host_send_raw(bytes, length);
    free(bytes);
    while (pongs < before + sent)
        CHECK(host_step(PATIENCE_MS));
}

/* Much of everything */

static void many_streams_are_open_at_once(void) {
    /* Requests that are not yet whole, because as many commands would take too long. */
    for (unsigned i = 1; i < 4096; i++)
        host_begin();
    struct run *last = run_to_end("echo last; head -c 100000 /dev/zero >&2");
    CHECK(has_exited(last, 0) && is_text(last, 0, "last\n") && last->length[1] == 100000);
    host_begin();
    struct run *beyond = host_operation("sync");
    host_finish(beyond);
    CHECK(strcmp(beyond->code, "TOO_MANY") == 0);
    host_ping();
    check_usable();
}

static void commands_that_flood_hold_up_no_other(void) {
    struct run *floods[8];
    uint64_t first = next_id;
    for (int i = 0; i < 8; i++) {
        floods[i] = host_exec(next_id++, "yes & yes >&2", 0, 1000);
        while (floods[i]->length[0] < 1000 || floods[i]->length[1] < 1000)
            CHECK(host_step(PATIENCE_MS));
    }
    for (int i = 0; i < 5; i++) {
        host_ping();
        CHECK(is_text(run_to_end("cat"), 0, ""));
    }
    for (uint64_t i = 0; i < 8; i++) {
        CHECK(!floods[i]->done && host_kill(first + i, SIGKILL)->code[0] == 0);
        host_finish(floods[i]);
        CHECK(floods[i]->number[TAG_SIGNAL] == SIGKILL && floods[i]->number[TAG_STDOUT_LENGTH] > 1000);
    }
}

static void without_descriptors_a_request_fails_and_nothing_else(void) {
    struct run *before = host_exec(next_id++, "cat", 0, MIB);
    host_ping();
    unsigned failed_runs = 0, passed_runs = 0;
    struct rlimit limit;
    CHECK(prlimit(agent_pid(), RLIMIT_NOFILE, NULL, &limit) == 0);
    for (unsigned i = 0; i < 24; i++) {
        limit.rlim_cur = 6 + i;
        CHECK(prlimit(agent_pid(), RLIMIT_NOFILE, &limit, NULL) == 0);
        struct run *run = run_to_end("echo fine");
        bool fine = has_exited(run, 0) && is_text(run, 0, "fine\n");
        CHECK(fine || strcmp(run->code, "FAILED") == 0);
        fine ? passed_runs++ : failed_runs++;
        run = host_operation("sync");
        host_finish(run);
        CHECK(run->code[0] == 0 || strcmp(run->code, "FAILED") == 0);
    }
    CHECK(failed_runs > 0 && passed_runs > 0);
    host_input(before, "still there", 11);
    host_finish(before);
    CHECK(has_exited(before, 0) && is_text(before, 0, "still there"));
}

static unsigned agent_descriptors(void) {
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

static void nothing_leaks_a_descriptor(void) {
    host_finish(host_operation("sync"));
    unsigned before = agent_descriptors();
    for (int i = 0; i < 10; i++) {
        run_to_end("echo x; exit 1");
        host_finish(exec_in("/no/such/directory"));
        host_finish(host_exec(next_id++, "sleep 1000", 1, MIB));
        host_finish(host_operation("sync"));
        host_operation("sync");
        host_connect_again();
    }
    for (uint64_t begin = test_now_ms(); agent_descriptors() != before && test_now_ms() - begin < PATIENCE_MS;)
        host_step(10); /* the last worker */
    CHECK(agent_descriptors() == before);
}

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

/* The run */

#define TEST(name) {#name, name}
static const struct {
    const char *name;
    void (*test)(void);
} tests[] = {
    TEST(both_checksums_agree_with_rfc_3720),
    TEST(welcome_says_what_the_agent_is),
    TEST(nothing_is_done_before_hello),
    TEST(another_version_is_refused_and_opens_nothing),
    TEST(a_command_answers_with_output_and_status),
    TEST(a_command_has_its_own_session_and_a_clean_state),
    TEST(the_environment_is_the_defaults_and_the_given),
    TEST(what_cannot_run_says_why),
    TEST(an_error_about_a_long_text_is_not_longer_than_a_pipe),
    TEST(a_command_longer_than_an_argument_runs),
    TEST(a_request_over_2_mib_is_refused),
    TEST(many_commands_run_at_once),
    TEST(descendants_do_not_delay_the_end_and_are_not_hurt_by_it),
    TEST(a_descendant_that_writes_for_ever_does_not_delay_the_end),
    TEST(output_over_the_limit_is_cut_and_counted),
    TEST(output_waits_for_credit_and_holds_up_no_other_stream),
    TEST(output_of_every_size_around_a_frame_arrives_whole),
    TEST(input_arrives_whole),
    TEST(a_command_may_close_its_input_early),
    TEST(input_that_nobody_reads_is_bounded_by_its_credit),
    TEST(the_time_limit_kills_the_whole_group),
    TEST(a_kill_that_is_not_the_limit_is_a_signal),
    TEST(exec_kill_signals_the_group),
    TEST(attaching_goes_on_at_the_byte_where_it_stopped),
    TEST(the_same_exec_id_runs_once_and_takes_its_input_again),
    TEST(input_goes_on_where_the_credit_says),
    TEST(input_may_be_told_again_to_a_command_that_has_ended),
    TEST(results_are_kept_up_to_64_mib),
    TEST(a_connection_begins_wherever_the_one_before_was_cut),
    TEST(a_wrong_checksum_ends_the_connection),
    TEST(random_bytes_do_no_harm),
    TEST(random_frames_do_no_harm),
    TEST(a_host_that_does_not_read_is_not_answered_without_limit),
    TEST(many_streams_are_open_at_once),
    TEST(commands_that_flood_hold_up_no_other),
    TEST(without_descriptors_a_request_fails_and_nothing_else),
    TEST(nothing_leaks_a_descriptor),
    TEST(a_worker_of_a_refused_stream_answers_no_other),
    TEST(sync_clock_and_shutdown_answer),
    TEST(processors_and_memory_come_online),
    TEST(a_copy_becomes_itself_before_it_answers),
    TEST(a_copy_that_is_not_itself_does_not_speak),
};

/* Each test has a fresh agent, so that one failure does not cause others. */
static bool run_test(size_t i) {
    uint64_t begin = test_now_ms();
    char log[100];
    file_path(log, sizeof log, "log");
    unlink(log);
    bool passed = setjmp(failed) == 0;
    if (passed) {
        agent_start(program);
        host_connect(1, NULL, NULL);
        tests[i].test();
    }
    agent_end();
    printf("%s %s (%llu ms)\n", passed ? "ok  " : "FAIL", tests[i].name, (unsigned long long)(test_now_ms() - begin));
    if (!passed)
        printf("     %s\n     the agent's log: %s\n", story, file_text("log"));
    fflush(stdout);
    return passed;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: agent-test AGENT [TEST [SEED]]\n");
        return 2;
    }
    program = argv[1];
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL);
    state = seed;
    snprintf(scratch, sizeof scratch, "/tmp/agent-test.XXXXXX");
    if (mkdtemp(scratch) == NULL)
        return 2;
    file_write("etc/empty", "", 0644);
    printf("seed %llu\n", (unsigned long long)seed);
    unsigned passed = 0, count = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (argc > 2 && strcmp(argv[2], "all") != 0 && strcmp(argv[2], tests[i].name) != 0)
            continue;
        count++;
        passed += run_test(i);
    }
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", scratch);
    printf("%u passed, %u failed\n", passed, count - passed);
    return passed == count ? 0 : 1;
}
