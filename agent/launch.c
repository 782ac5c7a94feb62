/* Owns the way from fork() to exec(): user, groups, environment, directory, descriptors, limits, signals. */
#include "launch.h"

#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_USER 1000
#define ARGUMENT_LIMIT (128 * 1024) /* the kernel's MAX_ARG_STRLEN, terminator included */
#define GROUP_LIMIT 4096
#define SCRIPT_FD 3
#define ERROR_FD 4
#define SCRIPT_COMMAND ". /proc/self/fd/3" /* not `sh FILE`: $0 stays the same */

static struct rlimit inherited_files;

void launch_prepare(void) {
    getrlimit(RLIMIT_NOFILE, &inherited_files);
    struct rlimit raised = {65536, 65536}; /* 4096 commands have four or five descriptors each */
    if (setrlimit(RLIMIT_NOFILE, &raised) == -1) {
        raised.rlim_cur = raised.rlim_max = inherited_files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &raised);
    }
}

/* Ends a child that could not become the command. The whole fault is shorter than PIPE_BUF, so it neither blocks nor
   arrives in part, and its code points into the program, which is the same in the agent. */
static _Noreturn void give_up(int fd, const struct fault *fault) {
    ssize_t written = write(fd, fault, sizeof *fault);
    (void)written;
    _exit(127);
}

static _Noreturn void fail(int fd, const char *step, const char *subject) {
    struct fault fault = {.code = NULL};
    fault_set(&fault, "FAILED", "cannot %s%s%.100s: %s", step, *subject ? " " : "", subject, strerror(errno));
    give_up(fd, &fault);
}

/* By the child: the files may be slow to read. */
static const struct passwd *find_user(const char *name, int error) {
    errno = 0;
    const struct passwd *user = name != NULL ? getpwnam(name) : getpwuid(DEFAULT_USER);
    if (user == NULL && name == NULL && errno == 0) /* not after an error: the command would be root's by mistake */
        user = getpwuid(0);
    if (user != NULL)
        return user;
    if (errno != 0)
        fail(error, "look up user", name != NULL ? name : "1000");
    struct fault fault = {.code = NULL};
    fault_set(&fault, "NO_SUCH_USER", "there is no user %.100s", name != NULL ? name : "root");
    give_up(error, &fault);
}

/* The defaults that the request does not replace, then the request's own entries. NULL: out of memory. */
static char **make_environment(const struct fields *request, const struct passwd *user) {
    static char home[4096 + 8], name[256 + 8], login[256 + 8], shell[4096 + 8];
    snprintf(home, sizeof home, "HOME=%s", user->pw_dir);
    snprintf(name, sizeof name, "USER=%s", user->pw_name);
    snprintf(login, sizeof login, "LOGNAME=%s", user->pw_name);
    snprintf(shell, sizeof shell, "SHELL=%s", user->pw_shell[0] ? user->pw_shell : "/bin/sh");
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", lang[] = "LANG=C.UTF-8";
    char *const defaults[] = {path, home, name, login, shell, lang};
    enum { DEFAULTS = sizeof defaults / sizeof *defaults };

    char **environment = malloc((DEFAULTS + request->environment_count + 1) * sizeof *environment);
    if (environment == NULL)
        return NULL;
    size_t count = 0;
    for (size_t i = 0; i < DEFAULTS; i++) {
        size_t prefix = (size_t)(strchr(defaults[i], '=') - defaults[i]) + 1;
        bool replaced = false;
        for (size_t j = 0; j < request->environment_count && !replaced; j++)
            replaced = strncmp(request->environment[j], defaults[i], prefix) == 0;
        if (!replaced)
            environment[count++] = defaults[i];
    }
    for (size_t i = 0; i < request->environment_count; i++)
        environment[count++] = request->environment[i];
    environment[count] = NULL;
    return environment;
}

/* A file without a name that holds a command too long for an argument; -1 with errno. */
static int make_script(const char *command, size_t length) {
    int fd = memfd_create("command", MFD_CLOEXEC);
    if (fd == -1)
        return -1;
    for (size_t at = 0; at < length;) {
        ssize_t written = write(fd, command + at, length - at);
        if (written == -1) {
            int error = errno;
            close(fd);
            errno = error;
            return -1;
        }
        at += (size_t)written;
    }
    fchmod(fd, 0444); /* the shell opens it anew, as the user */
    return fd;
}

static void reset_signals(void) {
    /* The kernel's own struct, all zero: default action. By the system call, because the library refuses the signals
       32 to 34 that it uses itself, which may well have been inherited as ignored. */
    static const unsigned long action[4];
    for (int i = 1; i < NSIG; i++)
        syscall(SYS_rt_sigaction, i, action, NULL, NSIG / 8);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The agent itself is spared by the kernel when memory is short; what it starts is not. */
static void reset_oom_score(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd == -1)
        return;
    ssize_t written = write(fd, "0", 1);
    (void)written; /* refused where the agent could not lower its own: then there is nothing to reset */
    close(fd);
}

