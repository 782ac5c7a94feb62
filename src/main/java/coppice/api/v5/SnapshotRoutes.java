package coppice.api.v5;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.PATCH;
import static coppice.api.Method.POST;

import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.NewSnapshot;
import coppice.vm.Persistence;
import coppice.vm.Snapshot;
import coppice.vm.SnapshotFilter;
import coppice.vm.VmId;
import coppice.vm.Vms;
import java.util.List;

/// The operations on snapshots.
public final class SnapshotRoutes {
    private static final String SNAPSHOT = "/snapshots/{snapshot}";

    private final Vms vms;

    public SnapshotRoutes(Vms vms) {
        this.vms = vms;
    }

    public List<Route> routes() {
        return List.of(
                takeRoute(),
                Route.v5(GET, "/snapshots", "listSnapshots", this::list)
                        .about("Snapshots", "List the account's own snapshots, newest first")
                        .query(
                                "sourceVmId",
                                Schema.string(),
                                "Only those taken of this VM: its id, or its slug while it is there.")
                        .query(
                                "search",
                                Schema.string(),
                                "Only those with this in their id, slug or display name, in upper or lower case.")
                        .paged()
                        .returns(SnapshotSchemas.SNAPSHOT_LIST)
                        .fails(Code.NOT_FOUND, "the VM slug is unknown"),
                Route.v5(GET, SNAPSHOT, "getSnapshot", this::get)
                        .orTwoSegments("snapshot")
                        .about("Snapshots", "Get a snapshot of the account, or a public one")
                        .returns(SnapshotSchemas.SNAPSHOT),
                Route.v5(PATCH, SNAPSHOT, "updateSnapshot", this::update)
                        .orTwoSegments("snapshot")
                        .about("Snapshots", "Change a snapshot's settings")
                        .takes(SnapshotSchemas.UPDATE)
                        .returns(SnapshotSchemas.SNAPSHOT)
                        .fails(Code.NOT_FOUND, "absent, or of another account, public or not")
                        .fails(Code.CONFLICT, "slug taken"),
                Route.v5(DELETE, SNAPSHOT, "deleteSnapshot", this::delete)
                        .orTwoSegments("snapshot")
                        .about("Snapshots", "Delete a snapshot; VMs made from it go on")
                        .fails(Code.CONFLICT, "it is the platform's default"));
    }

    private Route takeRoute() {
        return Route.v5(POST, "/vms/{vm}/snapshot", "takeSnapshot", this::take)
                .creates()
                .about("Snapshots", "Take a snapshot of a running or paused VM, which goes on")
                .takes(SnapshotSchemas.TAKE, Examples.TAKE_SNAPSHOT)
                .returns(SnapshotSchemas.TAKEN)
                .fails(Code.SNAPSHOT_LIMIT_EXCEEDED, "the account's limit of snapshots")
                .fails(Code.CONFLICT, "slug taken, or the VM is stopped, starting or pausing")
                .fails(Code.UNAVAILABLE, "the capture failed; the VM is unharmed")
                .fails(Code.VM_START_TIMEOUT, "it takes too long");
    }

    private Reply take(Call call) {
        var account = VmRoutes.account(call);
        var vm = vms.get(account, call.path("vm")).id();
        var wanted =
                new NewSnapshot(
                        SnapshotFields.settings(call.body(), Snapshot.Settings.NONE),
                        new Persistence.Persistent());
        var snapshot = vms.snapshot(account, vm.text(), wanted);
        return Reply.ok(
                new JsonWriter()
                        .put("snapshotId", snapshot.id().text())
                        .put("sourceVmId", vm.text())
                        .put("snapshot", SnapshotJson.write(snapshot, account)));
    }

    private Reply list(Call call) {
        var account = VmRoutes.account(call);
        var source =
                call.query()
                        .text("sourceVmId")
                        .map(
                                name ->
                                        VmId.isId(name)
                                                ? new VmId(name)
                                                : vms.get(account, name).id());
        var filter = new SnapshotFilter(source, call.query().text("search"), false, false);
        var page = call.page();
        var listing = vms.snapshots().list(account, filter, page.offset(), page.limit());
        return Reply.ok(
                new JsonWriter()
                        .put(
                                "snapshots",
                                listing.snapshots().stream()
                                        .map(snapshot -> SnapshotJson.write(snapshot, account))
                                        .toList())
                        .put("totalCount", listing.total()));
    }

    private Reply get(Call call) {
        var account = VmRoutes.account(call);
        return Reply.ok(
                SnapshotJson.write(vms.snapshots().named(account, call.path("snapshot")), account));
    }

    private Reply update(Call call) {
        var account = VmRoutes.account(call);
        var changed =
                vms.snapshots()
                        .update(
                                account,
                                call.path("snapshot"),
                                before -> SnapshotFields.settings(call.body(), before));
        return Reply.ok(SnapshotJson.write(changed, account));
    }

    private Reply delete(Call call) {
        vms.snapshots().delete(VmRoutes.account(call), call.path("snapshot"));
        return Reply.noContent();
    }
}
