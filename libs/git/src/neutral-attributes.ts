/**
 * Content of a mirror's `info/attributes`, which outranks every `.gitattributes` in a tree: no conversion of line ends or
 * encodings, no `$Id$`, no filter, diff or merge driver, nothing left out of an export. What is laid, compared and merged
 * is then the same whatever a tree says about itself.
 */
export const neutralAttributes =
  '* -text !crlf !eol !ident !filter !working-tree-encoding !encoding !diff !merge !conflict-marker-size !whitespace !delta !export-ignore !export-subst\n';
