package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.Headers;
import coppice.http.HttpResponse;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes answers of what handlers do: failures in the shape of their family, and marks on what is deprecated.
final class Answering {
    private static final Logger LOG = LoggerFactory.getLogger(Answering.class);

    private final ApiSettings settings;
    private final String prefix;

    Answering(ApiSettings settings) {
        this.settings = settings;
        this.prefix = settings.pathPrefix();
    }

    /// What it answers, or its failure.
    ///
    /// @param id of the request, for whoever looks for it in the log
    static HttpResponse answered(Family family, String id, Supplier<HttpResponse> answer) {
        try {
            return answer.get();
        } catch (Throwable e) {
            return failed(e, family, id);
        }
    }

    static HttpResponse failed(Throwable why, Family family, String id) {
        if (why instanceof Failure e && e.code() != Code.INTERNAL_ERROR) {
            return Errors.answer(e, family);
        }
        LOG.error("request {} met a fault of ours", id, why);
        return Errors.answer(internal(id), family);
    }

    /// The path without the base URL's own, when it starts with that.
    Optional<String> local(String path) {
        return path.startsWith(prefix + "/")
                ? Optional.of(path.substring(prefix.length()))
                : Optional.empty();
    }

    /// Says of an answer of a deprecated path that it is, unless it says so already.
    HttpResponse marked(HttpResponse answer, Family family, String path) {
        if (!family.isDeprecated() || answer.headers().has("Deprecation")) {
            return answer;
        }
        var successor = Family.V5.prefix() + local(path).orElse("");
        return answer.with(
                Headers.of("Deprecation", "@" + settings.deprecatedSince().getEpochSecond())
                        .and(
                                "Link",
                                "<%s%s>; rel=\"successor-version\""
                                        .formatted(settings.base(), PercentCode.tidy(successor))));
    }

    private static Failure internal(String id) {
        return new Failure(
                Code.INTERNAL_ERROR,
                "the server met a fault of its own; report it with the id %s".formatted(id));
    }
}
