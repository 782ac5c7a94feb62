package coppice.identity;

/// Whose an access token of a sign-in is.
///
/// @param session the id of the sign-in that it comes from, which is no secret
public record SignedIn(UserId user, String session) {}
