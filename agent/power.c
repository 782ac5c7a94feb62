/* Owns the orderly end of the guest, which is its init system's business: the agent only asks. */
#include "power.h"

#include "agent.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#define ANSWER_MS 1000

static uint64_t deadline; /* 0: not asked */

void power_request(void) {
    if (deadline == 0)
        deadline = now_ms() + ANSWER_MS;
}

static void power_off(void) {
    bool has_systemd = access(rooted("/run/systemd/system"), F_OK) == 0;
    if (settings.dry) {
        note("dry: power off by %s", has_systemd ? "systemctl" : "SIGUSR2 to init");
    } else if (!has_systemd) {
        kill(1, SIGUSR2); /* BusyBox's init */
    } else if (fork() == 0) {
        setsid();
        execl("/usr/bin/systemctl", "systemctl", "poweroff", "--no-block", (char *)NULL);
        execl("/bin/systemctl", "systemctl", "poweroff", "--no-block", (char *)NULL);
        _exit(127);
    }
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
