package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.Locale;

/// What a user is in a team. It tells people who answers for the account; every member acts with the account's full rights.
public enum Role {
    OWNER,
    MEMBER;

    /// Reads what somebody gave as `field`; `BAD_REQUEST` if there is no such role.
    public static Role parse(String field, String text) {
        return switch (text) {
            case "owner" -> OWNER;
            case "member" -> MEMBER;
            default ->
                    throw new Failure(
                            Code.BAD_REQUEST, "%s must be owner or member".formatted(field));
        };
    }

    /// As it is on the wire and in the store.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
