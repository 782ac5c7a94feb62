/* The event loop's file descriptors: each is watched by a struct embedded in its owner. */
#pragma once

#include <stdint.h>
#include <sys/epoll.h>

struct watch {
    int fd; /* -1: not watched */
    void (*ready)(struct watch *watch, uint32_t events);
};

void events_open(void);

/* Takes the descriptor over; on failure closes it, leaves errno and returns -1. */
int watch_begin(struct watch *watch, int fd, uint32_t events, void (*ready)(struct watch *, uint32_t));
void watch_change(struct watch *watch, uint32_t events);
/* Stops watching and gives the descriptor back to the caller. */
int watch_release(struct watch *watch);
/* Stops watching and closes; does nothing to a watch that has ended. */
void watch_end(struct watch *watch);

/* Waits until something is ready (-1: without limit) and calls its owner. Nothing that holds a watch may be
   freed while the owners run, unless by its own `ready`: the batch may still name it. */
void events_wait(int timeout_ms);
