package coppice.http;

/// What an answer carries. A streamed body will be a further case.
public sealed interface ResponseBody {

    record None() implements ResponseBody {}

    /// Owned by the response from here on: not to be changed by whoever made it.
    record Bytes(byte[] bytes) implements ResponseBody {}
}
