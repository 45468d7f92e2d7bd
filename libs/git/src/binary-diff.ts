import type { MirrorReader } from './mirror.ts';
import { toVisibleText } from './visible-text.ts';

export interface BinaryChange {
  readonly path: string;
  /** All zeros where the file is absent. */
  readonly oldId: string;
  readonly newId: string;
}

const shownLimitBytes = 256 * 1024;

/**
 * Shows what changed in a file that git takes for binary, as a NUL byte anywhere near its start makes it do, so that such
 * a byte cannot hide a change of code: lines that are mostly text are shown, the others are summed up.
 */
export async function describeBinaryChange(mirror: MirrorReader, entry: BinaryChange): Promise<string> {
  const empty = await mirror.run({ args: ['hash-object', '-t', 'blob', '-w', '--stdin'], input: '' });
  const emptyId = empty.stdout.toString('latin1').trim();
  const [before, after] = [entry.oldId, entry.newId].map((id) => (/^0+$/.test(id) ? emptyId : id));
  const diff = await mirror.run({
    args: [
      'diff',
      '--text',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      '--unified=0',
      '--end-of-options',
      before ?? emptyId,
      after ?? emptyId,
    ],
    outputLimitBytes: shownLimitBytes,
    beyondOutputLimit: 'cut',
  });
  const title = `binary content of ${toVisibleText(Buffer.from(entry.path))}, the lines of it that are text:\n`;
  return title + summariseLines(diff.stdout) + (diff.cut ? '… more of this file is not shown\n' : '');
}

/** Keeps the changed lines of a diff of blobs; runs of lines that are not text become one line with their size. */
export function summariseLines(diff: Buffer): string {
  const start = diff.indexOf('\n@@ ');
  if (start < 0) return '';
  const shown: string[] = [];
  let skippedSign = 0;
  let skippedBytes = 0;
  const flush = (): void => {
    if (skippedBytes > 0) shown.push(`${String.fromCharCode(skippedSign)}⟨${skippedBytes} bytes that are not text⟩`);
    skippedBytes = 0;
  };
  for (const line of splitLines(diff.subarray(start + 1))) {
    const sign = line[0] ?? 0;
    if (sign !== 0x2b && sign !== 0x2d) continue;
    const content = line.subarray(1);
    if (isMostlyText(content)) {
      flush();
      shown.push(toVisibleText(line));
      continue;
    }
    if (sign !== skippedSign) flush();
    skippedSign = sign;
    skippedBytes += content.length + 1;
  }
  flush();
  return shown.map((line) => `${line}\n`).join('');
}

function isMostlyText(bytes: Buffer): boolean {
  const text = bytes.toString('utf8');
  const odd = text.match(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufffd]/g)?.length ?? 0;
  return odd * 5 <= text.length;
}

function splitLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  if (start < bytes.length) lines.push(bytes.subarray(start));
  return lines;
}
