import { errors } from '@flotilla/errors/catalogue';
import { expect, test } from 'vitest';
import { registryEnvironment } from './registry-environment.ts';

test('registries become variables and the hosts of a door', () => {
  const registries = { npm: 'https://registry.example.org/npm/', pip: 'http://[fd00::1]:3141/simple' };
  expect(registryEnvironment(registries)).toEqual({
    environment: {
      npm_config_registry: 'https://registry.example.org/npm/',
      PIP_INDEX_URL: 'http://[fd00::1]:3141/simple',
    },
    hosts: ['registry.example.org:443', '[fd00::1]:3141'],
  });
  expect(registryEnvironment({})).toEqual({ environment: {}, hosts: [] });
});

test.each([
  'https://user:secret@registry.example.org/',
  'https://token@registry.example.org/',
  'file:///etc',
  'registry',
])('the registry %s is refused, and its text is not repeated', (npm) => {
  const error = (() => {
    try {
      return registryEnvironment({ npm });
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toMatchObject({ code: errors.registryRefused.code });
  expect(JSON.stringify(error) + String(error)).not.toMatch(/secret|token/);
});
