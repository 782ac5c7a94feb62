package coppice.api.legacy;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.PATCH;
import static coppice.api.Method.POST;

import coppice.api.BodyFields;
import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.Snapshot;
import coppice.vm.SnapshotFilter;
import coppice.vm.SnapshotId;
import coppice.vm.Snapshots;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The legacy operations on snapshots.
public final class LegacySnapshotRoutes {
    private static final String ALL = "/v1/vms/snapshots";
    private static final String ONE = ALL + "/{snapshot_id}";

    private final Snapshots snapshots;

    public LegacySnapshotRoutes(Snapshots snapshots) {
        this.snapshots = snapshots;
    }

    public List<Route> routes() {
        return List.of(
                Route.legacy(GET, ALL, "legacyListSnapshots", this::list)
                        .about("Legacy", "List the account's own snapshots, newest first")
                        .query(
                                "includeDeleted",
                                Schema.bool(),
                                "Those that were deleted within a day too.")
                        .query(
                                "includeFailed",
                                Schema.bool(),
                                "Those that failed within a day too.")
                        .paged()
                        .returns(LegacySchemas.SNAPSHOT_LIST),
                Route.legacy(POST, ALL, "legacyBuildSnapshot", this::build)
                        .creates()
                        .about("Legacy", "Build a snapshot from a template; not there yet")
                        .takes(LegacySchemas.BUILD, Examples.BUILD_SNAPSHOT)
                        .returns(LegacySchemas.BUILT)
                        .fails(Code.CREATE_SNAPSHOT_BAD_REQUEST, "a field is wrong, or baseImage")
                        .fails(Code.INVALID_SNAPSHOT_ID, "template.snapshotId is no id")
                        .fails(Code.SNAPSHOT_NOT_FOUND, "template.snapshotId is absent")
                        .fails(Code.UNAVAILABLE, "always, for now: nothing builds templates"),
                Route.legacy(PATCH, ONE, "legacyUpdateSnapshot", this::update)
                        .about("Legacy", "Rename a snapshot")
                        .takes(LegacySchemas.UPDATE)
                        .returns(LegacySchemas.UPDATED)
                        .fails(Code.SNAPSHOT_NOT_FOUND, "absent, or of another account"),
                Route.legacy(DELETE, ONE, "legacyDeleteSnapshot", this::delete)
                        .about("Legacy", "Delete a snapshot; VMs made from it go on")
                        .returns(LegacySchemas.DELETED)
                        .fails(Code.SNAPSHOT_NOT_FOUND, "absent, or of another account")
                        .fails(Code.SNAPSHOT_IS_ACCOUNT_DEFAULT, "VMs are made from it by default")
                        .fails(Code.SNAPSHOT_ALREADY_DELETED, "deleted within a day"));
    }

    private Reply list(Call call) {
        var filter =
                new SnapshotFilter(
                        Optional.empty(),
                        Optional.empty(),
                        call.query().bool("includeDeleted").orElse(false),
                        call.query().bool("includeFailed").orElse(false));
        var page = call.page();
        var listing =
                snapshots.list(LegacyVmRoutes.account(call), filter, page.offset(), page.limit());
        return Reply.ok(
                new JsonWriter()
                        .put(
                                "snapshots",
                                listing.snapshots().stream()
                                        .map(LegacySnapshotRoutes::write)
                                        .toList())
                        .put("totalCount", listing.total())
                        .put("failedCount", listing.failed())
                        .put("deletedCount", listing.deleted()));
    }

    static JsonWriter write(Snapshot snapshot) {
        var failure =
                snapshot.standing() instanceof Snapshot.Failed(_, var why)
                        ? Optional.of(why)
                        : Optional.<String>empty();
        var resources = snapshot.resources();
        return new JsonWriter()
                .put("snapshotId", snapshot.id().text())
                .put("sourceVmId", snapshot.sourceVm().map(Object::toString).orElse(""))
                .put("createdAt", snapshot.createdAt())
                .put("accountId", snapshot.account().uuid())
                .putOrNull("name", snapshot.settings().displayName())
                .putOrNull("failureReason", failure)
                .put("failed", failure.isPresent())
                .put("deleted", snapshot.standing() instanceof Snapshot.Deleted)
                .put("snapshotPersistence", LegacyListing.persistence(snapshot.persistence()))
                .putOrNull("vcpuCount", resources.map(r -> r.cpu()))
                .putOrNull("memSizeMib", resources.map(r -> r.memory().mib()))
                .putOrNull("rootfsSizeMb", resources.map(r -> r.storage().mib()));
    }

    /// Checks what is sent as a build would, and says that there are none yet.
    private Reply build(Call call) {
        var named =
                call.body()
                        .object("template")
                        .flatMap(template -> template.string("snapshotId"))
                        .orElse("");
        try {
            requireBuildable(call.body());
            if (!named.isEmpty()) {
                requireId(named);
                snapshots.named(LegacyVmRoutes.account(call), named);
            }
        } catch (Failure e) {
            throw LegacyFailures.building(e, named);
        }
        throw new Failure(
                Code.UNAVAILABLE,
                "template builds are not there yet; make a VM, set it up and take a snapshot of it");
    }

    private static void requireBuildable(JsonObject body) {
        var template = body.requiredObject("template");
        if (template.has("baseImage")) {
            throw template.fault(
                    "baseImage", "this server builds no container images; start from a snapshot");
        }
        for (var size : List.of("vcpuCount", "memSizeGb", "rootfsSizeGb")) {
            BodyFields.whole(template, size, 1, Integer.MAX_VALUE);
        }
        BodyFields.seconds(template, "idleTimeoutSeconds", 1, Optional.empty());
        LegacyFields.ports(template);
        LegacyFields.workdir(template);
        LegacyFields.persistence(template);
        LegacyFields.readiness(template);
        BodyFields.label(body, "name", Optional.empty());
        LegacyFields.lasting(body);
    }

    private static void requireId(String name) {
        if (!SnapshotId.isId(name)) {
            throw new Failure(
                    Code.INVALID_SNAPSHOT_ID,
                    "template.snapshotId: must be the id of a snapshot",
                    Map.of("snapshotId", name));
        }
    }

    private Reply update(Call call) {
        var name = call.path("snapshot_id");
        var body = call.body();
        try {
            var changed =
                    snapshots.update(
                            LegacyVmRoutes.account(call), name, before -> renamed(body, before));
            return Reply.ok(
                    new JsonWriter()
                            .put("snapshot_id", changed.id().text())
                            .putOrNull("name", changed.settings().displayName()));
        } catch (Failure e) {
            throw LegacyFailures.updating(e, name);
        }
    }

    private static Snapshot.Settings renamed(JsonObject body, Snapshot.Settings before) {
        return new Snapshot.Settings(
                before.slug(),
                body.isNull("name")
                        ? Optional.empty()
                        : BodyFields.label(body, "name", before.displayName()),
                before.autoDelete(),
                before.ttl());
    }

    private Reply delete(Call call) {
        var account = LegacyVmRoutes.account(call);
        var name = call.path("snapshot_id");
        try {
            var id = snapshots.delete(account, name).id().text();
            return Reply.ok(new JsonWriter().put("snapshot_id", id).put("snapshotId", id));
        } catch (Failure e) {
            throw LegacyFailures.deleting(e, name, snapshots.deleted(account, name).isPresent());
        }
    }
}
