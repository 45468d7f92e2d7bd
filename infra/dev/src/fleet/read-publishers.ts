import { readFile, stat } from 'node:fs/promises';
import { whyNoPublisher } from '@flotilla/contracts/principals';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';

/** A letter first, since the NATS client takes digits after a colon for the port; the rest needs no escaping in a URL. */
export const BrokerPassword = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9._~-]{15,511}$/, 'a password has 16 to 512 letters, digits and . _ ~ -, a letter first');

const Publishers = z.array(
  z.strictObject({
    name: z.string().superRefine((name, context) => {
      const message = whyNoPublisher(name);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }),
    password: BrokerPassword,
  }),
);

/**
 * Outside publishers of the queue, as passwords by name; none without a file. Throws PUBLISHERS_UNUSABLE where the file cannot be
 * read, is no such list, names somebody twice, or others may read it.
 */
export async function readPublishers(file: string | undefined): Promise<Readonly<Record<string, string>>> {
  if (file === undefined || file === '') return {};
  const publishers = await readSecretJson(file, Publishers);
  const byName = Object.fromEntries(publishers.map(({ name, password }) => [name, password]));
  if (Object.keys(byName).length < publishers.length) throw unusable(file, 'a name stands there twice');
  return byName;
}

/** Reads a file that holds passwords. Throws PUBLISHERS_UNUSABLE, with nothing of the content. */
export async function readSecretJson<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) throw new Error(`others may read it: chmod 600 ${file}`);
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    throw unusable(file, describe(cause));
  }
}

function unusable(file: string, reason: string): FlotillaError {
  return new FlotillaError(errors.publishersUnusable, { file, reason });
}

function describe(cause: unknown): string {
  if (cause instanceof z.ZodError)
    return cause.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  if (cause instanceof SyntaxError) return 'it is not JSON';
  return cause instanceof Error ? cause.message : String(cause);
}
