/** Host of a judged remote without its port; undefined for a local path, which is no host. */
export function remoteHost(remote: { readonly kind: string; readonly canonicalId: string }): string | undefined {
  if (remote.kind === 'local') return undefined;
  const [place = ''] = remote.canonicalId.split('/', 1);
  return place.replace(/:\d+$/, '');
}
