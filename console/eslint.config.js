import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import svelte from 'eslint-plugin-svelte';
import { defineConfig, globalIgnores } from 'eslint/config';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

// The strictest sets there are. Whatever is less strict than they are has its reason beside it.
export default defineConfig(
  globalIgnores(['dist']),
  js.configs.recommended,
  ts.configs.strictTypeChecked,
  ts.configs.stylisticTypeChecked,
  svelte.configs.recommended,
  // What prettier decides is not decided twice.
  prettier,
  svelte.configs.prettier,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' },
    languageOptions: { globals: globals.browser, parserOptions: { projectService: true } },
    rules: {
      // `() => (isOpen = true)` and `() => close()` are read at a glance. Elsewhere nothing is returned that is
      // nothing.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // An arrow that does nothing says so itself: `() => {}`. An empty method has to say why it is empty.
      '@typescript-eslint/no-empty-function': ['error', { allow: ['arrowFunctions'] }],
      // There are no enums, no stores and no objects in place of class instances. Looking for them takes a quarter of
      // the time.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      'svelte/require-store-reactive-access': 'off',
      // `void timeline;` in an effect names what the effect depends on.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // An empty text counts as none: `event.name || event.description`.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      // A name that begins with `_` is there for its position, or to leave a key out of a copy.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Numbers read the same in every text. Null, undefined and objects do not belong in one.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        {
          allowNumber: true,
          allowAny: false,
          allowBoolean: false,
          allowNever: false,
          allowNullish: false,
          allowRegExp: false,
        },
      ],
      // Built anew and assigned whole, or a cache that nothing is drawn from: no map or set is watched for its entries.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
  },
  {
    // What comes from another component is `any` to typescript-eslint. svelte-check knows its type and checks it.
    files: ['**/*.svelte'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    // Columns, pixels and boxes are walked by index, where `noUncheckedIndexedAccess` calls each element optional.
    // In a test, what is missing fails it there and then.
    files: [
      'src/lib/chart/**',
      'src/lib/events/**',
      'src/views/timeline/**',
      'src/views/paradoxes/**',
      '**/*.test.ts',
      'e2e/**',
    ],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['src/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'Date',
          property: 'now',
          message: 'The clock of a browser may be wrong: see lib/time/host-clock.ts.',
        },
      ],
    },
  },
  {
    // These compare the clock of the browser with that of the host.
    files: [
      'src/lib/time/host-clock.ts',
      'src/lib/loading/first-requests.ts',
      'src/views/clock/face/host.svelte.ts',
      '**/*.test.ts',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    // Plain scripts have no types that could be checked.
    files: ['**/*.js', '**/*.mjs'],
    extends: [ts.configs.disableTypeChecked],
    languageOptions: { globals: globals.node },
  },
);
