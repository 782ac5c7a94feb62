/* Runs the real agent over a socket pair and holds it to docs/agent-protocol.md. Nothing of this machine is changed:
 * the agent runs with --dry, with its /etc and /sys in a scratch directory, and in a network namespace of its own. */
#include "support.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

char scratch[64];
bool has_own_network;

static const struct test *const subjects[] = {frame_tests, command_tests, machine_tests, file_tests, watch_tests, terminal_tests,
                                              network_tests};
static jmp_buf failed;
static char story[1024];
static const char *program;
static uint64_t seed, state;

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

/* Each test has a fresh agent, so that one failure does not cause others. */
static bool run_test(const struct test *test) {
    uint64_t begin = test_now_ms();
    char log[100];
    file_path(log, sizeof log, "log");
    unlink(log);
    bool passed = setjmp(failed) == 0;
    if (passed) {
        agent_start(program);
        host_connect(1, NULL, NULL);
        test->run();
    }
    agent_end();
    printf("%s %s (%llu ms)\n", passed ? "ok  " : "FAIL", test->name, (unsigned long long)(test_now_ms() - begin));
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
    has_own_network = unshare(CLONE_NEWNET) == 0;
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL);
    state = seed;
    snprintf(scratch, sizeof scratch, "/tmp/agent-test.XXXXXX");
    if (mkdtemp(scratch) == NULL)
        return 2;
    file_write("etc/empty", "", 0644);
    printf("seed %llu\n", (unsigned long long)seed);
    unsigned passed = 0, count = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        for (const struct test *test = subjects[i]; test->name != NULL; test++) {
            if (argc > 2 && strcmp(argv[2], "all") != 0 && strcmp(argv[2], test->name) != 0)
                continue;
            count++;
            passed += run_test(test);
        }
    }
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", scratch);
    printf("%u passed, %u failed\n", passed, count - passed);
    return passed == count ? 0 : 1;
}
