import { defineError } from '../flotilla-error.ts';

export const storeErrors = {
  storeUnavailable: defineError({
    code: 'STORE_UNAVAILABLE',
    remedy: 'wait',
    summary: 'Postgres does not answer: {reason}',
    advice: 'Start Postgres, or set DATABASE_URL to one that answers; work goes on by itself.',
  }),
  storeContended: defineError({
    code: 'STORE_CONTENDED',
    remedy: 'wait',
    summary: 'Postgres ended a transaction that stood in the way of another: {reason}',
    advice: 'Nothing to do; the transaction is made again.',
  }),
  storeNotMigrated: defineError({
    code: 'STORE_NOT_MIGRATED',
    remedy: 'wait',
    summary: 'The database has no table {table}',
    advice: 'Nothing to do: a service migrates the database when it starts, and this one waits for it.',
  }),
  storeEncodingUnusable: defineError({
    code: 'STORE_ENCODING_UNUSABLE',
    remedy: 'operator',
    summary: 'The database is encoded in {encoding}, and texts need UTF8',
    advice: 'Create the database with "create database NAME encoding \'UTF8\' template template0" and migrate it.',
  }),
  leaseLost: defineError({
    code: 'LEASE_LOST',
    remedy: 'wait',
    summary: 'The lease {key} with number {fence} is no longer held',
    advice: 'Nothing to do; whoever holds the lease now goes on with the work.',
  }),
  leaseHeld: defineError({
    code: 'LEASE_HELD',
    remedy: 'wait',
    summary: 'Somebody else holds the lease {key}',
    advice: 'Nothing to do; the work is taken up again once the lease is free.',
  }),
  leaseRequired: defineError({
    code: 'LEASE_REQUIRED',
    remedy: 'operator',
    summary: 'An entry of type {type} needs the lease {key}',
    advice: 'Report this as a fault of the service that wrote it.',
  }),
  deliveryAlreadyHandled: defineError({
    code: 'DELIVERY_ALREADY_HANDLED',
    remedy: 'wait',
    summary: 'The message {messageId} was handled by another delivery while this one ran',
    advice: 'Nothing to do; the effect of the first delivery stands.',
  }),
  messageTooLarge: defineError({
    code: 'MESSAGE_TOO_LARGE',
    remedy: 'operator',
    summary: 'A message for {subject} has {bytes} bytes, more than {limit}',
    advice: 'Split the task, or remove generated files from the repository; a message carries names, not contents.',
  }),
} as const;
