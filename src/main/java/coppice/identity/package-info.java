/// Who may call: accounts, their API keys, their identities with access tokens and grants, and the caller that a credential stands for.
///
/// Of a key or token only the SHA-256 of its secret part is stored. Every look-up but the one by credential names the account it is for.
/// Start with [coppice.identity.ApiKeys#authenticate], then [coppice.identity.Identities] and [coppice.identity.VmGrants].
package coppice.identity;
