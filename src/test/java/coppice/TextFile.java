package coppice;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// A text file of the repository. Lines are counted from 1.
///
/// @param name its path from the top of the repository
record TextFile(String name, Path file, String content, List<String> lines) {
    private static final Pattern EXCUSE = Pattern.compile("(//|#|<!--) tidy: \\S");
    private static final Pattern BESIDE_THE_CODE = Pattern.compile("\\s*(//|@|\\*|#|<!--).*");

    /// All text files under `root`: not what was built, and not what a tool keeps for itself in a directory with a dot.
    static List<TextFile> under(Path root) {
        var found = new ArrayList<TextFile>();
        try {
            Files.walkFileTree(
                    root,
                    new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult preVisitDirectory(
                                Path directory, BasicFileAttributes attributes) {
                            return directory.equals(root) || isOurs(directory)
                                    ? FileVisitResult.CONTINUE
                                    : FileVisitResult.SKIP_SUBTREE;
                        }

                        @Override
                        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                                throws IOException {
                            // In a second work tree .git is a file, and names a path.
                            if (attributes.isRegularFile() && !file.endsWith(".git")) {
                                read(root, file).ifPresent(found::add);
                            }
                            return FileVisitResult.CONTINUE;
                        }
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        found.sort((a, b) -> a.name.compareTo(b.name));
        return List.copyOf(found);
    }

    String line(int number) {
        return lines.get(number - 1);
    }

    /// Whether a line, or the comments and annotations right above it, hold `// tidy: ` and a reason.
    boolean isExcused(int number) {
        if (number > lines.size()) {
            return false;
        }
        boolean isExcused = EXCUSE.matcher(line(number)).find();
        for (int at = number - 1; at > 0 && BESIDE_THE_CODE.matcher(line(at)).matches(); at--) {
            isExcused |= EXCUSE.matcher(line(at)).find();
        }
        return isExcused;
    }

    private static boolean isOurs(Path directory) {
        var name = directory.getFileName().toString();
        return name.equals(".ci") || !name.startsWith(".") && !name.equals("target");
    }

    private static Optional<TextFile> read(Path root, Path file) throws IOException {
        var content = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        return content.indexOf('\0') >= 0
                ? Optional.empty()
                : Optional.of(
                        new TextFile(
                                root.relativize(file).toString(),
                                file,
                                content,
                                content.lines().toList()));
    }
}
