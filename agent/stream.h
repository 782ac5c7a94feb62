/* Streams: one request each, from OPEN to RESULT or RESET. connection.c owns them; what a request does in between is
 * the business of its service. */
#pragma once

#include "fault.h"
#include "fields.h"
#include "port.h"
#include "worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFSET_LENGTH 8
#define DATA_LIMIT (PAYLOAD_LIMIT - OFFSET_LENGTH)

struct stream;

/* What goes on with a request once it has begun. Each but `leave` may be NULL. */
struct service {
    /* Sends at most one frame; returns whether it got anywhere. */
    bool (*send)(struct stream *stream);
    /* Bytes of channel 0 within the credit, at the next offset unless the stream attached to something older. */
    bool (*take)(struct stream *stream, uint64_t offset, const uint8_t *bytes, size_t length, struct fault *fault);
    bool (*end)(struct stream *stream, uint64_t offset, struct fault *fault);
    /* The stream is answered or gone. */
    void (*leave)(struct stream *stream);
};

/* How far the host has been sent a channel. */
struct outlet {
    uint64_t at, credit;
    bool ended;
};

/* Its life: it collects a request; then has a service; then is answered and goes. */
struct stream {
    uint32_t number;
    uint8_t *request; /* while OPEN frames come */
    size_t request_length;
    const struct service *service;
    void *subject;           /* the service's */
    struct outlet outlet[2]; /* of channels 1 and 2 */
    unsigned turn;           /* the outlet that goes first, so that stdout does not starve stderr */
    bool attached;           /* to something that was there before: its input may be told again */
    uint64_t input_at;       /* where the host's next DATA goes */
    uint64_t input_credit;
    bool owes_credit; /* tell it, even if it is not higher */
    bool answered;
    struct outcome outcome; /* the answer, unless it is that of a service */
};

void stream_serve(struct stream *stream, const struct service *service, void *subject);
void stream_answer(struct stream *stream, const struct outcome *outcome);
void stream_done(struct stream *stream); /* an empty RESULT */
void stream_refuse(struct stream *stream, const struct fault *fault);
void stream_bad(struct stream *stream, const char *why); /* BAD_REQUEST */

/* For a service's `send`. `which` is 0 for channel 1 and 1 for channel 2. */

/* How many bytes the next DATA may carry; write them where stream_data points. */
size_t stream_room(const struct stream *stream, unsigned which);
uint8_t *stream_data(void);
void stream_send_data(struct stream *stream, unsigned which, size_t length);
void stream_send_end(struct stream *stream, unsigned which);
/* The next part of a channel of which `kept` bytes are known, those from outlet.at on at `bytes`; END after all of them
   when it `ended`. Returns whether it sent something. */
bool stream_send_part(struct stream *stream, unsigned which, const uint8_t *bytes, uint64_t kept, bool ended);
bool stream_send_credit(struct stream *stream, uint64_t credit);
/* RESULT with the fields that stand at port_payload(). The stream is gone. */
void stream_finish(struct stream *stream, size_t length);

/* The field that says how a process ended, by its status of waitpid(). */
uint8_t *put_status(uint8_t *at, int status);

/* A service that sends bytes on channel 1, then an empty RESULT. Takes the bytes over. */
void stream_send_all(struct stream *stream, uint8_t *bytes, size_t length);
