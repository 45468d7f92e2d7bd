import type fs from 'node:fs';

export type FileKind = 'file' | 'directory' | 'link' | 'other';

export function kindOf(facts: fs.Stats | fs.Dirent): FileKind {
  if (facts.isFile()) return 'file';
  if (facts.isDirectory()) return 'directory';
  return facts.isSymbolicLink() ? 'link' : 'other';
}

const kindWords: Readonly<Record<FileKind, string>> = {
  file: 'a file',
  directory: 'a directory',
  link: 'a symbolic link',
  other: 'a device, a socket or a pipe',
};

export function describeKind(facts: fs.Stats): string {
  return kindWords[kindOf(facts)];
}
