package coppice.background;

import coppice.json.JsonObject;
import java.util.Optional;

/// What a later server needs to go on with a request: a command in a VM, which goes on by itself.
///
/// @param vm the id of the VM
/// @param linuxUser as whom it runs, if the caller said so
public record Resumption(String vm, Optional<String> linuxUser, JsonObject detail) {}
