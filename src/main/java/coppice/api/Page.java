package coppice.api;

import coppice.json.Schema;
import java.util.List;

/// Which part of a list is wanted. A limit of 0 is no items, and only the counts.
public record Page(int limit, long offset) {
    public static final int MAX_LIMIT = 1000;

    static final List<QueryParameter> PARAMETERS =
            List.of(
                    new QueryParameter(
                            "limit",
                            Schema.integer(0, Long.MAX_VALUE),
                            "How many items at most; default and maximum 1000."),
                    new QueryParameter(
                            "offset",
                            Schema.integer(0, Long.MAX_VALUE),
                            "How many items to pass over; default 0."));

    public Page {
        if (limit < 0 || limit > MAX_LIMIT || offset < 0) {
            throw new IllegalArgumentException("no such page");
        }
    }

    static Page of(Query query) {
        var limit = Math.min(query.integer("limit").orElse((long) MAX_LIMIT), MAX_LIMIT);
        return new Page((int) limit, query.integer("offset").orElse(0L));
    }

    /// This page's part of a list at hand.
    public <T> List<T> of(List<T> all) {
        var from = (int) Math.min(offset, all.size());
        return all.subList(from, Math.min(all.size(), from + limit));
    }
}
