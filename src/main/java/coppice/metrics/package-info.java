/// Numbers about this installation for whoever runs it, in the text format of Prometheus: what VMs and snapshots take, and what is left.
///
/// They show all accounts, so they are served only to who knows `metrics.token`. What they say is read by [coppice.vm.Usage]. Start with
/// [coppice.metrics.Metrics].
package coppice.metrics;
