package coppice.fabric;

import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.network.Nic;
import coppice.network.Party;
import coppice.network.PublicAddresses;
import coppice.network.Tunnel;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// One end of a connection, as the network sees it.
sealed interface End {
    IpAddress address();

    /// The one that whoever is there knows it by.
    default IpAddress inner() {
        return address();
    }

    /// Whose rules are asked about it.
    Stream<AccountId> owners();

    /// What an account knows of it, filled in as for `evaluate`.
    Party party(AccountId account, Optional<Integer> port);

    /// The service's own.
    record Platform(IpAddress address) implements End {
        @Override
        public Stream<AccountId> owners() {
            return Stream.empty();
        }

        @Override
        public Party party(AccountId account, Optional<Integer> port) {
            return Party.PLATFORM;
        }
    }

    /// Somebody on the Internet.
    record Outside(IpAddress address) implements End {
        @Override
        public Stream<AccountId> owners() {
            return Stream.empty();
        }

        @Override
        public Party party(AccountId account, Optional<Integer> port) {
            return bare(address, port);
        }
    }

    /// A VM, by one of its addresses. To others than its owner it is an address.
    record AtVm(Nic nic, IpAddress address) implements End {
        @Override
        public Stream<AccountId> owners() {
            return Stream.of(nic.account());
        }

        @Override
        public Party party(AccountId account, Optional<Integer> port) {
            return account.equals(nic.account())
                    ? new Party(
                            false,
                            Optional.of(nic.vm()),
                            nic.membership().map(place -> List.of(place.vpc())).orElse(List.of()),
                            Optional.empty(),
                            Optional.of(address),
                            Optional.of(isPublic(address)),
                            port)
                    : bare(address, port);
        }
    }

    /// Whoever is behind a tunnel, in one of its networks.
    ///
    /// @param inner the client's own address is another one there than in its tunnel
    record BehindTunnel(Tunnel tunnel, IpAddress address, IpAddress inner) implements End {
        @Override
        public Stream<AccountId> owners() {
            return Stream.of(tunnel.account());
        }

        @Override
        public Party party(AccountId account, Optional<Integer> port) {
            return new Party(
                    false,
                    Optional.empty(),
                    List.of(),
                    Optional.of(tunnel.id()),
                    Optional.of(address),
                    Optional.of(isPublic(address)),
                    port);
        }
    }

    private static Party bare(IpAddress address, Optional<Integer> port) {
        return new Party(
                false,
                Optional.empty(),
                List.of(),
                Optional.empty(),
                Optional.of(address),
                Optional.of(isPublic(address)),
                port);
    }

    private static boolean isPublic(IpAddress address) {
        return PublicAddresses.contains(address) || Lab.Site.FIRST.prefix().contains(address);
    }
}
