/* Owns the workers' processes and pipes. */
#include "worker.h"

#include "agent.h"
#include "event.h"
#include "launch.h"
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKER_LIMIT 64

struct worker {
    struct watch pipe;
    pid_t pid;
    struct stream *stream; /* NULL when it is gone; the worker frees itself */
};

static unsigned count;

static void worker_ready(struct watch *watch, uint32_t events) {
    (void)events;
    struct worker *worker = CONTAINER(watch, struct worker, pipe);
    /* Written at once and shorter than PIPE_BUF, so it is there as a whole or not at all. The fault's code points
       into the program, which is the same in the child. */
    struct outcome outcome = {.fault.code = NULL};
    if (read(watch->fd, &outcome, sizeof outcome) != sizeof outcome)
        fault_set(&outcome.fault, "FAILED", "the agent's worker died");
    watch_end(watch);
    waitpid(worker->pid, NULL, 0); /* it exits right after the write */
    count--;
    if (worker->stream != NULL)
        stream_answer(worker->stream, &outcome);
    free(worker);
}

/* What the worker finds out then interests nobody. */
static void worker_leave(struct stream *stream) {
    struct worker *worker = stream->subject;
    worker->stream = NULL;
}

static const struct service service = {.leave = worker_leave};

static struct worker *start(work *work, const struct fields *request, struct fault *fault) {
    if (count >= WORKER_LIMIT) {
        fault_set(fault, "TOO_MANY", "%u operations are under way", count);
        return NULL;
    }
    struct worker *worker = calloc(1, sizeof *worker);
    int pipe[2];
    if (worker == NULL || pipe2(pipe, O_CLOEXEC) == -1) {
        fault_set(fault, "FAILED", "cannot start a worker: %s", strerror(errno));
        free(worker);
        return NULL;
    }
    worker->pid = fork();
    if (worker->pid == 0) {
        keep_descriptors(&pipe[1], 1);
        struct outcome outcome = {.fault.code = NULL};
        work(request, &outcome);
        ssize_t written = write(pipe[1], &outcome, sizeof outcome);
        _exit(written == sizeof outcome ? 0 : 1);
    }
    close(pipe[1]);
    if (worker->pid == -1) {
        fault_set(fault, "FAILED", "cannot fork: %s", strerror(errno));
        close(pipe[0]);
    } else if (watch_begin(&worker->pipe, pipe[0], EPOLLIN, worker_ready) == -1) {
        fault_set(fault, "FAILED", "cannot watch a worker: %s", strerror(errno));
        kill(worker->pid, SIGKILL);
        waitpid(worker->pid, NULL, 0);
    } else {
        count++;
        return worker;
    }
    free(worker);
    return NULL;
}

void worker_serve(struct stream *stream, work *work, const struct fields *request) {
    struct fault fault;
    struct worker *worker = start(work, request, &fault);
    if (worker == NULL) {
        stream_refuse(stream, &fault);
        return;
    }
    worker->stream = stream;
    stream_serve(stream, &service, worker);
}
