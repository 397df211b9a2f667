const project = (name, settings = {}) => ({
  displayName: name,
  testEnvironment: '<rootDir>/test/node-environment.ts',
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript' },
          target: 'es2024',
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  moduleNameMapper: {
    // The client is imported by its name where its user is published, too.
    '^@generation-service/client$': '<rootDir>/packages/client/src/index.ts',
    // Of its two builds the one that is compiled once for all test files: test/node-environment.ts.
    '^zod/mini$': '<rootDir>/node_modules/zod/mini/index.cjs',
  },
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/build', '<rootDir>/.local'],
  ...settings,
});

/** The environment of functions, before a test file loads any of them: the logger reads its level when it is created. */
const functionsEnvironment = { setupFiles: ['<rootDir>/test/unit/builders/environment.ts'] };

/** Local runs that test files share, and operators' commands without a process for each. */
const sharedServices = {
  testEnvironment: '<rootDir>/test/answers-environment.ts',
  globalSetup: '<rootDir>/test/contract/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/contract/support/global-teardown.ts',
};

/** Templates of the stack, each synthesized once for all test files. */
const sharedSyntheses = {
  globalSetup: '<rootDir>/test/infra/global-setup.ts',
  globalTeardown: '<rootDir>/test/infra/global-teardown.ts',
};

export default {
  // Twice the processors of a small machine: tests that wait for a local run leave theirs to others.
  maxWorkers: 4,
  testSequencer: '<rootDir>/test/spread-waiting.ts',
  // A worker has used gigabytes by its end, which Node gives back for seconds before the process has exited.
  workerGracefulExitTimeout: 30_000,
  // A local run starts within seconds, but not on a machine that does much else.
  testTimeout: 120_000,
  // What the tests run in their own processes: the functions of a local run are not among it.
  coverageProvider: 'v8',
  collectCoverageFrom: ['{core,functions,providers,lib,ops}/**/*.ts', 'packages/*/src/**/*.ts'],
  coverageReporters: ['text-summary'],
  projects: [
    ...['local', 'simulation'].map((name) => project(name)),
    project('unit', functionsEnvironment),
    project('workflow', { ...functionsEnvironment, ...sharedSyntheses }),
    project('infra', sharedSyntheses),
    project('packages', {
      testMatch: ['<rootDir>/packages/*/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/test/long/'],
    }),
    project('contract', sharedServices),
    // What takes minutes by nature; `npm run test:long`.
    project('long', {
      ...sharedServices,
      testMatch: ['<rootDir>/{test,packages/*/test}/long/**/*.test.ts'],
    }),
  ],
};
