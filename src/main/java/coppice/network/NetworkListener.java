package coppice.network;

import coppice.identity.AccountId;

/// Hears of changes after they are on disk, before whoever asked for one is answered. Calls may overlap and overtake each
/// other: what counts is what [Networks#of] says now.
public interface NetworkListener {
    void changed(AccountId account, AccountNetworks before, AccountNetworks after);
}
