package coppice.api.v5;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of the operations on files, as contract/vm-filesystem.md gives them.
final class FileSchemas {
    static final Schema.ObjectOf PATH =
            Schema.object().field("path", Schema.string(), ALWAYS, "Absolute, without `..`.");

    static final Schema.ObjectOf EXISTS =
            Schema.object().field("exists", Schema.bool(), ALWAYS, "");

    static final Schema.ObjectOf DIRECTORY =
            Schema.object()
                    .field(
                            "entries",
                            Schema.list(
                                    Schema.object()
                                            .field("name", Schema.string(), ALWAYS, "")
                                            .field(
                                                    "kind",
                                                    Schema.word("file", "directory", "symlink"),
                                                    ALWAYS,
                                                    "Links are not followed.")),
                            ALWAYS,
                            "Sorted by the bytes of their names.");

    static final Schema.ObjectOf STAT =
            Schema.object()
                    .field("size", Schema.integer(), ALWAYS, "In bytes.")
                    .field("isFile", Schema.bool(), ALWAYS, "")
                    .field("isDirectory", Schema.bool(), ALWAYS, "")
                    .field("isSymlink", Schema.bool(), ALWAYS, "")
                    .field("permissions", Schema.string(), ALWAYS, "Four octal digits.")
                    .field("owner", Schema.string(), ALWAYS, "A name, or else a number.")
                    .field("group", Schema.string(), ALWAYS, "A name, or else a number.")
                    .field("modified", Schema.time(), ALWAYS, "");

    static final Schema.ObjectOf NEW_UPLOAD =
            Schema.object()
                    .field("path", Schema.string(), ALWAYS, "Absolute, without `..`.")
                    .field("size", Schema.integer(), ALWAYS, "In bytes, at most 16 GiB.")
                    .field("sha256", Schema.string(), OPTIONAL, "What the file must have, in hex.")
                    .field("mode", Schema.integer(), OPTIONAL, "Permission bits in decimal.");

    static final Schema.ObjectOf UPLOAD =
            Schema.object("Upload")
                    .field("uploadId", Schema.string(), ALWAYS, "")
                    .field("path", Schema.string(), ALWAYS, "")
                    .field("size", Schema.integer(), ALWAYS, "In bytes.")
                    .field("receivedBytes", Schema.integer(), ALWAYS, "Offset of the next chunk.");

    private FileSchemas() {}
}
