package coppice.main;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// Where an operation takes the name of something.
///
/// @param at the parameter, or the path of a field in the body: `firewall.rules.[].source.vmId`
record IsolationPlace(PublishedOperation operation, In in, String at, IsolationKind kind) {
    enum In {
        PATH,
        QUERY,
        HEADER,
        BODY
    }

    private static final Map<String, IsolationKind> NAMES =
            Map.ofEntries(
                    Map.entry("vm", IsolationKind.VM),
                    Map.entry("vm_id", IsolationKind.VM),
                    Map.entry("vmId", IsolationKind.VM),
                    Map.entry("sourceVmId", IsolationKind.VM),
                    Map.entry("snapshot", IsolationKind.SNAPSHOT),
                    Map.entry("snapshot_id", IsolationKind.SNAPSHOT),
                    Map.entry("snapshotId", IsolationKind.SNAPSHOT),
                    Map.entry("vpc", IsolationKind.VPC),
                    Map.entry("vpcId", IsolationKind.VPC),
                    Map.entry("vpcIds", IsolationKind.VPC),
                    Map.entry("tunnel", IsolationKind.TUNNEL),
                    Map.entry("tunnelId", IsolationKind.TUNNEL),
                    Map.entry("ruleId", IsolationKind.RULE),
                    Map.entry("identity", IsolationKind.IDENTITY),
                    Map.entry("identity_id", IsolationKind.IDENTITY),
                    Map.entry("token", IsolationKind.TOKEN),
                    Map.entry("token_id", IsolationKind.TOKEN),
                    Map.entry("tokenId", IsolationKind.TOKEN),
                    Map.entry("account_id", IsolationKind.ACCOUNT),
                    Map.entry("key_id", IsolationKind.API_KEY),
                    Map.entry("uploadId", IsolationKind.UPLOAD),
                    Map.entry("requestId", IsolationKind.BACKGROUND),
                    Map.entry("request_id", IsolationKind.BACKGROUND),
                    Map.entry("session", IsolationKind.TERMINAL),
                    Map.entry("terminal_id", IsolationKind.TERMINAL),
                    Map.entry("service_id", IsolationKind.SERVICE),
                    Map.entry("id", IsolationKind.SERVICE),
                    Map.entry("filepath", IsolationKind.FILE),
                    Map.entry("path", IsolationKind.FILE),
                    Map.entry("matchLabels", IsolationKind.LABEL),
                    Map.entry("search", IsolationKind.WORDS),
                    Map.entry("address", IsolationKind.ADDRESS),
                    Map.entry("domain", IsolationKind.DOMAIN),
                    Map.entry("Idempotency-Key", IsolationKind.ONCE));

    /// What names nothing that an account has; the codes of a sign-in are secrets, and whoever has one may know what it is for.
    /// `clientPublicKey` is the exception that is promised: one key is one tunnel's on the whole server, so that it is taken can be found
    /// out by whoever knows it.
    private static final Set<String> PLAIN =
            Set.of(
                    ("clientPublicKey displayName description name action protocol cidr cidrV6 ipv4 ipv6 via routes remoteCidrs"
                                    + " topology rules metadata command stdin env exec linuxUser allowedLinuxUsers allowedUsers"
                                    + " terminal workdir type deleteEvent persistence policy restartPolicy discriminator"
                                    + " dockerfileContent aptDeps additionalFiles repo rev email signingkey content encoding"
                                    + " sha256 mode user group groups gecos home shell after requires onFailure wantedBy"
                                    + " state limit offset includeDeleted includeFailed includeManaged lines since cols rows"
                                    + " replaceOnExit sleepSecs message x-svc-background-after-secs"
                                    + " polling_code login_code password")
                            .split(" "));

    /// Where the names of guests' files are no paths of files that are there.
    private static final Set<String> NO_FILES = Set.of("git.repos.[].path", "gitRepos.[].path");

