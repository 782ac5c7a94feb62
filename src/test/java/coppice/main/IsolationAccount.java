package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.Wait;
import coppice.json.JsonObject;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// An account that has something of every kind, each with a name that stands nowhere else.
final class IsolationAccount {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String IDENTITIES = "/v5/identities";
    private static final String NO_RULES = "\"firewall\":{\"rules\":[]}";

    private final Installation installation;
    private final IsolationThings things;
    private final List<IsolationCaller> identities = new ArrayList<>();
    private final String key;
    private final String signIn;
    private final Client client;
    private final IsolationName team;
    private final String vm;

    IsolationAccount(Installation installation, Random random) {
        this.installation = installation;
        this.things = new IsolationThings(random);
        this.team = things.name("team-");
        this.key = installation.program("key", "create", "--account", team.text()).strip();
        things.mark(key.split("-"));
        things.put(IsolationKind.API_KEY, IsolationName.of(key.split("-")[0]));
        this.client = installation.clientWithKey(key);
        var account = get("/auth/v1/whoami").requiredString("accountId");
        things.put(IsolationKind.ACCOUNT, IsolationName.ofId(account));
        this.signIn = signIn();
        var vpc = networks();
        this.vm = vms(vpc);
        snapshots();
        people();
        inside();
        background();
    }

    /// The access token of the one user whose team it is.
    private String signIn() {
        var email = things.name("ada-").text() + "@example.test";
        var password =
                installation.program("user", "create", email, "--account", team.text()).strip();
        var steps = new SignInSteps(installation.clientWithKey(""));
        return steps.accessToken(steps.signIn(email, password));
    }

    private JsonObject get(String path) {
        return things.noted(client.get(path).expect(200));
    }

    private JsonObject post(String path, String json) {
        return things.noted(client.post(path, json).expect(200));
    }

    private IsolationName named(IsolationKind kind, String word) {
        return things.put(kind, things.name(word));
    }

    private String networks() {
        var once = things.name("once-");
        things.put(IsolationKind.ONCE, once);
        var slug = named(IsolationKind.VPC_SLUG, "net-");
        var range = named4(things.digits(2) + "." + things.digits(2));
        var range6 =
                named6(things.digits(1) + "a:" + things.digits(3) + "b:" + things.digits(3) + "c");
        var wanted =
                "{\"slug\":\"%s\",\"displayName\":\"%s\",\"cidr\":\"%s\",\"cidrV6\":\"%s\"}"
                        .formatted(slug.text(), label(), range.text(), range6.text());
        var made = client.with("Idempotency-Key", once.text()).post("/v5/vpcs", wanted).expect(200);
        var vpc = things.noted(made).requiredString("id");
        things.put(IsolationKind.VPC, IsolationName.ofId(vpc), slug);
        things.spare(IsolationKind.VPC, post("/v5/vpcs", "{}").requiredString("id"));
        tunnels(vpc);
        return vpc;
    }

    private IsolationName named4(String core) {
        things.mark("10." + core + ".");
        return things.put(
                IsolationKind.RANGE, new IsolationName("10.%s.0/24".formatted(core), core));
    }

    private IsolationName named6(String core) {
        things.mark("fd" + core + ":");
        return things.put(
                IsolationKind.RANGE_V6, new IsolationName("fd%s::/64".formatted(core), core));
    }

    private String label() {
        return things.name("called ").text();
    }

    private void tunnels(String vpc) {
        var slug = named(IsolationKind.TUNNEL_SLUG, "tun-nel-");
        var made =
                post(
                        "/v5/tunnels",
                        "{\"slug\":\"%s\",\"displayName\":\"%s\",\"vpcs\":[{\"vpcId\":\"%s\"}]}"
                                .formatted(slug.text(), label(), vpc));
        var id = IsolationName.ofId(made.requiredString("id"));
        things.put(IsolationKind.TUNNEL, id, slug, id.under("wg-"));
        things.mark(
                made.requiredString("clientPrivateKey"), made.requiredString("clientPublicKey"));
        for (var field : List.of("clientAddressV4", "clientAddressV6")) {
            things.mark("\"" + made.requiredString(field) + "\""); // ...1 is no part of ...10
        }
        things.spare(IsolationKind.TUNNEL, post("/v5/tunnels", "{}").requiredString("id"));
    }

