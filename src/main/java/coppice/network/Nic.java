package coppice.network;

import coppice.base.IpAddress;
import coppice.identity.AccountId;
import java.util.Optional;

/// The network interface of a VM. It stays the same for the VM's life.
///
/// @param slot a small number that no other VM of this host has; its addresses and the name of its tap are made of it
/// @param publicIpv6 absent where the host has no prefix for VMs
public record Nic(
        MemberId vm,
        AccountId account,
        int slot,
        Optional<IpAddress> publicIpv6,
        Optional<Membership> membership) {

    public boolean isIn(VpcId vpc) {
        return membership.filter(place -> place.vpc().equals(vpc)).isPresent();
    }

    /// Locally administered, and not the bridge's, which ends in zeros.
    public String mac() {
        return "02:c0:%02x:%02x:%02x:%02x"
                .formatted(slot >>> 24 & 0xff, slot >>> 16 & 0xff, slot >>> 8 & 0xff, slot & 0xff);
    }
}
