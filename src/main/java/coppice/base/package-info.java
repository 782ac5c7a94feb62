/// What every package shares and nothing more: failures and their codes, deadlines, sizes, ids, undo of half-done work, secrets.
/// No I/O. A type belongs here only when three packages use it. Start with [coppice.base.Failure].
package coppice.base;
