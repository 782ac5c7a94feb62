package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.VmRights;
import coppice.json.Json;
import coppice.network.Matcher;
import coppice.network.NewRule;
import coppice.vm.GivenVms;
import coppice.vm.NewFork;
import coppice.vm.Persistence;
import coppice.vm.Timers;
import coppice.vm.Vm;
import coppice.vm.VmId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LegacyVmRoutesTest {
    private static final Vm.Settings COPIED =
            new Vm.Settings(
                    Optional.empty(),
                    Optional.of("name"),
                    new Timers(
                            Optional.of(Duration.ofSeconds(1)),
                            Optional.empty(),
                            Optional.of(Duration.ofSeconds(2)),
                            Optional.of(Duration.ofSeconds(3)),
                            Optional.of(Duration.ofSeconds(4))),
                    true,
                    Map.of("env", "prod"));
    private static final Vm.Legacy SOURCE =
            new Vm.Legacy(List.of(), "/srv", new Persistence.Persistent());

    @TempDir private Path directory;
    private GivenVms given;
    private ApiCaller ada;
    private ApiCaller bob;

    @BeforeEach
    void open() {
        given = new GivenVms(directory);
        ada =
                new ApiCaller(
                        new LegacyVmRoutes(given.vms(), "svc", VmRights.NONE).routes(),
                        given.ada().uuid());
        bob = ada.as(given.bob().uuid());
    }

    @AfterEach
    void close() {
        given.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"snapshot", "suspend", "fork"})
    void anAbsentVmIsToldByTheNameItWasCalled(String verb) {
        var id = given.stopped().id().text();
        var never = VmId.random().text();
        for (var name : List.of(never, never.substring(3), "nothing")) {
            var refused =
                    ada.post("/v1/vms/%s/%s".formatted(name, verb), "{\"count\":0}")
                            .expect(404, "VM_NOT_FOUND");
            assertEquals(name, refused.requiredString("vmId"));
            assertEquals("VM_NOT_FOUND", refused.requiredString("error"));
        }
        var hidden = bob.post("/v1/vms/%s/%s".formatted(id, verb), "{}");
        hidden.expect(404, "VM_NOT_FOUND");
        assertEquals(
                bob.post("/v1/vms/%s/%s".formatted(never, verb), "{}").text(),
                hidden.text().replace(id, never));
    }

    @Test
    void aVmIsNamedByItsIdByTheEndOfItsIdAndByItsSlug() {
        var id = given.stopped().id();
        for (var name : List.of(id.text(), id.text().substring(3), "stopped")) {
            assertEquals(id, LegacyVms.named(given.vms(), given.ada(), name).id());
            ada.post("/v1/vms/%s/suspend".formatted(name), "{}").expect(400, "VM_NOT_RUNNING");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"count\":0",
                "\"count\":11",
                "\"idleTimeoutSeconds\":0",
                "\"idleTimeoutSeconds\":-2",
                "\"ports\":[{\"port\":80,\"targetPort\":80}]",
                "\"ports\":[{\"port\":443}]",
                "\"ports\":[{\"targetPort\":80}]",
                "\"ports\":[{\"port\":443,\"targetPort\":0}]",
                "\"ports\":[{\"port\":443,\"targetPort\":65536}]",
                "\"ports\":[{\"port\":443,\"targetPort\":1},{\"port\":443,\"targetPort\":2}]",
                "\"ports\":{}",
                "\"waitForReadySignal\":1",
                "\"readySignalTimeoutSeconds\":0",
                "\"readySignalTimeoutSeconds\":3601",
                "\"workdir\":\"srv\"",
                "\"workdir\":\"\"",
                "\"workdir\":\"/a\\u0000b\"",
                "\"persistence\":{}",
                "\"persistence\":{\"type\":\"eternal\"}",
                "\"persistence\":{\"type\":\"sticky\",\"priority\":-1}",
                "\"persistence\":{\"type\":\"sticky\",\"priority\":11}",
                "\"persistence\":{\"type\":\"ephemeral\",\"deleteEvent\":\"OnKill\"}"
            })
    void aForkRefusesWrongFieldsByName(String field) {
        var refused =
                ada.post("/v1/vms/stopped/fork", "{%s}".formatted(field))
                        .expect(400, "BAD_REQUEST");
        var name = field.substring(1, field.indexOf('"', 1));
        assertTrue(
                refused.requiredString("message").startsWith(name),
                refused.requiredString("message"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"name\":\"a\\nb\"}",
                "{\"persistence\":\"ephemeral\"}",
                "{\"persistence\":{\"type\":\"ephemeral\"}}",
                "{\"persistence\":{}}",
                "{\"persistence\":{\"type\":\"sticky\",\"priority\":11}}"
            })
    void aSnapshotRefusesWrongFieldsInItsOwnWord(String body) {
        ada.post("/v1/vms/stopped/snapshot", body).expect(400, "SNAPSHOT_VM_BAD_REQUEST");
        ada.post("/v1/vms/stopped/snapshot", "{\"name\":1}").expect(400, "BAD_REQUEST");
    }

    @Test
    void aForkOfNothingSaidTakesOverWhatItCanAndPublishesThePortOfOldForks() {
        var fork = fork("{}");
        assertEquals(1, fork.count());
        assertEquals(COPIED, fork.settings().apply(COPIED));
        assertEquals(
                new Vm.Legacy(
                        List.of(new Vm.Legacy.Port(443, 3000)), "/srv", new Persistence.Sticky(5)),
                fork.legacy().apply(SOURCE));
    }

    @Test
    void aForkTakesWhatIsSaid() {
        var fork =
                fork(
                        """
                        {"count":10,"idleTimeoutSeconds":-1,"ports":[{"port":8081,"targetPort":65535}],"workdir":"/here",
                        "waitForReadySignal":false,"readySignalTimeoutSeconds":3600,"persistence":{"type":"persistent"}}
                        """);
        assertEquals(10, fork.count());
        assertEquals(Optional.empty(), fork.settings().apply(COPIED).timers().idle());
        assertEquals(COPIED.timers().ttl(), fork.settings().apply(COPIED).timers().ttl());
        assertEquals(
                new Vm.Legacy(
                        List.of(new Vm.Legacy.Port(8081, 65535)),
                        "/here",
                        new Persistence.Persistent()),
                fork.legacy().apply(SOURCE));
        assertEquals(List.of(), fork("{\"ports\":[]}").legacy().apply(SOURCE).ports());
        assertEquals(
                Optional.of(Duration.ofSeconds(60)),
                fork("{\"idleTimeoutSeconds\":60}").settings().apply(COPIED).timers().idle());
    }

    @ParameterizedTest
    @CsvSource({"null, REST", "'\"OnSuspend\"', REST", "'\"OnStop\"', STOP"})
    void anEphemeralForkGoesAtOnceWhenItRests(String event, Persistence.Event expected) {
        var fork =
                fork(
                        "{\"persistence\":{\"type\":\"ephemeral\",\"deleteEvent\":%s}}"
                                .formatted(event));
        assertEquals(
                new Persistence.Ephemeral(expected), fork.legacy().apply(SOURCE).persistence());
        assertEquals(
                Optional.of(Duration.ZERO), fork.settings().apply(COPIED).timers().autoDelete());
    }

    @Test
    void aForkReachesTheInternetAndNothingElse() {
        assertEquals(
                List.of(new NewRule(Matcher.BARE, Matcher.INTERNET, Optional.empty())),
                fork("{}").rules());
    }

    @Test
    void aLayerIsNamedAfterItsCapture() {
        var capture = UUID.randomUUID();
        assertTrue(LegacyVms.layer(capture).matches("sl-[a-z0-9]{20}"));
        assertEquals(LegacyVms.layer(capture), LegacyVms.layer(capture));
        assertNotEquals(LegacyVms.layer(capture), LegacyVms.layer(UUID.randomUUID()));
        assertEquals("sl-" + "0".repeat(19) + "1", LegacyVms.layer(new UUID(0, 1)));
    }

    private static NewFork fork(String body) {
        return LegacyVmRoutes.fork(Json.parse(body.getBytes(StandardCharsets.UTF_8)));
    }
}
