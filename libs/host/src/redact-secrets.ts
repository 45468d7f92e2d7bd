const mask = '[redacted]';

/** Takes the known secret values out of a text, also where they are base64 or URL-encoded. */
export type Redact = (text: string) => string;

/** Longer values first, so that a secret inside another leaves no rest. Values under six characters are left alone. */
export function createRedactor(secrets: readonly string[]): Redact {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < 6) continue;
    forms.add(secret);
    forms.add(encodeURIComponent(secret));
    forms.add(JSON.stringify(secret).slice(1, -1));
    forms.add(Buffer.from(secret).toString('base64').replace(/=+$/, ''));
  }
  const ordered = [...forms].sort((left, right) => right.length - left.length);
  return (text) => ordered.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, mask) : rest), text);
}
