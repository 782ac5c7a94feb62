package coppice.guest;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/// A VM whose agent keeps to the protocol. Programs are functions from stdin to an [Ending]; they start when stdin has ended.
///
/// It misbehaves when told to: [#without], [#refusing], [#withStaleBytes], cut off by [#plug(long, long)], or in any way by [#scripted].
/// A host that breaks the protocol is noted in [#done] as a breach.
final class FakeGuest implements AutoCloseable {
    interface Program {
        Ending run(byte[] stdin) throws InterruptedException;
    }

    record Ending(Tag how, long value, byte[] stdout, byte[] stderr) {
        static Ending exit(int status, byte[] stdout, byte[] stderr) {
            return new Ending(Tag.EXIT_STATUS, status, stdout, stderr);
        }

        static Ending signal(int signal, byte[] stdout) {
            return new Ending(Tag.SIGNAL, signal, stdout, new byte[0]);
        }

        static Ending timeout(byte[] stdout) {
            return new Ending(Tag.TIMED_OUT, 1, stdout, new byte[0]);
        }
    }

    interface Script {
        void play(Wire wire) throws IOException;
    }

    /// One command. Guarded by the monitor of its guest.
    static final class Command {
        final String text;
        final int limit;
        final ByteArrayOutputStream stdin = new ByteArrayOutputStream();
        boolean stdinEnded;
        Optional<Ending> ending = Optional.empty();

        Command(String text, int limit) {
            this.text = text;
            this.limit = limit;
        }

        byte[] output(int channel) {
            return ending.map(end -> channel == 1 ? end.stdout() : end.stderr()).orElseThrow();
        }

        /// How much the agent keeps of stdout (1) or stderr (2).
        int kept(int channel) {
            return Math.min(limit, output(channel).length);
        }
    }

    private final Function<String, Program> programs;
    private final List<Closeable> open = new CopyOnWriteArrayList<>();
    private final Map<UUID, Command> commands = new HashMap<>();
    private final FakeFiles files = new FakeFiles();
    private final FakeTerminals terminals = new FakeTerminals();
    private final List<String> done = new ArrayList<>();
    private final Set<String> capabilities = new HashSet<>(Wire.CAPABILITIES);
    private Optional<Answer.Refused> refusal = Optional.empty();
    private byte[] stale = new byte[0];
    private int window = 65536;
    private int boots = 1;

    FakeGuest(Function<String, Program> programs) {
        this.programs = programs;
    }

    /// A guest with one program, for every command.
    static FakeGuest running(Program program) {
        return new FakeGuest(_ -> program);
    }

    FakeGuest without(String capability) {
        capabilities.remove(capability);
        return this;
    }

    FakeGuest refusing(String code, String message) {
        refusal = Optional.of(new Answer.Refused(code, message));
        return this;
    }

    /// Bytes of an old connection that are still in the pipe.
    FakeGuest withStaleBytes(byte[] bytes) {
        stale = bytes;
        return this;
    }

    FakeGuest withWindow(int bytes) {
        window = bytes;
        return this;
    }

    /// The host's end of a new connection.
    SocketChannel plug() throws IOException {
        return plug(Long.MAX_VALUE, Long.MAX_VALUE);
    }

    /// The host's end of a connection that breaks once the agent has read or written so many bytes.
    SocketChannel plug(long readable, long writable) throws IOException {
        return plug(
                channel ->
                        new FakeSession(this, new CuttingChannel(channel, readable, writable))
                                .serve());
    }

    /// The host's end of a connection to an agent that follows the script; then it says nothing more until this is closed.
    SocketChannel scripted(Script script) throws IOException {
        return plug(channel -> script.play(new Wire(channel)));
    }

    /// Commands and their results are gone.
    synchronized void reboot() {
        commands.clear();
        boots++;
    }

    /// What the agent did, in order: operations, starts of commands.
    synchronized List<String> done() {
        return List.copyOf(done);
    }

    @Override
    public void close() throws IOException {
        for (var channel : open) {
            channel.close();
        }
    }

    synchronized FieldsWriter welcome(Wire wire) throws IOException {
        var fields =
                new FieldsWriter().number(Tag.VERSION, 1).uuid(Tag.GENERATION, wire.generation());
        fields.text(Tag.AGENT_VERSION, "fake 1")
                .number(Tag.WINDOW, window)
                .text(Tag.BOOT_ID, "boot " + boots);
        capabilities.forEach(capability -> fields.text(Tag.CAPABILITY, capability));
        refusal.ifPresent(
                why -> fields.text(Tag.CODE, why.code()).text(Tag.MESSAGE, why.message()));
        return fields;
    }

    /// Guarded by the monitor of this guest, as [#terminals].
    FakeFiles files() {
        return files;
    }

    FakeTerminals terminals() {
        return terminals;
    }

    byte[] stale() {
        return stale;
    }

    int window() {
        return window;
    }

    boolean knows(String operation) {
        return capabilities.contains(operation);
    }

    synchronized void did(String what) {
        done.add(what);
    }

    synchronized Optional<Command> command(UUID id) {
        return Optional.ofNullable(commands.get(id));
    }

    /// Starts the command, unless it is there.
    synchronized Command command(UUID id, String text, int limit) {
        return commands.computeIfAbsent(id, _ -> new Command(text, limit));
    }

    /// Stdin of the command has ended: it runs.
    synchronized void run(Command command) {
        if (command.stdinEnded) {
            return;
        }
        command.stdinEnded = true;
        done.add("run " + command.text);
        Thread.ofVirtual().name("fake-command").start(() -> finish(command));
    }

    private void finish(Command command) {
        try {
            var ending = programs.apply(command.text).run(command.stdin.toByteArray());
            synchronized (this) {
                command.ending = Optional.of(ending);
                notifyAll();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private interface Agent {
        void serve(ByteChannel channel) throws IOException;
    }

    private SocketChannel plug(Agent agent) throws IOException {
        var pair = SocketPair.open();
        open.add(pair.agent());
        open.add(pair.host());
        Thread.ofVirtual()
                .name("fake-agent")
                .start(
                        () -> {
                            try {
                                agent.serve(pair.agent());
                            } catch (IOException e) {
                                // The host went away, or a cut was asked for: both are what tests
                                // are about.
                                Thread.currentThread().interrupt();
                            }
                        });
        return pair.host();
    }
}
