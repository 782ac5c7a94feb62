package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.api.WakeRefusals;
import coppice.base.Deadline;
import coppice.base.Size;
import coppice.http.RequestBody;
import coppice.vm.GivenVms;
import coppice.vm.GuestFileAccess;
import coppice.vm.Terminals;
import coppice.vm.VmLimits;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What a VM that rests is not woken for, and what else is refused without a machine: rows of the error tables of contract/vms.md,
/// vm-filesystem.md and vm-pty.md.
class VmRefusalsTest extends WakeRefusals {
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
                    "WEBSOCKET pty",
                    "WEBSOCKET pty/sessions/1",
                    "DELETE pty/sessions/1");

    VmRefusalsTest() {
        super("/v5/vms");
    }

    @Override
    protected List<Route> routes(VmLimits limits) {
        return Stream.of(
                        new VmRoutes(given.vms(), given.networks(), Optional.empty(), VmRights.NONE)
                                .routes(),
                        new FileRoutes(
                                        given.vms(),
                                        new GuestFileAccess(given.vms(), limits.start()),
                                        VmRights.NONE)
                                .routes(),
                        new UploadRoutes(given.vms(), given.uploads(() -> time), VmRights.NONE)
                                .routes(),
                        new TerminalRoutes(new Terminals(given.vms()), VmRights.NONE).routes())
                .flatMap(List::stream)
                .toList();
    }

    /// A commit that is refused leaves its upload, so it is refused again.
    @Override
    protected List<String> waking() {
        var commit = "POST fs/uploads/%s/commit".formatted(upload(0));
        return Stream.concat(WAKING.stream(), Stream.of(commit, commit)).toList();
    }

    private String upload(long size) {
        return ada.post(vm() + "fs/uploads", "{\"path\":\"/x\",\"size\":%d}".formatted(size))
                .expect(200)
                .requiredString("uploadId");
    }

    @Override
    protected ApiCaller.Answer create(String more) {
        return ada.post(
                "/v5/vms",
                "{%s\"firewall\":{\"rules\":[]},\"snapshotId\":\"%s\"}"
                        .formatted(more, snapshot()));
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
        var upload = vm() + "fs/uploads/" + upload(4);
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
        var upload = vm() + "fs/uploads/" + upload(4);
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
