/** The `changes` bucket in memory: a name stands for its content, so what is there stays. */
export class MemoryBundles {
  readonly names = new Map<string, Uint8Array>();
  /** Where a test says when something was stored; else it is young. */
  readonly storedAt = new Map<string, Date>();

  readonly find = async (name: string): Promise<{ readonly storedAt: Date } | undefined> =>
    this.names.has(name) ? { storedAt: this.storedAt.get(name) ?? new Date(8.64e15) } : undefined;

  readonly renew = async (name: string, bytes: Uint8Array): Promise<void> => {
    this.names.set(name, bytes);
    this.storedAt.delete(name);
  };

  readonly has = async (name: string): Promise<boolean> => this.names.has(name);

  readonly put = async (name: string, bytes: Uint8Array): Promise<void> => {
    if (!this.names.has(name)) this.names.set(name, bytes);
  };

  readonly get = async (name: string): Promise<Uint8Array> => {
    const bytes = this.names.get(name);
    if (bytes === undefined) throw new Error(`there is no bundle ${name}`);
    return bytes;
  };
}
