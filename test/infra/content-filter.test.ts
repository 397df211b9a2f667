import { beforeAll, describe, expect, test } from '@jest/globals';
import { ofType, render, type ServiceTemplate, synthesizeService } from './service-template.ts';

const CREATING = ['api/create-generation', 'api/create-video'];
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
  beforeAll(() => {
    service = synthesizeService();
  });

  test('no function is told of one', () => {
    for (const name of Object.keys(service.functions)) {
      expect(
        Object.keys(variablesOf(service, name)).filter((variable) => /GUARDRAIL/.test(variable)),
      ).toEqual([]);
    }
  });

  test('nobody may apply one', () => {
    expect(JSON.stringify(policiesOf(service))).not.toContain('bedrock:');
  });
});

describe('with a guardrail', () => {
  let service: ServiceTemplate;
  beforeAll(() => {
    service = synthesizeService({ guardrailId: 'gr5k2', guardrailVersion: '7' });
  });

  test.each(CREATING)('a function that creates is told which, in which version: %s', (name) => {
    expect(variablesOf(service, name)).toMatchObject({ GUARDRAIL_ID: 'gr5k2', GUARDRAIL_VERSION: '7' });
  });

  test('it is the draft unless a version is given', () => {
    const draft = synthesizeService({ guardrailId: 'gr5k2' });

    for (const name of CREATING) {
      expect(variablesOf(draft, name)).toMatchObject({ GUARDRAIL_ID: 'gr5k2', GUARDRAIL_VERSION: 'DRAFT' });
    }
  });

  test('only those functions are told, and may apply exactly that one', () => {
    const told = Object.keys(service.functions).filter(
      (name) => 'GUARDRAIL_ID' in variablesOf(service, name),
    );
    const applying = policiesOf(service).flatMap(({ roles, statements }) =>
      statements
        .filter(({ Action }) => [Action].flat().includes(GUARDRAIL_ACTION))
        .map(({ Effect, Action, Resource }) => ({ roles, Effect, Action, on: render(Resource) })),
    );

    expect(told.toSorted()).toEqual(CREATING);
    expect(applying).toEqual(
      ['ApiCreateGenerationFunctionServiceRole', 'ApiCreateVideoFunctionServiceRole'].map((role) => ({
        roles: [role],
        Effect: 'Allow',
        Action: GUARDRAIL_ACTION,
        on: 'arn:AWS::Partition:bedrock:AWS::Region:AWS::AccountId:guardrail/gr5k2',
      })),
    );
  });

  test('nothing else of the stack is different', () => {
    const plain = synthesizeService();
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
