import { expect, test } from 'vitest';
import { selectSources } from './debian-sources.ts';

const targets = [
  'http://mirror.test/debian/|bookworm|main',
  'http://mirror.test/debian/|bookworm-updates|main',
  'http://mirror.test/debian/|bookworm-backports|main',
  'http://mirror.test/security/|bookworm-security|main',
  'http://vendor.test/apt/|nodistro|main',
].join('\n');

test('only the release of this machine with its updates and security fixes is taken', () => {
  expect(selectSources(targets, '', 'bookworm')).toEqual({
    suite: 'bookworm',
    lines: [
      'deb http://mirror.test/debian/ bookworm main',
      'deb http://mirror.test/debian/ bookworm-updates main',
      'deb http://mirror.test/security/ bookworm-security main',
    ],
    options: [],
  });
});

test('sources that name the release by its role are found too', () => {
  expect(selectSources('http://mirror.test/debian/|stable|main\n', '', 'bookworm')).toMatchObject({
    suite: 'stable',
    lines: ['deb http://mirror.test/debian/ stable main'],
  });
});

test('the proxy that apt uses is used', () => {
  const configuration = 'APT::Architecture "amd64";\nAcquire::http::Proxy "http://proxy.test:3142";\n';
  expect(selectSources(targets, configuration, 'bookworm')?.options).toEqual([
    'Acquire::http::Proxy "http://proxy.test:3142";',
  ]);
});

test('a machine without sources has none', () => {
  expect(selectSources('', '', 'bookworm')).toBeUndefined();
});
