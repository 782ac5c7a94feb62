package coppice.identity;

import java.time.Instant;
import java.util.Optional;

/// A person who signs in, and then acts as one of the accounts that it is a member of.
///
/// @param name how it is called among people
public record User(UserId id, Email email, Optional<String> name, Instant createdAt) {}
