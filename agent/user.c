/* Owns the look-up of users and the change to one. */
#include "user.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_USER 1000
#define GROUP_LIMIT 4096

const struct passwd *user_find(const char *name, struct fault *fault) {
    errno = 0;
    const struct passwd *user = name != NULL ? getpwnam(name) : getpwuid(DEFAULT_USER);
    if (user == NULL && name == NULL && errno == 0) /* not after an error: the command would be root's by mistake */
        user = getpwuid(0);
    if (user != NULL)
        return user;
    if (errno != 0)
        fault_set(fault, "FAILED", "cannot look up user %.100s: %s", name != NULL ? name : "1000", strerror(errno));
    else
        fault_set(fault, "NO_SUCH_USER", "there is no user %.100s", name != NULL ? name : "root");
    return NULL;
}

bool user_become(const struct passwd *user, struct fault *fault) {
    if (geteuid() != 0 && user->pw_uid == geteuid())
        return true; /* in a test without privileges */
    gid_t groups[GROUP_LIMIT]; /* not initgroups(): that of musl fails beyond 32 */
    int count = GROUP_LIMIT;
    if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) == -1)
        errno = E2BIG;
    else if (setgroups((size_t)count, groups) == 0 && setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0)
        return true;
    return fault_set(fault, "FAILED", "cannot become user %.100s: %s", user->pw_name, strerror(errno));
}
