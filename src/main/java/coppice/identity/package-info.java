/// Who may call: accounts, their API keys, users who sign in and act as the accounts that they are members of, identities with access
/// tokens and grants, and the caller that a credential stands for.
///
/// Of a key or token only the SHA-256 of its secret part is stored, of a password a slow hash. Every look-up but the one by credential
/// names the account it is for, or the user. Start with [coppice.identity.ApiKeys#authenticate], then [coppice.identity.Identities] and
/// [coppice.identity.VmGrants]; of signing in with [coppice.identity.SignIns], [coppice.identity.Sessions] and [coppice.identity.Teams].
package coppice.identity;
