package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.main.Content.Place;
import coppice.main.Model.ModelVm;

/// The steps that change files inside VMs. They wake a VM that is paused.
final class FileSteps {
    private FileSteps() {}

    private static Client.Answer run(Client client, ModelVm vm, String command) {
        return client.post("/v5/vms/%s/exec-await".formatted(vm.id()), Client.exec(command));
    }

    /// A new file of random bytes.
    record Write(Inside inside, ModelVm vm, Place place, String name, int bytes, boolean isSynced)
            implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return run(client, vm, Inside.write(place, name, bytes, isSynced));
        }

        @Override
        public void answered(Client.Answer answer) {
            var hash = Inside.hash(answer);
            vm.become("running");
            vm.content().put(place, name + "-" + hash, hash);
            if (isSynced) {
                vm.content().sync();
            }
        }

        /// The command goes on without the server, if it was begun.
        @Override
        public void lost(Client client) {
            var state = client.state(vm.id());
            assertTrue(state.equals("running") || state.equals(vm.state()), state);
            var file = inside.written(vm.id(), place, name);
            vm.become("running");
            if (!file.isEmpty()) {
                assertTrue(file.matches(name + "-[0-9a-f]{40}"), file);
                vm.content().put(place, file, file.substring(name.length() + 1));
            }
        }

        @Override
        public int millis() {
            return 100;
        }

        @Override
        public String toString() {
            return "write %s, %d bytes, in %s of %s%s"
                    .formatted(name, bytes, place, vm.id(), isSynced ? " and sync" : "");
        }
    }

    /// A part of a file that is there becomes other random bytes.
    record Overwrite(ModelVm vm, Place place, String name, int offset, int bytes)
            implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return run(client, vm, Inside.overwrite(place, name, offset, bytes));
        }

        @Override
        public void answered(Client.Answer answer) {
            vm.become("running");
            vm.content().put(place, name, Inside.hash(answer));
        }

        @Override
        public void lost(Client client) {
            throw new IllegalStateException("it would be half done: not to be done in flight");
        }

        @Override
        public String toString() {
            return "overwrite %d bytes at %d of %s in %s of %s"
                    .formatted(bytes, offset, name, place, vm.id());
        }
    }

    record Remove(ModelVm vm, Place place, String name) implements ScheduleStep {
        @Override
        public Client.Answer send(Client client) {
            return run(client, vm, "rm %s/%s".formatted(place.directory(), name));
        }

        @Override
        public void answered(Client.Answer answer) {
            assertEquals(0L, answer.expect(200).requiredInteger("statusCode"));
            vm.become("running");
            vm.content().remove(place, name);
        }

        @Override
        public void lost(Client client) {
            throw new IllegalStateException("not to be done in flight");
        }

        @Override
        public String toString() {
            return "remove %s in %s of %s".formatted(name, place, vm.id());
        }
    }
}
