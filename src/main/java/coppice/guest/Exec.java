package coppice.guest;

import coppice.base.Code;
import coppice.base.Failure;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// A command to run in a VM by `sh -c`. Without `user`, the image's ordinary user runs it; without `directory`, in that user's home.
/// Of each of stdout and stderr the first `outputLimit` bytes are kept. At `timeLimit` the guest kills the command's process group. What it
/// writes also goes to the session of the `terminal`, which is made if there is none.
public record Exec(
        ExecId id,
        String command,
        Optional<String> user,
        Map<String, String> environment,
        byte[] stdin,
        Duration timeLimit,
        int outputLimit,
        Optional<String> directory,
        Optional<TerminalName.Slug> terminal) {
    private static final Pattern VARIABLE = Pattern.compile("[^=\\x00]+");

    /// Refuses as BAD_REQUEST what no program can be given.
    public Exec {
        if (timeLimit.toMillis() < 1 || outputLimit < 0) {
            throw new IllegalArgumentException(
                    "the time limit is at least 1 ms, the output limit not negative");
        }
        environment = Map.copyOf(environment);
        stdin = stdin.clone();
        requireNoNul("the command", command);
        user.ifPresent(name -> requireNoNul("the user", name));
        directory.ifPresent(path -> requireNoNul("the directory", path));
        environment.forEach(
                (variable, value) -> {
                    if (!VARIABLE.matcher(variable).matches()) {
                        throw new Failure(
                                Code.BAD_REQUEST,
                                "'%s' is no name of an environment variable"
                                        .formatted(GuestText.clean(variable)));
                    }
                    requireNoNul("an environment variable", value);
                });
    }

    /// A command that has no terminal, as nearly all.
    public Exec(
            ExecId id,
            String command,
            Optional<String> user,
            Map<String, String> environment,
            byte[] stdin,
            Duration timeLimit,
            int outputLimit,
            Optional<String> directory) {
        this(
                id,
                command,
                user,
                environment,
                stdin,
                timeLimit,
                outputLimit,
                directory,
                Optional.empty());
    }

    static void requireNoNul(String what, String text) {
        if (text.indexOf('\0') >= 0) {
            throw new Failure(
                    Code.BAD_REQUEST, "%s has a NUL character; remove it".formatted(what));
        }
    }

    FieldsWriter fields() {
        var fields =
                Request.fields("exec")
                        .uuid(Tag.EXEC_ID, id.value())
                        .text(Tag.COMMAND, command)
                        .number(Tag.TIME_LIMIT, timeLimit.toMillis())
                        .number(Tag.OUTPUT_LIMIT, outputLimit);
        user.ifPresent(name -> fields.text(Tag.USER, name));
        directory.ifPresent(path -> fields.text(Tag.DIRECTORY, path));
        terminal.ifPresent(slug -> fields.text(Tag.TERMINAL, slug.text()));
        environment.forEach(
                (variable, value) -> fields.text(Tag.ENVIRONMENT, variable + "=" + value));
        return fields;
    }
}
