import fs from 'node:fs';
import { promisify } from 'node:util';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { DirectoryHandle } from './directory-handle.ts';
import { findMember } from './find-member.ts';
import { describeKind } from './file-kind.ts';

export interface ReadOptions {
  /** First line, counted from 1. */
  readonly startLine?: number;
  readonly lines?: number;
  readonly limitBytes?: number;
}

export interface FileText {
  readonly path: string;
  readonly text: string;
  readonly startLine: number;
  /** Lines in `text`; a last one without a line feed counts. */
  readonly lines: number;
  readonly sizeBytes: number;
  /** The file goes on after `text`. */
  readonly truncated: boolean;
}

export interface RegularFile extends AsyncDisposable {
  readonly path: string;
  readonly fd: number;
  readonly facts: fs.Stats;
}

const readAsync = promisify(fs.read);
const chunkBytes = 64 * 1024;
const defaultLimitBytes = 1024 ** 2;
/** How far a read looks for its first line. */
const scanBytes = 64 * 1024 ** 2;
const lineFeed = 10;

/** Opens a regular file; never waits for a pipe and never follows a link that appeared meanwhile. */
export function openRegularFile(
  root: DirectoryHandle,
  components: readonly string[],
  followLinks: boolean,
): RegularFile {
  using found = findMember(root, components, followLinks);
  if (found.kind === 'missing') throw new FlotillaError(errors.fileMissing, { path: found.path });
  if (found.kind === 'root') throw wrongKind('.', root.statSelf());
  if (!found.facts.isFile()) throw wrongKind(found.path, found.facts);
  const fd = found.parent.openFile(found.name);
  const facts = fs.fstatSync(fd);
  if (!facts.isFile()) {
    fs.closeSync(fd);
    throw wrongKind(found.path, facts);
  }
  return { path: found.path, fd, facts, [Symbol.asyncDispose]: async () => fs.closeSync(fd) };
}

export async function readBytes(file: RegularFile, limitBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const chunk = await readChunk(file, at);
    if (chunk.length === 0) return Buffer.concat(chunks);
    at += chunk.length;
    if (at > limitBytes || file.facts.size > limitBytes) {
      throw new FlotillaError(errors.fileTooLarge, { path: file.path, sizeBytes: file.facts.size, limitBytes });
    }
    chunks.push(chunk);
  }
}

/** Throws FILE_NOT_TEXT for a file with a NUL in what is read; other bytes that are not UTF-8 become U+FFFD. */
export async function readText(file: RegularFile, options: ReadOptions): Promise<FileText> {
  const startLine = Math.max(1, options.startLine ?? 1);
  const limitBytes = Math.min(options.limitBytes ?? defaultLimitBytes, scanBytes);
  let linesToSkip = startLine - 1;
  let linesLeft = options.lines ?? Number.MAX_SAFE_INTEGER;
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let truncated = false;

  for (let at = 0; ;) {
    const chunk = await readChunk(file, at);
    if (chunk.length === 0) break;
    at += chunk.length;
    if (chunk.includes(0)) throw new FlotillaError(errors.fileNotText, { path: file.path });
    const start = skipLines(chunk, linesToSkip);
    linesToSkip -= start.lines;
    const end = skipLines(chunk.subarray(start.bytes), linesLeft);
    linesLeft -= end.lines;
    const wanted = chunk.subarray(start.bytes, start.bytes + Math.min(end.bytes, limitBytes - keptBytes));
    kept.push(wanted);
    keptBytes += wanted.length;
    truncated = start.bytes + wanted.length < chunk.length;
    if (truncated) break;
    if (linesLeft === 0 || keptBytes === limitBytes || at > scanBytes) {
      truncated = at < file.facts.size;
      break;
    }
  }

  const text = decodeWhole(Buffer.concat(kept), truncated);
  const feeds = text.split('\n').length - 1;
  const lines = text === '' ? 0 : feeds + (text.endsWith('\n') ? 0 : 1);
  return { path: file.path, text, startLine, lines, sizeBytes: file.facts.size, truncated };
}

async function readChunk(file: RegularFile, position: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  const { bytesRead } = await readAsync(file.fd, buffer, 0, chunkBytes, position);
  return buffer.subarray(0, bytesRead);
}

/** How many bytes the next `count` lines take, as far as this chunk has them. */
function skipLines(chunk: Buffer, count: number): { readonly bytes: number; readonly lines: number } {
  let bytes = 0;
  for (let lines = 0; lines < count; lines += 1) {
    const feed = chunk.indexOf(lineFeed, bytes);
    if (feed < 0) return { bytes: chunk.length, lines };
    bytes = feed + 1;
  }
  return { bytes, lines: count };
}

/** Leaves a character away that the limit cut in two. */
function decodeWhole(bytes: Buffer, truncated: boolean): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: truncated });
}

function wrongKind(path: string, facts: fs.Stats): FlotillaError {
  return new FlotillaError(errors.fileKindWrong, { path, kind: describeKind(facts), expected: 'a regular file' });
}
