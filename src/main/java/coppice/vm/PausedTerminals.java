package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.TerminalDescription;
import coppice.guest.TerminalEnd;
import coppice.guest.TerminalName;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The terminals of a paused VM: what its guest said right before. They stand in a file beside the files of its capture, which has it
/// whole or is not there, lasts as long as the pause, and is known to the next server. Snapshots of the pause do not get it.
final class PausedTerminals {
    private static final Logger LOG = LoggerFactory.getLogger(PausedTerminals.class);
    private static final String FILE = "terminals.json";

    /// A pause does not wait longer for a guest that does not answer.
    private static final Duration ANSWER = Duration.ofSeconds(3);

    private PausedTerminals() {}

    /// Empty if the guest does not say.
    static Optional<List<TerminalDescription>> ask(VmId vm, GuestLine line, Deadline deadline) {
        var soon = deadline.atMost(ANSWER);
        try {
            var guest = line.guest(soon);
            return Optional.of(guest.can("pty.list") ? guest.terminals().list(soon) : List.of());
        } catch (Failure e) {
            LOG.warn("{} is paused without a list of its terminals: {}", vm, e.getMessage());
            return Optional.empty();
        }
    }

    static void write(List<TerminalDescription> terminals, Path capture) {
        var file =
                Json.pretty(
                        new JsonWriter()
                                .put(
                                        "terminals",
                                        terminals.stream().map(PausedTerminals::write).toList()));
        try {
            Files.write(capture.resolve(FILE), file);
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the list of terminals cannot be kept", e);
        }
    }

    /// @throws Failure [Code#UNAVAILABLE] if the guest did not say
    static List<TerminalDescription> read(VmId vm, Path capture) {
        try {
            return Json.parse(Files.readAllBytes(capture.resolve(FILE)))
                    .requiredObjects("terminals")
                    .stream()
                    .map(PausedTerminals::read)
                    .toList();
        } catch (NoSuchFileException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the terminals of %s are not known while it is paused; start it first"
                            .formatted(vm),
                    e);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the terminals of %s cannot be read".formatted(vm), e);
        }
    }

    private static JsonWriter write(TerminalDescription terminal) {
        return new JsonWriter()
                .put("session", terminal.session())
                .put("slug", terminal.slug().map(TerminalName.Slug::text))
                .put("user", terminal.user())
                .put("columns", terminal.columns())
                .put("rows", terminal.rows())
                .put("createdSeconds", terminal.created().getEpochSecond())
                .put("createdNanos", terminal.created().getNano())
                .putAll(terminal.end().map(PausedTerminals::write).orElse(Map.of()));
    }

    private static Map<String, Integer> write(TerminalEnd end) {
        return switch (end) {
            case TerminalEnd.Exited(int status) -> Map.of("exitStatus", status);
            case TerminalEnd.Signalled(int signal) -> Map.of("signal", signal);
        };
    }

    private static TerminalDescription read(JsonObject terminal) {
        return new TerminalDescription(
                terminal.requiredInteger("session"),
                terminal.string("slug").map(TerminalName.Slug::new),
                terminal.requiredString("user"),
                (int) terminal.requiredInteger("columns"),
                (int) terminal.requiredInteger("rows"),
                Instant.ofEpochSecond(
                        terminal.requiredInteger("createdSeconds"),
                        terminal.requiredInteger("createdNanos")),
                end(terminal));
    }

    private static Optional<TerminalEnd> end(JsonObject terminal) {
        var exited = terminal.integer("exitStatus").map(PausedTerminals::exited);
        return exited.or(() -> terminal.integer("signal").map(PausedTerminals::signalled));
    }

    private static TerminalEnd exited(long status) {
        return new TerminalEnd.Exited((int) status);
    }

    private static TerminalEnd signalled(long signal) {
        return new TerminalEnd.Signalled((int) signal);
    }
}
