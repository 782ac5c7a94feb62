/* Owns the epoll instance. */
#include "event.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int epoll = -1;

void events_open(void) {
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll == -1)
        abort();
}

int watch_begin(struct watch *watch, int fd, uint32_t events, void (*ready)(struct watch *, uint32_t)) {
    struct epoll_event event = {.events = events, .data.ptr = watch};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == -1) {
        int error = errno;
        close(fd);
        watch->fd = -1;
        errno = error;
        return -1;
    }
    watch->fd = fd;
    watch->ready = ready;
    return 0;
}

void watch_change(struct watch *watch, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = watch};
    epoll_ctl(epoll, EPOLL_CTL_MOD, watch->fd, &event);
}

int watch_release(struct watch *watch) {
    int fd = watch->fd;
    /* Explicitly, because close() alone keeps the registration while a forked child still holds the description. */
    if (fd != -1)
        epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
    watch->fd = -1;
    return fd;
}

void watch_end(struct watch *watch) {
    int fd = watch_release(watch);
    if (fd != -1)
        close(fd);
}

void events_wait(int timeout_ms) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, 64, timeout_ms);
    for (int i = 0; i < count; i++) {
        struct watch *watch = events[i].data.ptr;
        if (watch->fd != -1) /* an earlier owner of this batch may have ended it */
            watch->ready(watch, events[i].events);
    }
}
