/// Who may call: accounts, their API keys, and the caller that a credential stands for.
///
/// Of a key only the SHA-256 of its secret part is stored. Every look-up but the one by credential names the account it is for.
/// Start with [coppice.identity.ApiKeys#authenticate], then [coppice.identity.Accounts].
package coppice.identity;
