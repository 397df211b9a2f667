import '../unit/builders/environment.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { ProviderCallInFlightError } from '../../core/dispatch/make-calls.ts';
import { TransientError } from '../../functions/workflow-task.ts';

describe('the names of errors', () => {
  type Routes = Record<string, { Retry?: { ErrorEquals: string[] }[]; Catch?: { ErrorEquals: string[] }[] }>;
  const routedBy = (file: string): string[] => {
    const text = readFileSync(new URL(`../../statemachines/${file}.asl.json`, import.meta.url), 'utf8');
    const { States } = JSON.parse(text) as { States: Routes };
    const names = Object.values(States)
      .flatMap(({ Retry = [], Catch = [] }) => [...Retry, ...Catch])
      .flatMap(({ ErrorEquals }) => ErrorEquals)
      .filter((name) => !/^(States|Lambda|Sandbox|Runtime)\./.test(name));
    return [...new Set(names)].sort();
  };
  const errors = {
    generation: [new ProviderCallInFlightError(), new TransientError()],
    expiry: [new TransientError()],
    'webhook-delivery': [new TransientError()],
  };

  test.each(Object.entries(errors))('are exactly those by which %s retries', (file, thrown) => {
    expect(routedBy(file)).toEqual(thrown.map(({ name }) => name).sort());
  });

  test.each(Object.values(errors).flatMap((thrown) => thrown.map((error) => [error.name, error] as const)))(
    'are literals: %s is not taken from its class, which a bundle renames',
    (name, error) => {
      expect(Object.hasOwn(error, 'name')).toBe(true);
      expect(String(error.constructor)).toMatch(new RegExp(`name\\s*=\\s*['"]${name}['"]`));
    },
  );
});
