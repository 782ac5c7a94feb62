package coppice.network;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// What a new tunnel is to be. `BAD_REQUEST` for routes that no tunnel may have.
///
/// @param clientKey absent: a pair is minted
public record NewTunnel(
        Optional<Slug> slug,
        Optional<String> displayName,
        Optional<PublicKey> clientKey,
        List<Cidr> routes,
        List<NewAttachment> attachments) {
    public static final List<Cidr> USUAL_ROUTES = ranges("10.0.0.0/8", "fd00::/8");

    private static final List<Cidr> EVERYTHING = ranges("0.0.0.0/0", "::/0");
    private static final int MOST_ROUTES = 64;

    public NewTunnel {
        if (routes.isEmpty() || routes.size() > MOST_ROUTES) {
            throw new Failure(
                    Code.BAD_REQUEST, "routes: must be 1 to %d ranges".formatted(MOST_ROUTES));
        }
        for (int i = 0; i < routes.size(); i++) {
            if (EVERYTHING.contains(routes.get(i))) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "routes[%d]: must not be %s: the client's own connection to this server would go into the tunnel"
                                .formatted(i, routes.get(i)));
            }
        }
        routes = List.copyOf(routes);
        attachments = List.copyOf(attachments);
    }

    private static List<Cidr> ranges(String... texts) {
        return Stream.of(texts).map(Cidr::stored).toList();
    }
}
