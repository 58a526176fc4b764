import { defineConfig } from 'vitest/config';

// Unit tests stand beside their source and need nothing; component and e2e tests run on the real parts that
// `test/lab` starts once for all of them. Of the conformance tests, `*.real.test.ts` need a real API server.
export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: [
            'src/**/*.test.ts',
            'test/support/**/*.test.ts',
            'test/conformance/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
          exclude: ['**/*.real.test.ts'],
        },
      },
      {
        test: {
          name: 'component',
          sequence: { groupOrder: 1 },
          include: ['test/component/**/*.test.ts', 'test/conformance/**/*.real.test.ts'],
          globalSetup: ['test/support/lab-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 2 },
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/lab-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
