import { expect, test } from 'vitest';
import { renderNatsConfig, renderSingleUser } from './nats-config.ts';

const config = {
  listen: '127.0.0.1:4222',
  storeDirectory: '/data',
  version: '2.9.10',
  authorization: renderSingleUser('fleet', 'secret'),
};

test('writes are synced at once on servers that know the setting, and only there', () => {
  expect(renderNatsConfig(config)).not.toContain('sync_interval');
  expect(renderNatsConfig({ ...config, version: '2.10.27' })).toContain('sync_interval: always');
});

test('nobody comes in without a password', () => {
  expect(renderNatsConfig(config)).toMatch(/authorization \{\s+user: "fleet"\s+password: "secret"\s+\}/);
});