static void become(const struct passwd *user, int error) {
    if (geteuid() != 0 && user->pw_uid == geteuid())
        return; /* in a test without privileges */
    gid_t groups[GROUP_LIMIT]; /* not initgroups(): that of musl fails beyond 32 */
    int count = GROUP_LIMIT;
    if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) == -1)
        errno = E2BIG;
    else if (setgroups((size_t)count, groups) == 0 && setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0)
        return;
    fail(error, "become user", user->pw_name);
}

/* Puts stdin, stdout, stderr, the script and the error pipe on their descriptors, closes all others, and returns the
   error pipe's. */
static int place_descriptors(const int pipes[4], int script) {
    for (int i = 0; i < 3; i++) {
        if (dup2(pipes[i], i) == -1)
            fail(pipes[3], "place the command's pipes", "");
        close(pipes[i]); /* what comes next needs a free descriptor, even if there was no other left */
    }
    /* Out of the way first: each may be where the other shall go. */
    int error = fcntl(pipes[3], F_DUPFD_CLOEXEC, ERROR_FD + 1);
    if (error == -1)
        fail(pipes[3], "place the error pipe", "");
    if (script == -1) {
        close(SCRIPT_FD);
    } else {
        script = fcntl(script, F_DUPFD_CLOEXEC, ERROR_FD + 1);
        if (script == -1 || dup2(script, SCRIPT_FD) == -1)
            fail(error, "place the command's script", "");
    }
    dup3(error, ERROR_FD, O_CLOEXEC);
    syscall(SYS_close_range, ERROR_FD + 1, ~0u, 0);
    return ERROR_FD;
}

static _Noreturn void child(const struct fields *request, int script, const int pipes[4]) {
    if (setsid() == -1)
        fail(pipes[3], "make a session", "");
    int error = place_descriptors(pipes, script);
    reset_oom_score();
    reset_signals();
    setrlimit(RLIMIT_NOFILE, &inherited_files);
    umask(022);
    const struct passwd *user = find_user(request->text[TAG_USER], error);
    char **environment = make_environment(request, user);
    if (environment == NULL)
        fail(error, "make the environment", "");
    become(user, error);
    const char *directory = request->text[TAG_DIRECTORY];
    if (directory != NULL) {
        if (chdir(directory) == -1)
            fail(error, "enter", directory);
    } else if (chdir(user->pw_dir) == -1 && chdir("/") == -1) {
        fail(error, "enter", "/");
    }
    char *command = script == -1 ? request->text[TAG_COMMAND] : (char[]){SCRIPT_COMMAND};
    execve("/bin/sh", (char *[]){"sh", "-c", command, NULL}, environment);
    fail(error, "execute", "/bin/sh");
}

pid_t launch(const struct fields *request, const int pipes[4], struct fault *fault) {
    pid_t pid = -1;
    int script = -1;
    bool is_long = request->text_length[TAG_COMMAND] >= ARGUMENT_LIMIT;
    if (is_long)
        script = make_script(request->text[TAG_COMMAND], request->text_length[TAG_COMMAND]);
    if (is_long && script == -1) {
        fault_set(fault, "FAILED", "cannot store the command: %s", strerror(errno));
    } else {
        pid = fork();
        if (pid == 0)
            child(request, script, pipes);
        if (pid == -1)
            fault_set(fault, "FAILED", "cannot fork: %s", strerror(errno));
    }
    if (script != -1)
        close(script);
    return pid;
}

void close_inherited(int *kept) {
    *kept = dup2(*kept, 3);
    syscall(SYS_close_range, 4, ~0u, 0);
}

bool run_program(char *const argv[], int limit_ms) {
    pid_t pid = fork();
    if (pid == -1)
        return false;
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        setsid();
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        syscall(SYS_close_range, 3, ~0u, 0);
        reset_oom_score();
        reset_signals();
        setrlimit(RLIMIT_NOFILE, &inherited_files);
        char *environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL};
        execve(argv[0], argv, environment);
        _exit(127);
    }
    struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    int ready = -1;
    if (process.fd != -1) {
        uint64_t deadline = now_ms() + (uint64_t)limit_ms;
        do {
            uint64_t now = now_ms();
            ready = poll(&process, 1, now < deadline ? (int)(deadline - now) : 0);
        } while (ready == -1 && errno == EINTR);
        close(process.fd);
    }
    if (ready != 1) {
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL); /* it may not have reached setsid() */
    }
    int status = -1;
    while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
        ;
    return ready == 1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
