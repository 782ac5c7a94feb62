package coppice.network;

/// What a rule can name, and is deleted with.
public sealed interface Named {
    /// A VM.
    record Member(MemberId id) implements Named {}

    /// A private network.
    record Network(VpcId id) implements Named {}

    /// A tunnel.
    record Passage(TunnelId id) implements Named {}
}
