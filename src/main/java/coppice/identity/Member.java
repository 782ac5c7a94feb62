package coppice.identity;

/// A user as one of its accounts sees it.
public record Member(Account account, User user, Role role) {}
