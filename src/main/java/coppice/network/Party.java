package coppice.network;

import coppice.base.IpAddress;
import java.util.List;
import java.util.Optional;

/// All that is known about one end of a connection. What is not known satisfies nothing.
///
/// @param isPlatform whether it is the service's own proxy
/// @param vm as it was said: it may be nobody's
/// @param isPublic whether its address is publicly routable; absent: not known
public record Party(
        boolean isPlatform,
        Optional<MemberId> vm,
        List<VpcId> vpcs,
        Optional<TunnelId> tunnel,
        Optional<IpAddress> address,
        Optional<Boolean> isPublic,
        Optional<Integer> port) {
    public static final Party PLATFORM =
            new Party(
                    true,
                    Optional.empty(),
                    List.of(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty());

    public Party {
        vpcs = List.copyOf(vpcs);
    }

    boolean satisfies(Matcher matcher, Optional<Protocol> protocol) {
        return (matcher.vm().isEmpty() || matcher.vm().equals(vm))
                && (matcher.vpc().isEmpty() || vpcs.contains(matcher.vpc().get()))
                && (matcher.tunnel().isEmpty() || matcher.tunnel().equals(tunnel))
                && (!matcher.isPublic() || isPublic.orElse(false))
                && (matcher.port().isEmpty() || matcher.port().equals(port))
                && (matcher.protocol().isEmpty() || matcher.protocol().equals(protocol))
                && (matcher.cidr().isEmpty()
                        || address.isPresent() && matcher.cidr().get().contains(address.get()));
    }
}
