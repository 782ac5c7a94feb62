package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.Family;
import coppice.api.Input;
import coppice.api.Output;
import coppice.api.Route;
import coppice.background.BackgroundLimits;
import coppice.background.BackgroundRequests;
import coppice.base.Size;
import coppice.disk.Reflink;
import coppice.identity.Accounts;
import coppice.json.Schema;
import coppice.network.ServerKey;
import coppice.node.Capacity;
import coppice.node.Node;
import coppice.qemu.Hypervisor;
import coppice.qemu.QemuLauncher;
import coppice.vm.GivenVms;
import coppice.vm.Vms;
import coppice.vm.Wiring;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The routes of a whole server, as they are made and as they are described.
class ServedRoutesTest {
    @TempDir private Path directory;
    private final Deque<AutoCloseable> kept = new ArrayDeque<>();
    private List<Route> routes;
    private PublishedDocument document;

    @BeforeEach
    void make() throws IOException {
        var vms = keep(new GivenVms(directory));
        var file = Files.createFile(directory.resolve("coppice.conf"));
        var parts =
                new ServedRoutes.Parts(
                        new GivenSettings(file).read("metrics.token", "t".repeat(40)),
                        vms.store(),
                        new Accounts(vms.store(), Clock.systemUTC()),
                        host(vms),
                        null, // there is none without root, and it is asked for numbers only
                        vms.vms(),
                        keep(
                                BackgroundRequests.open(
                                        vms.store(),
                                        directory.resolve("background"),
                                        BackgroundLimits.USUAL,
                                        Clock.systemUTC())));
        routes = new ServedRoutes(parts, kept::push).all(new ServerKey(directory.resolve("key")));
        var text = new ApiCaller(routes, vms.ada().uuid()).get("/openapi.json").text();
        document = PublishedDocument.parse(text);
    }

    private Vms.Host host(GivenVms vms) {
        var none = Size.ofMib(1);
        return new Vms.Host(
                directory,
                keep(new Reflink()),
                new QemuLauncher(new Hypervisor("tcg", "10.0.2", "max"), "served-routes"),
                new Node(new Capacity(1, none, none, 1, 70_000), () -> none),
                vms.networks(),
                Wiring.NONE);
    }

    private <T extends AutoCloseable> T keep(T part) {
        kept.push(part);
        return part;
    }

    @AfterEach
    void close() throws Exception {
        while (!kept.isEmpty()) {
            kept.pop().close();
        }
    }

    @Test
    void whatIsServedIsDescribedSaveForTheOperators() {
        var served =
                routes.stream()
                        .flatMap(route -> route.families().stream().map(it -> line(route, it)))
                        .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(served.remove("GET /metrics"), served::toString);
        served.addAll(List.of("GET /status", "GET /openapi.json"));
        assertEquals(
                served,
                document.operations().stream()
                        .map(operation -> operation.method() + " " + operation.path())
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    private static String line(Route route, Family family) {
        return "%s %s%s".formatted(route.method(), family.prefix(), route.path());
    }

    @Test
    void aShapesNameMeansOneShape() {
        var named = new HashMap<String, Schema.ObjectOf>();
        routes.stream().flatMap(ServedRoutesTest::bodies).forEach(body -> note(body, named));
        assertTrue(named.size() > 50, () -> "only " + named.keySet());
    }

    private static Stream<Schema> bodies(Route route) {
        var taken =
                route.description().input() instanceof Input.Json(var schema, _)
                        ? Stream.<Schema>of(schema)
                        : Stream.<Schema>empty();
        var returned =
                route.description().output() instanceof Output.Json(var schema)
                        ? Stream.of(schema)
                        : Stream.<Schema>empty();
        return Stream.concat(taken, returned);
    }

    private static void note(Schema schema, Map<String, Schema.ObjectOf> named) {
        switch (schema) {
            case Schema.ObjectOf object -> {
                object.name()
                        .ifPresent(
                                name ->
                                        assertEquals(
                                                named.getOrDefault(name, object), object, name));
                object.name().ifPresent(name -> named.put(name, object));
                object.fields().forEach(field -> note(field.type(), named));
            }
            case Schema.ListOf list -> note(list.items(), named);
            case Schema.MapOf map -> note(map.values(), named);
            case Schema.OrNull orNull -> note(orNull.value(), named);
            case Schema.AnyOf any -> any.choices().forEach(choice -> note(choice, named));
            case Schema.Text _, Schema.Whole _, Schema.Decimal _ -> {}
            case Schema.Truth _, Schema.Anything _ -> {}
        }
    }

    @Test
    void everyCreateHasAnExampleAndEveryExampleFitsItsSchema() {
        for (var operation : document.operations()) {
            var example = operation.example();
            if (operation.isCreate() && operation.takesFields()) {
                assertTrue(example.isObject(), operation.id());
            }
            if (!example.isMissingNode()) {
                document.requireTaken(
                        operation, example.toString().getBytes(StandardCharsets.UTF_8));
            }
        }
    }
}
