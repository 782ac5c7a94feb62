import java.io.IOException;
import java.io.OutputStream;
import java.util.Random;

/// What a file is made of: one block of random bytes again and again. Zeros would be holes on the disk.
///
/// @param block that divides the length, or is cut off at its end
record Content(byte[] block, long length) {
    private static final int BLOCK = 1 << 20;

    static Content random(long length) {
        var block = new byte[BLOCK];
        new Random().nextBytes(block);
        return new Content(block, length);
    }

    void writeTo(OutputStream out) throws IOException {
        for (long left = length; left > 0; left -= block.length) {
            out.write(block, 0, (int) Math.min(block.length, left));
        }
    }
}