    private String vms(String vpc) {
        var slug = named(IsolationKind.VM_SLUG, "web-");
        var tier = things.name("tier:");
        things.put(IsolationKind.LABEL, tier);
        var made =
                post(
                        "/v5/vms",
                        """
                        {"slug":"%s","displayName":"%s","metadata":{"tier":"%s"},"vpcs":[{"vpcId":"%s"}],
                         "firewall":{"rules":[{"action":"allow","source":{},"destination":{"public":true},"description":"%s"}]}}
                        """
                                .formatted(
                                        slug.text(),
                                        label(),
                                        tier.text().substring(5),
                                        vpc,
                                        label()));
        var web = IsolationName.ofId(made.requiredString("id"));
        var ip = made.requiredObjects("vpcs").getFirst().requiredString("ipv4");
        things.put(
                IsolationKind.ADDRESS, new IsolationName(ip, ip.substring(3, ip.lastIndexOf('.'))));
        rule(vpc, web);
        things.put(IsolationKind.VM, web, slug, web.under(""));
        otherVms();
        return web.text();
    }

    private void rule(String vpc, IsolationName web) {
        var rule =
                post(
                        "/v5/firewall/rules",
                        """
                        {"action":"allow","source":{"vpcId":"%s"},"destination":{"vmId":"%s","port":80,"protocol":"tcp"},
                         "description":"%s"}
                        """
                                .formatted(vpc, web.text(), label()));
        things.put(IsolationKind.RULE, IsolationName.ofId(rule.requiredString("id")));
    }

    /// One that is paused, one that is stopped, and one that was.
    private void otherVms() {
        var asleep = made("{\"displayName\":\"%s\",%s}".formatted(label(), NO_RULES));
        client.post("/v5/vms/%s/pause".formatted(asleep), "").expect(200);
        var stopped = made("{%s}".formatted(NO_RULES));
        client.post("/v5/vms/%s/kill".formatted(stopped), "").expect(200);
        things.spare(IsolationKind.VM, stopped);
        var gone = made("{%s}".formatted(NO_RULES));
        client.delete("/v5/vms/" + gone).expect(204);
        things.put(IsolationKind.VM, IsolationName.ofId(asleep), IsolationName.ofId(gone));
    }

    private String made(String vm) {
        return post("/v5/vms", vm).requiredString("id");
    }

    private void snapshots() {
        var slug = named(IsolationKind.SNAPSHOT_SLUG, "shot-");
        var called = things.name("Called ");
        var id =
                IsolationName.ofId(
                        taken(
                                "{\"slug\":\"%s\",\"displayName\":\"%s\"}"
                                        .formatted(slug.text(), called.text())));
        var gone = taken("{}");
        client.delete("/v5/snapshots/" + gone).expect(204);
        things.spare(IsolationKind.SNAPSHOT, taken("{}"));
        var owned = IsolationName.of(team.text() + "/" + slug.text());
        things.put(
                IsolationKind.SNAPSHOT, id, slug, id.under("sc-"), owned, IsolationName.ofId(gone));
        things.put(IsolationKind.WORDS, slug, called, id);
    }

    private String taken(String wanted) {
        return post("/v5/vms/%s/snapshot".formatted(vm), wanted).requiredString("snapshotId");
    }

    private void people() {
        identity("any", "{}", "null");
        identity("app", "{}", "[\"app\"]");
        identity("managed", "{\"managed\":true}", "null");
        identity("none", "{}", "");
    }

    /// @param users as which it may act in the VM, as JSON; empty when it may not at all
    private void identity(String who, String wanted, String users) {
        var id = post(IDENTITIES, wanted).requiredString("id");
        var own = IDENTITIES + "/" + id;
        var token = post(own + "/tokens", "");
        things.put(IsolationKind.IDENTITY, IsolationName.ofId(id));
        things.put(IsolationKind.TOKEN, IsolationName.ofId(token.requiredString("id")));
        things.mark(token.requiredString("token").split("_"));
        if (!users.isEmpty()) {
            post(
                    own + "/permissions/vm",
                    "{\"vmId\":\"%s\",\"allowedLinuxUsers\":%s}".formatted(vm, users));
        }
        identities.add(
                IsolationCaller.withToken(
                        installation,
                        "the identity '%s' of %s".formatted(who, team.text()),
                        token.requiredString("token")));
    }

    private void inside() {
        named(IsolationKind.SERVICE, "service-");
        named(IsolationKind.DOMAIN, "site-");
        var file = named(IsolationKind.FILE, "/tmp/file-");
        var fs = "/v5/vms/%s/fs".formatted(vm);
        var content = label().getBytes(UTF_8);
        client.send("PUT", fs + "/write?path=" + file.text(), content).expect(204);
        var upload = "{\"path\":\"%s\",\"size\":3}".formatted(things.name("/tmp/up-").text());
        things.put(
                IsolationKind.UPLOAD,
                IsolationName.ofId(post(fs + "/uploads", upload).requiredString("uploadId")));
        terminal();
    }

