package coppice.main;

import coppice.main.Content.Place;
import coppice.main.Model.ModelVm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/// Random steps against an installation and its [Model]. The server is killed between them and in the middle of them.
final class Schedule {
    private static final int LEAST = 4 << 10;
    private static final int MOST = 4 << 20;
    private static final int MAX_FILES = 6;

    private final Installation installation;
    private final Client client;
    private final Random random;
    private final Model model;
    private final Remains remains;
    private final String image;
    private final List<String> story = new ArrayList<>();
    private final List<Choice> choices;
    private long begun = System.nanoTime();
    private int names;

    /// @param weight how often, among the others
    private record Choice(int weight, boolean isWhole, Supplier<Optional<ScheduleStep>> step) {}

    Schedule(Installation installation, Random random) {
        this.installation = installation;
        this.client = installation.client("main");
        this.random = random;
        this.model = new Model(client, random);
        this.remains = new Remains(installation);
        this.image = client.get("/v5/snapshots/svc%2Fbusybox").expect(200).requiredString("id");
        this.choices =
                List.of(
                        new Choice(10, true, this::create),
                        new Choice(10, true, this::fork),
                        new Choice(10, true, this::take),
                        new Choice(20, true, this::pause),
                        new Choice(14, true, this::start),
                        new Choice(3, true, this::stop),
                        new Choice(6, true, this::deleteVm),
                        new Choice(6, true, this::deleteSnapshot),
                        new Choice(50, true, this::write),
                        new Choice(16, false, this::overwrite),
                        new Choice(14, false, this::remove));
    }

    /// What was done so far, for the message of a test that fails.
    String story() {
        return String.join("\n", story);
    }

    void run(int steps) {
        for (int i = 0; i < steps; i++) {
            switch (random.nextInt(100)) {
                case 0, 1 -> restart(Optional.empty());
                case 2, 3, 4 -> killDuring(choose(true));
                case 5, 6, 7, 8, 9 -> model.any(_ -> true).ifPresent(this::verify);
                default -> {
                    var step = choose(false);
                    tell(step.toString());
                    step.answered(step.send(client));
                }
            }
        }
        restart(Optional.empty());
    }

    /// Deletes everything, and fails when anything is left.
    void end() throws IOException {
        for (var vm : model.vms()) {
            new VmSteps.DeleteVm(model, vm).answered(client.delete("/v5/vms/" + vm.id()));
        }
        for (var snapshot : model.snapshots().keySet()) {
            client.delete("/v5/snapshots/" + snapshot).expect(204);
        }
        tell("delete everything");
        remains.requireNothingBut(Set.of(image));
    }

    private void tell(String what) {
        long now = System.nanoTime();
        story.add("%6.2f s  %s".formatted((now - begun) / 1e9, what));
    }

    private ScheduleStep choose(boolean isWhole) {
        int sum = choices.stream().mapToInt(Choice::weight).sum();
        while (true) {
            int at = random.nextInt(sum);
            for (var choice : choices) {
                at -= choice.weight();
                if (at < 0) {
                    var step =
                            choice.isWhole() || !isWhole
                                    ? choice.step().get()
                                    : Optional.<ScheduleStep>empty();
                    if (step.isPresent()) {
                        return step.get();
                    }
                    break;
                }
            }
        }
    }

