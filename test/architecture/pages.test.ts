import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { globalOptions } from '@flotilla/cli/global-options';
import { verbs } from '@flotilla/cli/verbs';
import { settings } from '@flotilla/contracts/settings';

/** The pages that people write: what they name has to exist. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const guidePages = listPages('infra/guide');
const pages = [
  'README.md',
  'AGENTS.md',
  'CHANGELOG.md',
  ...guidePages,
  ...listPages('infra/decisions'),
  ...readdirSync(join(root, 'services')).flatMap((name) => existing(`services/${name}/README.md`)),
];

function listPages(directory: string): string[] {
  return readdirSync(join(root, directory)).flatMap((name) => (name.endsWith('.md') ? [`${directory}/${name}`] : []));
}

function existing(path: string): string[] {
  return existsSync(join(root, path)) ? [path] : [];
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** What a page has in code: fenced blocks and spans, without which prose would be taken for commands. */
function codeOf(path: string): string[] {
  return [...read(path).matchAll(/^```[^\n]*\n([\s\S]*?)^```|`([^`\n]+)`/gm)].map(([, block, span]) => block ?? span!);
}

function named(path: string, pattern: RegExp): string[] {
  return codeOf(path).flatMap((code) => [...code.matchAll(pattern)].map(([, name]) => name!));
}

/** The headings of a page as a browser addresses them. */
function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^a-z0-9 _-]/g, '')
      .replaceAll(' ', '-'),
  );
}

test.each(pages)('the links of %s lead somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : relative(root, join(root, dirname(page), path));
    return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
  });
  expect(broken).toEqual([]);
});

test.each(pages)('the files that %s names are there', (page) => {
  // A path with a placeholder counts as far as the directory before it.
  const paths = named(page, /(?<![\w@./-])((?:libs|services|infra|test|proto)\/[\w./-]*[\w/])(?![\w<*{])/g);
  const sourceOf = (path: string) => path.replace(/\/dist\/(.*)\.js$/, '/src/$1.ts');
  expect(paths.filter((path) => !existsSync(join(root, sourceOf(path))))).toEqual([]);
});

test.each(pages)('the npm scripts that %s names are there', (page) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
  const scriptsNamed = named(page, /\bnpm (?:run )?(?!ci\b|run\b|install\b|config\b)(?:-s )?([a-z][\w:-]*)/g);
  expect(scriptsNamed.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test.each(pages)('the verbs of flotilla that %s names are there, with their options', (page) => {
  const unknown = named(page, /^ *(?:[A-Z_]+=\S+ )*(?:npx )?(?:--prefix \S+ )?flotilla ([^\n|#;]+)/gm).filter(
    (command) => {
      const words = command.trim().split(/\s+/);
      const verb = verbs.find(({ name }) => [words[0], words.slice(0, 2).join(' ')].includes(name));
      const group = verbs.some(({ name }) => name.startsWith(`${words[0]} `)) && words.length === 1;
      const options = [...(verb?.options ?? []), ...globalOptions].map(({ flags }) => flags);
      const known = (flag: string) => flag === '--help' || options.some((flags) => flags.split(/[ ,]+/).includes(flag));
      return !group && (verb === undefined || words.some((word) => word.startsWith('-') && !known(word)));
    },
  );
  expect(unknown).toEqual([]);
});

test.each(pages)('the settings that %s names are there', (page) => {
  const known: readonly string[] = [
    ...Object.values(settings).map(({ variable }) => variable),
    ...[...`${read('infra/reference/cli.md')}${read('compose.yaml')}`.matchAll(/\bFLOTILLA_[A-Z_]+\b/g)].map(
      ([name]) => name,
    ),
  ];
  expect(named(page, /\b(FLOTILLA_[A-Z_]+)\b/g).filter((name) => !known.includes(name))).toEqual([]);
});

test('the README leads to every page of the guide, and each is short', () => {
  const unlinked = guidePages.filter((page) => !read('README.md').includes(`](${page})`));
  expect(unlinked).toEqual([]);
  const long = guidePages.filter((page) => read(page).split('\n').length > 120);
  expect(long).toEqual([]);
});
