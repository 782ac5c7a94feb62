/// Log-in to VMs by SSH. A connection belongs to one VM and one identity, both named by its user name; its channels are programs in that VM
/// ([coppice.vm.Programs]) or terminals ([coppice.vm.Terminals]).
///
/// Start reading at [SshLogins]; [Admission] decides who comes in, [GuestChannel] what may be asked of a channel, [GuestCommand] what
/// becomes of it. Apache MINA SSHD speaks the protocol and has threads of its own: nothing here waits on them.
package coppice.ssh;
