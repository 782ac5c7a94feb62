package coppice.main;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Random;

/// Numbers of eight digits from one on: each line has nine bytes and tells where it stands. A VM has them in a file, because to count is
/// slow in a guest that is emulated.
record Numbers(int from) {
    static final int LINE = 9;
    static final int FIRST = 10_000_000;
    static final int END = FIRST + 700_000;

    private static final String FILE = "/dev/shm/numbers";

    /// Puts the file into a VM.
    static void give(Client client, String vm) {
        var bytes = new Numbers(FIRST).part(0, (END - FIRST) * LINE);
        client.send("PUT", "/v5/vms/%s/fs/write?path=%s".formatted(vm, FILE), bytes).expect(204);
    }

    /// Some of which there are so many bytes.
    static Numbers any(Random random, int bytes) {
        return new Numbers(FIRST + random.nextInt(END - FIRST - bytes / LINE));
    }

    byte[] part(long at, int length) {
        long line = at / LINE;
        int skipped = (int) (at % LINE);
        var text = new StringBuilder(length + 2 * LINE);
        for (; text.length() < skipped + length; line++) {
            text.append(from + line).append('\n');
        }
        return text.substring(skipped, skipped + length).getBytes(US_ASCII);
    }

    /// Where they begin in the file.
    int offset() {
        return (from - FIRST) * LINE;
    }

    /// The command that writes so many bytes of the file from an offset on; each a number or a word of the shell.
    static String writing(Object offset, Object bytes) {
        return "dd if=%s bs=64k iflag=skip_bytes,count_bytes skip=%s count=%s 2>/dev/null"
                .formatted(FILE, offset, bytes);
    }

    /// The command that writes so many bytes of them.
    String writing(int bytes) {
        return writing(offset(), bytes);
    }
}
