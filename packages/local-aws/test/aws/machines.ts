import { allow, aMachine, aPrincipal, functionArn, machineArn, TABLE } from './support.ts';

const lambda = (name: string, payload: object, rest: object = {}) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Parameters: { FunctionName: functionArn(name), Payload: payload },
  ...rest,
});
const callback = (rest: object = {}) => ({
  ...lambda('hand-over', { 'token.$': '$$.Task.Token', 'retries.$': '$$.State.RetryCount' }),
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
  ...rest,
});
const succeed = { Type: 'Succeed' };
const table = (Key: string, rest: object) => ({
  TableName: TABLE,
  Key: { PK: { S: Key }, SK: { 'S.$': '$.id' } },
  ...rest,
});

/** The state machines the Step Functions tests run. */
export const MACHINES = [
  aMachine('echo', {
    StartAt: 'Call function',
    States: {
      'Call function': lambda(
        'echo',
        { 'said.$': '$.say' },
        {
          ResultSelector: { 'heard.$': '$.Payload.said', 'status.$': '$.StatusCode' },
          ResultPath: '$.answer',
          Next: 'Is it loud',
        },
      ),
      'Is it loud': {
        Type: 'Choice',
        Choices: [{ Variable: '$.answer.heard', StringMatches: '*!', Next: 'Pause' }],
        Default: 'Done',
      },
      Pause: { Type: 'Wait', Seconds: 0, Next: 'Done' },
      Done: { Type: 'Pass', End: true },
    },
  }),
  aMachine('failing', {
    StartAt: 'Flaky',
    States: {
      Flaky: lambda(
        'flaky',
        { 'id.$': '$.id', 'failures.$': '$.failures' },
        {
          Retry: [
            {
              ErrorEquals: ['ProviderBusyError'],
              IntervalSeconds: 1,
              MaxAttempts: 2,
              MaxDelaySeconds: 1,
              JitterStrategy: 'FULL',
            },
          ],
          Catch: [{ ErrorEquals: ['ProviderBusyError'], ResultPath: '$.failure', Next: 'Read cause' }],
          End: true,
        },
      ),
      'Read cause': {
        Type: 'Pass',
        Parameters: { 'error.$': '$.failure.Error', 'cause.$': 'States.StringToJson($.failure.Cause)' },
        End: true,
      },
    },
  }),
  aMachine('callback', {
    StartAt: 'Wait for provider',
    States: {
      'Wait for provider': callback({
        Retry: [
          {
            ErrorEquals: ['TryAgain'],
            IntervalSeconds: 1,
            MaxAttempts: 1,
            MaxDelaySeconds: 1,
            JitterStrategy: 'FULL',
          },
        ],
        Catch: [{ ErrorEquals: ['States.TaskFailed'], Next: 'Failed' }],
        ResultPath: '$.result',
        End: true,
      }),
      Failed: { Type: 'Pass', End: true },
    },
  }),
  aMachine('impatient', {
    StartAt: 'Wait for provider',
    States: {
      'Wait for provider': callback({
        TimeoutSecondsPath: '$.timeout',
        HeartbeatSecondsPath: '$.heartbeat',
        Catch: [
          { ErrorEquals: ['States.TaskFailed'], Next: 'Failed' },
          { ErrorEquals: ['States.Timeout'], Next: 'Timed out' },
        ],
        End: true,
      }),
      Failed: succeed,
      'Timed out': succeed,
    },
  }),
  aMachine('bounded-wait', {
    StartAt: 'Wait for provider',
    States: {
      'Wait for provider': callback({
        TimeoutSecondsPath: '$.timeout',
        Catch: [{ ErrorEquals: ['States.Timeout'], Next: 'Timed out' }],
        End: true,
      }),
      'Timed out': succeed,
    },
  }),
  aMachine('parent', {
    StartAt: 'Start child',
    States: {
      'Start child': {
        Type: 'Task',
        Resource: 'arn:aws:states:::states:startExecution',
        Parameters: {
          StateMachineArn: machineArn('failing'),
          Input: { 'id.$': '$.id', failures: 9 },
          'Name.$': '$.id',
        },
        Catch: [
          {
            ErrorEquals: ['StepFunctions.ExecutionAlreadyExistsException'],
            ResultPath: '$.there',
            Next: 'Done',
          },
        ],
        ResultPath: '$.child',
        Next: 'Done',
      },
      Done: { Type: 'Pass', End: true },
    },
  }),
  aMachine('storing', {
    StartAt: 'Put',
    States: {
      Put: {
        Type: 'Task',
        Resource: 'arn:aws:states:::dynamodb:updateItem',
        Parameters: table('record', {
          UpdateExpression: 'SET started = :now',
          ConditionExpression: 'attribute_not_exists(PK)',
          ExpressionAttributeValues: { ':now': { 'S.$': '$$.Execution.Name' } },
        }),
        Catch: [
          { ErrorEquals: ['DynamoDB.ConditionalCheckFailedException'], ResultPath: '$.refused', Next: 'Get' },
        ],
        ResultPath: null,
        Next: 'Get',
      },
      Get: {
        Type: 'Task',
        Resource: 'arn:aws:states:::aws-sdk:dynamodb:getItem',
        Parameters: table('record', { ConsistentRead: true }),
        ResultSelector: { 'started.$': '$.Item.started.S' },
        ResultPath: '$.record',
        End: true,
      },
    },
  }),
  aMachine(
    'bounded',
    { StartAt: 'Call function', States: { 'Call function': lambda('echo', {}, { End: true }) } },
    { principal: aPrincipal('bounded-machine', allow(['lambda:InvokeFunction'], functionArn('other'))) },
  ),
  aMachine('slow', {
    StartAt: 'Sleep',
    States: {
      Sleep: { Type: 'Wait', SecondsPath: '$.seconds', Next: 'After' },
      After: lambda('note', {}, { End: true }),
    },
  }),
  aMachine('gated', {
    StartAt: 'Pass gate',
    States: {
      'Pass gate': lambda('gate', {}, { Next: 'After gate' }),
      'After gate': lambda('note', {}, { End: true }),
    },
  }),
  aMachine('limited', {
    StartAt: 'Sleep',
    TimeoutSeconds: 1,
    States: { Sleep: { Type: 'Wait', Seconds: 60, End: true } },
  }),
  aMachine('large', { StartAt: 'Call', States: { Call: lambda('large', {}, { End: true }) } }),
];
