package coppice.background;

import coppice.http.HttpResponse;

/// Goes on with the requests of a former server.
public interface Resumer {
    /// Waits for what is still under way. Failures are answers, too.
    HttpResponse resume(Unfinished request, Resumption resumption);

    /// What the caller of one that cannot be gone on with is told.
    HttpResponse cutOff(Unfinished request);
}
