import type { ChangedFile } from '@flotilla/contracts/change';
import type { Palette } from './paint.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** A unified diff with its hidden signs shown, painted by line. */
export function renderDiff(diff: string, palette: Palette): string {
  return visibleText(diff)
    .split('\n')
    .map((line) => {
      if (/^(diff |index |--- |\+\+\+ )/.test(line)) return palette.bold(line);
      if (line.startsWith('@@')) return palette.cyan(line);
      if (line.startsWith('+')) return palette.green(line);
      if (line.startsWith('-')) return palette.red(line);
      return line;
    })
    .join('\n');
}

/** One line a file and a line of sums, as `git diff --stat` counts. */
export function renderDiffStat(files: readonly ChangedFile[], palette: Palette): string {
  const lines = files.map(({ path, status, additions, deletions }) => {
    const counts =
      additions === null || deletions === null
        ? 'binary'
        : `${palette.green(`+${additions}`)} ${palette.red(`-${deletions}`)}`;
    return ` ${visibleLine(path)}  ${status === 'modified' ? '' : `${status.replace('_', ' ')} `}${counts}`;
  });
  return [...lines, ` ${describeDiffStat(files)}`].join('\n');
}

export function describeDiffStat(files: readonly ChangedFile[]): string {
  const sum = (count: (file: ChangedFile) => number | null) =>
    files.reduce((total, file) => total + (count(file) ?? 0), 0);
  return `${files.length} ${files.length === 1 ? 'file' : 'files'}, +${sum((file) => file.additions)} -${sum((file) => file.deletions)}`;
}
