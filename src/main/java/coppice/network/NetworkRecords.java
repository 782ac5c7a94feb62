package coppice.network;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Update;

/// The rows of networks. All of these are parts of a unit of the store.
final class NetworkRecords {
    private static final String SEPARATOR = " ";

    private NetworkRecords() {}

    static List<Vpc> vpcs(Handle handle) {
        return handle.createQuery("select * from vpcs order by created_at, id")
                .map((row, _) -> vpc(row))
                .list();
    }

    static List<Nic> nics(Handle handle) {
        return handle.createQuery("select * from nics order by slot")
                .map((row, _) -> nic(row))
                .list();
    }

    static List<Rule> rules(Handle handle) {
        return handle.createQuery("select * from firewall_rules order by created_at, id")
                .map((row, _) -> rule(row))
                .list();
    }

    static void insert(Handle handle, Vpc vpc) {
        handle.createUpdate(
                        """
                        insert into vpcs (id, account_id, cidr, cidr_v6, slug, display_name, created_at)
                        values (:id, :account, :cidr, :cidrV6, :slug, :displayName, :created)
                        """)
                .bind("id", vpc.id().text())
                .bind("account", vpc.account().toString())
                .bind("cidr", vpc.cidr().toString())
                .bind("cidrV6", vpc.cidrV6().toString())
                .bind("slug", vpc.slug().map(Slug::text))
                .bind("displayName", vpc.displayName())
                .bind("created", vpc.createdAt().toEpochMilli())
                .execute();
    }

    static void update(Handle handle, Vpc vpc) {
        handle.createUpdate(
                        "update vpcs set slug = :slug, display_name = :displayName where id = :id")
                .bind("id", vpc.id().text())
                .bind("slug", vpc.slug().map(Slug::text))
                .bind("displayName", vpc.displayName())
                .execute();
    }

    static void insert(Handle handle, Nic nic) {
        var place = nic.membership();
        handle.createUpdate(
                        """
                        insert into nics (vm_id, account_id, slot, public_ipv6, vpc_id, ipv4, ipv6, routes)
                        values (:vm, :account, :slot, :public, :vpc, :ipv4, :ipv6, :routes)
                        """)
                .bind("vm", nic.vm().text())
                .bind("account", nic.account().toString())
                .bind("slot", nic.slot())
                .bind("public", text(nic.publicIpv6()))
                .bind("vpc", place.map(p -> p.vpc().text()))
                .bind("ipv4", text(place.flatMap(Membership::ipv4)))
                .bind("ipv6", text(place.flatMap(Membership::ipv6)))
                .bind("routes", routes(place))
                .execute();
    }

    static void insert(Handle handle, List<Rule> rules) {
        for (var rule : rules) {
            handle.createUpdate(
                            """
                            insert into firewall_rules (id, account_id, source, destination, description, created_at)
                            values (:id, :account, :source, :destination, :description, :created)
                            """)
                    .bind("id", rule.id().text())
                    .bind("account", rule.account().toString())
                    .bind("source", MatcherJson.write(rule.source()))
                    .bind("destination", MatcherJson.write(rule.destination()))
                    .bind("description", rule.description())
                    .bind("created", rule.createdAt().toEpochMilli())
                    .execute();
        }
    }

    static void deleteRule(Handle handle, RuleId rule) {
        delete(handle, "firewall_rules", "id", rule.text());
    }

    /// Removes a thing and those rules.
    static void delete(Handle handle, Named thing, Stream<Rule> rules) {
        rules.forEach(rule -> deleteRule(handle, rule.id()));
        switch (thing) {
            case Named.Member(var id) -> delete(handle, "nics", "vm_id", id.text());
            case Named.Network(var id) -> {
                delete(handle, "attachments", "vpc_id", id.text());
                delete(handle, "vpcs", "id", id.text());
            }
            case Named.Passage(var id) -> {
                delete(handle, "attachments", "tunnel_id", id.text());
                delete(handle, "tunnels", "id", id.text());
            }
        }
    }

    private static void delete(Handle handle, String table, String column, String id) {
        update(handle, "delete from %s where %s = :id".formatted(table, column), id).execute();
    }

    private static Update update(Handle handle, String sql, String id) {
        return handle.createUpdate(sql).bind("id", id);
    }

    private static Vpc vpc(ResultSet row) throws SQLException {
        return new Vpc(
                new VpcId(row.getString("id")),
                AccountId.stored(row.getString("account_id")),
                Cidr.stored(row.getString("cidr")),
                Cidr.stored(row.getString("cidr_v6")),
                Optional.ofNullable(row.getString("slug")).map(Slug::new),
                Optional.ofNullable(row.getString("display_name")),
                Instant.ofEpochMilli(row.getLong("created_at")));
    }

    private static Nic nic(ResultSet row) throws SQLException {
        var vpc = Optional.ofNullable(row.getString("vpc_id")).map(VpcId::new);
        var ipv4 = address(row, "ipv4");
        var ipv6 = address(row, "ipv6");
        var routes = routes(row.getString("routes"));
        return new Nic(
                new MemberId(row.getString("vm_id")),
                AccountId.stored(row.getString("account_id")),
                row.getInt("slot"),
                address(row, "public_ipv6"),
                vpc.map(id -> new Membership(id, ipv4, ipv6, routes)));
    }

    private static Rule rule(ResultSet row) throws SQLException {
        return new Rule(
                new RuleId(row.getString("id")),
                AccountId.stored(row.getString("account_id")),
                MatcherJson.read(row.getString("source")),
                MatcherJson.read(row.getString("destination")),
                Optional.ofNullable(row.getString("description")),
                Instant.ofEpochMilli(row.getLong("created_at")));
    }

    private static Optional<IpAddress> address(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getString(column)).map(IpAddress::stored);
    }

    private static Optional<String> text(Optional<IpAddress> address) {
        return address.map(IpAddress::toString);
    }

    /// `CIDR VIA METRIC`, one a line.
    private static String routes(Optional<Membership> place) {
        return place.stream()
                .flatMap(p -> p.routes().stream())
                .map(route -> route.cidr() + SEPARATOR + route.via() + SEPARATOR + route.metric())
                .collect(Collectors.joining("\n"));
    }

    private static List<StaticRoute> routes(String text) {
        return text.lines()
                .map(line -> line.split(SEPARATOR))
                .map(
                        parts ->
                                new StaticRoute(
                                        Cidr.stored(parts[0]),
                                        IpAddress.stored(parts[1]),
                                        Long.parseLong(parts[2])))
                .toList();
    }
}
