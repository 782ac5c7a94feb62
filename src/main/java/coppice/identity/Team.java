package coppice.identity;

/// An account as one of its members sees it. It has the account's id.
///
/// @param role that of the member
public record Team(Account account, Role role) {}
