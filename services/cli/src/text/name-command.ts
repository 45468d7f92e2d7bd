type Environment = Readonly<Record<string, string | undefined>>;

/** How the person calls this command line, as npm tells it: `npx flotilla`, `npm run flotilla --`, or `flotilla` where npm had no part. */
export function readCommandName(environment: Environment): string {
  const event = environment['npm_lifecycle_event'];
  if (event === 'flotilla') return 'npm run flotilla --';
  if (event !== 'npx') return 'flotilla';
  const from = environment['INIT_CWD'];
  const clone = environment['npm_config_local_prefix'];
  if (from === undefined || clone === undefined || from === clone || from.startsWith(`${clone}/`))
    return 'npx flotilla';
  return `npx --prefix ${/^[\w@%+=:,./-]+$/.test(clone) ? clone : `'${clone.replaceAll("'", `'\\''`)}'`} flotilla`;
}

/** A text of ours with every command that it names written as the person would type it. */
export function nameCommands(text: string, command: string): string {
  return text.replace(/(?<=^|[\s"'`(|])(?:npx )?flotilla (?=[a-z-])/gm, () => `${command} `);
}
