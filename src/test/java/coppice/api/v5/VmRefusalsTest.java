package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.base.Deadline;
import coppice.base.Size;
import coppice.http.RequestBody;
import coppice.vm.GivenVms;
import coppice.vm.GuestFileAccess;
import coppice.vm.Snapshot;
import coppice.vm.Terminals;
import coppice.vm.VmLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a VM that rests is not woken for, and what else is refused without a machine: rows of the error tables of contract/vms.md,
/// vm-filesystem.md and vm-pty.md.
class VmRefusalsTest {
    private static final String VM = "/v5/vms/stopped/";

    /// All that wakes a VM. WEBSOCKET is a GET that asks for one.
    private static final List<String> WAKING =
            List.of(
                    "POST start {}",
                    "POST exec-await {\"command\":\"true\"}",
                    "GET fs/read?path=/x",
                    "PUT fs/write?path=/x",
                    "GET fs/dir?path=/x",
                    "POST fs/mkdir {\"path\":\"/x\"}",
                    "DELETE fs/remove?path=/x",
                    "GET fs/exists?path=/x",
                    "GET fs/stat?path=/x",
                    "POST fs/uploads/UPLOAD/commit",
                    "WEBSOCKET pty",
                    "WEBSOCKET pty/sessions/1",
                    "DELETE pty/sessions/1");

    @TempDir private Path directory;
    private GivenVms given;
    private ApiCaller ada;
    private Instant time = Instant.parse("2026-03-01T09:30:00Z");

    private void open(VmLimits limits) {
        given = new GivenVms(directory, limits, () -> time);
        var routes =
                Stream.of(
                                new VmRoutes(given.vms()).routes(),
                                new FileRoutes(new GuestFileAccess(given.vms(), limits.start()))
                                        .routes(),
                                new UploadRoutes(given.uploads(() -> time)).routes(),
                                new TerminalRoutes(new Terminals(given.vms())).routes())
                        .flatMap(List::stream)
                        .toList();
        ada = new ApiCaller(routes, given.ada().uuid());
    }

    @AfterEach
    void close() {
        given.close();
    }

    private String upload(long size) {
        return ada.post(VM + "fs/uploads", "{\"path\":\"/x\",\"size\":%d}".formatted(size))
                .expect(200)
                .requiredString("uploadId");
    }

    private ApiCaller.Answer call(String call) {
        var parts = (call + " ").split(" ", 3);
        return parts[0].equals("WEBSOCKET")
                ? ada.upgrade(VM + parts[1])
                : ada.send(parts[0], VM + parts[1], parts[2].strip());
    }

    private void assertNothingWakes(int status, String code, String words) {
        var upload = upload(0);
        for (var call : WAKING) {
            var answer = call(call.replace("UPLOAD", upload));
            assertEquals(status, answer.status(), () -> call + ": " + answer.text());
            assertTrue(
                    answer.expect(status, code).requiredString("message").contains(words),
                    () -> call + ": " + answer.text());
        }
        ada.post(VM + "fs/uploads/%s/commit".formatted(upload), "").expect(status, code);
    }

    @Test
    void aVmThatThereIsNoRoomForIsNotWoken() {
        open(GivenVms.LIMITS);
        assertNothingWakes(409, "CONFLICT", "no capacity");
    }

    @Test
    void aVmThatHasSpentItsBudgetIsNotWoken() {
        open(GivenVms.LIMITS);
        given.spendBudget();
        assertNothingWakes(409, "CONFLICT", "maxRunTotalSeconds");
    }

    @Test
    void aVmBeyondTheLimitOfItsAccountIsNotWoken() {
        open(GivenVms.limits(Optional.of(0), Optional.empty()));
        assertNothingWakes(403, "VM_LIMIT_EXCEEDED", "0 running VMs");
    }

    @Test
    void aVmThatIsNotWokenInTimeIsToldAsThat() {
        open(GivenVms.startingWithin(Duration.ofMillis(50)));
        try (var _ = given.keepBusy()) {
            assertNothingWakes(504, "VM_START_TIMEOUT", "in time");
            ada.post(VM + "fork", "{}").expect(504, "VM_START_TIMEOUT");
        }
    }

    @Test
    void theLimitOfRunningVmsIsToldWithItsNumbers() {
        open(GivenVms.limits(Optional.of(0), Optional.of(9)));
        assertLimited("VM_LIMIT_EXCEEDED", 0);
        var refused = ada.post(VM + "start", "{}").expect(403, "VM_LIMIT_EXCEEDED");
        assertEquals(0, refused.requiredInteger("limit"));
        assertEquals(0, refused.requiredInteger("current"));
    }

