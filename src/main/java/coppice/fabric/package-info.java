/// How packets are held to what `coppice.network` says.
///
/// [Fabric] is the door. Each private network, and each VM that is in none, has a network namespace of its own (a [Segment]) with a
/// bridge that the taps of its VMs are ports of; one more namespace, the [Hub], joins them with each other and with the host. Nothing
/// passes a segment that [SegmentRules] does not name: they are a pure function of the model, and replaced as a whole, in one step, when
/// it changes.
package coppice.fabric;
