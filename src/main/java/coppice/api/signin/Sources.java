package coppice.api.signin;

import coppice.api.Call;
import coppice.identity.Source;
import java.net.InetAddress;
import java.util.Optional;
import java.util.Set;

/// Tells where a call comes from: from the other end of its connection, or from where a proxy that is trusted says.
///
/// @param proxies whose `X-Forwarded-For` is believed; of several addresses in it, only the last is what that proxy has seen
public record Sources(Set<InetAddress> proxies) {
    private static final String FORWARDED = "X-Forwarded-For";

    public Sources {
        proxies = Set.copyOf(proxies);
    }

    /// Empty where it cannot be told: everybody is let through who may come from anywhere.
    Optional<Source> of(Call call) {
        return call.peer()
                .flatMap(peer -> proxies.contains(peer) ? forwarded(call) : Optional.of(peer))
                .flatMap(Source::of);
    }

    private static Optional<InetAddress> forwarded(Call call) {
        var all = String.join(",", call.headers().all(FORWARDED));
        return address(all.substring(all.lastIndexOf(',') + 1).strip());
    }

    private static Optional<InetAddress> address(String text) {
        try {
            return Optional.of(InetAddress.ofLiteral(text));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }
}
