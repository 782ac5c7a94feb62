package coppice.dns;

import coppice.base.IpAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Local names of clients on loopback: those that are given, and nobody else is known.
final class GivenNames implements LocalNames {
    private final Set<IpAddress> clients = ConcurrentHashMap.newKeySet();
    private final Set<String> broken = ConcurrentHashMap.newKeySet();
    private final Map<IpAddress, Map<String, List<IpAddress>>> names = new ConcurrentHashMap<>();

    GivenNames client(String client) {
        clients.add(IpAddress.stored(client));
        return this;
    }

    GivenNames name(String client, String label, String... addresses) {
        client(client);
        names.computeIfAbsent(IpAddress.stored(client), _ -> new ConcurrentHashMap<>())
                .put(label, Arrays.stream(addresses).map(IpAddress::stored).toList());
        return this;
    }

    GivenNames forget(String client) {
        clients.remove(IpAddress.stored(client));
        return this;
    }

    /// Looking this up throws.
    GivenNames breakOn(String label) {
        broken.add(label);
        return this;
    }

    @Override
    public Optional<List<IpAddress>> addresses(IpAddress client, String label) {
        if (broken.contains(label)) {
            throw new IllegalStateException("as the test wants it");
        }
        return Optional.ofNullable(names.getOrDefault(client, Map.of()).get(label));
    }

    @Override
    public Optional<String> nameOf(IpAddress client, IpAddress address) {
        return names.getOrDefault(client, Map.of()).entrySet().stream()
                .filter(entry -> entry.getValue().contains(address))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    @Override
    public boolean isKnown(IpAddress client) {
        return clients.contains(client);
    }
}
