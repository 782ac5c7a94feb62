package coppice.ssh;

import java.util.Map;
import java.util.Optional;

/// The signals that SSH has names for (RFC 4254, 6.10), by their numbers in Linux.
final class Signals {
    private static final Map<String, Integer> NUMBERS =
            Map.ofEntries(
                    Map.entry("HUP", 1),
                    Map.entry("INT", 2),
                    Map.entry("QUIT", 3),
                    Map.entry("ILL", 4),
                    Map.entry("ABRT", 6),
                    Map.entry("FPE", 8),
                    Map.entry("KILL", 9),
                    Map.entry("USR1", 10),
                    Map.entry("SEGV", 11),
                    Map.entry("USR2", 12),
                    Map.entry("PIPE", 13),
                    Map.entry("ALRM", 14),
                    Map.entry("TERM", 15));

    /// As OpenSSH calls those that have none.
    private static final String OTHER = "SIG@openssh.com";

    private Signals() {}

    static Optional<Integer> number(String name) {
        return Optional.ofNullable(NUMBERS.get(name));
    }

    static String name(int number) {
        return NUMBERS.entrySet().stream()
                .filter(entry -> entry.getValue() == number)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(OTHER);
    }
}
