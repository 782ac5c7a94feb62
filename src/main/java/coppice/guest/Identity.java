package coppice.guest;

import java.util.regex.Pattern;

/// Who a copy of a VM is to be, instead of who its original was.
public record Identity(String hostname, String machineId) {
    private static final Pattern HOSTNAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.-]{0,63}");
    private static final Pattern MACHINE_ID = Pattern.compile("[0-9a-f]{32}");

    public Identity {
        if (!HOSTNAME.matcher(hostname).matches()) {
            throw new IllegalArgumentException("no hostname: " + hostname);
        }
        if (!MACHINE_ID.matcher(machineId).matches()) {
            throw new IllegalArgumentException("no machine id: " + machineId);
        }
    }
}
