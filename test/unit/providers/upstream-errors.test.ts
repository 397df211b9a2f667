import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { type Case, meaningOf, read, type Sent } from './read-answers.ts';

const named = (cases: Case[]): [string, Case][] =>
  cases.map((one) => {
    const { status, body } = one.answers.at(-1) as Sent;
    return [`${one.provider} ${one.at} ${status} ${JSON.stringify(body).slice(0, 120)}`, one];
  });

/** 71 answers, as the makers' lists of errors and other people's gateways have them. */
const PUBLISHED = JSON.parse(
  readFileSync(new URL('upstream-errors.json', import.meta.url), 'utf8'),
) as Case[];

describe('an answer of a provider', () => {
  test.each(named(PUBLISHED))('means what its maker documents: %s', async (_, one) => {
    expect(meaningOf(await read(one), one.want)).toEqual(one.want);
  });
});
