package coppice.main;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.v5.TerminalPeer;
import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletionException;

/// A terminal of one VM whose program writes what it is told to, and one viewer of it. Whatever the viewer is cut off by, it sees every
/// byte once and in order from the first that it is shown, and that is at most the scrollback away from the last.
final class TerminalTraffic extends Traffic {
    private static final int SCROLLBACK = 1 << 20;
    private static final int TOO_SLOW = 1008;
    private static final int MOST = 2 << 20;

    /// So many numbers at most are left out between two that are said.
    private static final int SKIPPED = 1000;

    private static final String WRITER =
            "stty raw -echo; %s; while read from n; do %s; done"
                    .formatted(
                            new Numbers(Numbers.FIRST).writing(Numbers.LINE),
                            Numbers.writing("$from", "$n"));

    private final String slug;
    private Said said = new Said();

    /// How much of what was said has been seen.
    private long seen;

    private TerminalPeer peer;
    private Weather.Mark attached;

    TerminalTraffic(Lane lane) {
        super(lane);
        this.slug = "t%x".formatted(random.nextInt() & 0xffff);
        begin();
    }

    private void begin() {
        said = new Said();
        said.add(new Numbers(Numbers.FIRST), Numbers.LINE);
        attach();
        finish();
    }

    @Override
    void step() {
        if (said.next() + SKIPPED >= Numbers.END) {
            end();
            begin();
        }
        say();
        if (random.nextInt(3) == 0) {
            story.tell("%s: go away after %d of %d".formatted(slug, seen, said.size()));
            peer.cut();
            attach();
        }
        finish();
    }

    @Override
    void end() {
        finish();
        weather.calmly(
                vm,
                () -> client.delete("/v5/vms/%s/pty/sessions/%s".formatted(vm, slug)).expect(200));
    }

    /// Has the program write. Calmly until it does: what is on its way when a VM is paused is lost.
    private void say() {
        var numbers = new Numbers(said.next() + random.nextInt(SKIPPED));
        int wanted = sizes.nextInt(random, MOST) / Numbers.LINE;
        int size = Numbers.LINE * Math.clamp(wanted, 1, Numbers.END - numbers.from());
        story.tell("%s: say %d bytes from %d".formatted(slug, size, numbers.from()));
        weather.calmly(
                vm,
                () -> {
                    if (weather.wasKilled(attached)) {
                        attach();
                        finish();
                    }
                    said.add(numbers, size);
                    peer.type("%d %d\n".formatted(numbers.offset(), size));
                    see(peer.some());
                    return seen;
                });
    }

    private void see(byte[] bytes) {
        var expected = said.part(seen, bytes.length);
        if (!Arrays.equals(expected, bytes)) {
            throw new AssertionError(
                    "%s at %d of %d: %s"
                            .formatted(slug, seen, said.size(), difference(expected, bytes)));
        }
        seen += bytes.length;
    }

    private static String difference(byte[] expected, byte[] bytes) {
        int at = Arrays.mismatch(expected, bytes);
        int end = Math.min(bytes.length, at + 60);
        return "after %d bytes '%s'"
                .formatted(at, new String(bytes, at, Math.max(0, end - at), US_ASCII));
    }

    /// Sees all that was said.
    private void finish() {
        while (seen < said.size()) {
            var bytes = peer.someUnlessClosed();
            if (bytes.isPresent()) {
                see(bytes.get());
            } else {
                requireReason();
                attach();
            }
        }
    }

    /// Attaches, and finds out where in all that was said the first byte stands that is shown.
    private void attach() {
        while (true) {
            weather.awaitServer();
            attached = weather.mark(vm);
            try {
                peer = client.terminal(vm, "?slug=%s&exec=%s".formatted(slug, encoded(WRITER)));
                peer.text();
            } catch (CompletionException | AssertionError e) {
                if (!weather.wasCut(attached)) {
                    throw e;
                }
                continue;
            }
            var first = first();
            if (first.isPresent()) {
                see(first.get());
                return;
            }
            requireReason();
        }
    }

    /// A viewer is closed with its server, or when so much was said that what it has not seen may be kept no more.
    private void requireReason() {
        boolean isFarBehind = said.size() - seen > SCROLLBACK && peer.closedWith() == TOO_SLOW;
        story.tell("%s: closed with %d at %d".formatted(slug, peer.closedWith(), seen));
        assertTrue(
                isFarBehind || weather.wasKilled(attached),
                () ->
                        "%s is closed with %d at %d of %d"
                                .formatted(slug, peer.closedWith(), seen, said.size()));
    }

    /// The first bytes; empty if it was closed before.
    private Optional<byte[]> first() {
        var bytes = new ByteArrayOutputStream();
        seen = 0;
        while (true) {
            var more = peer.someUnlessClosed();
            if (more.isEmpty()) {
                return more;
            }
            bytes.writeBytes(more.get());
            var text = bytes.toString(US_ASCII);
            int line = text.indexOf('\n') + 1;
            if (said.size() <= SCROLLBACK) {
                return Optional.of(bytes.toByteArray());
            }
            if (line > 0 && text.length() >= line + Numbers.LINE) {
                int number = Integer.parseInt(text.substring(line, line + Numbers.LINE - 1));
                seen = said.positionOf(number) - line;
                assertTrue(
                        seen <= said.size() - SCROLLBACK,
                        () ->
                                "less is kept than 1 MiB: from %d of %d"
                                        .formatted(seen, said.size()));
                return Optional.of(bytes.toByteArray());
            }
        }
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, UTF_8);
    }
}
