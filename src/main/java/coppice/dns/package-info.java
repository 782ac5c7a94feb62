/// The resolver that guests ask: names of their own networks, and everything else by asking the host's nameservers.
///
/// A query comes with the address of who asks; which VM that is, and what names it knows, say the [LocalNames] of whoever starts the
/// resolver. A name of one label, one below `internal` and the reverse of a private address never leave the host. The rest is asked
/// upstream once for all who ask at the same time, and kept for as long as its records live.
///
/// Every byte from a guest and every byte from upstream is hostile: what it may cost is bounded by [ResolverSettings], and no answer
/// from outside names an address inside. Start with [Resolver]; [Answering] has the order of decisions.
package coppice.dns;