    private static final Map<String, IsolationKind> SLUGS =
            Map.of(
                    "vms", IsolationKind.VM_SLUG,
                    "snapshot", IsolationKind.SNAPSHOT_SLUG,
                    "snapshots", IsolationKind.SNAPSHOT_SLUG,
                    "vpcs", IsolationKind.VPC_SLUG,
                    "tunnels", IsolationKind.TUNNEL_SLUG,
                    "pty", IsolationKind.TERMINAL_SLUG);

    private static final Map<String, IsolationKind> RANGES =
            Map.of("cidr", IsolationKind.RANGE, "cidrV6", IsolationKind.RANGE_V6);

    /// All of them. Fails at a parameter or a field of which it does not know whether it names something.
    static List<IsolationPlace> all(PublishedDocument document) {
        return document.operations().stream()
                .flatMap(operation -> of(document, operation).stream())
                .toList();
    }

    static List<IsolationPlace> of(PublishedDocument document, PublishedOperation operation) {
        return new Search(document, operation).places();
    }

    /// A parameter that must be given.
    static IsolationPlace parameter(PublishedOperation operation, In in, String name) {
        return new IsolationPlace(operation, in, name, NAMES.get(name));
    }

    @Override
    public String toString() {
        return "%s, %s in its %s".formatted(operation.id(), at, in);
    }

    private record Search(
            PublishedDocument document, PublishedOperation operation, List<IsolationPlace> places) {

        Search(PublishedDocument document, PublishedOperation operation) {
            this(document, operation, new ArrayList<>());
            for (var told : operation.text().path("parameters")) {
                var parameter = document.described(told);
                var in = In.valueOf(parameter.get("in").asString().toUpperCase(Locale.ROOT));
                note(in, parameter.get("name").asString(), parameter.get("schema"));
            }
            if (operation.takesJson()) {
                look(operation.taken(), "");
            }
        }

        private void look(JsonNode told, String at) {
            var schema = document.described(told);
            var choices = schema.has("anyOf") ? schema.get("anyOf") : schema.path("oneOf");
            if (!choices.isEmpty()) {
                choices.forEach(choice -> look(choice, at));
            } else if (schema.has("properties")) {
                schema.get("properties")
                        .properties()
                        .forEach(field -> look(field.getValue(), joined(at, field.getKey())));
            } else if (schema.has("items")) {
                look(schema.get("items"), joined(at, "[]"));
            } else if (!at.isEmpty()) {
                note(In.BODY, at, schema);
            }
        }

        private static String joined(String at, String step) {
            return at.isEmpty() ? step : at + "." + step;
        }

        private void note(In in, String at, JsonNode schema) {
            kind(in, at, schema)
                    .map(kind -> new IsolationPlace(operation, in, at, kind))
                    .filter(place -> !places.contains(place))
                    .ifPresent(places::add);
        }

        private Optional<IsolationKind> kind(In in, String at, JsonNode schema) {
            var type = schema.path("type");
            if (Set.of("integer", "number", "boolean", "null")
                    .contains(type.asString(first(type)))) {
                return Optional.empty();
            }
            var name = at.replace(".[]", "").replaceAll(".*\\.", "");
            var isOfNetwork = operation.path().endsWith("/vpcs");
            if (isOfNetwork && RANGES.containsKey(at)) {
                return Optional.of(RANGES.get(at));
            }
            if (in == In.QUERY && name.equals("metadata")) {
                return Optional.of(IsolationKind.LABEL);
            }
            if (name.equals("slug")) {
                return Optional.of(slug());
            }
            if (PLAIN.contains(name) || NO_FILES.contains(at)) {
                return Optional.empty();
            }
            assertTrue(
                    NAMES.containsKey(name),
                    () ->
                            "%s takes %s, of which IsolationPlace does not know what it names"
                                    .formatted(operation.id(), at));
            return Optional.of(NAMES.get(name));
        }

        private static String first(JsonNode types) {
            return types.path(0).asString("");
        }

        private IsolationKind slug() {
            var last = operation.path().replaceAll("/\\{[^}]*}", "").replaceAll(".*/", "");
            assertTrue(
                    SLUGS.containsKey(last),
                    () ->
                            operation.id()
                                    + " takes a slug, and IsolationPlace does not know of what");
            return SLUGS.get(last);
        }
    }
}
