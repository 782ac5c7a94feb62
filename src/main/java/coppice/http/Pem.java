package coppice.http;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.regex.Pattern;

/// A certificate with the chain that leads to it, and its key, out of files in PEM, RFC 7468. Each fault is a [Failure] of
/// [Code#BAD_REQUEST] that names the file.
record Pem(List<X509Certificate> chain, PrivateKey key) {
    private static final Pattern KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]*)-----END PRIVATE KEY-----");

    Pem {
        chain = List.copyOf(chain);
    }

    static Pem read(Tls files, Instant now) {
        var chain = chain(files.chain());
        for (var certificate : chain) {
            checkDates(certificate, files.chain(), now);
        }
        for (int i = 1; i < chain.size(); i++) {
            checkOrder(chain.get(i - 1), chain.get(i), files.chain());
        }
        var key = key(files.key(), chain.getFirst().getPublicKey().getAlgorithm());
        if (!fits(key, chain.getFirst())) {
            throw wrong("the key in %s is not that of the certificate; use the pair", files.key());
        }
        return new Pem(chain, key);
    }

    private static List<X509Certificate> chain(Path file) {
        try {
            var certificates =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(new ByteArrayInputStream(bytes(file)));
            if (certificates.isEmpty()) {
                throw wrong("there is no certificate in %s; it takes a chain in PEM", file);
            }
            return certificates.stream().map(X509Certificate.class::cast).toList();
        } catch (CertificateException e) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the certificates in %s are not valid PEM; get them again".formatted(file),
                    e);
        }
    }

    private static void checkDates(X509Certificate certificate, Path file, Instant now) {
        try {
            certificate.checkValidity(Date.from(now));
        } catch (CertificateException e) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the certificate of %s in %s is valid from %s to %s only; renew it"
                            .formatted(
                                    certificate.getSubjectX500Principal(),
                                    file,
                                    certificate.getNotBefore().toInstant(),
                                    certificate.getNotAfter().toInstant()),
                    e);
        }
    }

    private static void checkOrder(X509Certificate signed, X509Certificate signer, Path file) {
        try {
            signed.verify(signer.getPublicKey());
        } catch (GeneralSecurityException e) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the certificates in %s are out of order; put the server's first, and after each the one that signed it"
                            .formatted(file),
                    e);
        }
    }

    private static PrivateKey key(Path file, String algorithm) {
        var text = KEY.matcher(new String(bytes(file), StandardCharsets.ISO_8859_1));
        if (!text.find()) {
            throw wrong(
                    "there is no plain PKCS#8 key in %s; convert it: openssl pkcs8 -topk8 -nocrypt",
                    file);
        }
        if (!algorithm.equals("RSA") && !algorithm.equals("EC")) {
            throw wrong("the key in %s is neither RSA nor EC; use one that is", file);
        }
        try {
            var bytes = Base64.getMimeDecoder().decode(text.group(1));
            return KeyFactory.getInstance(algorithm)
                    .generatePrivate(new PKCS8EncodedKeySpec(bytes));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the key in %s is no %s key, as the certificate has; use the pair"
                            .formatted(file, algorithm),
                    e);
        }
    }

    /// Whether what the key signs is verified by the certificate.
    private static boolean fits(PrivateKey key, X509Certificate certificate) {
        try {
            var signature =
                    Signature.getInstance(
                            key.getAlgorithm().equals("EC") ? "SHA256withECDSA" : "SHA256withRSA");
            signature.initSign(key);
            signature.update(new byte[32]);
            var signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(new byte[32]);
            return signature.verify(signed);
        } catch (GeneralSecurityException _) {
            return false;
        }
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%s cannot be read; see that it exists and that the server may read it"
                            .formatted(file),
                    e);
        }
    }

    private static Failure wrong(String message, Path file) {
        return new Failure(Code.BAD_REQUEST, message.formatted(file));
    }
}
