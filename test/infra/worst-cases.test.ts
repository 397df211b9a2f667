import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { permissionUse } from '../../packages/local-aws/src/aws/authorize.ts';
import { MISUSES, type Misuse } from '../permissions/misuses.ts';
import { misusesOf, NOBODY_COULD, WORST_CASES, worstCaseTable } from '../permissions/worst-cases.ts';
import { type Roles, rolesOf } from './roles.ts';
import { EVERYTHING_CONFIGURED, type ServiceTemplate, synthesizeService } from './service-template.ts';

const NAMES = WORST_CASES.flatMap((row) => row.of.map((name) => [name, misusesOf(row)] as const));
const misuses = Object.keys(MISUSES) as Misuse[];

let service: ServiceTemplate;
let roles: Roles;
beforeAll(async () => {
  service = await synthesizeService(EVERYTHING_CONFIGURED);
  roles = rolesOf(service);
});

/** What a role is allowed. Makes every call: each permission that allows a call then counts as used. */
const allowedTo = (name: string): Misuse[] =>
  misuses.filter((misuse) => MISUSES[misuse].filter((call) => roles.isAllowed(name, call)).length > 0);

describe('a role that is taken over', () => {
  test.each(NAMES)('of %s could do what its row says, and nothing else', (name, could) => {
    expect(allowedTo(name)).toEqual(could);
  });

  test('is of a function with one row', () => {
    expect(NAMES.map(([name]) => name).toSorted()).toEqual(Object.keys(service.functions).toSorted());
  });

  test('has no permission that its row leaves out, but to log', () => {
    for (const [name] of NAMES) allowedTo(name);
    const unused = permissionUse(roles.principals.values()).filter(({ isUsed }) => !isUsed);

    expect(unused.filter(({ action }) => !action.startsWith('logs:'))).toEqual([]);
  });

  test('issues no key, deletes no ledger entry and changes no rate, whichever it is', () => {
    expect(NOBODY_COULD).toEqual([
      ...['issue or change API keys', 'delete ledger entries', 'change rates and switches'],
      ...['delete accounts', 'read outputs', 'read clips'],
    ]);
  });

  test('is described in SECURITY.md by these rows', () => {
    const document = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');

    expect(document).toContain(worstCaseTable());
  });
});
