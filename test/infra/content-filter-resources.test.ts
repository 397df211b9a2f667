import { beforeAll, describe, expect, test } from '@jest/globals';
import { ofType, render, type ServiceTemplate, synthesizeService } from './service-template.ts';

const CREATORS = [
  'api/create-generation',
  'api/create-openai-image',
  'api/create-video',
  'api/edit-openai-image',
];
const GUARDRAIL_ACTION = 'bedrock:ApplyGuardrail';

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
}

const variablesOf = (service: ServiceTemplate, name: string): Record<string, unknown> =>
  service.functions[name]?.properties.Environment?.Variables ?? {};

const policiesOf = ({ resources }: ServiceTemplate) =>
  ofType(resources, 'AWS::IAM::Policy').map(([, { Properties }]) => ({
    roles: Properties.Roles.map(render) as string[],
    statements: Properties.PolicyDocument.Statement as Statement[],
  }));

describe('without a guardrail', () => {
  let service: ServiceTemplate;
  beforeAll(async () => {
    service = await synthesizeService();
  });

  test('no function has its variables', () => {
    for (const name of Object.keys(service.functions)) {
      expect(
        Object.keys(variablesOf(service, name)).filter((variable) => /GUARDRAIL/.test(variable)),
      ).toEqual([]);
    }
  });

  test('no function may apply one', () => {
    expect(JSON.stringify(policiesOf(service))).not.toContain('bedrock:');
  });
});

describe('with a guardrail', () => {
  let service: ServiceTemplate;
  beforeAll(async () => {
    service = await synthesizeService({ guardrailId: 'gr5k2', guardrailVersion: '7' });
  });

  test.each(CREATORS)('%s has the id and version of the guardrail', (name) => {
    expect(variablesOf(service, name)).toMatchObject({ GUARDRAIL_ID: 'gr5k2', GUARDRAIL_VERSION: '7' });
  });

  test('the version defaults to the draft', async () => {
    const draft = await synthesizeService({ guardrailId: 'gr5k2' });

    for (const name of CREATORS) {
      expect(variablesOf(draft, name)).toMatchObject({ GUARDRAIL_ID: 'gr5k2', GUARDRAIL_VERSION: 'DRAFT' });
    }
  });

  test('only those functions have its variables, and may apply exactly that guardrail', () => {
    const bound = Object.keys(service.functions).filter(
      (name) => 'GUARDRAIL_ID' in variablesOf(service, name),
    );
    const grants = policiesOf(service).flatMap(({ roles, statements }) =>
      statements
        .filter(({ Action }) => [Action].flat().includes(GUARDRAIL_ACTION))
        .map(({ Effect, Action, Resource }) => ({ roles, Effect, Action, on: render(Resource) })),
    );

    expect(bound.toSorted()).toEqual(CREATORS);
    expect(grants).toEqual(
      [
        ...['ApiCreateGenerationRole', 'ApiCreateVideoRole'],
        ...['ApiCreateOpenaiImageRole', 'ApiEditOpenaiImageRole'],
      ].map((role) => ({
        roles: [role],
        Effect: 'Allow',
        Action: GUARDRAIL_ACTION,
        on: 'arn:AWS::Partition:bedrock:AWS::Region:AWS::AccountId:guardrail/gr5k2',
      })),
    );
  });

  test('nothing else in the stack differs', async () => {
    const plain = await synthesizeService();
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
