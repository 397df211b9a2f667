import { describe, expect, test } from '@jest/globals';
import { type Kept, reasonFor } from '../../permissions/kept.ts';
import { type PermissionUse, unusedPermissions } from '../../permissions/unused.ts';

const TABLE = 'arn:aws:dynamodb:us-east-1:111122223333:table/T';
const aUse = (fields: Partial<PermissionUse>): PermissionUse => ({
  ...{ principal: 'GetBalance', action: 'dynamodb:GetItem', resources: [TABLE], isUsed: false },
  ...fields,
});

describe('the report of permissions', () => {
  test('lists what no run used, by role and action', () => {
    const runs = [
      [aUse({ principal: 'B' }), aUse({ principal: 'A', action: 's3:PutObject' })],
      [aUse({ principal: 'A' })],
    ];

    expect(unusedPermissions(runs)).toEqual([
      ['A', 'dynamodb:GetItem', 'dynamodb:table/T'],
      ['A', 's3:PutObject', 'dynamodb:table/T'],
      ['B', 'dynamodb:GetItem', 'dynamodb:table/T'],
    ]);
  });

  test('leaves out what one of several runs used', () => {
    expect(unusedPermissions([[aUse({})], [aUse({ isUsed: true })], [aUse({})]])).toEqual([]);
  });

  test('knows a permission again under the names that another run gives', () => {
    const secret = (end: string) =>
      `arn:aws:secretsmanager:us-east-1:111122223333:secret:ModelArkF5101631-${end}`;
    const runs = [
      [aUse({ principal: 'GetBalance1A2B3C4D', resources: [secret('tcks3wo499pb-1a2B3c')] })],
      [aUse({ principal: 'GetBalance1A2B3C4D', resources: [secret('aaks3wo499pb-9x8Y7z')], isUsed: true })],
    ];

    expect(unusedPermissions(runs)).toEqual([]);
    expect(unusedPermissions(runs.slice(0, 1))).toEqual([
      ['GetBalance', 'dynamodb:GetItem', 'secretsmanager:secret:ModelArk'],
    ]);
  });

  test('leaves out the writing of logs, which no call shows', () => {
    expect(unusedPermissions([[aUse({ action: 'logs:PutLogEvents' })]])).toEqual([]);
  });

  test('is told why a permission is kept, if there is a reason', () => {
    const kept: Kept[] = [{ of: 'Stop', actions: ['states:Stop', 'states:List'], why: 'the end' }];
    const unused = (of: string, action: string): [string, string, string] => [of, action, 'anything'];

    expect(reasonFor(unused('Stop', 'states:List'), kept)).toBe('the end');
    expect(reasonFor(unused('Stop', 'states:Start'), kept)).toBeUndefined();
    expect(reasonFor(unused('Start', 'states:List'), kept)).toBeUndefined();
  });

  test('tells partitions of a table apart', () => {
    const runs = [[aUse({ leadingKeys: ['A#*'], isUsed: true }), aUse({ leadingKeys: ['C#*', 'B#*'] })]];

    expect(unusedPermissions(runs)).toEqual([
      ['GetBalance', 'dynamodb:GetItem', 'dynamodb:table/T of B#* C#*'],
    ]);
  });
});
