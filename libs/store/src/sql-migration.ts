/** Statements that take a database one step further. Names are never reused; a migration that was released is never edited. */
export interface SqlMigration {
  /** Unique over all services, for example `router-001-runs`. */
  readonly name: string;
  readonly up: readonly string[];
}
