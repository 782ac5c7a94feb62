/* Owns entropy, clock, hostname, machine id, SSH host keys and the hooks of a copy.
 *
 * It fails closed: every step's own result counts, and the generation is remembered only when all have succeeded. */
#include "identity.h"

#include "agent.h"
#include "launch.h"
#include "replace.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RNDADDENTROPY _IOW('R', 0x03, int[2])
#define RNDRESEEDCRNG _IO('R', 0x07)
#define KEY_PREFIX "ssh_host_"
#define KEY_SUFFIX "_key"
#define KEYGEN_MS 60000 /* RSA on an emulated processor takes long */
#define HOOK_MS 10000
#define HOSTNAME_LIMIT 64
#define HOSTS_LIMIT (1 << 20)
#define ID_TEXT 32 /* hexadecimal digits of a machine id */

static bool seen_any;
static uint8_t seen[ID_LENGTH];

static bool fail(struct fault *fault, const char *what) {
    return fault_set(fault, "FAILED", "cannot %s: %s", what, strerror(errno));
}

static bool reseed(const uint8_t *entropy, struct fault *fault) {
    if (settings.dry) {
        note("dry: reseed");
        return true;
    }
    struct {
        int bits, length;
        uint8_t bytes[ENTROPY_LENGTH];
    } pool = {.bits = 8 * ENTROPY_LENGTH, .length = ENTROPY_LENGTH};
    memcpy(pool.bytes, entropy, ENTROPY_LENGTH);
    int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
    bool done = fd != -1 && ioctl(fd, RNDADDENTROPY, &pool) == 0 && ioctl(fd, RNDRESEEDCRNG) == 0;
    if (!done)
        fail(fault, "reseed the kernel's random numbers");
    if (fd != -1)
        close(fd);
    explicit_bzero(&pool, sizeof pool);
    return done;
}

bool clock_set(uint64_t nanoseconds, struct fault *fault) {
    if (settings.dry) {
        note("dry: set the clock to %llu", (unsigned long long)nanoseconds);
        return true;
    }
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
    return clock_settime(CLOCK_REALTIME, &time) == 0 || fail(fault, "set the clock");
}

/* Files */

static bool is_name(const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length > HOSTNAME_LIMIT)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '.')
            return false;
    return true;
}

/* Rewrites the 127.0.1.1 line of /etc/hosts; without such a line, or without the file, there is nothing to do. */
static bool rename_in_hosts(const char *hostname) {
    FILE *old = fopen(rooted("/etc/hosts"), "re");
    if (old == NULL)
        return errno == ENOENT;
    char *text = NULL, *line = NULL;
    size_t length = 0, size = 0;
    FILE *changed = open_memstream(&text, &length);
    bool found = false, complete = changed != NULL;
    while (complete && getline(&line, &size, old) != -1) {
        const char *address = line + strspn(line, " \t");
        bool is_ours = strncmp(address, "127.0.1.1", 9) == 0 && isspace((unsigned char)address[9]);
        if (!is_ours)
            fputs(line, changed);
        else if (!found)
            fprintf(changed, "127.0.1.1\t%s\n", hostname);
        found |= is_ours;
        complete = ftell(changed) <= HOSTS_LIMIT;
        errno = complete ? errno : EFBIG;
    }
    complete = complete && !ferror(old) && !ferror(changed);
    if (changed != NULL && fclose(changed) != 0)
        complete = false;
    fclose(old);
    free(line);
    bool done = complete && (!found || replace_file("/etc/hosts", text, length, 0644));
    free(text);
    return done;
}

static bool take_hostname(const char *hostname, struct fault *fault) {
    if (!is_name(hostname))
        return fault_set(fault, "BAD_REQUEST", "the hostname is not one");
    if (settings.dry)
        note("dry: set the hostname to %s", hostname);
    else if (sethostname(hostname, strlen(hostname)) == -1)
        return fail(fault, "set the hostname");
    char line[HOSTNAME_LIMIT + 2];
    int length = snprintf(line, sizeof line, "%s\n", hostname);
    if (!replace_file("/etc/hostname", line, (size_t)length, 0644))
        return fail(fault, "write /etc/hostname");
    return rename_in_hosts(hostname) || fail(fault, "write /etc/hosts");
}

static bool is_machine_id(const char *id) {
    return strlen(id) == ID_TEXT && strspn(id, "0123456789abcdef") == ID_TEXT;
}

static bool read_machine_id(char id[ID_TEXT + 1]) {
    int fd = open(rooted("/etc/machine-id"), O_RDONLY | O_CLOEXEC);
    bool done = fd != -1 && read(fd, id, ID_TEXT) == ID_TEXT;
    if (fd != -1)
        close(fd);
    id[ID_TEXT] = 0;
    return done && is_machine_id(id);
}

/* journald goes on in the folder of the machine id it started with, and journalctl looks in the folder of the present one: a copy's is a
   link to it. Of a copy of a copy too, not a link to a link. Here rather than by a hook, since each program that a copy starts costs it
   memory of its own. */
static void keep_journal(const char *place, const char *old, const char *id) {
    char from[600], to[600], target[ID_TEXT + 1];
    snprintf(from, sizeof from, "%s/%s", rooted(place), old);
    snprintf(to, sizeof to, "%s/%s", rooted(place), id);
    if (access(from, F_OK) == -1)
        return; /* no journald, or none that keeps its journal here */
    ssize_t length = readlink(from, target, ID_TEXT);
    target[length == ID_TEXT ? ID_TEXT : 0] = 0;
    if (symlink(*target ? target : old, to) == -1 && errno != EEXIST)
        note("cannot link %s: %s", to, strerror(errno)); /* a log that is hard to find is no reason to end a copy */
}

