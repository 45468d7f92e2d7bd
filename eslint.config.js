import { createProjectGraphAsync } from '@nx/devkit';
import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

// The boundary rule reads the graph of packages from a file: where that is missing it skips itself and says yes, and where it
// is old it judges what was. So the graph is made anew here, however eslint was started; without a graph there is no verdict.
process.env.NX_DAEMON = 'false';
process.env.NX_ISOLATE_PLUGINS = 'false';
await createProjectGraphAsync({ exitOnError: false });

const layers = {
  pure: ['layer:pure'],
  adapter: ['name:contracts', 'name:errors'],
  host: ['layer:host', 'layer:adapter', 'layer:pure'],
  service: ['layer:host', 'layer:adapter', 'layer:pure'],
  deployment: ['layer:service', 'layer:host', 'layer:pure'],
  // Whoever stops a fleet clears its slots up after services that were killed; the doctor asks the endpoint of the model.
  dev: ['layer:pure', 'layer:test', 'layer:dev', 'name:cli', 'name:sandbox', 'name:model'],
  // Benches start services with other topologies and other work.
  test: ['layer:pure', 'layer:adapter', 'layer:host', 'layer:service', 'layer:dev', 'layer:test'],
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      '.data/**',
      '.nx/**',
      'test/fleet/projects/*/**',
      '**/*.cjs',
      '**/*.mjs',
      '*.config.js',
      '*.config.ts',
    ],
  },
  ...tseslint.configs.strict,
  {
    files: ['**/*.ts'],
    plugins: { '@nx': nx },
    // One program for all packages: half the time and memory of one each.
    languageOptions: { parserOptions: { project: 'tsconfig.lint.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' },
      ],
      'no-console': 'off',
      '@nx/enforce-module-boundaries': [
        'error',
        {
          allow: [],
          // Nothing here is bundled: a dynamic import only says that Node is checked first, or a real server started.
          checkDynamicDependenciesExceptions: ['@flotilla/**'],
          depConstraints: Object.entries(layers).map(([layer, tags]) => ({
            sourceTag: `layer:${layer}`,
            onlyDependOnLibsWithTags: tags,
          })),
        },
      ],
    },
  },
  {
    files: ['**/*.test.ts', '**/*.fixture.ts', 'libs/testing/**/*.ts', 'test/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    // A test may reach for real servers and for the scripted model; what is shipped may not.
    files: ['**/*.test.ts', '**/*.fixture.ts'],
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
);
