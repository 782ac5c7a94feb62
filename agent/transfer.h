/* Transfers: file requests, each done by a forked child that is the request's user, with pipes to and from its stream. */
#pragma once

#include "conduit.h"
#include "fields.h"
#include "worker.h"

#include <stdbool.h>

/* A child's ends; NULL or -1 where its kind has none. */
struct ends {
    struct conduit_exit *input; /* from the host */
    int body;                   /* to its channel 1 */
    int description;            /* to channel 2, or to the fields of RESULT */
};

struct transfer_kind {
    void (*work)(const struct fields *request, struct ends ends, struct outcome *outcome);
    bool takes_body, gives_body;
    bool describes; /* on channel 2 */
    bool answers;   /* the description is the RESULT's */
};

extern const struct transfer_kind file_stat, file_read, file_write, file_list, file_mkdir, file_remove, file_watch;

/* Begins to serve the stream, or refuses it. */
void transfer_start(struct stream *stream, const struct transfer_kind *kind, const struct fields *request);

/* Ends what is left behind. Returns the milliseconds until it must be called again, or -1. Not to be called by a watch. */
int transfers_tick(void);
