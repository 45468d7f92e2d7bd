import { defineConfig } from 'vitest/config';

const conditions = ['@flotilla/source'];

/** `unit` needs nothing but node; `real` needs the servers and the Docker engine that the test command brings up. */
export default defineConfig({
  resolve: { conditions: [...conditions, 'module', 'node', 'development|production'] },
  ssr: { resolve: { conditions: [...conditions, 'node', 'default'] } },
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: ['{libs,services,infra}/**/src/**/*.test.ts', 'test/architecture/**/*.test.ts'], exclude: ['**/*.real.test.ts', '**/node_modules/**', '**/dist/**'] } },
      { extends: true, test: { name: 'real', include: ['{libs,services,infra}/**/src/**/*.real.test.ts'], exclude: ['**/node_modules/**', '**/dist/**'], testTimeout: 60_000, hookTimeout: 120_000 } },
    ],
  },
});
