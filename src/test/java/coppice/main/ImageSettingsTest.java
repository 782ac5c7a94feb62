package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.Size;
import coppice.base.Slug;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The settings of guest images.
class ImageSettingsTest {
    @TempDir private Path directory;
    private Path file;

    @BeforeEach
    void anEmptyFileStandsForTheOneOfThisMachine() throws IOException {
        file = Files.createFile(directory.resolve("coppice.conf"));
    }

    @Test
    void anImageHasItsSizeAndItsCeiling() throws IOException {
        Files.writeString(file, "image.debian = 2/256/2000\nimage.debian.ceiling = 3/512\n");
        assertEquals(
                new Settings.ImageSize(2, Size.ofMib(256), Size.ofMib(2000), 3, Size.ofMib(512)),
                given().read().imageSize("debian"));
    }

    @Test
    void imagesAreSeparatedByCommasWithOrWithoutSpaces() {
        assertEquals(
                List.of("busybox", "debian"), given().read("images", "busybox , debian").images());
        assertEquals(List.of("busybox"), given().read("images", "busybox").images());
    }

    @ParameterizedTest
    @ValueSource(strings = {"alpine", "busybox,alpine"})
    void anImageThatDoesNotExistIsAMistake(String images) {
        assertEquals(
                List.of("images: there is no guest image 'alpine'; there are busybox and debian"),
                GivenSettings.mistakes(given().read("images", images)));
    }

    @Test
    void theDefaultImageIsOneOfTheImages() {
        assertEquals(
                List.of("image.default: 'debian' is not one of images"),
                GivenSettings.mistakes(given().read("images", "busybox")));
    }

    @Test
    void anAliasIsOfOneOfTheImages() {
        assertEquals(
                List.of("image.aliases: 'alpine' is not one of images"),
                GivenSettings.mistakes(given().read("image.aliases", "a=alpine, b=debian")));
    }

    @Test
    void theDefaultAliasGoesWithItsImage() throws IOException {
        Files.writeString(file, "images = busybox\nimage.default = busybox\n");
        var settings = given().read();
        settings.check();
        assertEquals(Map.of(), settings.imageAliases());
    }

    @ParameterizedTest
    @ValueSource(strings = {"1/8192", "8/100"})
    void aCeilingIsNotBelowTheSize(String ceiling) {
        assertEquals(
                List.of(
                        "image.debian.ceiling: must be at least the cores and memory of image.debian, not '%s'"
                                .formatted(ceiling)),
                GivenSettings.mistakes(given().read("image.debian.ceiling", ceiling)));
    }

    @Test
    void thereMayBeNoAliasOrSeveral() {
        assertEquals(Map.of(), given().read("image.aliases", "").imageAliases());
        assertEquals(
                Map.of(new Slug("a"), new Slug("debian"), new Slug("b"), new Slug("busybox")),
                given().read("image.aliases", "a=debian, b=busybox").imageAliases());
    }

    private GivenSettings given() {
        return new GivenSettings(file);
    }
}
