package coppice.json;

/// Whether a field must be there: `ALWAYS` reads "required" in a request and "always present" in a response.
public enum Presence {
    ALWAYS,
    OPTIONAL
}