    /// One that has shown what was typed, and would show what anybody else types.
    private void terminal() {
        var terminal = named(IsolationKind.TERMINAL, "tty-");
        things.put(IsolationKind.TERMINAL_SLUG, terminal);
        var program = URLEncoder.encode("stty -echo; echo ready; exec cat", UTF_8);
        var peer = client.terminal(vm, "?slug=%s&exec=%s".formatted(terminal.text(), program));
        peer.text();
        peer.outputUntil("ready\r\n");
        var line = label();
        peer.type(line + "\n");
        peer.outputUntil(line + "\r\n");
        peer.cut();
    }

    private void background() {
        var patient = client.with("x-svc-background-after-secs", "0");
        var test =
                "/auth/v1/background-test?message=%s&sleepSecs="
                        .formatted(things.name("said-").text());
        var ended = deferred(patient.get(test + 1));
        var goesOn = deferred(patient.get(test + 300));
        var byIdentity =
                identities
                        .getFirst()
                        .client()
                        .with("x-svc-background-after-secs", "0")
                        .post(
                                "/v5/vms/%s/exec-await".formatted(vm),
                                Client.exec("sleep 1; echo " + things.name("said-").text()));
        things.put(IsolationKind.BACKGROUND, ended, goesOn, deferred(byIdentity));
        for (var id : List.of(ended, things.all(IsolationKind.BACKGROUND)[2])) {
            var poll = "/v5/background-requests/" + id.text();
            Wait.until(PATIENCE, () -> client.get(poll).status() == 200, () -> id + " goes on");
        }
    }

    private IsolationName deferred(Client.Answer answer) {
        return IsolationName.ofId(things.noted(answer.expect(202)).requiredString("requestId"));
    }

    /// The key of a create that was just done once.
    IsolationName once() {
        var once = things.name("once-");
        var made = client.with("Idempotency-Key", once.text()).post(IDENTITIES, "{}").expect(200);
        client.delete(IDENTITIES + "/" + made.requiredString("id")).expect(204);
        return once;
    }

    /// Makes one more of everything.
    ///
    /// @return the paths of what was made, in the order in which it can be deleted
    List<String> more() {
        var vpc = "/v5/vpcs/" + post("/v5/vpcs", "{}").requiredString("id");
        var joined = "{\"vpcs\":[{\"vpcId\":\"%s\"}]}".formatted(vpc.substring(9));
        var tunnel = "/v5/tunnels/" + post("/v5/tunnels", joined).requiredString("id");
        var rule =
                "{\"action\":\"allow\",\"source\":{\"public\":true},\"destination\":{\"vpcId\":\"%s\"}}"
                        .formatted(vpc.substring(9));
        var identity = IDENTITIES + "/" + post(IDENTITIES, "").requiredString("id");
        var token = identity + "/tokens/" + post(identity + "/tokens", "").requiredString("id");
        var grants = identity + "/permissions/vm";
        post(grants, "{\"vmId\":\"%s\"}".formatted(vm));
        var uploads = "/v5/vms/%s/fs/uploads".formatted(vm);
        var upload = post(uploads, "{\"path\":\"/tmp/more\",\"size\":3}");
        deferred(
                client.with("x-svc-background-after-secs", "0")
                        .get("/auth/v1/background-test?sleepSecs=1"));
        return List.of(
                "/v5/firewall/rules/" + post("/v5/firewall/rules", rule).requiredString("id"),
                tunnel,
                vpc,
                grants + "/" + vm,
                token,
                identity,
                uploads + "/" + upload.requiredString("uploadId"),
                "/v5/snapshots/" + taken("{}"),
                "/v5/vms/" + made("{%s}".formatted(NO_RULES)));
    }

    /// The token of an identity that may use its VM, and the path at which it is revoked.
    List<String> token(String identity) {
        var made = post(identity + "/tokens", "");
        post(identity + "/permissions/vm", "{\"vmId\":\"%s\"}".formatted(vm));
        return List.of(
                made.requiredString("token"), identity + "/tokens/" + made.requiredString("id"));
    }

    /// The path of a new identity.
    String identity() {
        return IDENTITIES + "/" + post(IDENTITIES, "").requiredString("id");
    }

    String slug() {
        return team.text();
    }

    Client client() {
        return client;
    }

    String vm() {
        return vm;
    }

    IsolationThings things() {
        return things;
    }

    IsolationCaller owner() {
        return IsolationCaller.withKey(installation, team.text(), key).signedIn(signIn);
    }

    /// Those who may use its VM, some of them as one user only, and at last one who may not.
    List<IsolationCaller> identities() {
        return identities;
    }

    IsolationName own(IsolationKind kind) {
        return things.all(kind)[0];
    }
}
