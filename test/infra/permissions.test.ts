import { describe, expect, test } from '@jest/globals';
import { KEPT } from '../permissions/kept.ts';
import { ALL_RUN, BATCHES_RUN, CLIPS, OUTPUTS, PERMISSIONS, UPLOADS } from './expected-permissions.ts';
import { actionsCalledIn, codeOf } from './function-code.ts';
import {
  EVERYTHING_CONFIGURED,
  ofType,
  onlyOne,
  policiesOf,
  render,
  roleOf,
  type Statement,
  synthesizeService,
} from './service-template.ts';

const NAMES = Object.keys(PERMISSIONS);

const service = await synthesizeService(EVERYTHING_CONFIGURED);

const list = <T>(oneOrMore: T | T[]): T[] => (Array.isArray(oneOrMore) ? oneOrMore : [oneOrMore]);

const allStatements = policiesOf(service.resources).flatMap(({ statements }) => statements);

/** The resources of a statement, in the format of `PERMISSIONS`. */
const resourcesOf = ({ Resource, Condition }: Statement): string => {
  const resources = list(Resource).map(render).toSorted().join(' ');
  const items = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] as string[] | undefined;
  const attributes = Condition?.['ForAllValues:StringEquals']?.['dynamodb:Attributes'] as
    | string[]
    | undefined;
  const naming = attributes ? ` naming ${attributes.toSorted().join(' ')}` : '';
  return items ? `${resources} of ${items.join(', ')}${naming}` : resources;
};

const isLogging = ({ Action }: Statement): boolean =>
  list(Action).some((action) => action.startsWith('logs:'));
const allStatementsOf = (name: string): Statement[] =>
  policiesOf(service.resources, roleOf(service, name)).flatMap(({ statements }) => statements);
/** What a function may do besides writing its log. */
const statementsOf = (name: string): Statement[] =>
  allStatementsOf(name).filter((statement) => !isLogging(statement));

/** The resources on which a function has any action that writes to the table. */
const resourcesWrittenBy = (name: string): string =>
  statementsOf(name)
    .filter(({ Action }) =>
      list(Action).some((action) => /^dynamodb:.*(Write|Put|Update|Delete)/.test(action)),
    )
    .map(resourcesOf)
    .join(' ');

describe.each(NAMES)('%s', (name) => {
  test('has exactly these permissions', () => {
    const granted = statementsOf(name).map((statement) => [
      resourcesOf(statement),
      list(statement.Action).toSorted().join(' '),
    ]);

    expect(granted).toHaveLength(Object.keys(PERMISSIONS[name] ?? {}).length);
    expect(Object.fromEntries(granted)).toEqual(PERMISSIONS[name]);
  });

  test('has the permissions that its code uses, and no more', () => {
    const granted = statementsOf(name).flatMap(({ Action }) => Action);

    expect([...new Set(granted)].toSorted()).toEqual(actionsCalledIn(codeOf(name)).toSorted());
  });

  test('may write to the log group of its capability, and no other', () => {
    const { LogGroup } = service.functions[name]?.properties.LoggingConfig ?? {};

    expect(allStatementsOf(name).filter(isLogging)).toEqual([
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: { 'Fn::GetAtt': [LogGroup.Ref, 'Arn'] },
      },
    ]);
  });

  test('has its own role, for Lambda only, without a managed policy', () => {
    const owners = NAMES.filter((other) => roleOf(service, other) === roleOf(service, name));
    const role = service.resources[roleOf(service, name)]?.Properties ?? {};

    expect(owners).toEqual([name]);
    expect(role.AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } },
    ]);
    expect(role.ManagedPolicyArns).toBeUndefined();
    expect(role.Policies).toHaveLength(1);
  });
});

test('each permission that is kept though no contract test needs it is granted', () => {
  const granted = NAMES.flatMap((name) =>
    statementsOf(name).flatMap(({ Action }) =>
      list(Action).map((action) => `${render({ Ref: service.functions[name]?.logicalId })} ${action}`),
    ),
  );

  for (const { of, actions } of KEPT) {
    expect(granted).toEqual(expect.arrayContaining(actions.map((action) => `${of} ${action}`)));
  }
});

