package coppice.network;

import coppice.identity.AccountId;
import coppice.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Rules as the API answers them.
public final class ReadRules {
    private ReadRules() {}

    /// Whose they are and how old is not looked at.
    public static List<Rule> of(List<JsonObject> answered) {
        return answered.stream()
                .map(
                        rule ->
                                new Rule(
                                        new RuleId(rule.requiredString("id")),
                                        AccountId.random(),
                                        MatcherJson.read(rule.requiredObject("source")),
                                        MatcherJson.read(rule.requiredObject("destination")),
                                        Optional.empty(),
                                        Instant.EPOCH))
                .toList();
    }
}
