package coppice.vm;

import coppice.base.Size;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.qemu.MachineShape;

/// Machine shapes as they are kept, in the store and beside captures. Sizes are in bytes.
final class ShapeJson {

    private ShapeJson() {}

    static JsonWriter write(MachineShape shape) {
        return new JsonWriter()
                .put("cpus", shape.cpus())
                .put("maxCpus", shape.maxCpus())
                .put("memory", shape.memory().bytes())
                .put("addedMemory", shape.addedMemory().stream().map(Size::bytes).toList())
                .put("maxMemory", shape.maxMemory().bytes())
                .put("nic", shape.hasNic());
    }

    static MachineShape read(JsonObject json) {
        return new MachineShape(
                Math.toIntExact(json.requiredInteger("cpus")),
                Math.toIntExact(json.requiredInteger("maxCpus")),
                new Size(json.requiredInteger("memory")),
                json.integers("addedMemory").orElseThrow().stream().map(Size::new).toList(),
                new Size(json.requiredInteger("maxMemory")),
                json.bool("nic").orElse(false));
    }
}
