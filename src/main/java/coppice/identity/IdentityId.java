package coppice.identity;

import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/// The id of an [Identity], a UUID on the wire and in the store.
public record IdentityId(UUID uuid) {
    private static final Pattern FORM =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    static IdentityId random() {
        return new IdentityId(UUID.randomUUID());
    }

    /// Empty if the text is the id of no identity. Ids are case-sensitive.
    static Optional<IdentityId> parse(String text) {
        return FORM.matcher(text).matches()
                ? Optional.of(new IdentityId(UUID.fromString(text)))
                : Optional.empty();
    }

    /// Reads an id that the store gave out.
    public static IdentityId stored(String text) {
        return new IdentityId(UUID.fromString(text));
    }

    @Override
    public String toString() {
        return uuid.toString();
    }
}
