package coppice.ssh;

import java.util.Map;
import java.util.TreeMap;

/// What a guest's shell is told to become for what a client asks for.
final class Scripts {
    private static final String LOGIN_SHELL = "exec \"$SHELL\" -l";

    /// Where distributions put it.
    private static final String SFTP =
            """
            for server in /usr/lib/openssh/sftp-server /usr/lib/ssh/sftp-server /usr/libexec/openssh/sftp-server \
            /usr/libexec/sftp-server /usr/lib/sftp-server; do
              [ -x "$server" ] && exec "$server"
            done
            echo 'This VM has no sftp-server. Install one (Debian: openssh-sftp-server), or copy with: ssh ... "cat > file" < file' >&2
            exit 127""";

    private Scripts() {}

    static String loginShell() {
        return LOGIN_SHELL;
    }

    /// As a server in the guest would run it: by the user's own shell.
    static String command(String line) {
        return "exec \"$SHELL\" -c " + quoted(line);
    }

    static String sftp() {
        return SFTP;
    }

    /// For a terminal, whose environment is set in its shell.
    static String onTerminal(Map<String, String> environment, String script) {
        var text = new StringBuilder();
        new TreeMap<>(environment)
                .forEach(
                        (name, value) ->
                                text.append("export %s=%s\n".formatted(name, quoted(value))));
        return text.append("SSH_TTY=$(tty 2>/dev/null) && export SSH_TTY || unset SSH_TTY\n")
                .append(script)
                .toString();
    }

    static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
