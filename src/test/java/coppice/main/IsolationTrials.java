package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Wait;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

/// Calls that name what is another account's and calls that name what never was, side by side.
///
/// @param accounts those whose things must not be seen by each other
record IsolationTrials(
        Installation installation,
        PublishedDocument document,
        List<IsolationAccount> accounts,
        Random random) {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String LATER = "x-svc-background-after-secs";
    private static final int OPENED = 101;
    private static final int ACCEPTED = 202;

    /// Two calls that differ in one name only.
    ///
    /// @param foreign the one that names what is another's
    record Pair(IsolationCall foreign, IsolationCall never) {}

    /// Everything of the victim that can be named there is asked for by the caller and by one of its identities.
    void at(IsolationPlace place, IsolationAccount caller, IsolationAccount victim) {
        var identity = caller.identities().get(random.nextInt(caller.identities().size()));
        for (var name : names(place, victim)) {
            compare(caller, caller.owner(), place, pair(place, name, caller, caller));
            if (place.operation().parameters() > 1) {
                compare(caller, caller.owner(), place, pair(place, name, caller, victim));
            }
            compare(caller, identity, place, pair(place, name, caller, any(caller, victim)));
        }
    }

    private IsolationAccount any(IsolationAccount one, IsolationAccount other) {
        return random.nextBoolean() ? one : other;
    }

    /// Two calls of the caller, one of which names something of the victim's.
    Pair pair(IsolationPlace place, IsolationAccount caller, IsolationAccount victim) {
        var names = names(place, victim);
        var name = names[random.nextInt(names.length)];
        return pair(place, name, caller, any(caller, victim));
    }

    /// Whoever does a create once has used the key for it, too, so that it must be another one each time.
    private static IsolationName[] names(IsolationPlace place, IsolationAccount victim) {
        return place.kind() == IsolationKind.ONCE
                ? new IsolationName[] {victim.once()}
                : victim.things().all(place.kind());
    }

    /// What an identity has no right to is absent for it, too, though it is its own account's.
    void ungranted(IsolationPlace place, IsolationAccount account) {
        var nobody = account.identities().getLast();
        for (var name : account.things().all(place.kind())) {
            compare(account, nobody, place, pair(place, name, account, account));
        }
    }

    /// @param others whose are the other things that have to be named
    private Pair pair(
            IsolationPlace place,
            IsolationName name,
            IsolationAccount caller,
            IsolationAccount others) {
        var chosen = new HashMap<String, IsolationName>();
        Function<IsolationPlace, IsolationName> choice =
                other ->
                        chosen.computeIfAbsent(
                                other.in() + other.at(), _ -> other(place, other, caller, others));
        return new Pair(
                IsolationCall.of(document, place, name, choice),
                IsolationCall.of(document, place, name.other(random), choice));
    }

    private IsolationName other(
            IsolationPlace about,
            IsolationPlace place,
            IsolationAccount caller,
            IsolationAccount others) {
        boolean isChange = about.operation().method().equals("PATCH");
        var spare = caller.things().spare(place.kind()).filter(_ -> isChange);
        if (spare.isPresent()) {
            return spare.get();
        }
        if (about.kind() == IsolationKind.ONCE && place.kind() == IsolationKind.VM) {
            return caller.own(place.kind()).other(random); // or there would be copies of it
        }
        return (about.kind().isFree() ? caller : others).own(place.kind());
    }

    /// The same, where both go on in the background.
    void later(IsolationPlace place, IsolationAccount caller, IsolationAccount victim) {
        var pair = pair(place, caller, victim);
        var foreign = settled(caller, pair.foreign());
        assertEquals(settled(caller, pair.never()).seen(), foreign.seen(), foreign::toString);
        requireNothingOfOthers(caller, foreign);
    }

    private IsolationAnswer settled(IsolationAccount caller, IsolationCall call) {
        var answer = caller.owner().send(call.with(LATER, "0"));
        if (answer.status() != ACCEPTED) {
            return answer;
        }
        var poll =
                new IsolationCall(
                        document.operation("pollBackgroundRequest"),
                        "/v5/background-requests/" + answer.json().get("requestId").asString(),
                        Map.of(),
                        new byte[0],
                        call.sent());
        Wait.until(
                PATIENCE,
                () -> caller.owner().send(poll).status() != ACCEPTED,
                () -> answer + " goes on");
        return caller.owner().send(poll);
    }

    private void compare(
            IsolationAccount caller, IsolationCaller by, IsolationPlace place, Pair pair) {
        boolean isFirst = random.nextBoolean();
        var first = by.send(isFirst ? pair.foreign() : pair.never());
        undo(caller, first);
        var second = by.send(isFirst ? pair.never() : pair.foreign());
        undo(caller, second);
        var foreign = isFirst ? first : second;
        var never = isFirst ? second : first;
        boolean isRead = place.operation().method().equals("GET");
        boolean isNew = foreign.isDone() && place.kind().isFree() && !isRead;
        assertEquals(
                isNew ? never.seenOfNew() : never.seen(),
                isNew ? foreign.seenOfNew() : foreign.seen(),
                () -> "%s, as %s:\n%s\n%s".formatted(place, by.who(), foreign, never));
        requireNothingOfOthers(caller, foreign);
        requireNothingOfOthers(caller, never);
    }

    /// That an answer shows nothing of any other account, save what its caller has named.
    void requireNothingOfOthers(IsolationAccount caller, IsolationAnswer answer) {
        for (var other : accounts) {
            if (other != caller) {
                assertEquals(
                        List.of(),
                        other.things().in(answer.seen()),
                        () ->
                                "seen by %s of %s: %s"
                                        .formatted(caller.slug(), other.slug(), answer));
            }
        }
    }

    /// Leaves nothing of what a call has made or changed, so that it can be made again.
    private static void undo(IsolationAccount caller, IsolationAnswer answer) {
        var operation = answer.call().operation();
        if (answer.status() == OPENED) {
            closeNew(caller);
            return;
        }
        if (!answer.isDone() || operation.method().equals("GET")) {
            return;
        }
        var client = caller.client();
        var path = answer.call().target().replaceAll("\\?.*", "");
        if (operation.id().matches("update(Vm|Snapshot|Vpc|Tunnel)(Unversioned)?")) {
            client.patch(path, "{\"slug\":\"\"}").expect(200);
            return;
        }
        var files = "/v5/vms/%s/fs/remove?path=".formatted(caller.vm());
        if (operation.id().matches("(writeFile|makeDirectory|legacyWriteFile).*")) {
            answer.call().sent().stream()
                    .filter(name -> name.text().startsWith("/"))
                    .forEach(name -> client.delete(files + name.text()).expect(204));
            return;
        }
        for (var field : List.of("id", "uploadId", "snapshotId")) {
            var made = answer.json().path(field).asString("");
            if (!made.isEmpty()) {
                var all = field.equals("snapshotId") ? "/v5/snapshots" : path;
                var gone = client.delete(all + "/" + made);
                assertEquals(2, gone.status() / 100, () -> answer + " is not undone: " + gone);
                return;
            }
        }
    }

    /// Ends all terminals but the first.
    private static void closeNew(IsolationAccount caller) {
        var sessions = "/v5/vms/%s/pty/sessions".formatted(caller.vm());
        for (var session : caller.client().get(sessions).expect(200).requiredObjects("sessions")) {
            long id = session.requiredInteger("sessionId");
            if (id > 1) {
                caller.client().delete(sessions + "/" + id).expect(200);
            }
        }
    }
}
