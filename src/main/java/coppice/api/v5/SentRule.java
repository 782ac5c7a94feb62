package coppice.api.v5;

import coppice.json.JsonObject;
import coppice.network.NewRule;
import java.util.Optional;

/// A rule as it was sent. Its shape is right; what it names may be absent.
record SentRule(SentEnd source, SentEnd destination, Optional<String> description) {
    private static final int MAX_DESCRIPTION = 1024;

    static SentRule read(JsonObject json) {
        json.refuseFieldsExcept("action", "source", "destination", "description");
        if (!json.requiredString("action").equals("allow")) {
            throw json.fault("action", "must be 'allow'; what no rule allows is denied");
        }
        var description = json.string("description");
        if (description.filter(text -> text.length() > MAX_DESCRIPTION).isPresent()) {
            throw json.fault(
                    "description", "must be at most %d characters".formatted(MAX_DESCRIPTION));
        }
        return new SentRule(
                SentEnd.read(json.requiredObject("source")),
                SentEnd.read(json.requiredObject("destination")),
                description);
    }

    /// With ids in place of names; `NOT_FOUND` for what is absent.
    NewRule named(Names names) {
        return new NewRule(source.named(names), destination.named(names), description);
    }
}
