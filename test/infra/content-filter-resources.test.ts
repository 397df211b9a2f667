import { describe, expect, test } from '@jest/globals';
import {
  EVERYTHING_CONFIGURED,
  policiesOf,
  render,
  type ServiceTemplate,
  type Statement,
  synthesizeService,
} from './service-template.ts';

const CREATORS = [
  'api/create-generation',
  'api/create-openai-image',
  'api/create-video',
  'api/edit-openai-image',
  'api/openai-videos',
];
const GUARDRAIL_ACTION = 'bedrock:ApplyGuardrail';

const variablesOf = (service: ServiceTemplate, name: string): Record<string, unknown> =>
  service.functions[name]?.properties.Environment?.Variables ?? {};

const plain = await synthesizeService();
const service = await synthesizeService({ guardrailId: 'gr5k2', guardrailVersion: '7' });

describe('without a guardrail', () => {
  test('no function has its variables, or may apply one', () => {
    for (const name of Object.keys(plain.functions)) {
      expect(Object.keys(variablesOf(plain, name)).filter((variable) => /GUARDRAIL/.test(variable))).toEqual(
        [],
      );
    }
    expect(JSON.stringify(policiesOf(plain.resources))).not.toContain('bedrock:');
  });
});

describe('with a guardrail', () => {
  test.each(CREATORS)('%s has the id and version of the guardrail', (name) => {
    expect(variablesOf(service, name)).toMatchObject({ GUARDRAIL_ID: 'gr5k2', GUARDRAIL_VERSION: '7' });
  });

  test('the version defaults to the draft', async () => {
    const draft = await synthesizeService(EVERYTHING_CONFIGURED);

    for (const name of CREATORS) {
      expect(variablesOf(draft, name)).toMatchObject({
        GUARDRAIL_ID: EVERYTHING_CONFIGURED.guardrailId,
        GUARDRAIL_VERSION: 'DRAFT',
      });
    }
  });

  test('only those functions have its variables, and may apply exactly that guardrail', () => {
    const bound = Object.keys(service.functions).filter(
      (name) => 'GUARDRAIL_ID' in variablesOf(service, name),
    );
    const grants = policiesOf(service.resources).flatMap(({ roles, statements }) =>
      statements
        .filter(({ Action }) => [Action].flat().includes(GUARDRAIL_ACTION))
        .map(({ Effect, Action, Resource }) => ({
          roles: roles.map((Ref) => render({ Ref })),
          Effect,
          Action,
          on: render(Resource),
        })),
    );

    expect(bound.toSorted()).toEqual(CREATORS);
    expect(grants).toEqual(
      [
        ...['ApiCreateGenerationRole', 'ApiCreateVideoRole'],
        ...['ApiCreateOpenaiImageRole', 'ApiEditOpenaiImageRole', 'ApiOpenaiVideosRole'],
      ].map((role) => ({
        roles: [role],
        Effect: 'Allow',
        Action: GUARDRAIL_ACTION,
        on: 'arn:AWS::Partition:bedrock:AWS::Region:AWS::AccountId:guardrail/gr5k2',
      })),
    );
  });

  test('nothing else in the stack differs', () => {
    const withoutGuardrail = Object.fromEntries(
      Object.entries(service.resources).map(([logicalId, resource]) => [
        logicalId,
        JSON.parse(JSON.stringify(resource), (name, value) => {
          if (/^GUARDRAIL_/.test(name)) return undefined;
          return name === 'Statement'
            ? value.filter(({ Action }: Statement) => Action !== GUARDRAIL_ACTION)
            : value;
        }),
      ]),
    );

    expect(withoutGuardrail).toEqual(plain.resources);
  });
});
