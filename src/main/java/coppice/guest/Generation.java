package coppice.guest;

import java.util.UUID;

/// Names one life of a VM: every boot and every restore has a new one, a reconnection of the server has the old one.
public record Generation(UUID value) {}
