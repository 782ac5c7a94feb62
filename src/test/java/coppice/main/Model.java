package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/// What VMs and snapshots there must be, in which state and with which content, whatever was done to them.
final class Model {
    static final int MAX_VMS = 6;
    static final int MAX_SNAPSHOTS = 5;

    /// A VM as it must be. Its state is the API's word.
    static final class ModelVm {
        private final String id;
        private String state;
        private Content content;
        private Optional<String> machineId = Optional.empty();

        private ModelVm(String id, String state, Content content) {
            this.id = id;
            this.state = state;
            this.content = content;
        }

        String id() {
            return id;
        }

        String state() {
            return state;
        }

        boolean is(String word) {
            return state.equals(word);
        }

        Content content() {
            return content;
        }

        void become(String next) {
            state = next;
        }

        @Override
        public String toString() {
            return "%s, %s: %s".formatted(id, state, content);
        }
    }

    private final Client client;
    private final Inside inside;
    private final Random random;
    private final Map<String, ModelVm> vms = new LinkedHashMap<>();
    private final Map<String, Content> snapshots = new LinkedHashMap<>();

    Model(Client client, Random random) {
        this.client = client;
        this.random = random;
        this.inside = new Inside(client);
    }

    Inside inside() {
        return inside;
    }

    Random random() {
        return random;
    }

    List<ModelVm> vms() {
        return List.copyOf(vms.values());
    }

    Set<String> vmIds() {
        return Set.copyOf(vms.keySet());
    }

    Map<String, Content> snapshots() {
        return Map.copyOf(snapshots);
    }

    Optional<ModelVm> any(Predicate<ModelVm> wanted) {
        return anyOf(vms.values().stream().filter(wanted).toList());
    }

    Optional<String> anySnapshot() {
        return anyOf(List.copyOf(snapshots.keySet()));
    }

    <T> Optional<T> anyOf(List<T> all) {
        return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
    }

    void addVm(String id, Content content) {
        vms.put(id, new ModelVm(id, "running", content));
    }

    void removeVm(String id) {
        vms.remove(id);
    }

    void addSnapshot(String id, Content content) {
        snapshots.put(id, content);
    }

    void removeSnapshot(String id) {
        snapshots.remove(id);
    }

    Content snapshot(String id) {
        return snapshots.get(id);
    }

    /// The VMs that the server has and the model has not.
    List<JsonObject> newVms() {
        return listed("vms").stream()
                .filter(vm -> !vms.containsKey(vm.requiredString("id")))
                .toList();
    }

    List<JsonObject> newSnapshots() {
        return listed("snapshots").stream()
                .filter(vm -> !snapshots.containsKey(vm.requiredString("id")))
                .toList();
    }

    private List<JsonObject> listed(String what) {
        return client.get("/v5/%s?limit=100".formatted(what)).expect(200).requiredObjects(what);
    }

    /// Fails unless the server has these VMs, in these states, and these snapshots, and no others.
    void verifyLists() {
        var states = new TreeMap<String, String>();
        listed("vms")
                .forEach(vm -> states.put(vm.requiredString("id"), vm.requiredString("state")));
        var expected = new TreeMap<String, String>();
        vms.forEach((id, vm) -> expected.put(id, vm.state));
        assertEquals(expected, states, "states of the VMs");
        var ids = new ArrayList<String>();
        listed("snapshots").forEach(snapshot -> ids.add(snapshot.requiredString("id")));
        assertEquals(snapshots.keySet().stream().sorted().toList(), ids.stream().sorted().toList());
    }

    /// Fails unless the VM has the content that it must have. Wakes it.
    void verify(ModelVm vm) {
        try {
            var machineId = inside.verify(vm.id, vm.content);
            assertEquals(vm.machineId.orElse(machineId), machineId, "machine id");
            vm.machineId = Optional.of(machineId);
            vms.values().stream()
                    .filter(other -> other != vm)
                    .forEach(other -> requireOther(machineId, other));
            vm.state = "running";
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("%s\n%s".formatted(vm, e.getMessage()), e);
        }
    }

    private static void requireOther(String machineId, ModelVm other) {
        if (other.machineId.equals(Optional.of(machineId))) {
            throw new AssertionError("it has the machine id of " + other.id);
        }
    }
}
