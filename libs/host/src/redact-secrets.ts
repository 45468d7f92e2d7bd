const mask = '[redacted]';

/** Takes the known secret values out of a text, also where they are URL-encoded, in JSON, or somewhere inside what is base64. */
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
    for (const form of encodeInside(secret)) forms.add(form);
  }
  const ordered = [...forms].sort((left, right) => right.length - left.length);
  return (text) => ordered.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, mask) : rest), text);
}

/** Less would be found in ordinary text. */
const shortestInside = 8;

/** What base64 makes of a text wherever it stands in a longer one: by the bytes before it, without the characters shared with neighbours. */
function encodeInside(text: string): readonly string[] {
  const forms = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    const encoded = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
    return encoded.slice(before === 0 ? 0 : 4);
  });
  return forms.filter((form) => form.length >= shortestInside);
}
