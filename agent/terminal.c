/* Owns the streams of terminals: what the pty operations ask, and what viewers are sent. */
#include "agent.h"
#include "operations.h"
#include "pty.h"
#include "stream.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTION_LIMIT 600

static uint8_t *put_end(uint8_t *at, const struct session *session) {
    return session->ended ? put_status(at, session->status) : at;
}

static uint8_t *put_description(uint8_t *at, const struct session *session) {
    at = put_number(at, TAG_SESSION, session->number);
    if (session->slug[0] != 0)
        at = put_text(at, TAG_SLUG, session->slug);
    at = put_text(at, TAG_USER, session->user);
    at = put_number(at, TAG_COLUMNS, session->columns);
    at = put_number(at, TAG_ROWS, session->rows);
    at = put_number(at, TAG_CREATED, session->created);
    return put_end(at, session);
}

/* Viewing */

/* Where it begins is decided when the host is told, for only then nothing is lost in between. `sent` is what was asked for. */
static bool describe(struct viewer *viewer) {
    const struct ring *ring = &viewer->session->ring;
    viewer->description = malloc(DESCRIPTION_LIMIT);
    if (viewer->description == NULL)
        return false;
    if (viewer->sent < ring_start(ring) || viewer->sent > ring->end)
        viewer->sent = ring_start(ring);
    uint8_t *at = put_description(viewer->description, viewer->session);
    at = put_number(at, TAG_OFFSET, viewer->sent);
    if (viewer->fresh)
        at = put_number(at, TAG_FRESH, 1);
    viewer->description_length = (size_t)(at - viewer->description);
    viewer->described = true;
    return true;
}

static bool send_description(struct stream *stream, struct viewer *viewer) {
    if (stream->outlet[1].ended)
        return false;
    const uint8_t *bytes = viewer->description + stream->outlet[1].at;
    bool sent = stream_send_part(stream, 1, bytes, viewer->description_length, true);
    if (stream->outlet[1].ended) {
        free(viewer->description);
        viewer->description = NULL;
    }
    return sent;
}

static bool send_output(struct stream *stream, struct viewer *viewer) {
    const struct session *session = viewer->session;
    const uint8_t *bytes;
    if (viewer->sent == session->ring.end) {
        viewer->moved_at = now_ms();
        if (!session->ended || stream->outlet[0].ended)
            return false;
        stream_send_end(stream, 0);
        return true;
    }
    size_t length = ring_at(&session->ring, viewer->sent, stream_room(stream, 0), &bytes);
    if (length == 0)
        return false;
    memcpy(stream_data(), bytes, length);
    stream_send_data(stream, 0, length);
    viewer->sent += length;
    viewer->moved_at = now_ms();
    return true;
}

static bool view_send(struct stream *stream) {
    struct viewer *viewer = stream->subject;
    const struct session *session = viewer->session;
    struct fault fault = {.code = NULL};
    if (session == NULL)
        fault_set(&fault, "CLOSED", "the terminal was closed");
    else if (session->fault.code != NULL)
        fault = session->fault;
    else if (!session->started)
        return false;
    else if (!viewer->described && !describe(viewer))
        fault_set(&fault, "FAILED", "out of memory");
    else if (viewer->sent < ring_start(&session->ring))
        fault_set(&fault, "TOO_SLOW", "what comes next is not kept any more; attach again");
    if (fault.code != NULL) {
        stream_refuse(stream, &fault);
        return true;
    }
    if (stream_send_credit(stream, viewer->input.consumed + INPUT_WINDOW) || send_description(stream, viewer))
        return true;
    if (!stream->outlet[0].ended)
        return send_output(stream, viewer);
    if (!stream->outlet[1].ended)
        return false;
    stream_finish(stream, (size_t)(put_end(port_payload(), session) - port_payload()));
    return true;
}

static bool view_take(struct stream *stream, uint64_t offset, const uint8_t *bytes, size_t length, struct fault *fault) {
    struct viewer *viewer = stream->subject;
    return input_take(&viewer->input, offset, bytes, length, fault);
}

/* The host has no more to type; the program is not told, other viewers go on. */
static bool view_end(struct stream *stream, uint64_t offset, struct fault *fault) {
    const struct viewer *viewer = stream->subject;
    return offset == viewer->input.received || fault_set(fault, "BAD_REQUEST", "END at another offset than the next");
}

