package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.store.Store;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/// The rows of VMs in the store.
final class VmRecords {
    private final Store store;

    VmRecords(Store store) {
        this.store = store;
    }

    List<Vm> all() {
        return store.read(
                handle ->
                        handle.createQuery("select * from vms")
                                .map((row, _) -> VmRow.read(row))
                                .list());
    }

    /// Those that have no network interface.
    List<OldVms.Old> withoutNic() {
        return store.read(
                handle ->
                        handle.createQuery(
                                        "select * from vms where id not in (select vm_id from nics)")
                                .map(
                                        (row, _) ->
                                                new OldVms.Old(
                                                        VmRow.read(row), row.getString("firewall")))
                                .list());
    }

    /// Writes something in a unit of its own.
    boolean also(Consumer<Handle> write) {
        store.change(write);
        return true;
    }

    /// Writes a VM anew. With `reassign`, the VM of the account that holds its slug loses it in the same instant.
    ///
    /// @param more what is written in the same unit
    /// @return the one that lost its slug
    Optional<VmId> insert(Vm vm, boolean reassign, Consumer<Handle> more) {
        var row = VmRow.all(vm);
        var columns = new TreeSet<>(row.keySet());
        var sql =
                "insert into vms (%s) values (%s)"
                        .formatted(
                                String.join(", ", columns),
                                columns.stream()
                                        .map(c -> ":" + c)
                                        .collect(Collectors.joining(", ")));
        return withSlug(vm, reassign, sql, row, more);
    }

    /// Replaces a VM's settings; `reassign` as for [#insert].
    Optional<VmId> changeSettings(Vm vm, boolean reassign) {
        var row = VmRow.settings(vm);
        return withSlug(vm, reassign, update(row), row, _ -> {});
    }

    /// Replaces a VM's state and hardware. Its settings stay: another VM may be taking its slug at this moment.
    void changeProgress(Vm vm) {
        changeProgress(List.of(vm));
    }

    /// As [#changeProgress(Vm)], of all in the same instant.
    void changeProgress(List<Vm> vms) {
        var rows = vms.stream().map(VmRow::progress).toList();
        store.change(
                handle ->
                        rows.forEach(
                                row -> handle.createUpdate(update(row)).bindMap(row).execute()));
    }

    private static String update(Map<String, Object> row) {
        return "update vms set %s where id = :id"
                .formatted(
                        row.keySet().stream()
                                .filter(c -> !c.equals("id"))
                                .sorted()
                                .map(c -> c + " = :" + c)
                                .collect(Collectors.joining(", ")));
    }

    private Optional<VmId> withSlug(
            Vm vm, boolean reassign, String sql, Map<String, Object> row, Consumer<Handle> more) {
        try {
            return store.write(
                    handle -> {
                        var loser = reassign ? takeSlug(handle, vm) : Optional.<VmId>empty();
                        handle.createUpdate(sql).bindMap(row).execute();
                        more.accept(handle);
                        return loser;
                    });
        } catch (RuntimeException e) {
            if (Store.isUniqueViolation(e)) {
                throw new Failure(
                        Code.CONFLICT,
                        "slug: '%s' is held by another VM; choose another one or send reassignSlug"
                                .formatted(vm.settings().slug().map(Slug::text).orElse("")),
                        e);
            }
            throw e;
        }
    }

    private static Optional<VmId> takeSlug(Handle handle, Vm vm) {
        var slug = vm.settings().slug().map(Slug::text).orElse("");
        var holder =
                handle.createQuery(
                                "select id from vms where account_id = :account and slug = :slug and id <> :id")
                        .bind("account", vm.account().toString())
                        .bind("slug", slug)
                        .bind("id", vm.id().text())
                        .mapTo(String.class)
                        .findOne()
                        .map(VmId::new);
        holder.ifPresent(
                id ->
                        handle.createUpdate("update vms set slug = null where id = :id")
                                .bind("id", id.text())
                                .execute());
        return holder;
    }

    /// Removes a VM; what the legacy family tells of it afterwards is noted in the same instant.
    ///
    /// @param more what is written in the same unit
    void delete(VmId vm, Instant now, Consumer<Handle> more) {
        store.change(
                handle -> {
                    more.accept(handle);
                    DeletedVms.note(handle, vm, now);
                    UploadRecords.forget(handle, vm);
                    handle.createUpdate("delete from vms where id = :id")
                            .bind("id", vm.text())
                            .execute();
                });
    }

    /// Notes that the stop of this moment was a kill.
    void killed(VmId vm, Instant stopped) {
        store.change(
                handle ->
                        handle.createUpdate("update vms set killed_at = :stopped where id = :id")
                                .bind("stopped", stopped.toEpochMilli())
                                .bind("id", vm.text())
                                .execute());
    }

    /// Whether the stop of this moment was a kill.
    boolean wasKilled(VmId vm, Instant stopped) {
        return store.read(
                handle ->
                        handle.createQuery(
                                                "select count(*) from vms where id = :id and killed_at = :stopped")
                                        .bind("stopped", stopped.toEpochMilli())
                                        .bind("id", vm.text())
                                        .mapTo(Long.class)
                                        .one()
                                == 1);
    }
}
