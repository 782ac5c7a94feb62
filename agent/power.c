/* Owns the orderly end of the guest, which is its init system's business: the agent only asks. */
#include "power.h"

#include "agent.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#define ANSWER_MS 1000
/* SIGRTMIN+4 of glibc, where SIGRTMIN is 34. A signal, because it works where no process can be started any more. */
#define SYSTEMD_POWEROFF 38

static uint64_t deadline; /* 0: not asked */

void power_request(void) {
    if (deadline == 0)
        deadline = now_ms() + ANSWER_MS;
}

static void power_off(void) {
    bool has_systemd = access(rooted("/run/systemd/system"), F_OK) == 0;
    int signal = has_systemd ? SYSTEMD_POWEROFF : SIGUSR2; /* the latter is BusyBox's */
    if (settings.dry)
        note("dry: power off by signal %d to init", signal);
    else
        kill(1, signal);
}

int power_tick(bool answered) {
    if (deadline == 0)
        return -1;
    uint64_t now = now_ms();
    if (!answered && now < deadline)
        return (int)(deadline - now);
    deadline = 0; /* a second request asks again, in case init did nothing */
    power_off();
    return -1;
}
