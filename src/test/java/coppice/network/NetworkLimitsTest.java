package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class NetworkLimitsTest {
    private static final AccountId ADA = AccountId.random();
    private static final AccountId BOB = AccountId.random();
    private static final NetworkLimits FEW = new NetworkLimits(5, 3, 3, Optional.empty());

    @TempDir private Path directory;
    private GivenNetworks given;

    private Networks open() {
        given = new GivenNetworks(directory, FEW);
        return given.networks();
    }

    @AfterEach
    void close() {
        given.close();
    }

    private static void assertRefused(Code code, Executable act) {
        assertEquals(code, assertThrows(Failure.class, act).code());
    }

    @Test
    void rulesThatNameWhatIsAbsentOrAreTooManyLeaveNothing() {
        var networks = open();
        var absent = Ends.rule(Matcher.BARE, Ends.of(GivenNetworks.member()));
        var fine = Ends.rule(Matcher.BARE, Matcher.INTERNET);
        var tooMany = List.of(fine, fine, fine, fine, fine, fine);
        var wanted = GivenNetworks.wanted("net");
        assertRefused(
                Code.NOT_FOUND, () -> networks.createVpc(ADA, wanted.with(List.of(fine, absent))));
        assertRefused(Code.CONFLICT, () -> networks.createVpc(ADA, wanted.with(tooMany)));
        assertRefused(
                Code.NOT_FOUND,
                () -> given.join(ADA, GivenNetworks.member(), Optional.empty(), fine, absent));
        assertRefused(
                Code.CONFLICT,
                () ->
                        given.join(
                                ADA,
                                GivenNetworks.member(),
                                Optional.empty(),
                                tooMany.toArray(NewRule[]::new)));
        assertEquals(AccountNetworks.NONE, networks.of(ADA));
        given.requireKept(ADA, BOB);
    }

    @Test
    void theLimitOfRulesCountsThoseOfCreatesAndIsOfOneAccount() {
        var networks = open();
        var fine = Ends.rule(Matcher.BARE, Matcher.INTERNET);
        var vpc = networks.createVpc(ADA, GivenNetworks.wanted("net").with(List.of(fine, fine)));
        given.join(ADA, GivenNetworks.member(), Optional.empty(), fine, fine);
        var rule = Ends.rule(Matcher.INTERNET, Ends.of(vpc.vpc().id()));
        networks.createRule(ADA, rule);
        assertRefused(Code.CONFLICT, () -> networks.createRule(ADA, rule));
        assertRefused(
                Code.CONFLICT,
                () -> given.join(ADA, GivenNetworks.member(), Optional.empty(), fine));
        given.join(ADA, GivenNetworks.member(), Optional.empty());
        given.join(BOB, GivenNetworks.member(), Optional.empty(), fine);
        networks.deleteRule(ADA, vpc.rules().getFirst().id().text());
        networks.createRule(ADA, rule);
        assertEquals(5, networks.of(ADA).rules().size());
    }

    @Test
    void theLimitOfNetworksIsOfOneAccount() {
        var networks = open();
        for (int i = 0; i < 3; i++) {
            given.vpc(ADA, "net-" + i);
        }
        assertRefused(Code.CONFLICT, () -> given.vpc(ADA, "more"));
        given.vpc(BOB, "net");
        networks.deleteVpc(ADA, "net-1");
        given.vpc(ADA, "more");
    }

    @Test
    void aCreateWhoseUnitFailsLeavesNothing() {
        var networks = open();
        var vpc = given.vpc(ADA, "net");
        var before = networks.of(ADA);
        var wanted =
                new NewNic(
                        Optional.of(GivenNetworks.place(vpc)),
                        List.of(Ends.rule(Matcher.BARE, Matcher.INTERNET)));
        assertRefused(
                Code.UNAVAILABLE,
                () ->
                        networks.join(
                                ADA, GivenNetworks.member(), 1, wanted, NetworkLimitsTest::broken));
        assertEquals(before, networks.of(ADA));
        given.requireKept(ADA, BOB);
    }

    private static String broken(Consumer<Handle> part) {
        throw new Failure(Code.UNAVAILABLE, "the disk is full, so nothing comes of " + part);
    }

    @Test
    void createsAtTheSameTimeKeepLimitsSlugsAndAddresses() throws InterruptedException {
        var networks = open();
        assertEquals(1, atOnce(() -> given.vpc(ADA, "net")));
        var vpc = networks.vpc(ADA, "net").orElseThrow();
        assertEquals(
                5,
                atOnce(
                        () ->
                                networks.createRule(
                                        ADA, Ends.rule(Matcher.INTERNET, Ends.of(vpc.id())))));
        assertEquals(
                2,
                atOnce(
                        () ->
                                networks.createVpc(
                                        ADA,
                                        GivenNetworks.wanted(Optional.empty(), Optional.empty()))));
        assertEquals(
                1,
                atOnce(
                        () -> {
                            var wanted = new Wanted.Exactly(vpc.cidr().first().plus(200));
                            var place = GivenNetworks.place(vpc, wanted);
                            return given.join(ADA, GivenNetworks.member(), Optional.of(place));
                        }));
        assertEquals(16, atOnce(() -> given.memberOf(ADA, vpc)));
        var places = networks.of(ADA).members(vpc.id()).flatMap(nic -> nic.membership().stream());
        assertEquals(34, places.flatMap(Membership::addresses).distinct().count());
        given.requireKept(ADA, BOB);
    }

    /// How many of sixteen are not refused.
    private static int atOnce(Callable<?> act) throws InterruptedException {
        var go = new CountDownLatch(1);
        int done = 0;
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var tasks = new ArrayList<Future<?>>();
            for (int i = 0; i < 16; i++) {
                tasks.add(
                        threads.submit(
                                () -> {
                                    go.await();
                                    return act.call();
                                }));
            }
            go.countDown();
            for (var task : tasks) {
                try {
                    task.get();
                    done++;
                } catch (ExecutionException e) {
                    assertEquals(Code.CONFLICT, ((Failure) e.getCause()).code());
                }
            }
        }
        return done;
    }
}
