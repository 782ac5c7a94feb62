package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.Wait;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/// Whenever the server is killed: what it said that it did, it has done, and what it said that goes on can be asked for.
class AcknowledgedIT {
    private static final int ROUNDS = Integer.getInteger("coppice.rounds", 4);
    private static final int CALLERS = 16;

    private final Random random = Seed.random(AcknowledgedIT.class);
    private final Queue<Check> checks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isDown = new AtomicBoolean();

    /// Something that was acknowledged.
    private interface Check {
        void by(Client client);
    }

    @Test
    void whatWasAcknowledgedIsThereAndWhatWasDeferredCanBePolledAfterAKillAtAnyMoment()
            throws Exception {
        try (var installation = Installation.start(Map.of("COPPICE_POOL_SIZE", "0"))) {
            var client = installation.client("main");
            var vm = client.createVm();
            for (int round = 0; round < ROUNDS; round++) {
                isDown.set(false);
                try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
                    var ended = new ArrayList<Future<?>>();
                    for (int i = 0; i < CALLERS; i++) {
                        var own = new Random(random.nextLong());
                        ended.add(callers.submit(() -> call(client, vm, own)));
                    }
                    int enough = CALLERS + random.nextInt(100);
                    Wait.until(
                            Duration.ofSeconds(60),
                            () -> checks.size() >= enough,
                            () -> checks.size() + " acknowledged");
                    LockSupport.parkNanos(random.nextLong(200_000_000));
                    isDown.set(true);
                    installation.killServer();
                    requireEnded(ended);
                }
                installation.startServer();
                checks.forEach(check -> check.by(client));
                checks.clear();
            }
        }
    }

    private static void requireEnded(List<Future<?>> ended) throws InterruptedException {
        for (var end : ended) {
            try {
                end.get();
            } catch (ExecutionException e) {
                throw new AssertionError(e.getCause());
            }
        }
    }

    /// Calls until the server has gone, and notes what is acknowledged.
    private void call(Client client, String vm, Random own) {
        while (!isDown.get()) {
            try {
                switch (own.nextInt(4)) {
                    case 0 -> checks.add(identity(client, vm));
                    case 1 -> checks.add(network(client));
                    case 2 -> checks.add(deferred(client, "GET", TEST, own));
                    default -> checks.add(deferred(client, "POST", exec(vm), own));
                }
            } catch (UncheckedIOException e) {
                if (!isDown.get()) {
                    throw e;
                }
            }
        }
    }

    private static final String TEST = "/auth/v1/background-test?sleepSecs=1";

    private static String exec(String vm) {
        return "/v5/vms/%s/exec-await".formatted(vm);
    }

    private static Check identity(Client client, String vm) {
        var own =
                "/v5/identities/"
                        + client.post("/v5/identities", "").expect(200).requiredString("id");
        Check isThere = later -> later.get(own).expect(200);
        var grant =
                client.post(own + "/permissions/vm", "{\"vmId\":\"%s\"}".formatted(vm)).expect(200);
        assertEquals(vm, grant.requiredString("vmId"));
        var token = client.post(own + "/tokens", "").expect(200).requiredString("token");
        return later -> {
            isThere.by(later);
            assertEquals(
                    vm,
                    later.withToken(token).get("/v5/vms/" + vm).expect(200).requiredString("id"));
        };
    }

    private static Check network(Client client) {
        var id = client.post("/v5/vpcs", "{}").expect(200).requiredString("id");
        client.delete("/v5/vpcs/" + id).expect(204);
        var identity = client.post("/v5/identities", "").expect(200).requiredString("id");
        return later -> {
            later.get("/v5/vpcs/" + id).expect(404);
            later.get("/v5/identities/" + identity).expect(200);
        };
    }

    private static Check deferred(Client client, String method, String path, Random own) {
        var after = Map.of("x-svc-background-after-secs", "0.0" + own.nextInt(10));
        var body = method.equals("POST") ? Client.exec("sleep 0.3; echo done") : "";
        var answer = client.send(method, path, body.getBytes(UTF_8), after);
        if (answer.status() != 202) {
            return _ -> answer.expect(200);
        }
        var url = answer.body().requiredString("resultUrl");
        return later -> {
            Wait.until(
                    Duration.ofSeconds(60),
                    () -> later.get(url).status() != 202,
                    () -> "it goes on");
            var last = later.get(url);
            var id = last.response().headers().firstValue("x-svc-background-request-id");
            assertTrue(url.endsWith(id.orElse("nothing")), () -> "the poll failed: " + last);
            assertTrue(List.of(200, 503).contains(last.status()), last::message);
            if (path.contains("exec") && last.status() == 200) {
                assertEquals("done\n", last.body().requiredString("stdout"));
            }
        };
    }
}
