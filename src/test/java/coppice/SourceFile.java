package coppice;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import javax.tools.ToolProvider;

/// A Java file as the compiler parses it, with what `TidyTest` asks about it. Lines are counted from 1.
record SourceFile(
        TextFile text,
        String packageName,
        List<Declared<ClassTree>> types,
        List<Declared<MethodTree>> methods,
        List<Declared<VariableTree>> fields,
        List<Call> calls) {

    /// A declaration.
    ///
    /// @param owner what it is declared in
    /// @param path `Outer.Inner` for a type; for a member, the type it is in
    /// @param line of its first modifier or annotation
    /// @param body the line at which a method's body begins
    record Declared<T>(T tree, Tree.Kind owner, String path, int line, int body, int end) {}

    /// A call as it is written, without its arguments.
    record Call(String callee, int line) {}

    static List<SourceFile> parse(List<TextFile> texts) {
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (var files = compiler.getStandardFileManager(null, Locale.ROOT, null)) {
            var paths = texts.stream().map(TextFile::file).toList();
            var task =
                    (JavacTask)
                            compiler.getTask(
                                    null,
                                    files,
                                    null,
                                    List.of("-proc:none"),
                                    null,
                                    files.getJavaFileObjectsFromPaths(paths));
            var positions = Trees.instance(task).getSourcePositions();
            var units = StreamSupport.stream(task.parse().spliterator(), false).toList();
            return IntStream.range(0, paths.size())
                    .mapToObj(at -> read(texts.get(at), units.get(at), positions))
                    .toList();
        } catch (IOException e) {
            throw new IllegalStateException("the sources cannot be parsed", e);
        }
    }

    /// How many lines of `from..to` hold code: no blank lines, no comments, no imports.
    long code(int from, int to) {
        boolean isComment = false;
        long code = 0;
        for (int at = from; at <= to; at++) {
            var line = text.line(at).strip();
            isComment |= line.startsWith("/*");
            if (!isComment && !line.isEmpty() && !line.startsWith("//") && !isImport(line)) {
                code++;
            }
            isComment &= !line.contains("*/");
        }
        return code;
    }

    boolean isTest() {
        return text.name().startsWith("src/test/");
    }

    Path directory() {
        return Path.of(text.name()).getParent();
    }

    private static boolean isImport(String line) {
        return line.startsWith("import ") && line.endsWith(";");
    }

    private static SourceFile read(
            TextFile text, CompilationUnitTree unit, SourcePositions positions) {
        var scan = new Scan(unit, positions);
        scan.scan(unit, null);
        var name = unit.getPackageName() == null ? "" : unit.getPackageName().toString();
        return new SourceFile(text, name, scan.types, scan.methods, scan.fields, scan.calls);
    }

    private static final class Scan extends TreePathScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final List<Declared<ClassTree>> types = new ArrayList<>();
        private final List<Declared<MethodTree>> methods = new ArrayList<>();
        private final List<Declared<VariableTree>> fields = new ArrayList<>();
        private final List<Call> calls = new ArrayList<>();

        private Scan(CompilationUnitTree unit, SourcePositions positions) {
            this.unit = unit;
            this.positions = positions;
        }

        @Override
        public Void visitClass(ClassTree type, Void none) {
            if (!type.getSimpleName().isEmpty()) {
                types.add(declared(type));
            }
            return super.visitClass(type, none);
        }

        @Override
        public Void visitMethod(MethodTree method, Void none) {
            methods.add(declared(method));
            return super.visitMethod(method, none);
        }

        @Override
        public Void visitVariable(VariableTree variable, Void none) {
            if (getCurrentPath().getParentPath().getLeaf() instanceof ClassTree) {
                fields.add(declared(variable));
            }
            return super.visitVariable(variable, none);
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree call, Void none) {
            calls.add(
                    new Call(
                            call.getMethodSelect().toString(),
                            line(positions.getEndPosition(unit, call.getMethodSelect()))));
            return super.visitMethodInvocation(call, none);
        }

        private <T extends Tree> Declared<T> declared(T tree) {
            boolean hasBody = tree instanceof MethodTree method && method.getBody() != null;
            var body = hasBody ? ((MethodTree) tree).getBody() : tree;
            return new Declared<>(
                    tree,
                    getCurrentPath().getParentPath().getLeaf().getKind(),
                    enclosingTypes(),
                    line(positions.getStartPosition(unit, tree)),
                    line(positions.getStartPosition(unit, body)),
                    line(positions.getEndPosition(unit, tree)));
        }

        private String enclosingTypes() {
            var names = new ArrayList<String>();
            for (var at = getCurrentPath(); at != null; at = at.getParentPath()) {
                if (at.getLeaf() instanceof ClassTree type) {
                    names.addFirst(type.getSimpleName().toString());
                }
            }
            return String.join(".", names);
        }

        private int line(long position) {
            return (int) unit.getLineMap().getLineNumber(position);
        }
    }

    /// The names by which documents may call the types of this file: `Type`, `package.Type`, `coppice.package.Type`.
    Stream<String> typeNames() {
        var parent = packageName.replaceFirst("^coppice\\.?", "");
        return types.stream()
                .flatMap(
                        type ->
                                Stream.of(
                                        type.tree().getSimpleName().toString(),
                                        type.path(),
                                        parent + "." + type.path(),
                                        packageName + "." + type.path()));
    }
}
