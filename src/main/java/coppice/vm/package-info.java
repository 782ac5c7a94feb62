/// Virtual machines: what they are ([coppice.vm.Vm]), what states they pass through ([coppice.vm.VmState]), and everything that is done
/// to them ([coppice.vm.Vms], the door of this package).
///
/// Each VM has one loop ([coppice.vm.VmLoop]), a virtual thread that alone changes it. Intent is written to the store before the act; what
/// really runs is discovered at start ([coppice.vm.Recovery]). A VM comes to life by restoring a capture ([coppice.vm.Machines]), and only
/// when it was stopped by booting its own disk.
package coppice.vm;
