package coppice.dns;

import coppice.base.IpAddress;

/// Who sent a query.
record Asker(IpAddress address, boolean isKnown) {
    private static final IpAddress NOBODY = IpAddress.v4(0);

    /// Whose share of the limits is used: all who are unknown have one together, since there is no end of them.
    IpAddress share() {
        return isKnown ? address : NOBODY;
    }
}
