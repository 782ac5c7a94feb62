/* The connection to the host that is in step: greeting, streams, requests. Called by the port only. */
#pragma once

#include "port.h"

#include <stdbool.h>
#include <stdint.h>

struct stream;

/* A magic was seen: what was before is over. */
void connection_begin(const uint8_t nonce[NONCE_LENGTH]);
/* Out of step, or no host. Commands go on; nobody listens to them. */
void connection_lost(void);
/* Ends all streams but this one, unanswered. */
void connection_leave(struct stream *last);
/* False: the frame does not belong here, the connection is out of step. */
bool connection_frame(const struct frame *frame);
/* Queues frames while the port has room and there is something to send. */
void connection_pump(void);