    /// Kills the server in the middle of a step, or just after it.
    private void killDuring(ScheduleStep step) {
        int millis = random.nextInt(step.millis());
        tell("%s, and kill the server after %d ms".formatted(step, millis));
        var answer = new AtomicReference<Client.Answer>();
        var call =
                Thread.startVirtualThread(
                        () -> {
                            try {
                                answer.set(step.send(client));
                            } catch (java.io.UncheckedIOException e) {
                                // that the server died under it: the model finds out what it did
                            }
                        });
        try {
            call.join(Duration.ofMillis(millis));
            installation.killServer();
            call.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (answer.get() != null) {
            step.answered(answer.get());
            restart(Optional.empty());
        } else {
            restart(Optional.of(step));
        }
    }

    /// Kills the server, unless it was killed, starts it again and verifies everything.
    private void restart(Optional<ScheduleStep> lost) {
        tell(lost.map(_ -> "restart").orElse("kill the server and restart"));
        installation.killServer();
        installation.startServer();
        lost.ifPresent(
                step -> {
                    step.lost(client);
                    tell("it was in flight; now " + model.vms());
                });
        model.verifyLists();
        var snapshots = new java.util.TreeSet<>(model.snapshots().keySet());
        snapshots.add(image);
        remains.require(model.vmIds(), snapshots);
        model.vms().forEach(this::verify);
    }

    /// Verifies what is in a VM, and leaves most of those that it woke as they were.
    private void verify(ModelVm vm) {
        tell("verify %s, which is %s".formatted(vm.id(), vm.state()));
        boolean wasPaused = vm.is("paused");
        model.verify(vm);
        if (wasPaused && random.nextBoolean()) {
            var pause = new VmSteps.Pause(vm);
            tell(pause.toString());
            pause.answered(pause.send(client));
        }
    }

    private String name() {
        return "op" + names++;
    }

    private Optional<ScheduleStep> create() {
        return model.vms().size() < Model.MAX_VMS
                ? Optional.of(
                        new VmSteps.Create(
                                model,
                                name(),
                                random.nextInt(4) == 0 ? Optional.empty() : model.anySnapshot()))
                : Optional.empty();
    }

    private Optional<ScheduleStep> fork() {
        int room = Model.MAX_VMS - model.vms().size();
        return room == 0
                ? Optional.empty()
                : model.any(_ -> true)
                        .filter(vm -> !vm.is("stopped") || random.nextInt(3) == 0)
                        .map(
                                vm ->
                                        new VmSteps.Fork(
                                                model,
                                                name(),
                                                vm,
                                                1 + random.nextInt(Math.min(3, room))));
    }

    private Optional<ScheduleStep> take() {
        return model.snapshots().size() < Model.MAX_SNAPSHOTS
                ? model.any(vm -> !vm.is("stopped")).map(vm -> new VmSteps.Take(model, vm))
                : Optional.empty();
    }

    private Optional<ScheduleStep> pause() {
        return model.any(vm -> vm.is("running")).map(VmSteps.Pause::new);
    }

    private Optional<ScheduleStep> start() {
        return model.any(vm -> !vm.is("running")).map(VmSteps.Start::new);
    }

    /// A boot takes long: one VM at a time is stopped.
    private Optional<ScheduleStep> stop() {
        return model.vms().stream().anyMatch(vm -> vm.is("stopped"))
                ? Optional.empty()
                : model.any(_ -> true).map(VmSteps.Stop::new);
    }

    private Optional<ScheduleStep> deleteVm() {
        return model.vms().size() < 3
                ? Optional.empty()
                : model.any(_ -> true).map(vm -> new VmSteps.DeleteVm(model, vm));
    }

    private Optional<ScheduleStep> deleteSnapshot() {
        return model.anySnapshot().map(id -> new VmSteps.DeleteSnapshot(model, id));
    }

    private Place place() {
        return random.nextInt(3) == 0 ? Place.DISK : Place.MEMORY;
    }

    private Optional<ScheduleStep> write() {
        var place = place();
        return awake().filter(vm -> vm.content().files(place).size() < MAX_FILES)
                .map(
                        vm ->
                                new FileSteps.Write(
                                        model.inside(),
                                        vm,
                                        place,
                                        name(),
                                        size(),
                                        place == Place.DISK && random.nextBoolean()));
    }

    /// A VM whose files can be changed, mostly one that runs.
    private Optional<ModelVm> awake() {
        var vm = model.any(any -> any.is("running") || any.is("paused") && random.nextInt(4) == 0);
        vm.ifPresent(found -> model.inside().begin(found.id(), found.content()));
        return vm;
    }

    /// As many small as large ones, by magnitude.
    private int size() {
        return (int) (LEAST * Math.pow((double) MOST / LEAST, random.nextDouble()));
    }

    private Optional<ScheduleStep> overwrite() {
        var place = place();
        return awake().flatMap(
                        vm ->
                                file(vm, place)
                                        .map(
                                                name ->
                                                        new FileSteps.Overwrite(
                                                                vm,
                                                                place,
                                                                name,
                                                                random.nextInt(MOST / 8),
                                                                random.nextInt(1 << 18) + 1)));
    }

    private Optional<ScheduleStep> remove() {
        var place = place();
        return awake().flatMap(
                        vm -> file(vm, place).map(name -> new FileSteps.Remove(vm, place, name)));
    }

    private Optional<String> file(ModelVm vm, Place place) {
        return model.anyOf(vm.content().files(place).keySet().stream().sorted().toList());
    }
}
