import { expect, test } from 'vitest';
import { readSettings, secretsOf } from './read-settings.ts';

const enough = {
  DATABASE_URL: 'postgres://flotilla:hunter22@127.0.0.1/flotilla',
  NATS_URL: 'nats://router:sesame1@127.0.0.1:4222',
};

test('a service with what it needs starts with defaults for the rest', () => {
  expect(readSettings(enough, 'router')).toMatchObject({
    httpPort: 7420,
    slots: 2,
    logLevel: 'info',
    doorHosts: [],
    runMode: 'auto',
  });
});

test('everything that is wrong is named at once', () => {
  expect(() => readSettings({ FLOTILLA_HTTP_PORT: 'x', NATS_URL: 'http://127.0.0.1' }, 'merger')).toThrowError(
    /DATABASE_URL is not set.*NATS_URL must be a URL that begins with nats:.*REDIS_URL is not set.*FLOTILLA_DATA_DIRECTORY is not set.*FLOTILLA_HTTP_PORT must be/s,
  );
});

test('a setting that another service needs is not asked for', () => {
  expect(readSettings(enough, 'scribe').redisUrl).toBeUndefined();
});

test('an empty variable counts as not set', () => {
  expect(readSettings({ ...enough, FLOTILLA_SLOTS: '' }, 'router').slots).toBe(2);
});

test('secrets are the secret settings and the passwords inside URLs, whatever setting holds them', () => {
  const given = {
    ...enough,
    FLOTILLA_MODEL: 'compatible:m@https://u:in%20model@models.example.com/v1',
    FLOTILLA_MODEL_KEY: 'sk-canary-123',
    FLOTILLA_NPM_REGISTRY: 'https://u:registry1@npm.example.com/',
    NATS_URL_MERGER: 'nats://merger:sesame2@127.0.0.1:4222',
  };
  expect(secretsOf(given).toSorted()).toEqual(
    ['hunter22', 'sesame1', 'sesame2', 'in%20model', 'in model', 'sk-canary-123', 'registry1'].toSorted(),
  );
});

test('a key with a colon is a secret as a whole, although it could be read as a URL', () => {
  expect(secretsOf({ ...enough, FLOTILLA_MODEL_KEY: 'account:sk-1' })).toContain('account:sk-1');
});
