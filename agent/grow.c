/* Owns growth: the root file system, hotplugged processors, hotplugged memory. */
#include "grow.h"

#include "agent.h"
#include "line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define EXT4_IOC_RESIZE_FS _IOW('f', 16, uint64_t)
#define SECTOR 512 /* the unit of sysfs, whatever the device's own is */
#define WAIT_MS 10000
#define STEP_MS 20
#define MAX_CPUS 1024
#define CPUS "/sys/devices/system/cpu"
#define MEMORY "/sys/devices/system/memory"

static void pause_ms(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Disk */

void grow_disk(const struct fields *request, struct outcome *outcome) {
    (void)request;
    struct stat root;
    struct statfs before;
    int fd = open(settings.root[0] ? settings.root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd == -1 || fstat(fd, &root) == -1 || fstatfs(fd, &before) == -1) {
        fault_set(&outcome->fault, "FAILED", "cannot look at the root file system: %s", strerror(errno));
        return;
    }
    char path[100], line[32];
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/size", major(root.st_dev), minor(root.st_dev));
    if (!line_read(path, line, sizeof line)) {
        fault_set(&outcome->fault, "FAILED", "the root file system is on no block device: %s: %s", path, strerror(errno));
        return;
    }
    uint64_t blocks = strtoull(line, NULL, 10) * SECTOR / (uint64_t)before.f_bsize;
    if (settings.dry)
        note("dry: grow the root file system to %llu blocks", (unsigned long long)blocks);
    else if (ioctl(fd, EXT4_IOC_RESIZE_FS, &blocks) == -1)
        fault_set(&outcome->fault, "FAILED", "cannot grow the root file system: %s", strerror(errno));
    outcome->has_size = true;
    outcome->size = blocks * (uint64_t)before.f_bsize;
}

/* Processors */

/* How many numbers a list such as "0-3,6" has, up to the first that does not parse. */
static unsigned count_listed(const char *list) {
    unsigned count = 0;
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        count += last >= first ? (unsigned)(last - first + 1) : 0;
        list = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* Calls `visit` for every NUMBER of entries PREFIXNUMBER of a directory. */
static void each_numbered(const char *directory, const char *prefix, void (*visit)(const char *name, void *context),
                          void *context) {
    DIR *entries = opendir(rooted(directory));
    if (entries == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        const char *number = entry->d_name + strlen(prefix);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && *number != 0 &&
            strspn(number, "0123456789") == strlen(number))
            visit(entry->d_name, context);
    }
    closedir(entries);
}

static unsigned cpus_online(void) {
    char line[256] = "";
    line_read(rooted(CPUS "/online"), line, sizeof line);
    return count_listed(line);
}

/* Brings processors online, the lowest numbers first, until `wanted` are: a machine has more of them than it was given. */
static void online_cpus(uint64_t wanted) {
    for (unsigned cpu = 0; cpu < MAX_CPUS && cpus_online() < wanted; cpu++) {
        char path[64], line[16];
        snprintf(path, sizeof path, CPUS "/cpu%u/online", cpu);
        /* The boot processor has no such file. A refusal shows in the count. */
        if (line_read(rooted(path), line, sizeof line) && strcmp(line, "0") == 0)
            line_write(rooted(path), "1");
    }
}

void grow_cpus(const struct fields *request, struct outcome *outcome) {
    uint64_t wanted = request->number[TAG_COUNT];
    uint64_t deadline = now_ms() + WAIT_MS;
    for (;;) {
        online_cpus(wanted);
        unsigned online = cpus_online();
        if (online >= wanted)
            return;
        if (now_ms() >= deadline) {
            fault_set(&outcome->fault, "FAILED", "%u processors are online, not %llu", online,
                      (unsigned long long)wanted);
            return;
        }
        pause_ms(STEP_MS);
    }
}

/* Memory */

struct memory {
    uint64_t online, offline; /* blocks */
};

static void online_memory(const char *name, void *context) {
    struct memory *memory = context;
    char path[300], line[32];
    snprintf(path, sizeof path, MEMORY "/%.64s/state", name);
    if (!line_read(rooted(path), line, sizeof line))
        return;
    if (strcmp(line, "online") == 0 || line_write(rooted(path), "online"))
        memory->online++;
    else
        memory->offline++;
}

void grow_memory(const struct fields *request, struct outcome *outcome) {
    char line[32];
    if (!line_read(rooted(MEMORY "/block_size_bytes"), line, sizeof line) || strtoull(line, NULL, 16) == 0) {
        fault_set(&outcome->fault, "FAILED", "the kernel has no memory blocks: %s", strerror(errno));
        return;
    }
    uint64_t block = strtoull(line, NULL, 16), size = request->number[TAG_SIZE];
    uint64_t wanted = size / block + (size % block != 0);
    uint64_t deadline = now_ms() + WAIT_MS;
    for (;;) {
        struct memory memory = {0};
        each_numbered(MEMORY, "memory", online_memory, &memory);
        if (size == 0 ? memory.offline == 0 : memory.online >= wanted)
            return;
        if (size == 0 || now_ms() >= deadline) {
            fault_set(&outcome->fault, "FAILED", "%llu memory blocks of %llu bytes are online and %llu are offline",
                      (unsigned long long)memory.online, (unsigned long long)block, (unsigned long long)memory.offline);
            return;
        }
        pause_ms(STEP_MS);
    }
}