static void keep_journals(const char *id) {
    char old[ID_TEXT + 1];
    if (!read_machine_id(old))
        return;
    keep_journal("/var/log/journal", old, id);
    keep_journal("/run/log/journal", old, id);
}

static bool take_machine_id(const char *id, struct fault *fault) {
    if (!is_machine_id(id))
        return fault_set(fault, "BAD_REQUEST", "the machine id does not have 32 hexadecimal digits");
    keep_journals(id);
    char line[34];
    snprintf(line, sizeof line, "%s\n", id);
    return replace_file("/etc/machine-id", line, 33, 0444) || fail(fault, "write /etc/machine-id");
}

/* SSH host keys */

static bool sync_file(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool done = fd != -1 && fsync(fd) == 0;
    if (fd != -1)
        close(fd);
    return done;
}

/* `name` is ssh_host_TYPE_key. */
static bool replace_key(const char *name, const char *hostname) {
    char type[32], comment[HOSTNAME_LIMIT + 8], key[512], key_pub[520], fresh[520], fresh_pub[528];
    size_t length = strlen(name) - strlen(KEY_PREFIX KEY_SUFFIX);
    snprintf(type, sizeof type, "%.*s", (int)length, name + strlen(KEY_PREFIX));
    snprintf(comment, sizeof comment, "root@%s", hostname);
    snprintf(key, sizeof key, "%s/%.64s", rooted("/etc/ssh"), name);
    snprintf(key_pub, sizeof key_pub, "%s.pub", key);
    snprintf(fresh, sizeof fresh, "%s.new", key);
    snprintf(fresh_pub, sizeof fresh_pub, "%s.pub", fresh);
    unlink(fresh); /* of an attempt that was cut short: ssh-keygen would ask whether to overwrite it */
    char *argv[] = {"/usr/bin/ssh-keygen", "-q", "-t", type, "-N", "", "-C", comment, "-f", fresh, NULL};
    errno = 0;
    return run_program(argv, KEYGEN_MS) && sync_file(fresh) && sync_file(fresh_pub) && rename(fresh, key) == 0 &&
           rename(fresh_pub, key_pub) == 0 && sync_parent(key);
}

static int is_key(const struct dirent *entry) {
    const char *name = entry->d_name;
    size_t length = strlen(name), prefix = strlen(KEY_PREFIX), suffix = strlen(KEY_SUFFIX);
    return length > prefix + suffix && length < 64 && strncmp(name, KEY_PREFIX, prefix) == 0 &&
           strcmp(name + length - suffix, KEY_SUFFIX) == 0;
}

static bool replace_keys(const char *hostname, struct fault *fault) {
    struct dirent **keys;
    int count = scandir(rooted("/etc/ssh"), &keys, is_key, alphasort);
    if (count == -1)
        return errno == ENOENT || fail(fault, "list /etc/ssh");
    bool done = true;
    for (int i = 0; i < count; i++) {
        if (done && !replace_key(keys[i]->d_name, hostname))
            done = fault_set(fault, "FAILED", "cannot replace /etc/ssh/%.64s: %s", keys[i]->d_name,
                             errno != 0 ? strerror(errno) : "ssh-keygen failed");
        free(keys[i]);
    }
    free(keys);
    return done;
}

/* Hooks */

static bool run_hooks(struct fault *fault) {
    struct dirent **hooks;
    int count = scandir(rooted("/etc/coppice/fork.d"), &hooks, NULL, alphasort);
    if (count == -1)
        return errno == ENOENT || fail(fault, "list /etc/coppice/fork.d");
    bool done = true;
    for (int i = 0; i < count; i++) {
        char path[600];
        struct stat file;
        snprintf(path, sizeof path, "%s/%s", rooted("/etc/coppice/fork.d"), hooks[i]->d_name);
        bool is_hook = stat(path, &file) == 0 && S_ISREG(file.st_mode) && (file.st_mode & 0111) != 0;
        if (done && is_hook && !run_program((char *[]){path, NULL}, HOOK_MS))
            done = fault_set(fault, "FAILED", "/etc/coppice/fork.d/%.100s failed", hooks[i]->d_name);
        free(hooks[i]);
    }
    free(hooks);
    return done;
}

static bool become_copy(const char *hostname, const char *machine_id, struct fault *fault) {
    return take_hostname(hostname, fault) && take_machine_id(machine_id, fault) && replace_keys(hostname, fault) &&
           run_hooks(fault);
}

bool identity_assume(const struct fields *hello, struct fault *fault) {
    if (seen_any && memcmp(seen, hello->bytes[TAG_GENERATION], ID_LENGTH) == 0)
        return true;
    bool is_copy = hello->present[TAG_HOSTNAME];
    if (is_copy != hello->present[TAG_MACHINE_ID])
        return fault_set(fault, "BAD_REQUEST", "a copy needs both a hostname and a machine id");
    /* Until all is done this VM is no generation at all, not even the one before. */
    seen_any = false;
    if (!reseed(hello->bytes[TAG_ENTROPY], fault) || !clock_set(hello->number[TAG_WALL_CLOCK], fault))
        return false;
    if (is_copy && !become_copy(hello->text[TAG_HOSTNAME], hello->text[TAG_MACHINE_ID], fault))
        return false;
    memcpy(seen, hello->bytes[TAG_GENERATION], ID_LENGTH);
    seen_any = true;
    return true;
}
