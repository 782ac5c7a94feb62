/// The durable records of this program, in one SQLite file: the truth about what users want.
///
/// Work comes in as functions over a JDBI handle. One platform thread writes and commits many such functions together, two
/// platform threads read; callers, usually virtual threads, wait for the answer. Calling SQLite from virtual threads directly
/// starves all the others, because native calls hold their carrier. What a write returned is on disk, whatever happens next.
///
/// Start with [coppice.store.Store]. The tables are in the migrations under resources, in SQL that PostgreSQL speaks too.
package coppice.store;
