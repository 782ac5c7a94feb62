package coppice.api.legacy;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.POST;

import coppice.api.Call;
import coppice.api.Method;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.Vm;
import coppice.vm.Vms;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/// The services inside VMs: those of the system, or of the user that a header names.
final class LegacyServices {
    private static final String ALL = "/v1/vms/{vm_id}/systemd";
    private static final String ONE = ALL + "/services/{service_id}";
    private static final int USUAL_LINES = 100;
    private static final int MAX_LINES = 10_000;
    private static final int MAX_AT_ONCE = 64;

    /// For all services of one request together.
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final Vms vms;
    private final LinuxUserHeader user;
    private final VmRights rights;

    LegacyServices(Vms vms, LinuxUserHeader user, VmRights rights) {
        this.rights = rights;
        this.vms = vms;
        this.user = user;
    }

    List<Route> routes() {
        return List.of(
                route(GET, ALL + "/services", "legacyListServices", this::list)
                        .about("Legacy", "List the services of a VM")
                        .returns(ServiceSchemas.LIST),
                createRoute(),
                route(DELETE, ONE, "legacyDeleteService", this::delete)
                        .about("Legacy", "Stop, disable and remove a service")
                        .returns(ServiceSchemas.DONE)
                        .fails(Code.SERVICE_NOT_FOUND, "the VM has no such service"),
                route(GET, ONE + "/status", "legacyServiceStatus", this::status)
                        .about("Legacy", "Tell how a service is")
                        .returns(ServiceSchemas.STATUS)
                        .fails(Code.SERVICE_NOT_FOUND, "the VM has no such service"),
                route(GET, ONE + "/logs", "legacyServiceLogs", this::logs)
                        .about("Legacy", "Read the last lines of a service's journal")
                        .query("lines", Schema.integer(1, MAX_LINES), "Default 100.")
                        .query("since", Schema.time(), "Only lines of this moment and after.")
                        .returns(ServiceSchemas.LOGS)
                        .fails(Code.SERVICE_NOT_FOUND, "the VM has no such service"),
                act(Systemd.Act.START),
                act(Systemd.Act.STOP),
                act(Systemd.Act.RESTART));
    }

    private Route createRoute() {
        var route =
                route(POST, ALL + "/services", "legacyCreateService", this::create)
                        .creates()
                        .about("Legacy", "Write, enable and start a new service")
                        .takes(ServiceSchemas.SERVICE, Examples.CREATE_SERVICE)
                        .returns(ServiceSchemas.CREATED)
                        .fails(Code.GROUP_NOT_FOUND, "the VM has no such group")
                        .fails(Code.SERVICE_ALREADY_EXISTS, "the VM has such a service");
        return ServiceSchemas.refused(route);
    }

    private Route act(Systemd.Act act) {
        var verb = act.verb();
        var id =
                "legacy%s%sServices"
                        .formatted(
                                verb.substring(0, 1).toUpperCase(Locale.ROOT), verb.substring(1));
        return route(POST, ALL + "/" + verb, id, asked -> act(act, asked))
                .about("Legacy", "Have services %s, one after the other".formatted(verb))
                .takes(ServiceSchemas.ACT)
                .returns(ServiceSchemas.RESULTS);
    }

    /// A call, the VM that it names, and the services that it is about, which are looked up when they are needed.
    private record Asked(Call call, Vm vm, Function<Asked, Systemd> services) {
        Systemd systemd() {
            return services.apply(this);
        }
    }

    private interface Doing {
        JsonWriter answer(Asked asked);
    }

    private Route route(Method method, String path, String id, Doing doing) {
        // Whoever changes services decides what runs at boot: that is for those who may act as
        // root.
        var isChange = method != GET;
        return Route.legacy(method, path, id, call -> answer(call, isChange, doing))
                .fails(Code.LINUX_USER_NOT_ALLOWED, "the identity may act as others only")
                .forIdentities()
                .fails(Code.VALIDATION_ERROR, "what is sent is wrong")
                .fails(Code.USER_NOT_FOUND, "the VM has no such user")
                .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                .fails(Code.CONFLICT, "the VM has no systemd, or cannot be woken")
                .fails(Code.UNAVAILABLE, "the VM's systemd refused it")
                .fails(Code.VM_START_TIMEOUT, "the VM did not wake in time");
    }

