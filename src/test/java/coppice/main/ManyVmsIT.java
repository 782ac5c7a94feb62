package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.process.ControlGroup;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Many requests at once: each ends well or is refused clearly, and nothing is left behind.
class ManyVmsIT {
    private Installation installation;

    @AfterEach
    void end() {
        if (installation != null) {
            installation.close();
        }
    }

    @Test
    void twentyCreatesAtOnceAreTwentyVms() throws Exception {
        installation = Installation.start();
        var client = installation.client("main");

        var answers =
                AtOnce.call(
                        20,
                        i ->
                                client.post(
                                        "/v5/vms",
                                        "{\"firewall\":{\"rules\":[]},\"slug\":\"vm%d\"}"
                                                .formatted(i)));

        var ids = new HashSet<String>();
        answers.forEach(answer -> ids.add(answer.expect(200).requiredString("id")));
        assertEquals(20, ids.size());
        var hosts =
                AtOnce.call(
                        20,
                        i ->
                                client.post(
                                        "/v5/vms/vm%d/exec-await".formatted(i),
                                        Client.exec("hostname")));
        hosts.forEach(
                answer ->
                        assertTrue(
                                ids.remove(answer.expect(200).requiredString("stdout").strip())));
        var counts = client.get("/v5/vms?limit=0").expect(200);
        assertEquals(20, counts.requiredInteger("totalCount"));
        assertEquals(20, counts.requiredInteger("runningCount"));

        AtOnce.call(20, i -> client.delete("/v5/vms/vm%d".formatted(i)))
                .forEach(answer -> answer.expect(204));
        assertNothingLeft(client);
    }

    @Test
    void createsBeyondTheCapacityAreRefusedClearlyAndLeaveNothing() throws Exception {
        long memory = hostMemoryMib();
        var three = Double.toString((3 * 128 + 64) / (double) memory);
        installation = Installation.start(Map.of("COPPICE_NODE_MEMORY_OVERCOMMIT", three));
        var client = installation.client("main");

        var answers = AtOnce.call(8, _ -> client.post("/v5/vms", "{\"firewall\":{\"rules\":[]}}"));

        var made = answers.stream().filter(a -> a.status() == 200).toList();
        assertEquals(3, made.size());
        answers.stream()
                .filter(a -> a.status() != 200)
                .forEach(
                        a -> {
                            a.expect(409, "CONFLICT");
                            assertTrue(a.message().contains("no capacity"), a.message());
                        });
        assertEquals(3, client.get("/v5/vms").expect(200).requiredInteger("totalCount"));
        made.forEach(a -> client.delete("/v5/vms/" + a.body().requiredString("id")).expect(204));
        assertNothingLeft(client);
    }

    @Test
    void deleteStartPauseAndKillOfOneVmAtOnceConverge() throws Exception {
        installation = Installation.start();
        var client = installation.client("main");
        var vm = client.createVm();
        var verbs = List.of("start", "pause", "start", "kill", "pause", "stop", "start");

        var answers =
                AtOnce.call(
                        verbs.size(),
                        i -> client.post("/v5/vms/%s/%s".formatted(vm, verbs.get(i)), "{}"));

        answers.forEach(
                a ->
                        assertTrue(
                                List.of(200, 409, 503).contains(a.status()),
                                () -> a.status() + " " + a.message()));
        var state = client.state(vm);
        assertTrue(List.of("running", "paused", "stopped").contains(state), state);
        assertEquals("usable", client.run(vm, "echo usable"));

        var last =
                AtOnce.call(
                        4,
                        i ->
                                i == 1
                                        ? client.delete("/v5/vms/" + vm)
                                        : client.post("/v5/vms/%s/pause".formatted(vm), "{}"));
        assertEquals(204, last.get(1).status());
        assertNothingLeft(client);
    }

    @Test
    void fiftyCommandsWakeAPausedVmOnceAndAllSucceed() throws Exception {
        installation = Installation.start();
        var client = installation.client("main");
        var vm = client.createVm();
        client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);

        var answers =
                AtOnce.call(
                        50,
                        i ->
                                client.post(
                                        "/v5/vms/%s/exec-await".formatted(vm),
                                        Client.exec("echo answer " + i)));

        for (int i = 0; i < answers.size(); i++) {
            assertEquals(
                    "answer %d\n".formatted(i),
                    answers.get(i).expect(200).requiredString("stdout"));
        }
        client.delete("/v5/vms/" + vm).expect(204);
    }

    private void assertNothingLeft(Client client) {
        assertEquals(0, client.get("/v5/vms").expect(200).requiredInteger("totalCount"));
        assertEquals(List.of(), ControlGroup.names(DataLock.instance(installation.data())));
        var doctor = installation.tryProgram("doctor").output();
        assertTrue(doctor.lines().anyMatch(line -> line.matches("orphans +ok +none")), doctor);
    }

    private static long hostMemoryMib() throws java.io.IOException {
        try (var lines = java.nio.file.Files.lines(java.nio.file.Path.of("/proc/meminfo"))) {
            return Long.parseLong(lines.findFirst().orElseThrow().replaceAll("\\D", "")) / 1024;
        }
    }
}