// worst-cases.test.ts says whose role could change keys, ledgers and accounts.
test('no role reaches items of the table but by the partitions that it needs', () => {
  const onTheTable = NAMES.flatMap(statementsOf).filter(({ Action }) =>
    list(Action).some((action) => action.startsWith('dynamodb:')),
  );

  expect(onTheTable.length).toBeGreaterThan(40);
  for (const statement of onTheTable) {
    expect(statement.Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']).not.toContain('*');
    expect(resourcesOf(statement)).toContain(' of ');
  }
});

describe('what strangers send', () => {
  /** Functions whose own code has or imports one of these modules. */
  const withModule = (pattern: RegExp): string[] =>
    NAMES.filter((name) => pattern.test(codeOf(name))).toSorted();

  test('is parsed as media only by functions that write no account, key or ledger', () => {
    const parsers = withModule(/from "@generation-service\/media\/(measure-image|spooled-video)"/);

    expect(parsers).toEqual(['media/measure-clips', 'workflow/store-outputs']);
    for (const name of parsers) expect(resourcesWrittenBy(name)).not.toMatch(/ACCOUNT|KEY#|LEDGER|CATALOG/);
  });

  test('is fetched from their servers only by functions that write no account, key or ledger', () => {
    const callers = withModule(/^\/\/ core\/guarded-http\/guarded-http\.ts$/m);

    expect(callers).toEqual([
      // It fetches the keys of signed callbacks.
      'api/receive-callback',
      'media/measure-clips',
      'workflow/deliver-webhook',
      'workflow/store-outputs',
    ]);
    for (const name of callers) expect(resourcesWrittenBy(name)).not.toMatch(/ACCOUNT|KEY#|LEDGER|CATALOG/);
  });
});

/** More than the longest ARN of the stack, of a function with a generated name. */
const LONGEST_ARN = 160;

/** The conditions of a statement on the table, and those of one that is also limited to attributes. */
const ON_ITEMS = ['ForAllValues:StringLike dynamodb:LeadingKeys'];
const ON_ATTRIBUTES = [
  'ForAllValues:StringEquals dynamodb:Attributes',
  ...ON_ITEMS,
  // A call that names no attribute would meet the first.
  'Null dynamodb:Attributes false',
];

describe('no policy of the stack', () => {
  test('allows a scan of the table, or a wildcard action', () => {
    const actions = allStatements.flatMap(({ Action }) => Action);

    expect(actions).not.toContain('dynamodb:Scan');
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  });

  test('has wildcard resources, except files under their prefix and executions of a state machine, and for an action without resources', () => {
    const resources = allStatements
      .filter(({ Action }) => String(Action) !== 'lambda:GetAccountSettings')
      .flatMap(({ Resource }) => list(Resource).map(render));

    expect(new Set(resources.filter((resource) => resource.includes('*')))).toEqual(
      new Set([OUTPUTS, CLIPS, UPLOADS, ...ALL_RUN.split(' '), BATCHES_RUN]),
    );
  });

  test('denies, or has conditions other than on items: the list above is complete', () => {
    for (const { Effect, Condition = {} } of allStatements) {
      expect(Effect).toBe('Allow');
      const conditions = Object.entries(Condition).flatMap(([operator, keys]) =>
        Object.entries(keys).map(
          ([key, value]) => `${operator} ${key}${operator === 'Null' ? ` ${value}` : ''}`,
        ),
      );

      expect([[], ON_ITEMS, ON_ATTRIBUTES]).toContainEqual(conditions.toSorted());
    }
  });

  test('comes near the 10,240 characters that all inline policies of a role may have', () => {
    // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html; whitespace does not count. An ARN is longer than its reference.
    const sizeOf = (name: string): number =>
      allStatementsOf(name)
        .map(({ Resource, ...rest }) => JSON.stringify(rest).length + list(Resource).length * LONGEST_ARN)
        .reduce((sum, size) => sum + size, 0);
    const sizes = NAMES.map((name) => [sizeOf(name), name] as const).toSorted(([a], [b]) => b - a);

    expect(sizes[0]?.[1]).toBe('events/reconcile');
    expect(sizes[0]?.[0]).toBeLessThan(7_000);
  });

  test('belongs to anything but the functions and the state machines', () => {
    const roles = ofType(service.resources, 'AWS::IAM::Role').map(([logicalId]) => logicalId);
    const machines = ofType(service.resources, 'AWS::StepFunctions::StateMachine').map(
      ([, { Properties }]) => Properties.RoleArn['Fn::GetAtt'][0],
    );

    // The gateway's own, with which it writes access logs.
    const { CloudWatchRoleArn } = onlyOne(service.resources, 'AWS::ApiGateway::Account').Properties;
    const gateway = CloudWatchRoleArn['Fn::GetAtt'][0];

    // That by which it invokes the functions: http-api.test.ts has its statement.
    const invoker = ofType(service.resources, 'AWS::ApiGateway::Method').flatMap(
      ([, { Properties }]) => Properties.Integration.Credentials?.['Fn::GetAtt'][0] ?? [],
    )[0];

    // That of the rules that start an execution.
    const events = ofType(service.resources, 'AWS::Events::Rule').flatMap(
      ([, { Properties }]) => Properties.Targets[0].RoleArn?.['Fn::GetAtt'][0] ?? [],
    );

    expect(roles.toSorted()).toEqual(
      [
        ...new Set([...NAMES.map((name) => roleOf(service, name)), ...machines, ...events, gateway, invoker]),
      ].toSorted(),
    );
    expect(service.resources[gateway]?.Properties.ManagedPolicyArns.map(render)).toEqual([
      'arn:AWS::Partition:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
    ]);
    // The stopper's: see `lib/execution-stopper.ts`.
    expect(
      ofType(service.resources, 'AWS::IAM::ManagedPolicy').map(([, { Properties }]) => Properties.Roles),
    ).toEqual([[{ Ref: roleOf(service, 'events/stop-executions') }]]);
    expect(ofType(service.resources, 'AWS::IAM::User')).toEqual([]);
  });
});
