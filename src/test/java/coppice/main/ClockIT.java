package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The clock inside a VM is right in its very first command, however old the capture that it comes from, and time never goes back.
class ClockIT {
    private static final Duration OFF = Duration.ofMillis(500);

    /// A clock that is hours off is what a capture that is hours old has.
    private static final List<Integer> SECONDS_OFF = List.of(-6 * 3600, 30 * 3600);

    /// The kernel's clock, which `date` of BusyBox shows in whole seconds only, is in a file's time stamp.
    private static final String CLOCKS =
            "touch /dev/shm/now; stat -c %y /dev/shm/now; cat /proc/uptime; cat /dev/shm/back 2>/dev/null || true";

    /// Watches the time since boot and notes when it has gone back.
    private static final String WATCH =
            """
            (last=0
            while true; do
              read up rest < /proc/uptime; up=${up%.*}${up#*.}
              [ $up -ge $last ] || echo "back from $last to $up" >> /dev/shm/back
              last=$up; echo $up > /dev/shm/watched; sleep 0.1
            done) >/dev/null 2>&1 &
            """;

    private Installation installation;
    private Client client;

    @BeforeEach
    void start() {
        installation = Installation.start();
        client = installation.client("main");
    }

    @AfterEach
    void end() {
        if (installation != null) {
            installation.close();
        }
    }

    @Test
    void theFirstCommandAfterAResumeSeesTheRightTime() {
        var vm = watched();
        for (int off : SECONDS_OFF) {
            double before = setOff(vm, off);
            client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);
            client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
            requireRight(vm, before);

            before = setOff(vm, off);
            client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);
            requireRight(vm, before); // woken by the command itself
        }
    }

    @Test
    void theFirstCommandOfACopySeesTheRightTime() {
        var vm = watched();
        for (int off : SECONDS_OFF) {
            double before = setOff(vm, off);
            var snapshot =
                    client.post("/v5/vms/%s/snapshot".formatted(vm), "{}")
                            .expect(200)
                            .requiredString("snapshotId");
            var made =
                    client.createVm(
                            "{\"snapshotId\":\"%s\",\"firewall\":{\"rules\":[]}}"
                                    .formatted(snapshot));
            requireRight(made, before);

            for (var copy :
                    client.post("/v5/vms/%s/fork".formatted(vm), "{\"count\":2}")
                            .expect(200)
                            .requiredObjects("vms")) {
                requireRight(copy.requiredString("id"), before);
            }
            setOff(vm, off);
            client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);
            var ofPaused =
                    client.post("/v5/vms/%s/fork".formatted(vm), "{}")
                            .expect(200)
                            .requiredObjects("vms")
                            .getFirst()
                            .requiredString("id");
            requireRight(ofPaused, before);
            requireRight(vm, before);
        }
    }

    @Test
    void theFirstCommandAfterABootSeesTheRightTime() {
        var vm = client.createVm();
        setOff(vm, SECONDS_OFF.getFirst());
        client.post("/v5/vms/%s/stop".formatted(vm), "{}").expect(200);
        client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
        requireRight(vm, 0);
    }

    private String watched() {
        var vm = client.createVm();
        client.run(vm, WATCH);
        return vm;
    }

    /// Sets the guest's clock off, and returns how long it says it is up.
    private double setOff(String vm, int seconds) {
        var up =
                client.run(
                        vm,
                        "date -s @%d >/dev/null; cut -d' ' -f1 /proc/uptime"
                                .formatted(Instant.now().getEpochSecond() + seconds));
        var there = time(client.run(vm, CLOCKS));
        long off = Duration.between(Instant.now(), there).toSeconds();
        assertEquals(seconds, off, 60, "the clock was not set off");
        return Double.parseDouble(up);
    }

    private void requireRight(String vm, double upBefore) {
        var before = Instant.now().minus(OFF);
        var text = client.run(vm, CLOCKS);
        var after = Instant.now().plus(OFF);
        var there = time(text);
        assertTrue(
                !there.isBefore(before) && !there.isAfter(after),
                () -> "the guest has %s, the host %s to %s".formatted(there, before, after));
        var lines = text.lines().toList();
        double up = Double.parseDouble(lines.get(1).split(" ")[0]);
        assertTrue(up >= upBefore, () -> "up for %s s, and %s s before".formatted(up, upBefore));
        assertEquals(2, lines.size(), text);
    }

    private static Instant time(String text) {
        return LocalDateTime.parse(text.substring(0, 23).replace(' ', 'T'))
                .toInstant(ZoneOffset.UTC);
    }
}
