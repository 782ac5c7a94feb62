package coppice.background;

import coppice.http.Headers;

/// What came of a request, apart from its body.
///
/// @param length of the body
record Result(int status, Headers headers, long length) {}
