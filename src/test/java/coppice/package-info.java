/// The rules of this repository as tests: [coppice.TidyTest] reads the sources, [coppice.BoundariesTest] the compiled classes.
package coppice;
