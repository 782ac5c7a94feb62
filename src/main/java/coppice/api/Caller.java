package coppice.api;

import java.util.UUID;

/// Who is calling: an account with full rights over what is its own.
public record Caller(UUID account) {}
