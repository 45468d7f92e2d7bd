import type { ContainedFiles } from './contained-files.ts';

/** The same files, with `check` called after each operation, however it ended; what `check` throws counts before its result. */
export function checkAfterwards(files: ContainedFiles, check: () => void): ContainedFiles {
  return {
    resolve: (...args) => now(() => files.resolve(...args)),
    stat: (...args) => now(() => files.stat(...args)),
    read: (...args) => later(() => files.read(...args)),
    readBytes: (...args) => later(() => files.readBytes(...args)),
    write: (...args) => later(() => files.write(...args)),
    edit: (...args) => later(() => files.edit(...args)),
    delete: (...args) => later(() => files.delete(...args)),
    list: (...args) => later(() => files.list(...args)),
  };

  function now<T>(operation: () => T): T {
    try {
      return operation();
    } finally {
      check();
    }
  }

  async function later<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } finally {
      check();
    }
  }
}
