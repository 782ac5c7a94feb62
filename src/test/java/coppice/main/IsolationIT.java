package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Accounts that share a server and know nothing of each other. Each has something of every kind; then every operation is asked, wherever
/// it takes the name of something, for what is another's.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IsolationIT {
    private static final int ACCOUNTS = 3;

    private static final String OPERATOR = "operator-".repeat(4);

    /// One account comes near to these, all accounts together are beyond them.
    private static final Map<String, String> LIMITS =
            Map.of(
                    "COPPICE_METRICS_TOKEN", OPERATOR,
                    "COPPICE_VM_MAX_TOTAL", "5",
                    "COPPICE_VM_MAX_RUNNING", "3",
                    "COPPICE_SNAPSHOT_MAX_TOTAL", "4",
                    "COPPICE_NETWORK_MAX_RULES", "5",
                    "COPPICE_NETWORK_MAX_VPCS", "5",
                    "COPPICE_NETWORK_MAX_TUNNELS", "5");

    private static final int DEFERRED = 40;
    private static final int TIMED = 2; // of each kind

    /// What would wake a VM, wait for it or look into its files, if it were the caller's.
    private static final List<String> MEETING_A_VM =
            List.of("execAwait", "readFile", "startVm", "takeSnapshot", "forkVm", "deleteVm");

    private final Random random = Seed.random(IsolationIT.class);
    @AutoClose private Installation installation;
    private PublishedDocument document;
    private List<IsolationAccount> accounts;
    private IsolationTrials trials;

    @BeforeAll
    void start() throws InterruptedException, ExecutionException {
        var seeds = random.longs(ACCOUNTS).toArray();
        installation = Installation.start(LIMITS);
        var text = installation.clientWithKey("").get("/openapi.json").response().body();
        document = PublishedDocument.parse(new String(text, UTF_8));
        accounts =
                AtOnce.call(
                        ACCOUNTS, i -> new IsolationAccount(installation, new Random(seeds[i])));
        trials = new IsolationTrials(installation, document, accounts, random);
        for (var account : accounts) {
            var things = account.things();
            new IsolationPicture(document, account, true).take(it -> things.note(it.body()));
            var base = account.client().get("/v5/snapshots/svc%2Fbusybox").response().body();
            things.publish(new String(base, UTF_8));
        }
    }

    private Map<IsolationAccount, Map<String, String>> pictures(
            List<IsolationAccount> of, boolean withGone) {
        return of.stream()
                .collect(
                        Collectors.toMap(
                                account -> account, account -> picture(account, withGone)));
    }

    private Map<String, String> picture(IsolationAccount account, boolean withGone) {
        return new IsolationPicture(document, account, withGone)
                .take(answer -> trials.requireNothingOfOthers(account, answer));
    }

    /// That nothing is different from what it was then.
    private void requireSame(Map<IsolationAccount, Map<String, String>> before, boolean withGone) {
        var after = pictures(List.copyOf(before.keySet()), withGone);
        before.forEach(
                (account, calls) -> {
                    calls.forEach((call, answer) -> requireSame(call, answer, after.get(account)));
                    assertEquals(calls.keySet(), after.get(account).keySet());
                });
    }

    private static void requireSame(String call, String answer, Map<String, String> after) {
        assertEquals(answer, after.get(call), call);
    }

    /// Two accounts that differ.
    private List<IsolationAccount> two() {
        var first = random.nextInt(ACCOUNTS);
        var second = (first + random.nextInt(1, ACCOUNTS)) % ACCOUNTS;
        return List.of(accounts.get(first), accounts.get(second));
    }

    @Test
    void whatIsAnothersIsNeitherSeenNorChangedAndAnsweredAsWhatNeverWas() {
        var before = pictures(accounts, false);
        var measured = measured();
        var places = IsolationPlace.all(document);
        assertTrue(places.size() > 200, () -> "only " + places);
        assertAll(
                places.stream()
                        .map(
                                place ->
                                        () -> {
                                            var two = two();
                                            trials.at(place, two.getFirst(), two.getLast());
                                        }));
        requireSame(before, false);
        assertEquals(measured, measured());
    }

    /// What is measured of whom, without the values, which change by themselves.
    private List<String> measured() {
        var text = installation.clientWithKey(OPERATOR).get("/metrics").response().body();
        var lines = new String(text, UTF_8).lines().filter(line -> line.contains("account=\""));
        var series = lines.map(line -> line.replaceAll(" [^ ]*$", "")).sorted().toList();
        assertTrue(series.size() > ACCOUNTS, series::toString);
        accounts.forEach(account -> assertEquals(401, account.client().get("/metrics").status()));
        return series;
    }

    @Test
    void whatAnIdentityHasNoRightToIsAnsweredAsWhatNeverWas() {
        var before = pictures(accounts, false);
        assertAll(
                IsolationPlace.all(document).stream()
                        .filter(
                                place ->
                                        place.kind() == IsolationKind.VM
                                                || place.kind() == IsolationKind.BACKGROUND)
                        .map(place -> () -> trials.ungranted(place, two().getFirst())));
        requireSame(before, false);
    }

    @Test
    void whatGoesOnInTheBackgroundIsAnsweredThereAsWhatNeverWas() {
        var places =
                IsolationPlace.all(document).stream()
                        .filter(place -> !place.kind().isFree() && !place.operation().isUpgrade())
                        .collect(Collectors.toCollection(ArrayList::new));
        Collections.shuffle(places, random);
        for (var place : places.subList(0, DEFERRED)) {
            var two = two();
            trials.later(place, two.getFirst(), two.getLast());
        }
    }

    /// The one thing that is promised to be found out.
    @Test
    void thatAPublicKeyIsTakenIsAllThatIsToldOfItsTunnel() {
        var caller = two().getFirst();
        for (var victim : accounts) {
            if (victim != caller) {
                var tunnel = "/v5/tunnels/" + victim.own(IsolationKind.TUNNEL).text();
                var key = victim.client().get(tunnel).expect(200).requiredString("clientPublicKey");
                var answer = caller.owner().send(withPublicKey(key, caller));
                assertEquals(409, answer.status(), answer::toString);
                trials.requireNothingOfOthers(caller, answer);
            }
        }
    }

    private IsolationCall withPublicKey(String key, IsolationAccount caller) {
        var place =
                new IsolationPlace(
                        document.operation("createTunnel"),
                        IsolationPlace.In.BODY,
                        "clientPublicKey",
                        IsolationKind.TUNNEL);
        return IsolationCall.of(
                document, place, IsolationName.of(key), other -> caller.own(other.kind()));
    }

    @Test
    void whatAnotherMakesAndDeletesIsNotCounted() {
        var maker = two().getFirst();
        var others = accounts.stream().filter(account -> account != maker).toList();
        var before = pictures(others, true);
        var made = maker.more();
        requireSame(before, true);
        for (var path : made) {
            assertEquals(204, maker.client().delete(path).status(), path);
        }
        requireSame(before, true);
    }

    @Test
    void aCredentialThatIsGoneIsAnsweredAsOneThatNeverWas() {
        var account = two().getFirst();
        var revoked = account.token(account.identity());
        account.client().delete(revoked.getLast()).expect(204);
        var identity = account.identity();
        var orphan = account.token(identity);
        account.client().delete(identity).expect(204);
        var key = installation.program("key", "create", "--account", account.slug()).strip();
        var keyId = key.split("-")[0];
        installation.program("key", "revoke", "--account", account.slug(), keyId);
        requireAsNever(account, token(revoked.getFirst()));
        requireAsNever(account, token(orphan.getFirst()));
        requireAsNever(account, key(key));
    }

    private IsolationCaller token(String token) {
        return IsolationCaller.withToken(installation, "a token", token);
    }

    private IsolationCaller key(String key) {
        return IsolationCaller.withKey(installation, "a key", key);
    }

    private void requireAsNever(IsolationAccount account, IsolationCaller gone) {
        var text = gone.credential().replace("Bearer ", "");
        var other = IsolationName.of(text.substring(4)).other(random).text();
        var never = gone.isIdentity() ? token("sit_" + other) : key(text.substring(0, 4) + other);
        for (var operation : document.operations()) {
            if (operation.needsCredential()) {
                var call =
                        IsolationCall.of(document, operation, place -> account.own(place.kind()));
                var answer = gone.send(call);
                assertEquals(401, answer.status(), answer::toString);
                assertEquals(never.send(call).toString(), answer.toString());
            }
        }
        var call = IsolationCall.of(document, document.operation("legacyWhoAmI"), _ -> null);
        new IsolationTimes(gone, never, random).requireAlike(new IsolationTrials.Pair(call, call));
    }

    @Test
    void whatIsAnothersTakesNoOtherTimeThanWhatNeverWas() {
        for (var kind : IsolationKind.values()) {
            var places =
                    IsolationPlace.all(document).stream()
                            .filter(place -> place.kind() == kind && !kind.isFree())
                            .collect(Collectors.toCollection(ArrayList::new));
            Collections.shuffle(places, random);
            places.stream().limit(TIMED).forEach(this::requireAlikeInTime);
        }
        for (var id : MEETING_A_VM) {
            IsolationPlace.of(document, document.operation(id)).stream()
                    .filter(place -> place.in() == IsolationPlace.In.PATH)
                    .forEach(
                            place -> {
                                for (int i = 0; i < TIMED; i++) {
                                    requireAlikeInTime(place);
                                }
                            });
        }
    }

    private void requireAlikeInTime(IsolationPlace place) {
        var two = two();
        var by = two.getFirst().owner();
        new IsolationTimes(by, by, random)
                .requireAlike(trials.pair(place, two.getFirst(), two.getLast()));
    }
}
