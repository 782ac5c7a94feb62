/* Powering off. */
#pragma once

#include <stdbool.h>

/* Powers off soon: when the answer has gone out, or after a second. */
void power_request(void);
/* Returns the milliseconds after which it must be called again, or -1. */
int power_tick(bool answered);