    private Reply answer(Call call, boolean isChange, Doing doing) {
        var vm = LegacyVms.named(vms, LegacyVmRoutes.account(call), call.path("vm_id"));
        var users = LegacyVms.users(rights, call, vm);
        try {
            var wanted = user.of(call);
            if (isChange || wanted.isEmpty()) {
                users.checkRoot();
            }
            wanted.ifPresent(_ -> user.check(users, wanted));
            return Reply.ok(doing.answer(new Asked(call, vm, this::systemd)));
        } catch (Failure e) {
            throw LegacyFailures.serving(e, call.path("vm_id"));
        }
    }

    private Systemd systemd(Asked asked) {
        return Systemd.of(GuestShell.of(vms, asked.vm()), user.of(asked.call()));
    }

    private JsonWriter list(Asked asked) {
        var names = asked.systemd().list();
        return new JsonWriter()
                .put(
                        "services",
                        names.stream().map(name -> new JsonWriter().put("name", name)).toList());
    }

    private JsonWriter create(Asked asked) {
        var service = ServiceFields.service(asked.call().body());
        asked.systemd().create(service, asked.vm().legacy().workdir());
        var isStarted = service.enable().orElse(true);
        return new JsonWriter()
                .put("success", true)
                .put(
                        "message",
                        isStarted ? "the service is there and starts" : "the service is there")
                .put("serviceName", service.name());
    }

    private JsonWriter delete(Asked asked) {
        asked.systemd().delete(id(asked));
        return new JsonWriter()
                .put("success", true)
                .put("message", "the service is stopped and removed");
    }

    private JsonWriter status(Asked asked) {
        var status = asked.systemd().status(id(asked));
        var unit = Systemd.unit(id(asked));
        return new JsonWriter()
                .put("name", unit.substring(0, unit.length() - ServiceFields.ENDING.length()))
                .put("activeState", status.activeState())
                .put("subState", status.subState())
                .put("loadState", status.loadState())
                .put("description", status.description());
    }

    private JsonWriter logs(Asked asked) {
        var query = asked.call().query();
        long lines = query.integer("lines").orElse((long) USUAL_LINES);
        if (lines < 1 || lines > MAX_LINES) {
            throw new Failure(
                    Code.BAD_REQUEST, "query parameter lines must be 1 to %d".formatted(MAX_LINES));
        }
        var since = query.text("since").map(LegacyServices::moment);
        return new JsonWriter()
                .put(
                        "logs",
                        asked.systemd().logs(id(asked), (int) lines, since).stream()
                                .map(
                                        line ->
                                                new JsonWriter()
                                                        .put("message", line.message())
                                                        .put("timestamp", line.timestamp())
                                                        .putOrNull("priority", line.priority())
                                                        .putOrNull("unit", line.unit()))
                                .toList());
    }

    private static Instant moment(String text) {
        try {
            var moment = OffsetDateTime.parse(text);
            if (moment.getYear() < 1970 || moment.getYear() > 9999) {
                throw new DateTimeException("out of range");
            }
            return moment.toInstant();
        } catch (DateTimeException e) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "query parameter since must be a moment as in 2026-03-01T09:30:00Z",
                    e);
        }
    }

    private JsonWriter act(Systemd.Act act, Asked asked) {
        var ids = ids(asked.call().body());
        var systemd = asked.systemd();
        var deadline = Deadline.in(PATIENCE);
        var results = new ArrayList<JsonWriter>();
        for (var id : ids) {
            var result = systemd.act(act, id, deadline);
            results.add(
                    new JsonWriter()
                            .put("serviceId", id)
                            .put("success", result.isSuccess())
                            .put("message", result.message()));
        }
        return new JsonWriter().put("results", results);
    }

    private static List<String> ids(JsonObject body) {
        var services = body.requiredObjects("services");
        if (services.isEmpty() || services.size() > MAX_AT_ONCE) {
            throw body.fault("services", "must hold 1 to %d services".formatted(MAX_AT_ONCE));
        }
        return services.stream().map(service -> service.requiredString("id")).toList();
    }

    private static String id(Asked asked) {
        return asked.call().path("service_id");
    }
}
