import { AsyncLocalStorage } from 'node:async_hooks';

/** Fields that every line logged during some work carries, for example `run_id`. */
export type LogFields = Readonly<Record<string, string | number>>;

const fields = new AsyncLocalStorage<LogFields>();

export function withLogFields<T>(added: LogFields, work: () => T): T {
  return fields.run({ ...fields.getStore(), ...added }, work);
}

export function currentLogFields(): LogFields {
  return fields.getStore() ?? {};
}
