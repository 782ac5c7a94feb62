/* Owns the writing of faults. */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

bool fault_set(struct fault *fault, const char *code, const char *format, ...) {
    fault->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    return false;
}
