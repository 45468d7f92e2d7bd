import { fileURLToPath } from 'node:url';

/** Absolute path of the clone this file runs from, without a trailing slash; the same from src and from dist. */
export const repositoryDirectory: string = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
