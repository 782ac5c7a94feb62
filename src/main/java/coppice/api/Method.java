package coppice.api;

/// The HTTP methods that operations have. HEAD is served by GET.
public enum Method {
    GET,
    POST,
    PUT,
    PATCH,
    DELETE
}
