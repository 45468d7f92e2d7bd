/** A mark that no content contains, so that no content can end its own fence. Stable for the same seed and contents. */
function chooseNonce(seed: string, contents: readonly string[]): string {
  let nonce = seed;
  while (contents.some((content) => content.includes(nonce))) nonce += 'x';
  return nonce;
}

/** Text set apart as data. The name is ours, never the content's. */
export function fence(name: string, content: string, seed: string): string {
  const tag = `data-${chooseNonce(seed, [content])}`;
  return `<${tag} name="${name}">\n${content}\n</${tag}>`;
}
