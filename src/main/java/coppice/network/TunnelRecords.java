package coppice.network;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;

/// The rows of tunnels and of their places in networks. All of these are parts of a unit of the store. [NetworkRecords#delete] removes
/// tunnels, since it removes everything that rules can name.
final class TunnelRecords {
    private static final String SEPARATOR = " ";

    private TunnelRecords() {}

    /// A row of `attachments`.
    private record Place(String tunnel, Attachment attachment) {}

    static List<Tunnel> tunnels(Handle handle) {
        var places =
                handle
                        .createQuery(
                                """
                                select a.*, v.cidr, v.cidr_v6
                                from attachments a join vpcs v on v.id = a.vpc_id
                                """)
                        .map((row, _) -> new Place(row.getString("tunnel_id"), attachment(row)))
                        .stream()
                        .collect(
                                Collectors.groupingBy(
                                        Place::tunnel,
                                        Collectors.mapping(
                                                Place::attachment, Collectors.toList())));
        return handle.createQuery("select * from tunnels order by number")
                .map((row, _) -> tunnel(row, places))
                .list();
    }

    static void insert(Handle handle, Tunnel tunnel) {
        handle.createUpdate(
                        """
                        insert into tunnels
                            (id, account_id, number, slug, display_name, client_key, routes, created_at, updated_at)
                        values (:id, :account, :number, :slug, :displayName, :key, :routes, :created, :updated)
                        """)
                .bind("id", tunnel.id().text())
                .bind("account", tunnel.account().toString())
                .bind("number", tunnel.number())
                .bind("slug", tunnel.slug().map(Slug::text))
                .bind("displayName", tunnel.displayName())
                .bind("key", tunnel.clientKey().text())
                .bind("routes", text(tunnel.routes()))
                .bind("created", tunnel.createdAt().toEpochMilli())
                .bind("updated", tunnel.updatedAt().toEpochMilli())
                .execute();
        tunnel.attachments().forEach(place -> insert(handle, tunnel.id(), place));
    }

    /// Writes all of a tunnel that can change, except its places.
    static void update(Handle handle, Tunnel tunnel) {
        handle.createUpdate(
                        """
                        update tunnels
                        set slug = :slug, display_name = :displayName, client_key = :key, updated_at = :updated
                        where id = :id
                        """)
                .bind("id", tunnel.id().text())
                .bind("slug", tunnel.slug().map(Slug::text))
                .bind("displayName", tunnel.displayName())
                .bind("key", tunnel.clientKey().text())
                .bind("updated", tunnel.updatedAt().toEpochMilli())
                .execute();
    }

    static void insert(Handle handle, TunnelId tunnel, Attachment place) {
        handle.createUpdate(
                        """
                        insert into attachments (tunnel_id, vpc_id, ipv4, ipv6, remote, is_exit, created_at)
                        values (:tunnel, :vpc, :ipv4, :ipv6, :remote, :exit, :created)
                        """)
                .bind("tunnel", tunnel.text())
                .bind("vpc", place.vpc().text())
                .bind("ipv4", place.ipv4().map(IpAddress::toString))
                .bind("ipv6", place.ipv6().map(IpAddress::toString))
                .bind("remote", text(place.remote()))
                .bind("exit", place.isExit() ? 1 : 0)
                .bind("created", place.createdAt().toEpochMilli())
                .execute();
    }

    static void delete(Handle handle, TunnelId tunnel, VpcId vpc) {
        handle.createUpdate("delete from attachments where tunnel_id = :tunnel and vpc_id = :vpc")
                .bind("tunnel", tunnel.text())
                .bind("vpc", vpc.text())
                .execute();
    }

    private static Tunnel tunnel(ResultSet row, Map<String, List<Attachment>> places)
            throws SQLException {
        var id = row.getString("id");
        return new Tunnel(
                new TunnelId(id),
                AccountId.stored(row.getString("account_id")),
                row.getInt("number"),
                Optional.ofNullable(row.getString("slug")).map(Slug::new),
                Optional.ofNullable(row.getString("display_name")),
                new PublicKey(row.getString("client_key")),
                ranges(row.getString("routes")),
                places.getOrDefault(id, List.of()),
                Instant.ofEpochMilli(row.getLong("created_at")),
                Instant.ofEpochMilli(row.getLong("updated_at")));
    }

    private static Attachment attachment(ResultSet row) throws SQLException {
        return new Attachment(
                new VpcId(row.getString("vpc_id")),
                Cidr.stored(row.getString("cidr")),
                Cidr.stored(row.getString("cidr_v6")),
                Optional.ofNullable(row.getString("ipv4")).map(IpAddress::stored),
                Optional.ofNullable(row.getString("ipv6")).map(IpAddress::stored),
                ranges(row.getString("remote")),
                row.getInt("is_exit") != 0,
                Instant.ofEpochMilli(row.getLong("created_at")));
    }

    private static String text(List<Cidr> ranges) {
        return ranges.stream().map(Cidr::toString).collect(Collectors.joining(SEPARATOR));
    }

    private static List<Cidr> ranges(String text) {
        return Stream.of(text.split(SEPARATOR))
                .filter(range -> !range.isEmpty())
                .map(Cidr::stored)
                .toList();
    }
}
