package coppice.guest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/// The terminals of a [FakeGuest]. What is typed comes back as output; `exit N` as all that is typed at once ends the session;
/// one whose command is `fail` cannot be started, and there is no user `nobody-here`. The scrollback is endless unless cut. Guarded by the
/// monitor of the guest.
final class FakeTerminals {
    private final TreeMap<Long, Session> sessions = new TreeMap<>();
    private long last;

    /// Where the kept output of every session begins.
    long oldest;

    /// When sessions were made that are made from now on; nanoseconds since 1970.
    private long created = FakeFiles.MODIFIED;

    static final class Session {
        final long number;
        final long created;
        final Optional<String> slug;
        final String user;
        final ByteArrayOutputStream output = new ByteArrayOutputStream();
        final List<Stream> streams = new ArrayList<>();
        long columns;
        long rows;
        Optional<Long> status = Optional.empty();

        Session(
                long number,
                long created,
                Optional<String> slug,
                String user,
                long columns,
                long rows) {
            this.number = number;
            this.created = created;
            this.slug = slug;
            this.user = user;
            this.columns = columns;
            this.rows = rows;
        }

        FieldsWriter description() {
            var fields =
                    new FieldsWriter()
                            .number(Tag.SESSION, number)
                            .text(Tag.USER, user)
                            .number(Tag.COLUMNS, columns)
                            .number(Tag.ROWS, rows)
                            .number(Tag.CREATED, created);
            slug.ifPresent(name -> fields.text(Tag.SLUG, name));
            status.ifPresent(value -> fields.number(Tag.EXIT_STATUS, value));
            return fields;
        }

        void write(byte[] bytes) {
            output.writeBytes(bytes);
            streams.forEach(stream -> stream.out[1].writeBytes(bytes));
        }

        void end(long value) {
            status = Optional.of(value);
            streams.forEach(Stream::ended);
        }
    }

    static final class Stream extends FakeWork {
        private final Session session;

        Stream(Session session) {
            this.session = session;
            session.streams.add(this);
        }

        @Override
        void take(byte[] source, int from, int length) {
            var typed = Arrays.copyOfRange(source, from, from + length);
            var text = new String(typed, java.nio.charset.StandardCharsets.ISO_8859_1);
            if (session.status.isPresent()) {
                return;
            }
            if (text.startsWith("exit ")) {
                session.end(Long.parseLong(text.substring(5).strip()));
            } else {
                session.write(typed);
            }
        }

        @Override
        void closed() {
            session.streams.remove(this);
        }

        void ended() {
            ends[1] = true;
            result(new FieldsWriter().number(Tag.EXIT_STATUS, session.status.orElseThrow()));
        }
    }

    /// The guest is booted: its sessions are gone, and counted from 1 again.
    void reboot() {
        sessions.clear();
        last = 0;
        created++;
    }

    /// The session of this number.
    Session session(long number) {
        return sessions.get(number);
    }

    Optional<FakeWork> begin(String operation, Fields fields) throws IOException {
        return switch (operation) {
            case "pty.open" -> Optional.of(open(fields));
            case "pty.attach" -> Optional.of(attach(fields));
            case "pty.list" -> Optional.of(list());
            case "pty.resize", "pty.signal", "pty.close" -> Optional.of(act(operation, fields));
            default -> Optional.empty();
        };
    }

    private FakeWork open(Fields fields) throws IOException {
        var slug = fields.text(Tag.SLUG);
        var user = fields.text(Tag.USER).orElse("app");
        var found = slug.flatMap(name -> find(each -> each.slug.equals(slug)));
        if (found.isPresent() && !found.get().user.equals(user)) {
            return refused("SLUG_TAKEN");
        }
        if (user.equals("nobody-here")) {
            return refused("NO_SUCH_USER");
        }
        if (fields.text(Tag.COMMAND).filter("fail"::equals).isPresent()) {
            return refused("FAILED");
        }
        if (found.isEmpty() && sessions.size() == 64) {
            return refused("TOO_MANY");
        }
        var session =
                found.isPresent()
                        ? found.get()
                        : new Session(
                                ++last,
                                created,
                                slug,
                                user,
                                fields.number(Tag.COLUMNS, 1000),
                                fields.number(Tag.ROWS, 1000));
        sessions.put(session.number, session);
        return stream(session, fields, found.isEmpty());
    }

    private FakeWork attach(Fields fields) throws IOException {
        var found = find(fields);
        return found.isPresent() ? stream(found.get(), fields, false) : refused("NO_SUCH_SESSION");
    }

    private FakeWork stream(Session session, Fields fields, boolean fresh) throws IOException {
        var stream = new Stream(session);
        long asked = fields.number(Tag.OFFSET).orElse(0);
        long from = Math.min(Math.max(asked, oldest), session.output.size());
        var description = session.description().number(Tag.OFFSET, from);
        stream.send(2, (fresh ? description.number(Tag.FRESH, 1) : description).toBytes());
        var all = session.output.toByteArray();
        stream.out[1].writeBytes(Arrays.copyOfRange(all, (int) from, all.length));
        if (session.status.isPresent()) {
            stream.ended();
        }
        return stream;
    }

    private FakeWork list() {
        var work = new FakeWork();
        var all = new ByteArrayOutputStream();
        sessions.values().forEach(each -> all.writeBytes(each.description().toBytes()));
        work.send(1, all.toByteArray());
        work.result(new FieldsWriter());
        return work;
    }

    private FakeWork act(String operation, Fields fields) throws IOException {
        var found = find(fields);
        if (found.isEmpty()) {
            return refused("NO_SUCH_SESSION");
        }
        var session = found.get();
        var result = new FieldsWriter();
        switch (operation) {
            case "pty.resize" -> {
                session.columns = fields.number(Tag.COLUMNS, 1000);
                session.rows = fields.number(Tag.ROWS, 1000);
            }
            case "pty.signal" -> session.write(new byte[] {(byte) fields.number(Tag.SIGNAL, 64)});
            default -> {
                session.status.ifPresent(value -> result.number(Tag.EXIT_STATUS, value));
                sessions.remove(session.number);
                session.streams.forEach(stream -> stream.reset("CLOSED"));
            }
        }
        var work = new FakeWork();
        work.result(result);
        return work;
    }

    private Optional<Session> find(Fields fields) throws IOException {
        var slug = fields.text(Tag.SLUG);
        var number = fields.number(Tag.SESSION);
        var user = fields.text(Tag.USER);
        return find(
                each ->
                        (number.isPresent()
                                        ? each.number == number.getAsLong()
                                        : each.slug.equals(slug))
                                && (user.isEmpty() || user.get().equals(each.user)));
    }

    private Optional<Session> find(Predicate<Session> wanted) {
        return sessions.values().stream().filter(wanted).findFirst();
    }

    private static FakeWork refused(String code) {
        var work = new FakeWork();
        work.reset(code);
        return work;
    }
}
