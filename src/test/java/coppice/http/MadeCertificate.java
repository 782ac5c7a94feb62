package coppice.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// A certificate for this machine that nobody else has signed, made by the JDK's `keytool`.
record MadeCertificate(Certificate certificate, Key key) {
    private static final String PASSWORD = "changeit";

    static MadeCertificate valid(Path directory, String algorithm) throws Exception {
        return made(directory, algorithm, "-validity", "10");
    }

    static MadeCertificate expired(Path directory) throws Exception {
        return made(directory, "EC", "-startdate", "-3d", "-validity", "1");
    }

    private static MadeCertificate made(Path directory, String algorithm, String... dates)
            throws Exception {
        var file = directory.resolve("made-%d.p12".formatted(System.nanoTime()));
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-genkeypair", "-alias", "made", "-keyalg", algorithm));
        command.addAll(List.of("-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1,dns:localhost"));
        command.addAll(List.of("-keystore", file.toString(), "-storepass", PASSWORD));
        command.addAll(List.of(dates));
        var keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        var output = new String(keytool.getInputStream().readAllBytes(), US_ASCII);
        if (keytool.waitFor() != 0) {
            throw new IOException(output);
        }
        var store = KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
        return new MadeCertificate(
                store.getCertificate("made"), store.getKey("made", PASSWORD.toCharArray()));
    }

    /// Puts both files where a server looks for them.
    void writeTo(Tls files) throws IOException, GeneralSecurityException {
        Files.writeString(files.chain(), pem("CERTIFICATE", certificate.getEncoded()));
        Files.writeString(files.key(), pem("PRIVATE KEY", key.getEncoded()));
    }

    static String pem(String label, byte[] bytes) {
        var text = Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(bytes);
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(label, text, label);
    }

    /// What a client needs to trust only this one.
    SSLContext trust() throws IOException, GeneralSecurityException {
        var store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("made", certificate);
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
