/** Providers take letters, digits, underscore and hyphen only, so the dot of an id is written as two underscores. */
export function toModelName(id: string): string {
  return (
    id
      .replaceAll('.', '__')
      .replace(/[^a-zA-Z0-9_-]/g, '_')
      .slice(0, 64) || 'unnamed'
  );
}

/**
 * The id that a model's name for a tool means, or undefined. Exact first, then whatever the case and however the
 * segments are joined, then the last segment alone; a name that could mean two tools means none.
 */
export function resolveToolName(name: string, ids: readonly string[]): string | undefined {
  const exact = ids.find((id) => id === name || toModelName(id) === name);
  if (exact !== undefined) return exact;
  const wanted = normalise(name);
  return (
    only(ids.filter((id) => normalise(id) === wanted)) ?? only(ids.filter((id) => normalise(id).endsWith(`.${wanted}`)))
  );
}

function only(ids: readonly string[]): string | undefined {
  return ids.length === 1 ? ids[0] : undefined;
}

function normalise(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s._-]+/g, '.');
}