    @Test
    void theLimitOfAllVmsIsToldWithItsNumbers() {
        open(GivenVms.limits(Optional.of(9), Optional.of(1)));
        assertLimited("TOTAL_VM_LIMIT_EXCEEDED", 1);
    }

    /// Of creates and forks. There are as many as there may be.
    private void assertLimited(String code, int number) {
        for (var refused : List.of(create(""), ada.post(VM + "fork", "{}"))) {
            var body = refused.expect(403, code);
            assertEquals(number, body.requiredInteger("limit"));
            assertEquals(number, body.requiredInteger("current"));
        }
    }

    /// With more fields, each with a comma behind it.
    private ApiCaller.Answer create(String more) {
        var snapshot = given.snapshot(given.ada(), Snapshot.Settings.NONE).id().text();
        return ada.post(
                "/v5/vms",
                "{%s\"firewall\":{\"rules\":[]},\"snapshotId\":\"%s\"}".formatted(more, snapshot));
    }

    @Test
    void aCreateOrForkThatThereIsNoRoomForIsAConflict() {
        open(GivenVms.LIMITS);
        for (var refused : List.of(create(""), ada.post(VM + "fork", "{\"count\":10}"))) {
            var message = refused.expect(409, "CONFLICT").requiredString("message");
            assertTrue(message.contains("no capacity"), message);
        }
    }

    @Test
    void aCreateRefusesLabelsAndRulesBeyondTheirLimitsByName() {
        open(GivenVms.LIMITS);
        var key = "\"metadata\":{\"%s\":\"v\"},".formatted("k".repeat(64));
        assertRefused(key, "metadata");
        assertRefused("\"metadata\":{\"a,b\":\"v\"},", "metadata");
        assertRefused(placement(9, labels(1)), "placement");
        assertRefused(placement(1, labels(9)), "matchLabels");
        assertRefused(placement(1, "\"a:b\":\"v\""), "matchLabels");
        assertRefused("\"placement\":{\"antiAffinity\":[{\"topology\":\"node\"}]},", "selector");
    }

    private void assertRefused(String field, String name) {
        var message = create(field).expect(400, "BAD_REQUEST").requiredString("message");
        assertTrue(message.contains(name), message);
    }

    private static String placement(int rules, String labels) {
        var rule = "{\"topology\":\"node\",\"selector\":{\"matchLabels\":{%s}}}".formatted(labels);
        return "\"placement\":{\"antiAffinity\":[%s]},"
                .formatted(String.join(",", Collections.nCopies(rules, rule)));
    }

    private static String labels(int count) {
        return IntStream.range(0, count)
                .mapToObj("\"k%d\":\"v\""::formatted)
                .collect(Collectors.joining(","));
    }

    @Test
    void aChunkOrCommitIsRefusedWhileAnotherChunkComes() throws InterruptedException {
        open(GivenVms.LIMITS);
        given.free(Size.ofMib(10));
        var upload = VM + "fs/uploads/" + upload(4);
        var chunk = new SlowChunk(4);
        var coming = Thread.startVirtualThread(() -> ada.put(upload + "?offset=0", chunk));
        chunk.begun.await();
        ada.put(upload + "?offset=0", new byte[4]).expect(409, "CONFLICT");
        ada.post(upload + "/commit", "").expect(409, "CONFLICT");
        chunk.rest.countDown();
        coming.join();
        assertEquals(4, ada.get(upload).expect(200).requiredInteger("receivedBytes"));
    }

    /// A body that does not come until it is let.
    private static final class SlowChunk implements RequestBody {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch rest = new CountDownLatch(1);
        private final RequestBody all;

        SlowChunk(int length) {
            this.all = RequestBody.of(new byte[length]);
        }

        @Override
        public byte[] read(Size limit, Deadline deadline) {
            return all.read(limit, deadline);
        }

        @Override
        public OptionalLong length() {
            return all.length();
        }

        @Override
        public Stream stream(Size limit) {
            var bytes = all.stream(limit);
            return (into, at, length, deadline) -> {
                begun.countDown();
                try {
                    rest.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return bytes.read(into, at, length, deadline);
            };
        }
    }

    @Test
    void anUploadEndsWithItsTime() {
        open(GivenVms.LIMITS);
        var upload = VM + "fs/uploads/" + upload(4);
        time = time.plus(Duration.ofHours(24));
        for (var refused :
                List.of(
                        ada.get(upload),
                        ada.put(upload + "?offset=0", new byte[4]),
                        ada.post(upload + "/commit", ""))) {
            refused.expect(404, "NOT_FOUND");
        }
    }
}
