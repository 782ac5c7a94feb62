package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// What happens to one VM, with a real QEMU, through the API.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VmLifeIT {
    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
    }

    @Test
    void aCreatedVmRunsCommandsAtOnce() {
        var vm = client.createVm();

        assertEquals("running", client.state(vm));
        assertEquals("0", client.run(vm, "id -u"));
        assertEquals(vm, client.run(vm, "hostname"));
        assertEquals("1", client.run(vm, "nproc"));

        client.delete("/v5/vms/" + vm).expect(204);
        client.get("/v5/vms/" + vm).expect(404, "NOT_FOUND");
    }

    @Test
    void twoVmsOfOneSnapshotAreNotTwins() {
        var one = client.createVm();
        var other = client.createVm();

        for (var command :
                new String[] {
                    "cat /proc/sys/kernel/random/uuid",
                    "head -c 32 /dev/urandom | sha256sum",
                    "cat /etc/machine-id",
                    "hostname"
                }) {
            assertNotEquals(client.run(one, command), client.run(other, command), command);
        }
        client.delete("/v5/vms/" + one).expect(204);
        client.delete("/v5/vms/" + other).expect(204);
    }

    @Test
    void memoryProcessesAndDiskGoOnThroughPausesAndTheClockIsRight() {
        var vm = client.createVm();
        client.run(
                vm,
                "head -c 20m /dev/urandom > /dev/shm/ram; head -c 20m /dev/urandom > /root/disk; sync");
        var hashes = client.run(vm, "sha256sum /dev/shm/ram /root/disk");
        client.run(
                vm,
                "(secret=kept; i=0; while true; do i=$((i+1)); echo $secret $i >> /dev/shm/count; sleep 0.05; done) >/dev/null 2>&1 &");
        var machineId = client.run(vm, "cat /etc/machine-id");

        for (int cycle = 0; cycle < 5; cycle++) {
            client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
            assertEquals("paused", client.state(vm));
            client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);

            assertClockIsRight(vm);
            long before = count(vm);
            client.run(vm, "sleep 0.5");
            assertTrue(count(vm) > before, "the counter stands still after cycle " + cycle);
            assertEquals(
                    hashes, client.run(vm, "sha256sum /dev/shm/ram /root/disk"), "cycle " + cycle);
            client.run(vm, "echo cycle %d >> /root/log".formatted(cycle));
        }
        assertEquals("5", client.run(vm, "grep -c cycle /root/log"));
        assertEquals(
                machineId, client.run(vm, "cat /etc/machine-id"), "a resume keeps the identity");
        client.delete("/v5/vms/" + vm).expect(204);
    }

    private void assertClockIsRight(String vm) {
        var before = Instant.now();
        // date of BusyBox has whole seconds only; the kernel's own clock is in the file's time
        // stamp.
        var there = client.run(vm, "touch /dev/shm/now; stat -c %y /dev/shm/now");
        var after = Instant.now();
        var time =
                java.time.LocalDateTime.parse(there.substring(0, 23).replace(' ', 'T'))
                        .toInstant(java.time.ZoneOffset.UTC);
        assertTrue(
                !time.isBefore(before.minus(Duration.ofMillis(500)))
                        && !time.isAfter(after.plus(Duration.ofMillis(500))),
                "the guest has %s, the host had %s to %s".formatted(time, before, after));
    }

    private long count(String vm) {
        return Long.parseLong(client.run(vm, "tail -n 1 /dev/shm/count").replaceAll("\\D", ""));
    }

    @Test
    void aStoppedVmBootsItsOwnDiskAgain() {
        var vm = client.createVm();
        client.run(vm, "echo kept > /root/kept; echo lost > /dev/shm/lost");

        client.post("/v5/vms/%s/stop".formatted(vm), "{}").expect(200);
        assertEquals("stopped", client.state(vm));
        client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);

        assertEquals("kept", client.run(vm, "cat /root/kept"));
        assertEquals("", client.run(vm, "cat /dev/shm/lost 2>/dev/null || true"));
        assertEquals(vm, client.run(vm, "hostname"));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void aCommandWakesAPausedVm() {
        var vm = client.createVm();
        client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);

        assertEquals("awake", client.run(vm, "echo awake"));

        assertEquals("running", client.state(vm));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void anRebootInTheGuestComesBack() {
        var vm = client.createVm();
        var boot =
                client.run(
                        vm, "cat /proc/sys/kernel/random/boot_id; echo here > /root/marker; sync");

        client.post("/v5/vms/%s/exec-await".formatted(vm), Client.exec("reboot -f"));

        Wait.until(
                Duration.ofSeconds(90),
                () -> isBackAfter(vm, boot),
                () -> "it did not come back:\n" + installation.logTail());
        assertEquals("here", client.run(vm, "cat /root/marker"));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    private boolean isBackAfter(String vm, String boot) {
        if (!client.state(vm).equals("running")) {
            return false;
        }
        var answer =
                client.post(
                        "/v5/vms/%s/exec-await".formatted(vm),
                        Client.exec("cat /proc/sys/kernel/random/boot_id"));
        return answer.status() == 200
                && !answer.body().requiredString("stdout").strip().equals(boot);
    }

    @Test
    void aVmGrowsWhileItRunsAndStaysGrownThroughPauseAndBoot() {
        var vm = client.createVm();
        client.run(vm, "echo here > /dev/shm/kept");

        var grown =
                client.post(
                                "/v5/vms/%s/resize".formatted(vm),
                                "{\"cpu\":2,\"memory\":300,\"storage\":1500}")
                        .expect(200);
        assertEquals(2, grown.requiredObject("resources").requiredInteger("cpu"));
        assertEquals(300, grown.requiredObject("resources").requiredInteger("memory"));
        assertEquals(1500, grown.requiredObject("resources").requiredInteger("storage"));
        assertGrown(vm);

        client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);
        client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
        assertGrown(vm);
        assertEquals("here", client.run(vm, "cat /dev/shm/kept"));

        client.post("/v5/vms/%s/stop".formatted(vm), "{}").expect(200);
        client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
        assertGrown(vm);
        client.delete("/v5/vms/" + vm).expect(204);
    }

    private void assertGrown(String vm) {
        assertEquals("2", client.run(vm, "nproc"));
        long mib =
                Long.parseLong(
                        client.run(vm, "awk '/MemTotal/{print int($2/1024)}' /proc/meminfo"));
        assertTrue(mib > 230, "only %d MiB of memory".formatted(mib));
        long disk = Long.parseLong(client.run(vm, "df -m / | awk 'END{print $2}'"));
        assertTrue(disk > 1350, "only %d MiB of disk".formatted(disk));
        client.run(
                vm,
                "head -c 150m /dev/zero > /dev/shm/much 2>/dev/null; ls -l /dev/shm/much; rm /dev/shm/much");
    }

    @Test
    void aPausedVmThatIsGrownHasMoreOnResume() {
        var vm = client.createVm();
        client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);

        client.post("/v5/vms/%s/resize".formatted(vm), "{\"cpu\":3,\"memory\":256}").expect(200);
        client.post("/v5/vms/%s/resize".formatted(vm), "{\"storage\":2000}")
                .expect(409, "CONFLICT");

        assertEquals("3", client.run(vm, "nproc"));
        client.delete("/v5/vms/" + vm).expect(204);
    }
}
