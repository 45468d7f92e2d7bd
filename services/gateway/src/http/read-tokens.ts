import { readFile, stat } from 'node:fs/promises';
import { roles } from '@flotilla/contracts/define-call';
import { Principal } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';
import type { TokenGrant } from './authenticate.ts';

const TokenGrants = z
  .array(
    z.strictObject({
      token: z
        .string()
        .regex(/^[A-Za-z0-9._~+/=-]{16,512}$/, 'a token has 16 to 512 letters, digits and . _ ~ + / = -'),
      principal: Principal,
      roles: z.array(z.enum(roles)).min(1),
    }),
  )
  .min(1, 'a list of {token, principal, roles}');

/** The tokens of the installation. Throws TOKENS_UNUSABLE where the file cannot be read, is no such list, or others may read it. */
export async function readTokens(file: string): Promise<readonly TokenGrant[]> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) throw new Error(`others may read it: chmod 600 ${file}`);
    return TokenGrants.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new FlotillaError(errors.tokensUnusable, { file, reason: describe(cause) }, { cause });
  }
}

/** Never the content, which is secret. */
function describe(cause: unknown): string {
  if (cause instanceof z.ZodError) {
    return cause.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  }
  if (cause instanceof SyntaxError) return 'it is not JSON';
  return cause instanceof Error ? cause.message : String(cause);
}
