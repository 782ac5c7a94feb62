/// What this host has and what it has promised of it: memory and room for more VMs, users for their processes, and how many may start
/// at the same time. A VM is refused here before those that run would suffer. Start with [coppice.node.Node].
package coppice.node;
