import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { OPENAI_BASE_PATH } from '../../core/routes.ts';
import { ofType, synthesizeService } from './service-template.ts';

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));

test('the template routes what docs/openapi.json declares, and the callback of the providers: 19 and 1', async () => {
  const { resources } = await synthesizeService();
  const parts = new Map(
    ofType(resources, 'AWS::ApiGateway::Resource').map(([id, { Properties }]) => [id, Properties]),
  );
  const pathOf = (id: string): string => {
    const part = parts.get(id);
    return part ? `${pathOf(part.ParentId.Ref)}/${part.PathPart}` : '';
  };
  const routed = ofType(resources, 'AWS::ApiGateway::Method')
    .map(([, { Properties }]) => Properties)
    // The gateway itself refuses what is left.
    .filter(({ HttpMethod }) => HttpMethod !== 'ANY')
    .map(({ HttpMethod, ResourceId }) => `${HttpMethod} ${pathOf(ResourceId.Ref)}`)
    // Documented by OpenAI.
    .filter((route) => !route.includes(` ${OPENAI_BASE_PATH}/`));
  const declared = Object.entries(document.paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );

  expect(declared).toHaveLength(19);
  expect(routed.toSorted()).toEqual(
    [...declared, 'POST /callbacks/{provider}/{requestId}/{token}'].toSorted(),
  );
});
