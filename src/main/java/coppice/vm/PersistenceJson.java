package coppice.vm;

import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.nio.charset.StandardCharsets;

/// [Persistence] as it is kept in the store.
final class PersistenceJson {

    private PersistenceJson() {}

    static String write(Persistence persistence) {
        var json =
                switch (persistence) {
                    case Persistence.Sticky(int priority) ->
                            new JsonWriter().put("type", "sticky").put("priority", priority);
                    case Persistence.Persistent _ -> new JsonWriter().put("type", "persistent");
                    case Persistence.Ephemeral(var event) ->
                            new JsonWriter().put("type", "ephemeral").put("event", event.name());
                };
        return new String(Json.write(json), StandardCharsets.UTF_8);
    }

    static Persistence read(String text) {
        var json = Json.parse(text.getBytes(StandardCharsets.UTF_8));
        return json.requiredString("type").equals("ephemeral")
                ? new Persistence.Ephemeral(Persistence.Event.valueOf(json.requiredString("event")))
                : lasting(json);
    }

    static Persistence.Lasting readLasting(String text) {
        return lasting(Json.parse(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static Persistence.Lasting lasting(JsonObject json) {
        return json.requiredString("type").equals("sticky")
                ? new Persistence.Sticky(Math.toIntExact(json.requiredInteger("priority")))
                : new Persistence.Persistent();
    }
}
