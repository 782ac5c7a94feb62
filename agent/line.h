/* Files of one line, by which the kernel tells and is told a setting. Both return false with errno. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool line_read(const char *path, char *line, size_t size); /* without the end of the line */
bool line_write(const char *path, const char *line);
