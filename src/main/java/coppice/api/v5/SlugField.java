package coppice.api.v5;

import coppice.base.Slug;
import coppice.json.JsonObject;
import java.util.Optional;
import java.util.function.Predicate;

/// The slug of a thing in request bodies.
final class SlugField {
    private static final String NAME = "slug";

    private SlugField() {}

    /// The slug after a create or an update: not sent, it stays; empty clears it.
    ///
    /// @param isReserved what paths take for something else
    /// @param reserved what that is, for people
    static Optional<Slug> read(
            JsonObject body, Optional<Slug> before, Predicate<String> isReserved, String reserved) {
        var sent = body.string(NAME);
        if (sent.isEmpty()) {
            return before;
        }
        var text = sent.get();
        if (isReserved.test(text)) {
            throw body.fault(NAME, "must not %s; choose another one".formatted(reserved));
        }
        return text.isEmpty() ? Optional.empty() : Optional.of(Slug.parse(NAME, text));
    }
}
