package coppice.identity;

import java.util.UUID;

/// The id of a [User], a UUID on the wire and in the store.
public record UserId(UUID uuid) {

    static UserId random() {
        return new UserId(UUID.randomUUID());
    }

    /// Reads an id that the store gave out.
    static UserId stored(String text) {
        return new UserId(UUID.fromString(text));
    }

    @Override
    public String toString() {
        return uuid.toString();
    }
}
