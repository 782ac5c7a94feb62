/// Child processes and what holds them: [coppice.process.Command] runs a program to its end within a deadline and an output limit,
/// [coppice.process.ProcessId] names a process so that it cannot be mistaken for a later one with the same number, and
/// [coppice.process.ControlGroup] limits and finds the processes of one VM, on cgroup v1 and v2.
package coppice.process;
