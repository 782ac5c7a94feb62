package coppice;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

/// How we write here, as far as a program can check it. A line that must break a rule says so: `// tidy: ` and the reason, at its end or
/// in the comment right above it (above the annotations of a declaration).
class TidyTest {
    private static final int MAX_FILE = 300;
    private static final int MAX_METHOD = 40;
    private static final int MAX_LINE = 140;

    private static final Pattern TYPE_WITHOUT_SUBJECT =
            Pattern.compile(
                    "Abstract[A-Z].*|.*(Manager|Helper|Utils?|Impl|Base|Data|Info|Processor)");
    private static final Pattern SLEEP =
            Pattern.compile("(.*\\.)?Thread\\.sleep|.*(SECONDS|MINUTES)\\.sleep");
    private static final Pattern EXIT =
            Pattern.compile("(.*\\.)?System\\.exit|.*getRuntime\\(\\)\\.(exit|halt)");
    private static final Pattern ASYNCHRONOUS =
            Pattern.compile("\\b(Completable\\w+|Completion\\w+|Publisher|Mono|Flux)\\b");
    private static final Pattern MUTABLE =
            Pattern.compile(
                    "new ([\\w.]*\\.)?(\\w*(HashMap|HashSet|TreeMap|TreeSet|EnumMap|Deque|Queue"
                            + "|ArrayList|LinkedList)|Atomic\\w+|LongAdder)\\b.*");
    // In two parts, since this file is read too.
    private static final Pattern OPEN_TASK =
            Pattern.compile("\\b(TO" + "DO|FIX" + "ME)\\b(?!\\(?:? ?#\\d)");
    private static final Pattern WORKING_DIRECTORY = Pattern.compile("(?<![\\w.})*-])/wo" + "rk/");
    private static final Pattern HOME = Pattern.compile("(?<![\\w.})*-])/ro" + "ot/");
    private static final Pattern LINE_NUMBER =
            Pattern.compile(
                    "\\.(java|c|h|sh|sql|xml|md):\\d|\\b[A-Z]\\w*[a-z]\\w*:\\d|#L\\d|(?i:\\blines? \\d)");
    private static final Pattern TYPE_IN_A_DOCUMENT =
            Pattern.compile(
                    "`((?:[a-z][a-z0-9]*\\.)*(?:[A-Z]\\w*\\.)*[A-Z]\\w*)(\\.\\w+)?(\\(.*?\\))?`");

    /// Spaces stand for dots, since this file is read too.
    private static final List<String> REGISTRIES =
            Stream.of(
                            "repo1 maven org",
                            "repo maven apache org",
                            "central sonatype com",
                            "deb debian org",
                            "security debian org",
                            "snapshot debian org",
                            "archive debian org",
                            "ftp debian org",
                            "registry npmjs org",
                            "pypi org",
                            "pythonhosted org",
                            "crates io",
                            "proxy golang org")
                    .map(host -> host.replace(' ', '.'))
                    .toList();

    private static final List<TextFile> TEXTS = TextFile.under(Path.of("").toAbsolutePath());
    private static final List<SourceFile> SOURCES =
            SourceFile.parse(TEXTS.stream().filter(TidyTest::isJava).toList());

    @Test
    void aFileHasAtMost300LinesOfCode() {
        require(
                inSources(
                        source -> {
                            long code = source.code(1, source.text().lines().size());
                            int line =
                                    source.types().stream().mapToInt(t -> t.line()).min().orElse(1);
                            return code <= MAX_FILE
                                    ? Stream.empty()
                                    : found(
                                            source,
                                            line,
                                            "%d lines of code, at most %d: which second concept is in it?"
                                                    .formatted(code, MAX_FILE));
                        }));
    }

    @Test
    void aMethodHasAtMost40LinesOfCode() {
        require(
                inMethods(
                        (source, method) -> source.code(method.body(), method.end()) > MAX_METHOD,
                        (source, method) ->
                                "%s has %d lines of code, at most %d: name its parts and make them methods"
                                        .formatted(
                                                method.tree().getName(),
                                                source.code(method.body(), method.end()),
                                                MAX_METHOD)));
    }

    @Test
    void aLineHasAtMost140Characters() {
        require(
                inLines(
                        TidyTest::isJava,
                        line -> line.length() > MAX_LINE,
                        "longer than %d characters: break it".formatted(MAX_LINE)));
    }

    @Test
    void aTypeIsNamedAfterItsSubject() {
        require(
                inTypes(
                        type -> TYPE_WITHOUT_SUBJECT.matcher(type.getSimpleName()).matches(),
                        "%s: name what it is, in the words of the domain"));
    }

