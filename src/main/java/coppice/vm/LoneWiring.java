package coppice.vm;

import coppice.base.Deadline;
import coppice.fabric.Fabric;
import coppice.fabric.Lone;
import coppice.guest.Guest;
import coppice.guest.NetworkSettings;
import coppice.qemu.Link;
import java.util.List;
import java.util.Optional;

/// Of the one machine that a guest image is captured from. It is given what most VMs are given, so that little of it is new to them.
final class LoneWiring implements Wiring {
    private static final int MTU = 1500;

    private final Fabric.Plug plug;

    LoneWiring(Lone lone) {
        this.plug = lone.plug();
    }

    @Override
    public Optional<Link> plug(Vm vm) {
        return Optional.of(new Link(plug.namespace(), plug.tap(), plug.mac()));
    }

    @Override
    public void connect(Vm vm, Guest guest, Deadline deadline) {
        guest.setNetwork(
                new NetworkSettings(
                        plug.mac(),
                        MTU,
                        List.of(Fabric.SOLO + "/" + Fabric.SOLO_PREFIX),
                        List.of(Fabric.GATEWAY.toString()),
                        List.of(),
                        List.of(Fabric.GATEWAY.toString())),
                deadline);
    }
}
