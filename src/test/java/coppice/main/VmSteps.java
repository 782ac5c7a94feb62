package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.Deadline;
import coppice.json.JsonObject;
import coppice.main.Model.ModelVm;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// The steps by which VMs and snapshots come, change their state and go.
final class VmSteps {
    private static final Duration POWER_OFF = Duration.ofSeconds(8);

    private VmSteps() {}

    /// A VM of an own snapshot, or of the image.
    record Create(Model model, String name, Optional<String> snapshot) implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            var origin = snapshot.map("\"snapshotId\":\"%s\","::formatted).orElse("");
            return client.post(
                    "/v5/vms",
                    "{%s\"displayName\":\"%s\",\"firewall\":{\"rules\":[]}}"
                            .formatted(origin, name));
        }

        @Override
        public void answered(Client.Answer answer) {
            add(model, answer.expect(200), content());
        }

        private Content content() {
            return snapshot.map(id -> model.snapshot(id).copy()).orElseGet(Content::new);
        }

        @Override
        public void lost(Client client) {
            var found = model.newVms();
            assertTrue(found.size() <= 1, found::toString);
            found.forEach(vm -> add(model, vm, content()));
        }

        @Override
        public int millis() {
            return 600;
        }

        @Override
        public String toString() {
            return "create %s of %s".formatted(name, snapshot.orElse("the image"));
        }
    }

    private static void add(Model model, JsonObject vm, Content content) {
        assertEquals("running", vm.requiredString("state"));
        model.addVm(vm.requiredString("id"), content);
    }

    record Fork(Model model, String name, ModelVm vm, int count) implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return client.post(
                    "/v5/vms/%s/fork".formatted(vm.id()),
                    "{\"count\":%d,\"displayName\":\"%s\"}".formatted(count, name));
        }

        @Override
        public void answered(Client.Answer answer) {
            addAll(answer.expect(200).requiredObjects("vms"));
        }

        private void addAll(List<JsonObject> copies) {
            assertEquals(count, copies.size(), copies::toString);
            copies.forEach(copy -> add(model, copy, vm.content().copy()));
        }

        @Override
        public void lost(Client client) {
            var found = model.newVms();
            if (!found.isEmpty()) {
                addAll(found); // all, or none
            }
        }

        @Override
        public int millis() {
            return 900;
        }

        @Override
        public String toString() {
            return "fork %s into %d, %s".formatted(vm.id(), count, name);
        }
    }

    record Take(Model model, ModelVm vm) implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return client.post("/v5/vms/%s/snapshot".formatted(vm.id()), "{}");
        }

        @Override
        public void answered(Client.Answer answer) {
            model.addSnapshot(answer.expect(200).requiredString("snapshotId"), vm.content().copy());
        }

        @Override
        public void lost(Client client) {
            var found = model.newSnapshots();
            assertTrue(found.size() <= 1, found::toString);
            found.forEach(one -> model.addSnapshot(one.requiredString("id"), vm.content().copy()));
        }

        @Override
        public String toString() {
            return "snapshot %s".formatted(vm.id());
        }
    }

    record Pause(ModelVm vm) implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return client.post("/v5/vms/%s/pause".formatted(vm.id()), "{}");
        }

        @Override
        public void answered(Client.Answer answer) {
            assertEquals("paused", answer.expect(200).requiredString("state"));
            vm.become("paused");
        }

        @Override
        public void lost(Client client) {
            vm.become(oneOf(client.state(vm.id()), "running", "paused"));
        }

        @Override
        public String toString() {
            return "pause " + vm.id();
        }
    }

    record Start(ModelVm vm) implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return client.post("/v5/vms/%s/start".formatted(vm.id()), "{}");
        }

        @Override
        public void answered(Client.Answer answer) {
            assertEquals("running", answer.expect(200).requiredString("state"));
            vm.become("running");
        }

        @Override
        public void lost(Client client) {
            vm.become(oneOf(client.state(vm.id()), vm.state(), "running"));
        }

        @Override
        public int millis() {
            return vm.is("stopped") ? 4000 : 250;
        }

        @Override
        public String toString() {
            return "start %s, which is %s".formatted(vm.id(), vm.state());
        }
    }

    record Stop(ModelVm vm) implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return client.post("/v5/vms/%s/stop".formatted(vm.id()), "{}");
        }

        @Override
        public void answered(Client.Answer answer) {
            assertEquals("stopped", answer.expect(200).requiredString("state"));
            if (vm.is("paused")) {
                vm.content().cut();
            } else {
                vm.content().powerOff();
            }
            vm.become("stopped");
        }

        /// A guest that was told to power itself off does so, whatever becomes of the server.
        @Override
        public void lost(Client client) {
            var deadline = Deadline.in(POWER_OFF);
            while (vm.is("running") && client.state(vm.id()).equals("running")) {
                if (deadline.isPast()) {
                    return;
                }
                Wait.moment();
            }
            vm.become(oneOf(client.state(vm.id()), vm.state(), "stopped"));
            if (vm.is("stopped")) {
                vm.content().cut();
            }
        }

        @Override
        public int millis() {
            return 2000;
        }

        @Override
        public String toString() {
            return "stop %s, which is %s".formatted(vm.id(), vm.state());
        }
    }

    record DeleteVm(Model model, ModelVm vm) implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return client.delete("/v5/vms/" + vm.id());
        }

        @Override
        public void answered(Client.Answer answer) {
            answer.expect(204);
            model.removeVm(vm.id());
        }

        @Override
        public void lost(Client client) {
            if (client.get("/v5/vms/" + vm.id()).status() == 404) {
                model.removeVm(vm.id());
            }
        }

        @Override
        public int millis() {
            return 15;
        }

        @Override
        public String toString() {
            return "delete " + vm.id();
        }
    }

    record DeleteSnapshot(Model model, String snapshot) implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return client.delete("/v5/snapshots/" + snapshot);
        }

        @Override
        public void answered(Client.Answer answer) {
            answer.expect(204);
            model.removeSnapshot(snapshot);
        }

        @Override
        public void lost(Client client) {
            if (client.get("/v5/snapshots/" + snapshot).status() == 404) {
                model.removeSnapshot(snapshot);
            }
        }

        @Override
        public int millis() {
            return 10;
        }

        @Override
        public String toString() {
            return "delete " + snapshot;
        }
    }

    private static String oneOf(String found, String... allowed) {
        assertTrue(List.of(allowed).contains(found), () -> "it is " + found);
        return found;
    }
}
