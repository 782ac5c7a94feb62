/// What may talk to what: private networks, the addresses of VMs, firewall rules and tunnels, as records and as a model.
///
/// [Networks] is the door and holds the truth; [Tunnels] is the one to tunnels, on the same truth. [AccountNetworks] is everything of one
/// account at one moment; [Firewall] says what the rules of an account make of a connection. How packets are held to it is told in
/// `coppice.fabric`; both read the same model.
package coppice.network;
