package coppice.identity;

/// Who makes a request, once the credential is checked: with full rights on this account.
public record Caller(AccountId account) {}
