/// Files that hold machines: copies that share blocks ([coppice.disk.Reflink]), the file system they need
/// ([coppice.disk.DataVolume]), and directories that appear whole or not at all ([coppice.disk.Published]).
package coppice.disk;
