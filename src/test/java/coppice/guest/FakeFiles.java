package coppice.guest;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32C;

/// The files of a [FakeGuest]: files and directories by their paths, all of root's. Only root may touch what is below `/secret`,
/// and `/full` has room for a thousand bytes in each file. Guarded by the monitor of the guest.
final class FakeFiles {
    static final long MODIFIED = 1_767_323_045_000_000_006L;

    final Map<String, byte[]> files = new TreeMap<>();
    final Map<String, Long> modes = new TreeMap<>();
    final Set<String> directories = new TreeSet<>(List.of("/"));
    private final List<Watch> watches = new ArrayList<>();

    private record Watch(String path, FakeWork work) {}

    Optional<FakeWork> begin(String operation, Fields fields) throws IOException {
        var path = fields.text(Tag.PATH).orElse("");
        var work = new FakeWork();
        if (path.startsWith("/secret") && !fields.text(Tag.USER).orElse("root").equals("root")) {
            work.reset("ACCESS_DENIED");
            return Optional.of(work);
        }
        switch (operation) {
            case "file.stat" -> stat(work, path);
            case "file.read" -> read(work, path, fields);
            case "file.write" -> {
                return Optional.of(write(path, fields));
            }
            case "file.list" -> list(work, path);
            case "file.mkdir" -> mkdir(work, path);
            case "file.remove" -> remove(work, path);
            case "file.watch" -> watch(work, path);
            default -> {
                return Optional.empty();
            }
        }
        return Optional.of(work);
    }

    private void stat(FakeWork work, String path) {
        if (files.containsKey(path) || directories.contains(path)) {
            work.result(description(path));
        } else {
            work.reset("FILE_NOT_FOUND");
        }
    }

    private FieldsWriter description(String path) {
        boolean isFile = files.containsKey(path);
        return new FieldsWriter()
                .number(Tag.KIND, (isFile ? FileKind.FILE : FileKind.DIRECTORY).code())
                .number(Tag.SIZE, isFile ? files.get(path).length : 4096)
                .number(Tag.MODE, modes.getOrDefault(path, 0755L))
                .text(Tag.OWNER, "root")
                .text(Tag.GROUP, "0")
                .number(Tag.MODIFIED, MODIFIED);
    }

    private void read(FakeWork work, String path, Fields fields) throws IOException {
        if (!files.containsKey(path)) {
            work.reset(directories.contains(path) ? "NOT_A_FILE" : "FILE_NOT_FOUND");
            return;
        }
        var bytes = files.get(path);
        int from = (int) Math.min(fields.number(Tag.OFFSET).orElse(0), bytes.length);
        long length = Math.min(fields.number(Tag.LENGTH).orElse(bytes.length), bytes.length - from);
        work.send(2, description(path).toBytes());
        work.send(1, Arrays.copyOfRange(bytes, from, (int) (from + length)));
        work.result(new FieldsWriter());
    }

    private FakeWork write(String path, Fields fields) throws IOException {
        long size = fields.number(Tag.SIZE, Long.MAX_VALUE);
        var mode = fields.number(Tag.MODE);
        var sum = fields.number(Tag.CHECKSUM);
        return new FakeWork() {
            @Override
            void take(byte[] source, int from, int length) {
                super.take(source, from, length);
                if (path.startsWith("/full") && body.size() > 1000) {
                    reset("DISK_FULL");
                }
            }

            @Override
            void bodyEnded() {
                var crc = new CRC32C();
                crc.update(body.toByteArray());
                if (body.size() != size) {
                    reset("BAD_REQUEST");
                } else if (sum.isPresent() && sum.getAsLong() != crc.getValue()) {
                    reset("CHECKSUM_MISMATCH");
                } else if (directories.contains(path)) {
                    reset("NOT_A_FILE");
                } else {
                    boolean isNew = files.put(path, body.toByteArray()) == null;
                    modes.put(path, mode.orElse(modes.getOrDefault(path, 0600L)));
                    makeAbove(path);
                    tell(isNew ? FileEvent.Kind.CREATE : FileEvent.Kind.MODIFY, path);
                    result(new FieldsWriter().number(Tag.SIZE, size));
                }
            }
        };
    }

    private void list(FakeWork work, String path) {
        if (!directories.contains(path)) {
            work.reset(files.containsKey(path) ? "NOT_A_DIRECTORY" : "FILE_NOT_FOUND");
            return;
        }
        var entries = new FieldsWriter();
        var prefix = path.equals("/") ? "/" : path + "/";
        directories.forEach(each -> entry(entries, prefix, each, FileKind.DIRECTORY));
        files.keySet().forEach(each -> entry(entries, prefix, each, FileKind.FILE));
        work.send(1, entries.toBytes());
        work.result(new FieldsWriter());
    }

    private static void entry(FieldsWriter entries, String prefix, String path, FileKind kind) {
        var name = path.startsWith(prefix) ? path.substring(prefix.length()) : "";
        if (!name.isEmpty() && name.indexOf('/') < 0) {
            entries.bytes(Tag.NAME, name.getBytes(UTF_8)).number(Tag.KIND, kind.code());
        }
    }

    private void mkdir(FakeWork work, String path) {
        if (files.containsKey(path)) {
            work.reset("NOT_A_DIRECTORY");
            return;
        }
        makeAbove(path + "/");
        work.result(new FieldsWriter());
    }

    private void makeAbove(String path) {
        for (int at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) {
            directories.add(path.substring(0, at));
        }
    }

    private void remove(FakeWork work, String path) {
        boolean found =
                files.keySet().removeIf(each -> isIn(path, each))
                        | directories.removeIf(each -> isIn(path, each));
        if (found) {
            tell(FileEvent.Kind.DELETE, path);
            work.result(new FieldsWriter());
        } else {
            work.reset("FILE_NOT_FOUND");
        }
    }

    private static boolean isIn(String path, String each) {
        return each.equals(path) || each.startsWith(path + "/");
    }

    private void watch(FakeWork work, String path) {
        work.ends[2] = true;
        watches.add(new Watch(path, work));
    }

    private void tell(FileEvent.Kind kind, String path) {
        for (var watch : watches) {
            if (isIn(watch.path(), path)) {
                watch.work()
                        .out[1]
                        .writeBytes(
                                new FieldsWriter()
                                        .number(Tag.EVENT, kind.code())
                                        .text(Tag.PATH, path)
                                        .toBytes());
            }
        }
    }
}
