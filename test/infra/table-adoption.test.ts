import { describe, expect, test } from '@jest/globals';
import { ADOPTED_TABLE as ADOPTED, LEAST } from './option-sets.ts';
import { onlyOne, policiesOf, render, type ServiceTemplate, synthesizeService } from './service-template.ts';

// With exports, which are of the table in use.
const own = await synthesizeService({ exportBucket: 'exports.example' });
const adopted = await synthesizeService({ exportBucket: 'exports.example', tableName: ADOPTED });
const development = await synthesizeService(LEAST);

const tableNamesOf = ({ functions }: ServiceTemplate): unknown[] => [
  ...new Set(
    Object.values(functions)
      .map(({ properties }) => properties.Environment?.Variables.TABLE_NAME)
      .filter((name) => name !== undefined)
      .map(render),
  ),
];
/** Every resource of the roles' policies that is a table, or an index of one. */
const tableResources = ({ resources }: ServiceTemplate): string[] => {
  const all = policiesOf(resources)
    .flatMap(({ statements }) => statements)
    .filter(({ Action }) => [Action].flat().some((action) => action.startsWith('dynamodb:')))
    .flatMap(({ Resource }) => [Resource].flat());
  return [...new Set(all.map(render))].toSorted();
};

describe('a stack that adopts a table by `tableName`', () => {
  test('keeps its own table in the template, unchanged: no deployment deletes it, and the way back is a deployment', () => {
    expect(onlyOne(adopted.resources, 'AWS::DynamoDB::Table')).toEqual(
      onlyOne(own.resources, 'AWS::DynamoDB::Table'),
    );
    expect(onlyOne(development.resources, 'AWS::DynamoDB::Table').logicalId).toBe('DataStoreTable1E9F5574');
  });

  test('reads and writes the adopted table in every function that has one', () => {
    expect(tableNamesOf(own)).toEqual(['DataStoreTable']);
    expect(tableNamesOf(adopted)).toEqual([ADOPTED]);
  });

  test('may touch no other table, and the same indexes of this one', () => {
    const arn = (name: string) => new RegExp(`:table/${name}`);

    expect(tableResources(adopted)).toHaveLength(tableResources(own).length);
    for (const resource of tableResources(adopted)) expect(resource).toMatch(arn(ADOPTED));
    expect(tableResources(adopted).map((resource) => resource.split('/index/')[1])).toEqual([
      undefined,
      ...['GSI1', 'GSI2', 'GSI3'],
    ]);
  });

  test('differs in nothing but the name: in no logical id', () => {
    expect(Object.keys(adopted.resources)).toEqual(Object.keys(own.resources));
  });

  test('names it in the output by which the operators find it', () => {
    expect(adopted.outputs.TableName).toEqual({ Value: ADOPTED });
    expect(render((own.outputs.TableName as { Value: unknown }).Value)).toBe('DataStoreTable');
  });

  test('shows it on the dashboard', () => {
    const body = JSON.stringify(onlyOne(adopted.resources, 'AWS::CloudWatch::Dashboard').Properties);

    expect(body).toContain(ADOPTED);
    expect(body).not.toContain('DataStoreTable1E9F5574');
  });

  test.each(['ab', 'a table', 'x'.repeat(256)])('is refused with the name %j', async (tableName) => {
    await expect(synthesizeService({ tableName })).rejects.toThrow(/Expected the name of a table/);
  });
});
