package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The default image: a whole Debian with systemd.
class DebianIT {

    @Test
    void aDebianVmRunsPausesGoesOnStopsAndBoots() {
        try (var installation =
                Installation.start(
                        Map.of(
                                "COPPICE_IMAGES",
                                "busybox,debian",
                                "COPPICE_IMAGE_DEFAULT",
                                "debian"))) {
            var client = installation.client("main");
            var vm = client.createVm("{\"slug\":\"deb\",\"firewall\":{\"rules\":[]}}");

            var facts =
                    client.run(
                            vm,
                            "uname -s; systemctl is-system-running; nproc; free -m | awk '/Mem/{print ($2 > 7000)}'");
            assertEquals("Linux\nrunning\n4\n1", facts);
            assertEquals(
                    "svc/debian",
                    client.get("/v5/vms/deb").expect(200).requiredString("sourceSnapshotSlug"));
            assertEquals(vm, client.run(vm, "hostname; grep -q " + vm + " /etc/hosts"));
            hashesHoldThroughPauses(client, vm);

            client.post("/v5/vms/deb/stop", "{}").expect(200);
            assertEquals("stopped", client.state("deb"));
            client.post("/v5/vms/deb/start", "{}").expect(200);
            assertEquals("running", client.run(vm, "systemctl is-system-running --wait"));
            assertEquals("0", client.run(vm, "sha256sum -c /root/sums >/dev/null; echo $?"));
            panics(client, vm);
            client.delete("/v5/vms/deb").expect(204);

            var alias =
                    client.createVm("{\"snapshotId\":\"svc/ubuntu\",\"firewall\":{\"rules\":[]}}");
            assertEquals(
                    "svc/debian",
                    client.get("/v5/vms/" + alias)
                            .expect(200)
                            .requiredString("sourceSnapshotSlug"));
            client.delete("/v5/vms/" + alias).expect(204);
        }
    }

    /// Without automatic restart, so that it can be seen: a reboot would come back.
    private static void panics(Client client, String vm) {
        client.patch("/v5/vms/" + vm, "{\"automaticRestart\":false}").expect(200);
        client.post(
                "/v5/vms/%s/exec-await".formatted(vm), Client.exec("echo c > /proc/sysrq-trigger"));
        Wait.until(
                Duration.ofSeconds(10),
                () -> client.state(vm).equals("stopped"),
                () -> "it is " + client.state(vm));
    }

    private static void hashesHoldThroughPauses(Client client, String vm) {
        client.run(
                vm,
                "head -c 50M /dev/urandom > /dev/shm/ram; head -c 50M /dev/urandom > /root/disk; sha256sum /root/disk > /root/sums");
        client.run(
                vm,
                "nohup bash -c 'secret=kept; while sleep 0.1; do echo $secret $((++i)) >> /dev/shm/count; done' >/dev/null 2>&1 &");
        var before = client.run(vm, "sha256sum /dev/shm/ram /root/disk; cat /etc/machine-id");
        for (int cycle = 0; cycle < 2; cycle++) {
            client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);
            client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
            assertEquals(
                    before,
                    client.run(vm, "sha256sum /dev/shm/ram /root/disk; cat /etc/machine-id"),
                    "cycle " + cycle);
            var first = client.run(vm, "tail -n 1 /dev/shm/count; sleep 1");
            var second = client.run(vm, "tail -n 1 /dev/shm/count");
            assertTrue(
                    first.startsWith("kept ") && !first.equals(second), first + " then " + second);
        }
    }
}
