package coppice.dns;

/// What a [Resolver] has done since it started.
///
/// @param queries that came, whatever became of them
/// @param local answered from local names
/// @param cached answered from the cache
/// @param forwarded questions that were put upstream; those that waited for the same one are not counted again
/// @param failed answered that it failed
/// @param refused answered with what is wrong with the query or with who asks
/// @param dropped datagrams that got no answer, or over the limit only the word to come by TCP; connections closed by a limit
public record ResolverCounts(
        long queries,
        long local,
        long cached,
        long forwarded,
        long failed,
        long refused,
        long dropped) {}
