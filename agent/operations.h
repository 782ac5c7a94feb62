/* The operations that a host can ask for. */
#pragma once

#include "fields.h"
#include "stream.h"

void operation_start(struct stream *stream, const struct fields *request);

/* The name of each in turn; NULL after the last. */
const char *operation_name(unsigned which);

/* Elsewhere than in operations.c */
typedef void start_operation(struct stream *stream, const struct fields *request);
start_operation exec_start, exec_attach, exec_kill;
start_operation terminal_open, terminal_attach, terminal_list, terminal_resize, terminal_signal, terminal_close;
start_operation network_start;