    @Test
    void anAccessorIsNamedWithoutGet() {
        require(
                inMethods(
                        (_, method) ->
                                method.tree().getName().toString().matches("get[A-Z].*")
                                        && method.tree().getParameters().isEmpty()
                                        && !isAnnotated(method.tree(), "Override"),
                        (_, method) ->
                                "%s: drop the 'get', or say what is done"
                                        .formatted(method.tree().getName())));
    }

    @Test
    void aTestDoesNotSleep() {
        require(
                inCalls(
                        source -> source.isTest(),
                        SLEEP,
                        "%s: move the clock, or wait for the event itself"));
    }

    @Test
    void onlyMainEndsTheProgram() {
        require(
                inCalls(
                        source -> !source.text().name().endsWith("/Main.java"),
                        EXIT,
                        "%s: throw a Failure, or return a status to Main"));
    }

    @Test
    void staticFieldsAreConstant() {
        require(
                inSources(
                        source ->
                                source.fields().stream()
                                        .filter(field -> isMutableStatic(field))
                                        .flatMap(
                                                field ->
                                                        found(
                                                                source,
                                                                field.line(),
                                                                "%s is a mutable static: give it to the object that owns it"
                                                                        .formatted(
                                                                                field.tree()
                                                                                        .getName())))));
    }

    @Test
    void noSignatureIsAsynchronous() {
        require(
                inMethods(
                        (_, method) ->
                                Stream.concat(
                                                Stream.ofNullable(method.tree().getReturnType()),
                                                method.tree().getParameters().stream()
                                                        .map(VariableTree::getType))
                                        .anyMatch(
                                                type ->
                                                        ASYNCHRONOUS
                                                                .matcher(String.valueOf(type))
                                                                .find()),
                        (_, method) ->
                                "%s: block, on a virtual thread and with a Deadline"
                                        .formatted(method.tree().getName())));
    }

    @Test
    void theNameOfATestIsASentence() {
        require(
                inMethods(
                        (source, method) ->
                                isTest(source, method.tree())
                                        && method.tree()
                                                .getName()
                                                .toString()
                                                .matches("test([A-Z_0-9].*)?|.*\\d"),
                        (_, method) ->
                                "%s: say what holds, without 'test' before it or a number after it"
                                        .formatted(method.tree().getName())));
    }

    @Test
    void anOpenTaskNamesItsIssue() {
        require(
                inLines(
                        _ -> true,
                        line -> OPEN_TASK.matcher(line).find(),
                        "do it now, or open an issue and write its number: (#12)"));
    }

    @Test
    void everyPackageSaysWhatItIsFor() {
        var explained =
                SOURCES.stream()
                        .filter(source -> source.text().name().endsWith("/package-info.java"))
                        .map(SourceFile::packageName)
                        .collect(Collectors.toSet());
        var reported = new HashSet<String>();
        require(
                inSources(
                        source ->
                                source.packageName().isEmpty()
                                                || explained.contains(source.packageName())
                                                || !reported.add(source.packageName())
                                        ? Stream.empty()
                                        : found(
                                                source,
                                                1,
                                                "its package %s has no package-info.java: write what it owns and where to start reading"
                                                        .formatted(source.packageName()))));
    }

    @Test
    void theTypesThatTheArchitectureNamesExist() {
        var known = SOURCES.stream().flatMap(SourceFile::typeNames).collect(Collectors.toSet());
        var remedy = "there is no type %s: correct it, or give a library's type its package";
        require(
                inLines(
                        TidyTest::isArchitecture,
                        line ->
                                TYPE_IN_A_DOCUMENT
                                        .matcher(line)
                                        .results()
                                        .map(span -> span.group(1))
                                        .filter(name -> !isType(name, known))
                                        .map(remedy::formatted)));
    }

    @Test
    void theArchitectureNamesNoLineNumbers() {
        require(
                inLines(
                        TidyTest::isArchitecture,
                        line -> LINE_NUMBER.matcher(line).find(),
                        "a line number is wrong after the next change: name the type"));
    }

    @Test
    void nothingDependsOnTheMachineItWasWrittenOn() {
        var remedy = "a path of one machine: make it relative, or a setting";
        require(
                Stream.concat(
                        inLines(_ -> true, line -> WORKING_DIRECTORY.matcher(line).find(), remedy),
                        inLines(
                                text -> !isAboutGuests(text),
                                line -> HOME.matcher(line).find(),
                                remedy)));
    }

    @Test
    void noPackageRegistryIsNamed() {
        require(
                inLines(
                        _ -> true,
                        line -> REGISTRIES.stream().anyMatch(line::contains),
                        "names a package registry: use what the machine's own apt, Maven or npm is configured with"));
    }

    @Test
    void everyFileEndsWithANewline() {
        require(
                TEXTS.stream()
                        .filter(text -> !text.content().isEmpty() && !text.content().endsWith("\n"))
                        .map(
                                text ->
                                        "%s:%d: add a newline at the end"
                                                .formatted(text.name(), text.lines().size())));
    }

