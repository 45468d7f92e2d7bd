/** Runs one statement with $1 parameters; an array of JavaScript is an array of Postgres. */
export type Query = <Row>(text: string, parameters?: readonly unknown[]) => Promise<readonly Row[]>;

/** What runs statements: a store, each in a transaction of its own, or a transaction. */
export interface Queries {
  readonly query: Query;
}