static void view_leave(struct stream *stream) {
    viewer_leave(stream->subject);
}

static void view(struct stream *stream, struct session *session, bool fresh, const struct fields *request) {
    static const struct service service = {.send = view_send, .take = view_take, .end = view_end, .leave = view_leave};
    struct fault fault;
    struct viewer *viewer = viewer_new(session, stream, &fault);
    if (viewer == NULL) {
        stream_refuse(stream, &fault);
        return;
    }
    viewer->fresh = fresh;
    viewer->sent = request->present[TAG_OFFSET] ? request->number[TAG_OFFSET] : 0;
    stream_serve(stream, &service, viewer);
}

/* The operations */

void terminal_open(struct stream *stream, const struct fields *request) {
    struct fault fault;
    bool fresh;
    struct session *session = session_obtain(request, request->text[TAG_SLUG], &fresh, &fault);
    if (session == NULL)
        stream_refuse(stream, &fault);
    else
        view(stream, session, fresh, request);
}

static struct session *find_requested(struct stream *stream, const struct fields *request, bool by_slug) {
    const char *user = request->text[TAG_USER], *slug = request->text[TAG_SLUG];
    struct session *session = NULL;
    if (request->present[TAG_SESSION])
        session = session_find(request->number[TAG_SESSION]);
    else if (by_slug && slug != NULL && *slug != 0)
        session = session_find_slug(slug);
    if (session != NULL && (user == NULL || strcmp(user, session->user) == 0))
        return session;
    struct fault fault;
    fault_set(&fault, "NO_SUCH_SESSION", "there is no such terminal, or it has ended and is no longer kept");
    stream_refuse(stream, &fault);
    return NULL;
}

void terminal_attach(struct stream *stream, const struct fields *request) {
    struct session *session = find_requested(stream, request, true);
    if (session != NULL)
        view(stream, session, false, request);
}

void terminal_list(struct stream *stream, const struct fields *request) {
    (void)request;
    size_t length = 0;
    for (struct session *at = session_next(NULL); at != NULL; at = session_next(at))
        length += DESCRIPTION_LIMIT;
    uint8_t *bytes = malloc(length + 1), *at = bytes;
    if (bytes == NULL) {
        stream_refuse(stream, &(struct fault){"FAILED", "out of memory"});
        return;
    }
    for (struct session *session = session_next(NULL); session != NULL; session = session_next(session))
        if (session->fault.code == NULL) /* one that is just being started is there, too */
            at = put_description(at, session);
    stream_send_all(stream, bytes, (size_t)(at - bytes));
}

void terminal_resize(struct stream *stream, const struct fields *request) {
    struct session *session = find_requested(stream, request, false);
    uint64_t columns = request->number[TAG_COLUMNS], rows = request->number[TAG_ROWS];
    if (session == NULL)
        return;
    if (columns < 1 || columns > 1000 || rows < 1 || rows > 1000) {
        stream_bad(stream, "a terminal has 1 to 1000 columns and rows");
        return;
    }
    session_resize(session, (unsigned)columns, (unsigned)rows);
    stream_done(stream);
}

static void kill_session(const struct fields *request, struct outcome *outcome) {
    (void)outcome;
    session_kill(session_find(request->number[TAG_SESSION]), false);
}

static void hang_up_session(const struct fields *request, struct outcome *outcome) {
    (void)outcome;
    session_kill(session_find(request->number[TAG_SESSION]), true);
}

void terminal_signal(struct stream *stream, const struct fields *request) {
    struct session *session = find_requested(stream, request, false);
    if (session == NULL)
        return;
    uint64_t signal = request->number[TAG_SIGNAL];
    if (signal != SIGINT && signal != SIGKILL) {
        stream_bad(stream, "a terminal takes the signals 2 and 9");
    } else if (signal == SIGKILL && !session->ended) {
        worker_serve(stream, kill_session, request);
    } else {
        session_interrupt(session);
        stream_done(stream);
    }
}

void terminal_close(struct stream *stream, const struct fields *request) {
    struct session *session = find_requested(stream, request, false);
    if (session == NULL)
        return;
    if (session->ended) {
        stream_answer(stream, &(struct outcome){.has_status = true, .status = session->status});
        session_close(session);
        return;
    }
    worker_serve(stream, hang_up_session, request); /* has its own copy of the session */
    if (!stream->answered)
        session_close(session);
}
