package coppice.api;

import coppice.base.Code;

/// A documented way for an operation to fail.
public record Outcome(Code code, String when) {}
