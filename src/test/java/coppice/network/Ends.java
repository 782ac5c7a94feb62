package coppice.network;

import coppice.base.Cidr;
import java.util.Optional;

/// Ends of rules that say one thing.
public final class Ends {
    private Ends() {}

    public static Matcher of(MemberId vm) {
        return Matcher.BARE.meaning(vm);
    }

    public static Matcher of(VpcId vpc) {
        return Matcher.BARE.meaning(vpc);
    }

    public static Matcher of(TunnelId tunnel) {
        return new Matcher(
                Optional.empty(),
                Optional.empty(),
                Optional.of(tunnel),
                Optional.empty(),
                false,
                Optional.empty(),
                Optional.empty());
    }

    public static Matcher of(Cidr cidr) {
        return new Matcher(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(cidr),
                false,
                Optional.empty(),
                Optional.empty());
    }

    public static NewRule rule(Matcher source, Matcher destination) {
        return new NewRule(source, destination, Optional.empty());
    }
}
