package coppice.background;

import coppice.http.HttpResponse;
import java.util.function.Consumer;

/// What a request does.
public interface Work {
    /// Failures are answers, too.
    ///
    /// @param resumable told by operations that a later server can go on with, as soon as it could
    HttpResponse run(Consumer<Resumption> resumable);

    /// The answer in place of one whose body could not be made.
    HttpResponse failed(Throwable why);
}
