/* Taking into use what the host has added to the running VM. Each is run by a worker: it may wait. */
#pragma once

#include "worker.h"

work grow_disk;
work grow_cpus;
work grow_memory;
