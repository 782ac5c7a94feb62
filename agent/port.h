/* The port: the byte stream to the host, and the frames in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAGIC "COPPICE-AGENT-1\n"
#define MAGIC_LENGTH 16
#define NONCE_LENGTH 16
#define HEADER_LENGTH 16
#define PAYLOAD_LIMIT 16384
#define FRAME_LIMIT (HEADER_LENGTH + PAYLOAD_LIMIT)

enum kind {
    HELLO = 1,
    WELCOME = 2,
    OPEN = 3,
    DATA = 4,
    END = 5,
    CREDIT = 6,
    RESULT = 7,
    RESET = 8,
    PING = 9,
    PONG = 10
};

#define FLAG_MORE 1

struct frame {
    uint8_t kind, channel, flags;
    uint32_t stream;
    uint8_t *payload; /* the receiver may change it */
    size_t length;
};

/* By path, by an inherited descriptor, or (both absent: NULL, -1) by looking for the port's name in sysfs. */
void port_open(const char *path, int fd);

/* Receives, hands frames to the connection, lets it send, and writes. Returns the milliseconds after which it wants
   to be called again: 0 at once, -1 not before an event. */
int port_serve(void);

/* Whether one more frame of any size can be queued. */
bool port_has_room(void);
bool port_is_flushed(void);

/* To build a frame in place: write at most PAYLOAD_LIMIT bytes where port_payload points, then send them.
   Only while port_has_room. */
uint8_t *port_payload(void);
void port_send(enum kind kind, uint8_t channel, uint32_t stream, size_t length);
/* The answer to a preamble, which is not a frame. */
void port_send_preamble(const uint8_t nonce[NONCE_LENGTH]);
