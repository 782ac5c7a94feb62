/* Tests of commands: output, input, ends, and connections that come and go meanwhile. */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

const struct test command_tests[] = {
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
    TEST(many_streams_are_open_at_once),
    TEST(commands_that_flood_hold_up_no_other),
    TEST(without_descriptors_a_request_fails_and_nothing_else),
    TEST(nothing_leaks_a_descriptor),
    {NULL, NULL},
};
