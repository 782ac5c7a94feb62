package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// What VMs and snapshots are said to take, by `coppice usage` and by the metrics, with real VMs of 128 MiB.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UsageIT {
    private static final String TOKEN = "a-token-of-this-test";
    private static final String RANDOM = "head -c %dm /dev/urandom > %s";

    @AutoClose private Installation installation;
    private Client client;
    private Client scraper;

    @BeforeAll
    void start() {
        installation = Installation.start(Map.of("COPPICE_METRICS_TOKEN", TOKEN));
        client = installation.client("main");
        scraper = installation.clientWithKey(TOKEN);
    }

    @Test
    void aCreatedVmSharesNearlyEverythingAndOwnsWhatItWrites() {
        var vm = client.createVm();
        var fresh = Used.of(installation, vm);
        assertBetween(0.5, 30, fresh.memoryOwn(), "own memory of a fresh VM: " + fresh);
        assertBetween(3, 128, fresh.memoryShared(), "shared memory of a fresh VM: " + fresh);
        assertBetween(5, 200, fresh.qemu(), "QEMU of a fresh VM: " + fresh);
        assertTrue(fresh.diskShared() > 4 * fresh.diskOwn(), "disk of a fresh VM: " + fresh);

        client.run(vm, RANDOM.formatted(40, "/dev/shm/memory"));
        var larger = Used.of(installation, vm);
        assertBetween(39, 60, larger.memoryOwn() - fresh.memoryOwn(), fresh + " to " + larger);
        assertBetween(0, 5, larger.diskOwn() - fresh.diskOwn(), fresh + " to " + larger);

        client.run(vm, RANDOM.formatted(50, "/root/disk") + "; sync");
        var grown = Used.of(installation, vm);
        assertBetween(49, 60, grown.diskOwn() - larger.diskOwn(), larger + " to " + grown);
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void forksShareWhatTheirSourceHadWrittenAndAPausedVmHasNoMemory() {
        var source = client.createVm();
        client.run(source, RANDOM.formatted(30, "/dev/shm/memory"));
        client.run(source, RANDOM.formatted(30, "/root/disk") + "; sync");
        var alone = Used.of(installation, source);

        var copies =
                client.post("/v5/vms/%s/fork".formatted(source), "{\"count\":2}")
                        .expect(200)
                        .requiredObjects("vms");
        var copy = copies.getFirst().requiredString("id");
        var twin = copies.getLast().requiredString("id");

        var forked = Used.of(installation, copy);
        assertBetween(0.5, 25, forked.memoryOwn(), "own memory of a fork: " + forked);
        assertBetween(0, 15, forked.diskOwn(), "own disk of a fork: " + forked);
        assertTrue(forked.diskShared() > 60, "a fork has the memory and the disk: " + forked);
        var shared = Used.of(installation, source);
        assertTrue(alone.diskOwn() - shared.diskOwn() > 25, alone + " to " + shared);

        client.post("/v5/vms/%s/pause".formatted(copy), "{}").expect(200);
        var paused = Used.of(installation, copy);
        assertEquals("paused", paused.state());
        assertEquals(0, paused.memoryOwn() + paused.memoryShared() + paused.qemu());
        assertBetween(0.5, forked.memoryOwn() + 15, paused.diskOwn(), forked + " to " + paused);

        client.delete("/v5/vms/" + copy).expect(204);
        var last = Used.await(installation, twin, used -> used.diskOwn() > forked.diskOwn() + 25);
        assertTrue(last.diskShared() > 30, "the disk is still shared with the source: " + last);
        client.delete("/v5/vms/" + twin).expect(204);
        client.delete("/v5/vms/" + source).expect(204);
    }

    @Test
    void aSnapshotSharesWithItsVmAndOwnsItWhenTheVmIsGone() {
        var vm = client.createVm();
        client.run(vm, RANDOM.formatted(30, "/root/disk") + "; sync");
        var id =
                client.post("/v5/vms/%s/snapshot".formatted(vm), "{}")
                        .expect(200)
                        .requiredString("snapshotId");
        var shared = disk(id, "shared");
        assertTrue(shared > 30, "shared with its VM: " + shared);

        client.delete("/v5/vms/" + vm).expect(204);
        var own = disk(id, "own");
        assertTrue(own > 30, "own when its VM is gone: " + own);
        client.delete("/v5/snapshots/" + id).expect(204);
    }

    private double disk(String snapshot, String part) {
        var found = Used.named(Used.all(installation), "snapshots", snapshot);
        return Used.mib(found.requiredObject("disk"), part);
    }

    @Test
    void theTableNamesWhatThereIsWithAndWithoutAServer() {
        var vm = client.createVm("{\"slug\":\"shown\",\"firewall\":{\"rules\":[]}}");
        var other = installation.client("other").createVm();

        var table = installation.program("usage");
        assertTrue(table.startsWith("MiB; own: "), table);
        assertTrue(table.contains("memory own"), table);
        assertTrue(table.matches("(?s).*\nmain +" + vm + " +shown +running +\\d+\\.\\d .*"), table);
        assertTrue(table.contains(other) && table.contains("busybox"), table);
        assertTrue(table.matches("(?s).*\nother +1 +0 +.*"), table);
        assertTrue(
                table.matches("(?s).*data volume: [\\d.]+ MiB, [\\d.]+ free, .*256\\.0.*"), table);

        installation.stopServer();
        var mine = installation.program("usage", "--account", "main");
        assertTrue(mine.matches("(?s).*\nmain +" + vm + " +shown +running +\\d+\\.\\d .*"), mine);
        assertFalse(mine.contains(other) || mine.contains("busybox"), mine);
        installation.startServer();
        var nobody = installation.tryProgram("usage", "--account", "nobody");
        assertEquals(4, nobody.status(), nobody.output());

        client.delete("/v5/vms/shown").expect(204);
        installation.client("other").delete("/v5/vms/" + other).expect(204);
    }

    @Test
    void theSameNumbersAreMetricsForWhoHasTheToken() {
        var vm = client.createVm();
        var used = Used.of(installation, vm);
        var answer = scraper.get("/metrics");
        answer.expect(200);
        var text = new String(answer.response().body(), StandardCharsets.UTF_8);

        var labels = "{account=\"main\",vm=\"%s\"} ".formatted(vm);
        assertEquals(used.diskOwn(), metric(text, "coppice_vm_disk_own_bytes" + labels), 2);
        assertEquals(used.memoryOwn(), metric(text, "coppice_vm_memory_own_bytes" + labels), 5);
        assertEquals(used.qemu(), metric(text, "coppice_vm_memory_qemu_bytes" + labels), 30);
        assertTrue(text.contains("\ncoppice_vms{state=\"paused\"} "), text);
        assertTrue(metric(text, "coppice_volume_size_bytes ") > 8000, text);
        assertTrue(metric(text, "coppice_volume_free_bytes ") > 1000, text);
        assertEquals(256, metric(text, "coppice_volume_reserve_bytes "));
        assertTrue(text.contains("\ncoppice_usage_complete 1\n"), text);
        assertTrue(
                answer.response()
                        .headers()
                        .firstValue("Content-Type")
                        .orElse("")
                        .startsWith("text/plain; version=0.0.4"));

        client.get("/metrics").expect(401, "INVALID_API_KEY");
        scraper.get("/v5/vms").expect(401, "INVALID_API_KEY");
        assertFalse(
                client.get("/openapi.json").expect(200).requiredObject("paths").has("/metrics"));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void withoutATokenThereAreNoMetrics() {
        try (var silent = Installation.start()) {
            silent.clientWithKey("").get("/metrics").expect(404, "NOT_FOUND");
            silent.client("main").get("/metrics").expect(404, "NOT_FOUND");
        }
    }

    /// In MiB.
    private static double metric(String text, String name) {
        return text.lines()
                .filter(line -> line.startsWith(name))
                .map(line -> Double.parseDouble(line.substring(name.length())) / (1 << 20))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + name + " in " + text));
    }

    private static void assertBetween(double least, double most, double found, String message) {
        assertTrue(
                found >= least && found <= most,
                () -> "%.1f is not in %.1f to %.1f; %s".formatted(found, least, most, message));
    }
}
