import type { Route } from './server-types.ts';

/** Methods that some route answers at this path, in order; none where nothing is there. */
export function findMethods(routes: readonly Route[], path: string): readonly string[] {
  const parts = path.split('/');
  const found = routes.filter(({ url }) => matches(url.split('/'), parts)).map(({ method }) => method);
  return [...new Set(found)].sort();
}

function matches(template: readonly string[], parts: readonly string[]): boolean {
  return (
    template.length === parts.length &&
    template.every((part, index) => part === parts[index] || (part.startsWith(':') && parts[index] !== ''))
  );
}
