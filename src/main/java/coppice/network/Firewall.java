package coppice.network;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The one procedure that decides about connections. The packet path follows it step by step.
public final class Firewall {
    /// Where mail is handed in. Closed towards public addresses, so that nobody sends unsolicited mail from here.
    public static final Set<Integer> MAIL_PORTS = Set.of(25, 465, 587);

    private Firewall() {}

    /// @param rules of the account, oldest first
    /// @param protocol absent: not known
    public static Verdict evaluate(
            List<Rule> rules, Party source, Party destination, Optional<Protocol> protocol) {
        if (source.isPlatform() || destination.isPlatform()) {
            return new Verdict.AllowedByPlatform(
                    !destination.isPlatform()
                            ? Verdict.Side.SOURCE
                            : source.isPlatform() ? Verdict.Side.BOTH : Verdict.Side.DESTINATION);
        }
        if (destination.isPublic().orElse(false)
                && destination.port().filter(MAIL_PORTS::contains).isPresent()
                && protocol.orElse(Protocol.TCP) == Protocol.TCP) {
            return new Verdict.DeniedAsMail();
        }
        for (var rule : rules) {
            if (source.satisfies(rule.source(), protocol)
                    && destination.satisfies(rule.destination(), protocol)) {
                return new Verdict.AllowedByRule(rule.id());
            }
        }
        return new Verdict.Denied();
    }
}
