package coppice.main;

import coppice.base.Failure;
import coppice.base.Kind;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// The program: reads the command line and turns failures into a sentence and an exit status.
@Command(
        name = "coppice",
        description = "Linux VMs that hibernate, wake, snapshot and fork, over an HTTP JSON API.",
        mixinStandardHelpOptions = true,
        version = "coppice 0.1.0",
        subcommands = {
            AuditCommand.class,
            ServeCommand.class,
            DoctorCommand.class,
            ImageCommand.class,
            KeyCommand.class,
            RehearseCommand.class,
            SettingCommand.class,
            TeamCommand.class,
            UsageCommand.class,
            UserCommand.class,
            VolumeCommand.class
        })
public final class Main implements Callable<Integer> {
    @Spec private CommandSpec spec;

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    static int run(String... arguments) {
        return new CommandLine(new Main())
                .setExecutionExceptionHandler(
                        (e, line, _) -> {
                            if (e instanceof Failure failure) {
                                line.getErr().println("coppice: " + failure.getMessage());
                                return status(failure.code().kind());
                            }
                            throw e;
                        })
                .execute(arguments);
    }

    /// No command: the help.
    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getOut());
        return 0;
    }

    private static int status(Kind kind) {
        return switch (kind) {
            case INVALID, METHOD, TOO_LARGE, UNSUPPORTED_TYPE, UNSATISFIABLE, UPGRADE -> 2;
            case UNAUTHENTICATED, FORBIDDEN -> 3;
            case ABSENT, GONE -> 4;
            case CONFLICT, FULL -> 5;
            case BUSY, UNAVAILABLE, TIMEOUT -> 6;
            case INTERNAL -> 1;
        };
    }
}
