package coppice.identity;

import java.util.UUID;

/// The id of an [Account], a UUID on the wire and in the store.
public record AccountId(UUID uuid) {

    public static AccountId random() {
        return new AccountId(UUID.randomUUID());
    }

    /// Reads an id that the store gave out.
    public static AccountId stored(String text) {
        return new AccountId(UUID.fromString(text));
    }

    @Override
    public String toString() {
        return uuid.toString();
    }
}
