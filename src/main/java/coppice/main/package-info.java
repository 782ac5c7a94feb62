/// Puts the parts together: [coppice.main.Main] reads the command line, [coppice.main.Settings] the configuration, and
/// [coppice.main.Server] constructs everything top to bottom and closes it in reverse.
package coppice.main;
