package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NetworkRecordsTest {
    private static final AccountId ADA = AccountId.random();
    private static final AccountId BOB = AccountId.random();
    private static final List<StaticRoute> ROUTES =
            List.of(
                    new StaticRoute(
                            Cidr.stored("0.0.0.0/0"),
                            IpAddress.stored("10.9.0.7"),
                            StaticRoute.MAX_METRIC),
                    new StaticRoute(
                            Cidr.stored("2001:db8::/32"), IpAddress.stored("fd00:1::7"), 0));
    private static final NewVpc WANTED =
            new NewVpc(
                    Optional.of(Cidr.stored("10.9.0.0/16")),
                    Optional.of(Cidr.stored("fd00:1::/64")),
                    Optional.of(new Slug("net")),
                    Optional.of("The network \"ä\""),
                    List.of(Ends.rule(Matcher.BARE, Matcher.BARE)));
    private static final NewRule RULE =
            new NewRule(
                    Matcher.BARE,
                    new Matcher(
                            Optional.empty(),
                            Optional.empty(),
                            Optional.empty(),
                            Optional.of(Cidr.stored("2001:db8::/32")),
                            true,
                            Optional.of(65_535),
                            Optional.of(Protocol.UDP)),
                    Optional.of("'; drop table vpcs; --\n😀\u0000"));

    @TempDir private Path directory;

    @Test
    void everythingIsReadAsItWasWritten() {
        try (var given = new GivenNetworks(directory)) {
            var vpc = given.networks().createVpc(ADA, WANTED).vpc();
            var place =
                    new NewMembership(
                            "vpcs[0]",
                            vpc.id(),
                            new Wanted.Exactly(IpAddress.stored("10.9.255.254")),
                            new Wanted.None(),
                            ROUTES);
            given.join(ADA, GivenNetworks.member(), Optional.of(place), RULE);
            given.join(BOB, GivenNetworks.member(), Optional.empty());
            given.requireKept(ADA, BOB);
            var kept = given.networks().of(ADA);
            assertEquals(Optional.of(vpc), kept.vpc("net"));
            assertEquals(
                    Ends.rule(Ends.of(vpc.id()), Ends.of(vpc.id())), said(kept.rules().getFirst()));
            var nic = kept.nics().values().iterator().next();
            assertEquals(
                    new Membership(
                            vpc.id(),
                            Optional.of(IpAddress.stored("10.9.255.254")),
                            Optional.empty(),
                            ROUTES),
                    nic.membership().orElseThrow());
            assertEquals(RULE.meaning(nic.vm()), said(kept.rules().getLast()));
        }
    }

    private static NewRule said(Rule rule) {
        return new NewRule(rule.source(), rule.destination(), rule.description());
    }
}
