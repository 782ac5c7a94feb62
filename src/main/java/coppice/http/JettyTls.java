package coppice.http;

import coppice.base.Failure;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The server's end of TLS 1.2 and 1.3, with whatever certificate its files have at the time. Reads them again from its start to its stop.
final class JettyTls extends AbstractLifeCycle {
    private static final Logger LOG = LoggerFactory.getLogger(JettyTls.class);

    /// The store is never written, so there is nothing that its password would protect.
    private static final String PASSWORD = "memory";

    private final Tls files;
    private final SslContextFactory.Server context = new SslContextFactory.Server();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private Pem used;
    private String complaint = "";

    /// @throws Failure as [Pem#read]
    JettyTls(Tls files) {
        this.files = files;
        this.used = Pem.read(files, Instant.now());
        context.setIncludeProtocols("TLSv1.3", "TLSv1.2");
        // Those that HTTP/2 forbids, RFC 9113, appendix A, as far as they are not excluded anyway.
        context.addExcludeCipherSuites("^.*_CBC_.*$");
        context.setRenegotiationAllowed(false);
        context.setKeyManagerPassword(PASSWORD);
        context.setKeyStore(store(used));
    }

    SslContextFactory.Server context() {
        return context;
    }

    @Override
    protected void doStart() {
        Thread.ofVirtual().name("certificate").start(this::watch);
    }

    @Override
    protected void doStop() {
        stopped.countDown();
    }

    private void watch() {
        try {
            while (!stopped.await(files.checkTime().toNanos(), TimeUnit.NANOSECONDS)) {
                refresh();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void refresh() {
        try {
            var found = Pem.read(files, Instant.now());
            if (!found.equals(used)) {
                context.reload(factory -> factory.setKeyStore(store(found)));
                used = found;
                LOG.info("the certificate in {} is in use now", files.chain());
            }
            complaint = "";
        } catch (Failure e) {
            // Files that are being replaced may not fit for a moment, and the old ones still serve.
            complain(e.getMessage(), e);
        } catch (Exception e) {
            complain("a fault of ours", e);
        }
    }

    private void complain(String why, Exception e) {
        if (!why.equals(complaint)) {
            LOG.warn("the certificate is not renewed: {}", why, e);
            complaint = why;
        }
    }

    private static KeyStore store(Pem pem) {
        try {
            var store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry(
                    "server",
                    pem.key(),
                    PASSWORD.toCharArray(),
                    pem.chain().toArray(X509Certificate[]::new));
            return store;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("a key could not be put into memory", e);
        }
    }
}
