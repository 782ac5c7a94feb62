/// Who did what: a record of the calls that change something.
package coppice.audit;
