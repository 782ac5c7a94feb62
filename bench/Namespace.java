import coppice.base.Deadline;
import coppice.process.Command;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A network namespace, by its name among those that only the bench sees.
record Namespace(String name) implements End {
    /// The network of the machine itself, which the bench is not in.
    static final Namespace MACHINE = new Namespace("machine");

    private static final Path ALL = Path.of("/run/netns");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    static Namespace make(String name) {
        here("ip netns add %s\nip -n %s link set lo up\n".formatted(name, name));
        return new Namespace(name);
    }

    /// Runs lines of shell where the bench is; the first that fails ends it.
    static void here(String lines) {
        run(List.of(), lines);
    }

    /// Runs lines of shell in it; the first that fails ends it.
    ///
    /// @return what was printed
    String run(String lines) {
        return run(inside(List.of()), lines);
    }

    private static String run(List<String> where, String lines) {
        var line = new ArrayList<>(where);
        line.addAll(List.of("sh", "-e"));
        return new Command(line).reading(lines).runOrFail(Deadline.in(PATIENCE));
    }

    @Override
    public String flow(String arguments) {
        return run("exec %s %s\n".formatted(Flow.program(), arguments));
    }

    /// The command line of a program, so that it runs in it.
    List<String> inside(List<String> words) {
        var line = new ArrayList<>(List.of("nsenter", "--net=" + ALL.resolve(name)));
        line.addAll(words);
        return line;
    }

    void remove() {
        here("ip netns del %s\n".formatted(name));
    }
}
