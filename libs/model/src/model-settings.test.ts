import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { parseModelSettings } from './model-settings.ts';

test.each([
  [
    { FLOTILLA_MODEL: 'openai:gpt-5.4', OPENAI_API_KEY: 'k' },
    { provider: 'openai', model: 'gpt-5.4', baseUrl: 'https://api.openai.com/v1' },
    'k',
  ],
  [
    { FLOTILLA_MODEL: 'anthropic:claude-sonnet-5-5', ANTHROPIC_API_KEY: 'a', FLOTILLA_MODEL_KEY: 'f' },
    { provider: 'anthropic', model: 'claude-sonnet-5-5', baseUrl: 'https://api.anthropic.com/v1' },
    'f',
  ],
  [
    { FLOTILLA_MODEL: 'compatible:qwen3-coder:30b@http://127.0.0.1:11434/v1/' },
    { provider: 'compatible', model: 'qwen3-coder:30b', baseUrl: 'http://127.0.0.1:11434/v1' },
    undefined,
  ],
  [
    { FLOTILLA_MODEL: 'compatible:org/name@2026', FLOTILLA_MODEL_URL: 'https://host/v1', FLOTILLA_MODEL_KEY: 'f' },
    { provider: 'compatible', model: 'org/name@2026', baseUrl: 'https://host/v1' },
    'f',
  ],
  [
    { FLOTILLA_MODEL: 'openai:gpt-5', FLOTILLA_MODEL_URL: 'http://127.0.0.1:9/v1' },
    { provider: 'openai', model: 'gpt-5', baseUrl: 'http://127.0.0.1:9/v1' },
    undefined,
  ],
])('%j is read', (values, expected, key) => {
  const { apiKey, ...settings } = parseModelSettings(values);
  expect(settings).toEqual(expected);
  expect(apiKey?.reveal()).toBe(key);
});

test("a provider's own key is never given to a compatible endpoint", () => {
  const settings = parseModelSettings({
    FLOTILLA_MODEL: 'compatible:m@https://elsewhere/v1',
    OPENAI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'a',
  });
  expect(settings).not.toHaveProperty('apiKey');
});

test.each([
  [{}, 'MODEL_NOT_CONFIGURED'],
  [{ FLOTILLA_MODEL: ' ' }, 'MODEL_NOT_CONFIGURED'],
  [{ FLOTILLA_MODEL: 'gpt-5' }, 'MODEL_SETTING_INVALID'],
  [{ FLOTILLA_MODEL: 'google:gemini' }, 'MODEL_SETTING_INVALID'],
  [{ FLOTILLA_MODEL: 'openai:', OPENAI_API_KEY: 'k' }, 'MODEL_SETTING_INVALID'],
  [{ FLOTILLA_MODEL: 'openai:a b', OPENAI_API_KEY: 'k' }, 'MODEL_SETTING_INVALID'],
  [{ FLOTILLA_MODEL: 'openai:gpt-5' }, 'MODEL_KEY_MISSING'],
  [{ FLOTILLA_MODEL: 'compatible:m' }, 'MODEL_SETTING_INVALID'],
  [{ FLOTILLA_MODEL: 'compatible:m', FLOTILLA_MODEL_URL: 'ftp://host' }, 'MODEL_SETTING_INVALID'],
  [{ FLOTILLA_MODEL: 'compatible:m@https://user:secret@host/v1' }, 'MODEL_SETTING_INVALID'],
])('%j is refused with %s', (values, code) => {
  expect(() => parseModelSettings(values)).toThrow(expect.objectContaining({ code, remedy: 'operator' }));
});

test.each([
  [{ FLOTILLA_MODEL: 'compatible:qwen3@localhost:11434/v1' }, 'FLOTILLA_MODEL is not usable: what follows "@"'],
  [{ FLOTILLA_MODEL: 'compatible:qwen3@htp://localhost/v1' }, 'FLOTILLA_MODEL is not usable: what follows "@"'],
  [
    { FLOTILLA_MODEL: 'compatible:qwen3', FLOTILLA_MODEL_URL: 'localhost:11434/v1' },
    'FLOTILLA_MODEL_URL is not usable: its address',
  ],
])('an address without http:// is refused where it stands: %j', (values, said) => {
  expect(() => parseModelSettings(values)).toThrow(`${said} does not begin with http:// or https://`);
});

test('the settings show no key and a refusal repeats no credential', () => {
  const settings = parseModelSettings({ FLOTILLA_MODEL: 'openai:gpt-5', OPENAI_API_KEY: 'top-secret' });
  expect(
    `${JSON.stringify(settings)} ${inspect(settings, { showHidden: true })} ${String(settings.apiKey)}`,
  ).not.toContain('top-secret');
  expect(() => parseModelSettings({ FLOTILLA_MODEL: 'compatible:m@https://user:secret@host/v1' })).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('secret') }),
  );
});
