package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.process.ControlGroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Machines that are kept ready, with real VMs.
class PoolIT {
    private static final List<String> OF_ONE_VM =
            List.of(
                    "cat /proc/sys/kernel/random/uuid",
                    "head -c 32 /dev/urandom | sha256sum",
                    "cat /etc/machine-id",
                    "hostname");

    private Installation installation;
    private Client client;

    private void start(Map<String, String> settings) {
        installation = Installation.start(settings);
        client = installation.client("main");
    }

    @AfterEach
    void end() {
        if (installation != null) {
            installation.close();
        }
    }

    @Test
    void aVmThatWasReadyIsItselfAndKnowsTheTime() {
        start(Map.of("COPPICE_POOL_SIZE", "1"));
        var said = new HashSet<String>();
        for (int i = 0; i < 4; i++) {
            var warm = i == 0 ? Set.<String>of() : awaitWarm(1);
            var vm = client.createVm();
            assertTrue(i == 0 || warm.contains(vm), "%s was not ready".formatted(vm));
            var before = Instant.now().getEpochSecond();
            long there = Long.parseLong(client.run(vm, "date +%s"));
            assertTrue(there >= before && there <= Instant.now().getEpochSecond());
            for (var command : OF_ONE_VM) {
                assertTrue(said.add(client.run(vm, command)), command + " says the same again");
            }
            assertEquals(vm, client.run(vm, "hostname"));
            client.delete("/v5/vms/" + vm).expect(204);
        }
    }

    @Test
    void aVmThatWasReadyLivesAsAnyOtherAndOutlivesTheServer() {
        start(Map.of("COPPICE_POOL_SIZE", "1"));
        client.delete("/v5/vms/" + client.createVm()).expect(204);
        awaitWarm(1);
        var vm = client.createVm("{\"slug\":\"mine\",\"firewall\":{\"rules\":[]}}");
        client.run(vm, "echo kept > /dev/shm/kept");

        installation.killServer();
        installation.startServer();
        assertEquals("kept", client.run("mine", "cat /dev/shm/kept"));
        client.post("/v5/vms/mine/pause", "").expect(200);
        assertEquals("kept", client.run("mine", "cat /dev/shm/kept"));
        client.post("/v5/vms/mine/kill", "").expect(200);
        assertEquals("stopped", client.state("mine"));
    }

    @Test
    void aVmThatWasReadyGoesIntoItsNetwork() {
        start(Map.of("COPPICE_POOL_SIZE", "1"));
        client.post(
                        "/v5/vpcs",
                        """
                        {"slug":"net","cidr":"10.30.0.0/24","cidrV6":"fd30::/64",
                         "firewall":{"rules":[{"action":"allow","source":{},"destination":{}}]}}
                        """)
                .expect(200);
        var member = "{\"firewall\":{\"rules\":[]},\"vpcs\":[{\"vpcId\":\"net\"}]}";
        var first = client.createVm(member);
        for (int i = 0; i < 2; i++) {
            var warm = awaitWarm(i + 2);
            var vm = client.createVm(member);
            assertTrue(warm.contains(vm), "%s was not ready".formatted(vm));
            assertIsMember(vm, first, i + 2);
        }
        installation.killServer();
        installation.startServer();
        var last = client.get("/v5/vms").expect(200).requiredObjects("vms").getFirst();
        var vm = last.requiredString("id");
        assertIsMember(vm, first, 3);
        client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
        client.post("/v5/vms/%s/start".formatted(vm), "").expect(200);
        assertIsMember(vm, first, 3);
    }

    /// It has the third, fourth ... address, reaches the first one by both families, and is nowhere else.
    private void assertIsMember(String vm, String first, int number) {
        assertEquals(
                "10.30.0.%d/24".formatted(number),
                client.run(vm, "ip -4 addr show eth0 | sed -n 's/.*inet \\([^ ]*\\).*/\\1/p'"));
        client.run(vm, "ping -c 1 -W 2 10.30.0.1 && ping -c 1 -W 2 fd30::2");
        client.run(first, "ping -c 1 -W 2 10.30.0.%d".formatted(number));
        assertTrue(
                installation.networks().stream().noneMatch(name -> name.contains(vm)),
                () -> installation.networks().toString());
    }