    private static void require(Stream<String> findings) {
        var all = findings.sorted().toList();
        assertEquals(
                "",
                String.join("\n", all),
                "%d places are not tidy; one that has to be so says why, by '// tidy: ' and the reason"
                        .formatted(all.size()));
    }

    private static Stream<String> inSources(Function<SourceFile, Stream<String>> find) {
        return SOURCES.stream().flatMap(find);
    }

    private static Stream<String> inTypes(Predicate<ClassTree> isWrong, String remedy) {
        return inSources(
                source ->
                        source.types().stream()
                                .filter(type -> isWrong.test(type.tree()))
                                .flatMap(
                                        type ->
                                                found(
                                                        source,
                                                        type.line(),
                                                        remedy.formatted(type.path()))));
    }

    private static Stream<String> inMethods(
            BiPredicate<SourceFile, SourceFile.Declared<MethodTree>> isWrong,
            BiFunction<SourceFile, SourceFile.Declared<MethodTree>, String> remedy) {
        return inSources(
                source ->
                        source.methods().stream()
                                .filter(method -> isWrong.test(source, method))
                                .flatMap(
                                        method ->
                                                found(
                                                        source,
                                                        method.line(),
                                                        remedy.apply(source, method))));
    }

    private static Stream<String> inCalls(
            Predicate<SourceFile> where, Pattern forbidden, String remedy) {
        return SOURCES.stream()
                .filter(where)
                .flatMap(
                        source ->
                                source.calls().stream()
                                        .filter(call -> forbidden.matcher(call.callee()).matches())
                                        .flatMap(
                                                call ->
                                                        found(
                                                                source,
                                                                call.line(),
                                                                remedy.formatted(call.callee()))));
    }

    private static Stream<String> inLines(
            Predicate<TextFile> where, Predicate<String> isWrong, String remedy) {
        return inLines(where, line -> isWrong.test(line) ? Stream.of(remedy) : Stream.empty());
    }

    private static Stream<String> inLines(
            Predicate<TextFile> where, Function<String, Stream<String>> wrongs) {
        return TEXTS.stream()
                .filter(where)
                .flatMap(
                        text ->
                                IntStream.rangeClosed(1, text.lines().size())
                                        .boxed()
                                        .flatMap(
                                                line ->
                                                        wrongs.apply(text.line(line))
                                                                .flatMap(
                                                                        wrong ->
                                                                                found(
                                                                                        text, line,
                                                                                        wrong))));
    }

    private static Stream<String> found(SourceFile source, int line, String remedy) {
        return found(source.text(), line, remedy);
    }

    private static Stream<String> found(TextFile text, int line, String remedy) {
        return text.isExcused(line)
                ? Stream.empty()
                : Stream.of("%s:%d: %s".formatted(text.name(), line, remedy));
    }

    private static boolean isJava(TextFile text) {
        return text.name().matches("(src/(main|test)/java|bench)/.*\\.java");
    }

    /// Root's home is in every guest.
    private static boolean isAboutGuests(TextFile text) {
        return text.name().startsWith("images/") || text.name().endsWith("IT.java");
    }

    private static boolean isArchitecture(TextFile text) {
        return text.name().equals("ARCHITECTURE.md");
    }

    private static boolean isTest(SourceFile source, MethodTree method) {
        return source.isTest()
                && Stream.of("Test", "ParameterizedTest", "RepeatedTest", "TestFactory")
                        .anyMatch(name -> isAnnotated(method, name));
    }

    private static boolean isAnnotated(MethodTree method, String name) {
        return method.getModifiers().getAnnotations().stream()
                .anyMatch(
                        annotation ->
                                annotation
                                        .getAnnotationType()
                                        .toString()
                                        .matches("([\\w.]+\\.)?" + name));
    }

    private static boolean isMutableStatic(SourceFile.Declared<VariableTree> field) {
        ModifiersTree modifiers = field.tree().getModifiers();
        boolean isInInterface = field.owner() == Tree.Kind.INTERFACE;
        boolean isStatic = isInInterface || modifiers.getFlags().contains(Modifier.STATIC);
        boolean isFinal = isInInterface || modifiers.getFlags().contains(Modifier.FINAL);
        var value = String.valueOf(field.tree().getInitializer());
        return isStatic
                && (!isFinal || MUTABLE.matcher(value.lines().findFirst().orElse("")).matches());
    }

    /// `Vms`, `vm.Vms`, `Vms.Host`; a type of a library with its package, such as `java.util.Optional`. A word all in capitals is no type.
    private static boolean isType(String name, Set<String> known) {
        boolean isLibrary = name.matches("(java|javax|jdk|org|com|tools)\\..*");
        return isLibrary || name.equals(name.toUpperCase(Locale.ROOT)) || known.contains(name);
    }
}
