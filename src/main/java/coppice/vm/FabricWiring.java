package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.fabric.Fabric;
import coppice.fabric.Holder;
import coppice.guest.Guest;
import coppice.guest.NetworkSettings;
import coppice.network.MemberId;
import coppice.network.Networks;
import coppice.network.Nic;
import coppice.network.StaticRoute;
import coppice.node.Node;
import coppice.qemu.Link;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Machines in the fabric of this host.
public final class FabricWiring implements Wiring {
    private static final Logger LOG = LoggerFactory.getLogger(FabricWiring.class);

    private final Fabric fabric;
    private final Networks networks;
    private final Node node;

    /// The routes of the network itself that guests know of.
    private final Map<VmId, List<StaticRoute>> told = new ConcurrentHashMap<>();

    /// What guests have in their memory, while they are paused too. To tell an emulated guest takes longer than to plug it in.
    private final Map<VmId, NetworkSettings> known = new ConcurrentHashMap<>();

    public FabricWiring(Fabric fabric, Networks networks, Node node) {
        this.fabric = fabric;
        this.networks = networks;
        this.node = node;
    }

    @Override
    public Optional<Link> plug(Vm vm) {
        if (!vm.hardware().shape().hasNic()) {
            return Optional.empty();
        }
        var plug = fabric.plug(nic(vm), holder(vm));
        return Optional.of(new Link(plug.namespace(), plug.tap(), plug.mac()));
    }

    /// An agent that is older than networks leaves its guest without them.
    @Override
    public void connect(Vm vm, Guest guest, Deadline deadline) {
        if (vm.hardware().shape().hasNic()) {
            try {
                tell(vm, guest, deadline);
            } catch (Failure e) {
                if (e.code() != Code.AGENT_UNSUPPORTED) {
                    throw e;
                }
                LOG.warn("{} stays without a network: {}", vm.id(), e.getMessage());
            }
            open(vm);
        }
    }

    @Override
    public void reconnect(Vm vm, Guest guest, Deadline deadline) {
        var settings = known.get(vm.id());
        var inside = inside(vm);
        if (settings != null && settings.equals(settings(vm, inside))) {
            told.put(vm.id(), inside);
            open(vm);
        } else {
            connect(vm, guest, deadline);
        }
    }

    private void tell(Vm vm, Guest guest, Deadline deadline) {
        var inside = inside(vm);
        var settings = settings(vm, inside);
        known.remove(vm.id());
        guest.setNetwork(settings, deadline);
        known.put(vm.id(), settings);
        told.put(vm.id(), inside);
    }

    @Override
    public boolean isOutdated(Vm vm) {
        var known = told.get(vm.id());
        return known != null && !known.equals(inside(vm));
    }

    /// One who cannot be told now is told with the next start.
    @Override
    public void retell(Vm vm, Supplier<Guest> guest, Deadline deadline) {
        told.remove(vm.id());
        tell(vm, guest.get(), deadline);
    }

    private List<StaticRoute> inside(Vm vm) {
        return Fabric.routesInside(nic(vm), networks.of(vm.account()));
    }

    @Override
    public void open(Vm vm) {
        fabric.open(member(vm));
    }

    /// Who is to be in a private network has been alone till now.
    @Override
    public void handOver(Vm vm, Guest guest, Deadline deadline) {
        if (vm.hardware().shape().hasNic()) {
            var nic = nic(vm);
            fabric.handOver(nic, holder(vm));
            if (nic.membership().isPresent()) {
                connect(vm, guest, deadline);
            }
        }
    }

    @Override
    public void adopt(Vm vm) {
        if (vm.hardware().shape().hasNic()) {
            fabric.adopt(nic(vm), holder(vm));
            told.put(vm.id(), List.of());
        }
    }

    @Override
    public void unplug(VmId vm) {
        told.remove(vm);
        fabric.unplug(new MemberId(vm.text()));
    }

    @Override
    public void forget(VmId vm) {
        known.remove(vm);
    }

    @Override
    public Map<VmId, Long> traffic() {
        fabric.look();
        return fabric.traffic().entrySet().stream()
                .collect(
                        Collectors.toMap(
                                entry -> new VmId(entry.getKey().text()),
                                entry -> entry.getValue().both()));
    }

    @Override
    public List<String> sweep() {
        return fabric.sweep();
    }

    private NetworkSettings settings(Vm vm, List<StaticRoute> inside) {
        var nic = nic(vm);
        var vpc = nic.membership().map(place -> networks.of(vm.account()).vpcs().get(place.vpc()));
        return GuestNetwork.of(nic, vpc, inside, fabric.mtu());
    }

    /// A machine of the pool is in no network and nobody's.
    private Nic nic(Vm vm) {
        return networks.of(vm.account())
                .nic(member(vm))
                .orElseGet(
                        () -> {
                            int slot = node.slot(vm.hardware().user());
                            return new Nic(
                                    member(vm),
                                    vm.account(),
                                    slot,
                                    networks.publicIpv6(slot),
                                    Optional.empty());
                        });
    }

    private static Holder holder(Vm vm) {
        return new Holder.User(vm.hardware().user());
    }

    private static MemberId member(Vm vm) {
        return new MemberId(vm.id().text());
    }
}
