import coppice.store.Store;
import coppice.vm.VmId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/// Records of VMs that are powered off, copied from the rows of one. Of files a server that starts looks for no more than the directory of
/// such a VM. Written while no server runs.
final class VmCopies {
    private static final String OF_VM = "select * from vms where id = :id";
    private static final String OF_NIC = "select * from nics where vm_id = :id";

    /// In one transaction.
    private static final int BATCH = 500;

    private final Map<String, Object> vm;
    private final Map<String, Object> nic;
    private final List<String> written = new ArrayList<>();

    private VmCopies(Map<String, Object> vm, Map<String, Object> nic) {
        this.vm = vm;
        this.nic = nic;
    }

    /// @param data directory of the program
    /// @param vms where VMs have their directories
    /// @param from number of the first copy; the original is 0
    /// @param to that of the last one
    static void write(Path data, Path vms, String original, int from, int to) throws IOException {
        try (var store = Store.open(data.resolve("coppice.db"))) {
            var copies =
                    store.read(
                            handle ->
                                    new VmCopies(
                                            row(handle, OF_VM, original),
                                            row(handle, OF_NIC, original)));
            for (int first = from; first <= to; first += BATCH) {
                int begin = first;
                int end = Math.min(to, first + BATCH - 1);
                store.change(handle -> copies.write(handle, begin, end));
            }
            for (var id : copies.written) {
                Files.createDirectory(vms.resolve(id));
            }
        }
    }

    private static Map<String, Object> row(Handle handle, String select, String id) {
        return handle.createQuery(select).bind("id", id).mapToMap().one();
    }

    private void write(Handle handle, int from, int to) {
        for (int i = from; i <= to; i++) {
            var id = VmId.random().text();
            // The order of lists is that of the moments; users and slots are each VM's own.
            var copy = new HashMap<>(vm);
            copy.put("id", id);
            copy.put("slug", "copy-" + i);
            copy.put("created_at", number(vm, "created_at") + i);
            copy.put("qemu_user", number(vm, "qemu_user") + i);
            insert(handle, "vms", copy);
            var plug = new HashMap<>(nic);
            plug.put("vm_id", id);
            plug.put("slot", number(nic, "slot") + i);
            insert(handle, "nics", plug);
            written.add(id);
        }
    }

    private static long number(Map<String, Object> row, String column) {
        return ((Number) row.get(column)).longValue();
    }

    private static void insert(Handle handle, String table, Map<String, Object> row) {
        var columns = new TreeSet<>(row.keySet());
        var values = columns.stream().map(c -> ":" + c).collect(Collectors.joining(", "));
        handle.createUpdate(
                        "insert into %s (%s) values (%s)"
                                .formatted(table, String.join(", ", columns), values))
                .bindMap(row)
                .execute();
    }
}