    @Test
    void whatIsReadyBelongsToTheServerAndGoesWithIt() {
        start(Map.of("COPPICE_POOL_SIZE", "1"));
        client.delete("/v5/vms/" + client.createVm()).expect(204);
        var warm = awaitWarm(1);
        var doctor = installation.tryProgram("doctor").output();
        assertTrue(doctor.matches("(?s).*orphans +ok +none.*"), doctor);
        assertEquals(0, client.get("/v5/vms").expect(200).requiredInteger("totalCount"));

        installation.killServer();
        var orphans = installation.tryProgram("doctor").output();
        assertTrue(orphans.contains(warm.iterator().next()), orphans);
        installation.startServer();
        assertEquals(Set.of(), groups());

        client.delete("/v5/vms/" + client.createVm()).expect(204);
        awaitWarm(1);
        installation.stopServer();
        assertEquals(Set.of(), groups());
        installation.startServer();
    }

    /// This host may promise memory for two VMs. One runs, one is ready; a second one of another snapshot needs the place.
    @Test
    void whatIsReadyIsGivenUpWhenItsMemoryIsNeeded() {
        var overcommit = String.valueOf(300.0 / hostMib());
        start(Map.of("COPPICE_POOL_SIZE", "1", "COPPICE_NODE_MEMORY_OVERCOMMIT", overcommit));
        var first = client.createVm();
        awaitWarm(2);
        var snapshot =
                client.post("/v5/vms/%s/snapshot".formatted(first), "")
                        .expect(200)
                        .requiredString("snapshotId");

        var second =
                client.createVm(
                        "{\"snapshotId\":\"%s\",\"firewall\":{\"rules\":[]}}".formatted(snapshot));

        assertEquals(Set.of(first, second), groups());
        assertNotEquals(client.run(first, "hostname"), client.run(second, "hostname"));
    }

    @Test
    void whatIsReadyOfASnapshotGoesWithIt() {
        start(Map.of("COPPICE_POOL_SIZE", "1"));
        var source = client.createVm();
        var snapshot =
                client.post("/v5/vms/%s/snapshot".formatted(source), "")
                        .expect(200)
                        .requiredString("snapshotId");
        var from = "{\"snapshotId\":\"%s\",\"firewall\":{\"rules\":[]}}".formatted(snapshot);
        client.delete("/v5/vms/" + client.createVm(from)).expect(204);
        client.delete("/v5/vms/" + client.createVm(from)).expect(204);
        client.delete("/v5/vms/" + source).expect(204);
        awaitWarm(1);

        client.delete("/v5/snapshots/" + snapshot).expect(204);
        client.createVmFails(from, 404);
    }

    /// Waits until so many machines are there and those that are no VMs are ready.
    ///
    /// @return all of them
    private Set<String> awaitWarm(int machines) {
        Wait.until(
                Duration.ofSeconds(60),
                () -> groups().size() == machines && areReady(groups()),
                () -> groups() + " is not ready:\n" + installation.logTail());
        return groups();
    }

    private boolean areReady(Set<String> machines) {
        var log = read(installation.data().resolve("server.log"));
        return machines.stream()
                .filter(machine -> client.get("/v5/vms/" + machine).status() == 404)
                .allMatch(machine -> log.contains(machine + " is ready"));
    }

    private Set<String> groups() {
        return new HashSet<>(ControlGroup.names(DataLock.instance(installation.data())));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long hostMib() {
        return read(Path.of("/proc/meminfo"))
                        .lines()
                        .filter(line -> line.startsWith("MemTotal"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                        .sum()
                >> 10;
    }
}
