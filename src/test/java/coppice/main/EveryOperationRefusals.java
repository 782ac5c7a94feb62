package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;

/// What operations refuse whatever they do: that, too, is as the document says.
///
/// @param caller at no family's paths
/// @param stranger who has the access token of an identity that may use nothing
record EveryOperationRefusals(EveryOperationCaller caller, EveryOperationCaller stranger) {
    private static final String ABSENT = "never-was";

    static EveryOperationRefusals of(EveryOperationCaller caller) {
        var identity = caller.done("POST /v5/identities").text("id");
        var token = caller.done("POST /v5/identities/" + identity + "/tokens").text("token");
        return new EveryOperationRefusals(caller, caller.withToken(token));
    }

    void call(PublishedOperation operation) {
        if (operation.family() == PublishedOperation.Family.OPEN) {
            return;
        }
        var call = operation.method() + " " + operation.pathOf(ABSENT);
        for (var nobody :
                new EveryOperationCaller[] {
                    caller.withKey(""), caller.withKey("nonsense"), caller.withToken("nonsense")
                }) {
            require(401, nobody, call, "");
        }
        require(401, caller.with("X-Svc-Team-Id", "team"), call, "");
        require(400, caller.with("X-Svc-Team-Id", "no team"), call, "");
        if (operation.codes(403).contains("FORBIDDEN")) {
            // Where an identity may call at all, what it may not use is as absent as what never
            // was.
            var answer = stranger.answer(call, new byte[0]);
            assertTrue(Set.of(403, 404).contains(answer.status()), answer::toString);
        }
        if (operation.takesJson()) {
            require(400, caller, call, "[]");
            require(415, caller.with("Content-Type", "text/plain"), call, "{}");
        }
        if (operation.hasQuery("limit")) {
            require(400, caller, call + "?limit=all", "");
        }
        if (operation.parameters() > 0) {
            require(operation.isUpgrade() ? 426 : 404, caller, call, "{}");
        }
    }

    private static void require(int status, EveryOperationCaller by, String call, String body) {
        var answer = by.answer(call, body.getBytes(UTF_8));
        assertEquals(status, answer.status(), answer::toString);
    }
}
