package coppice.api;

import coppice.base.Failure;
import coppice.json.JsonWriter;
import java.util.Optional;

/// The path families: where an operation is served, and how its errors look.
public enum Family {
    /// `/v5/X`, the main one.
    V5("/v5"),
    /// `/X`: the same handler as `/v5/X`, with deprecation headers.
    UNVERSIONED(""),
    /// `/v1/X` and other old paths, with shapes of their own.
    LEGACY(""),
    /// `/status`, `/openapi.json` and what people sign in by: no account's credential, no version.
    OPEN(""),
    /// For whoever runs this installation: no account's credential but one of its own, no version, and no part of the OpenAPI document.
    OPERATOR("");

    private final String prefix;

    Family(String prefix) {
        this.prefix = prefix;
    }

    public String prefix() {
        return prefix;
    }

    public boolean isDeprecated() {
        return this == UNVERSIONED;
    }

    /// Whether an account must be calling.
    boolean needsCredential() {
        return this != OPEN && this != OPERATOR;
    }

    boolean isDocumented() {
        return this != OPERATOR;
    }

    /// The error body; `message` instead of the failure's own where that one must not be shown.
    JsonWriter errorBody(Failure failure, String message) {
        var code = failure.code().name();
        var body = new JsonWriter().put("code", code).put("message", message);
        if (this == LEGACY) {
            body.put("error", code).put("description", message);
        }
        failure.details()
                .forEach(
                        (name, value) -> {
                            if (value instanceof Optional<?> detail) {
                                body.putOrNull(name, detail); // the contract says "or null" of it
                            } else {
                                body.put(name, value);
                            }
                        });
        return body;
    }
}
